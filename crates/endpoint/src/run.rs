//! Many texts brought through: in batches that the server takes, with a text that it does not take
//! set apart, so that one bad text costs the others nothing.

use std::collections::VecDeque;
use std::time::Duration;

use lorewell_embed::Embedded;

use crate::exchange::{Numbers, Wire};
use crate::fault::{Fault, Kind};
use crate::identity::PROBE;
use crate::limits::Limits;
use crate::pieces::{halves, join, tokens};
use crate::wait::{backoff, chance, clock};

/// So long one call waits for a busy server, all in all; then the texts that are left fail, and are
/// asked for again by a later call.
const PATIENCE: Duration = Duration::from_secs(30);
/// So often in a row, where the server does not say how long it wants to be left alone.
const ATTEMPTS: u32 = 5;

/// What a call needs.
pub(crate) struct Means<'a> {
    pub(crate) wire: &'a Wire,
    pub(crate) limits: &'a Limits,
    pub(crate) prefix: &'a str,
    pub(crate) dimension: usize,
    pub(crate) timeout: Duration,
}

/// What ended a call early.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Trouble {
    pub(crate) said: String,
    /// The server wants not to be asked for so long.
    pub(crate) rest: Option<Duration>,
    /// The vectors are not those of the model that was there.
    pub(crate) other_model: bool,
}

/// A text, or a piece of one, that is still to be sent.
struct Job {
    owner: usize,
    text: String,
    /// How many batches had been taken when it failed alone for the first time.
    failed_at: Option<usize>,
}

/// A text that was asked for.
struct Owner {
    pieces: Vec<(Vec<f32>, usize)>,
    /// Pieces that are still to come.
    open: usize,
    refused: Option<String>,
}

struct Run<'a> {
    means: Means<'a>,
    owners: Vec<Owner>,
    rest: VecDeque<Job>,
    /// Batches that are made up already; the last goes first.
    groups: Vec<Vec<Job>>,
    /// How many batches were taken.
    taken: usize,
    /// Failures since then.
    failures: u32,
    waited: Duration,
}

/// The vectors of some texts, in their order, and what ended the call early, if anything did.
pub(crate) fn run(means: Means<'_>, texts: &[String]) -> (Vec<Embedded>, Option<Trouble>) {
    let is_blank = |text: &String| !text.chars().any(char::is_alphanumeric);
    let owner = |text: &String| Owner {
        pieces: Vec::new(),
        open: usize::from(!is_blank(text)),
        refused: None,
    };
    let job = |(owner, text): (usize, &String)| Job {
        owner,
        text: text.clone(),
        failed_at: None,
    };
    let mut run = Run {
        means,
        owners: texts.iter().map(owner).collect(),
        rest: { texts.iter().enumerate() }
            .filter(|(_, text)| !is_blank(text))
            .map(job)
            .collect(),
        groups: Vec::new(),
        taken: 0,
        failures: 0,
        waited: Duration::ZERO,
    };
    let mut trouble = None;
    while let Some(group) = run.next() {
        if let Err(end) = run.send(group) {
            trouble = Some(end);
            break;
        }
    }
    let said = trouble.as_ref().map_or("", |trouble| &*trouble.said);
    let outcomes = run.owners.into_iter().zip(texts);
    let outcomes = outcomes.map(|(owner, text)| match is_blank(text) {
        true => Embedded::Empty,
        false => owner.outcome(said),
    });
    (outcomes.collect(), trouble)
}

impl Owner {
    fn outcome(self, trouble: &str) -> Embedded {
        if let Some(reason) = self.refused {
            return Embedded::Refused { reason };
        }
        if self.open > 0 {
            let reason = trouble.to_string();
            return Embedded::Failed { reason };
        }
        join(self.pieces).map_or_else(
            || Embedded::Refused {
                reason: "the vectors of its pieces cancel each other out".to_string(),
            },
            Embedded::Vector,
        )
    }
}

impl Run<'_> {
    /// The next batch.
    fn next(&mut self) -> Option<Vec<Job>> {
        let learnt = self.means.limits.now();
        let is_too_long = |job: &Job| {
            learnt
                .too_long
                .is_some_and(|most| tokens(&job.text) >= most)
        };
        while let Some(group) = self.groups.pop() {
            // What has turned out to be too long meanwhile is cut first.
            let alone = group.len() == 1;
            let (long, group): (Vec<Job>, Vec<Job>) = group
                .into_iter()
                .partition(|job| !alone && is_too_long(job));
            long.into_iter()
                .rev()
                .for_each(|job| self.rest.push_front(job));
            if !group.is_empty() {
                return Some(group);
            }
        }
        let (mut group, mut bytes) = (Vec::new(), 0);
        while group.len() < learnt.texts {
            let Some(job) = self.rest.pop_front() else {
                break;
            };
            if self.owners[job.owner].refused.is_some() {
                continue;
            }
            if is_too_long(&job) && self.cut(&job) {
                continue;
            }
            bytes += job.text.len();
            if bytes > learnt.bytes && !group.is_empty() {
                self.rest.push_front(job);
                break;
            }
            group.push(job);
        }
        (!group.is_empty()).then_some(group)
    }

    /// Puts two pieces in a text's place. Whether it could be cut.
    fn cut(&mut self, job: &Job) -> bool {
        let Some((first, second)) = halves(&job.text) else {
            return false;
        };
        for piece in [second, first] {
            self.rest.push_front(Job {
                owner: job.owner,
                text: piece.to_string(),
                failed_at: None,
            });
        }
        self.owners[job.owner].open += 1;
        true
    }

    fn ask(&self, group: &[Job]) -> Result<Vec<Numbers>, Fault> {
        let prefix = self.means.prefix;
        let texts: Vec<String> = { group.iter() }
            .map(|job| format!("{prefix}{}", job.text))
            .collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        self.means.wire.ask(&texts, self.means.timeout)
    }

    fn send(&mut self, mut group: Vec<Job>) -> Result<(), Trouble> {
        let count = group.len();
        let bytes = group.iter().map(|job| job.text.len()).sum();
        let fault = match self.ask(&group) {
            Ok(vectors) => return self.take(group, vectors),
            Err(fault) => fault,
        };
        let limits = self.means.limits;
        match fault.kind {
            Kind::Down | Kind::Settings => return Err(fault.into()),
            Kind::Busy(wait) => {
                limits.overrun(count);
                group
                    .into_iter()
                    .rev()
                    .for_each(|job| self.rest.push_front(job));
                return self.pause(wait, fault);
            }
            Kind::Slow if count == 1 => return Err(fault.into()),
            Kind::Slow => {
                // If even one text alone takes too long, the server is not at work.
                limits.overrun(2);
                let others = group.split_off(1);
                self.groups.push(others);
                self.groups.push(group);
            }
            Kind::Unordered if count > 1 => {
                limits.one_by_one();
                self.groups
                    .extend(group.into_iter().rev().map(|job| vec![job]));
            }
            Kind::TooLong | Kind::TooMany | Kind::Texts if count > 1 => {
                if fault.kind == Kind::TooMany {
                    limits.too_many(count, bytes);
                }
                let second = group.split_off(count / 2);
                self.groups.push(second);
                self.groups.push(group);
            }
            Kind::TooLong | Kind::TooMany => {
                for job in group {
                    limits.too_long(tokens(&job.text));
                    if !self.cut(&job) {
                        self.owners[job.owner].refused = Some(fault.said.clone());
                    }
                }
            }
            Kind::Texts | Kind::Unordered => {
                for job in group {
                    self.doubt(job, fault.clone())?;
                }
            }
        }
        Ok(())
    }

    /// Gives vectors to their texts.
    fn take(&mut self, group: Vec<Job>, vectors: Vec<Numbers>) -> Result<(), Trouble> {
        let dimension = self.means.dimension;
        let other = |numbers: &Numbers| numbers.as_ref().is_ok_and(|v| v.len() != dimension);
        if let Some(Ok(vector)) = vectors.iter().find(|numbers| other(numbers)) {
            let said = format!(
                "vectors of {} numbers came, and not of {dimension}",
                vector.len()
            );
            return Err(Trouble {
                said,
                rest: None,
                other_model: true,
            });
        }
        if vectors.iter().any(Result::is_ok) {
            self.means.limits.took(group.len());
            self.taken += 1;
            self.failures = 0;
        }
        for (job, numbers) in group.into_iter().zip(vectors) {
            match numbers {
                Ok(vector) => {
                    let owner = &mut self.owners[job.owner];
                    owner.pieces.push((vector, job.text.chars().count()));
                    owner.open = owner.open.saturating_sub(1);
                }
                Err(said) => {
                    let kind = Kind::Texts;
                    self.doubt(job, Fault { kind, said })?;
                }
            }
        }
        Ok(())
    }

    /// A text failed for itself. It is asked for once more alone; if it fails again while the server
    /// takes another text, the text is at fault.
    fn doubt(&mut self, mut job: Job, fault: Fault) -> Result<(), Trouble> {
        let Some(failed_at) = job.failed_at else {
            job.failed_at = Some(self.taken);
            self.groups.push(vec![job]);
            return Ok(());
        };
        let is_well = self.taken > failed_at || {
            let probe = self.means.wire.ask(&[PROBE], self.means.timeout);
            probe.is_ok_and(|vectors| vectors.iter().all(Result::is_ok))
        };
        if !is_well {
            return Err(fault.into());
        }
        self.owners[job.owner].refused = Some(fault.said);
        Ok(())
    }

    /// Leaves a busy server alone for a while.
    fn pause(&mut self, told: Option<Duration>, fault: Fault) -> Result<(), Trouble> {
        self.failures += 1;
        let wait = match told {
            // Not all of its clients come back in the same instant.
            Some(told) => told + Duration::from_millis((100.0 * chance()) as u64),
            None if self.failures > ATTEMPTS => return Err(fault.into()),
            None => backoff(self.failures - 1, chance()),
        };
        if self.waited + wait > PATIENCE {
            let said = format!("{}; it is asked again after {}", fault.said, clock(wait));
            return Err(Trouble {
                said,
                rest: Some(wait),
                other_model: false,
            });
        }
        self.waited += wait;
        std::thread::sleep(wait);
        Ok(())
    }
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Trouble {
        Trouble {
            said: fault.said,
            rest: None,
            other_model: false,
        }
    }
}
