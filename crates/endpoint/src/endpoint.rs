//! An endpoint as a model.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use lorewell_embed::{Cost, Embedded, Embedder, Fingerprint, FingerprintParts, PassageInput};

use crate::exchange::Wire;
use crate::fault::{Fault, Kind};
use crate::identity::PROBE;
use crate::limits::Limits;
use crate::run::{Means, Trouble, run};
use crate::{Address, EndpointError, Identities, Identity, Key, Prefixes};

/// The rules by which a text is made of a passage, and a vector of pieces.
const POOLING: &str = "of the endpoint; pieces of a long text: mean by length";
/// What its lane counts beside words: what transformers are given that were measured here.
const WEIGHT: f32 = 0.8;
/// A person waits for a question's vector.
const QUESTION: Duration = Duration::from_secs(10);
/// After an endpoint failed it is not asked for a question's vector for so long: questions are
/// answered without it at once.
const REST: Duration = Duration::from_secs(5);
/// However long a server wants to be left alone, after so long it is tried again.
const LONGEST_REST: Duration = Duration::from_secs(3600);
/// So long the model is taken to be the one that it was.
const TRUST: Duration = Duration::from_secs(60);
/// Where nothing is known of the model, so that its length must be given as something.
const UNKNOWN: usize = 1;

/// What an endpoint needs to be told.
#[derive(Clone, Debug, PartialEq)]
pub struct EndpointSettings {
    /// Where it is.
    pub address: Address,
    /// The model's name, as the server knows it.
    pub model: String,
    /// The key, if it wants one; or why there is none, for people, so that the words go on.
    pub key: Result<Option<Key>, String>,
    /// What is put before texts.
    pub prefixes: Prefixes,
    /// At most so many texts in one request.
    pub batch: usize,
    /// A request for passages may take so long.
    pub timeout: Duration,
    /// The file that remembers which models endpoints have.
    pub memory: PathBuf,
}

/// A model at an endpoint.
pub struct Endpoint {
    settings: EndpointSettings,
    wire: Wire,
    limits: Limits,
    memory: Identities,
    fingerprint: Fingerprint,
    identity: Option<Identity>,
    opened: Instant,
    state: Mutex<State>,
}

/// How it fared so far.
#[derive(Default)]
struct State {
    /// When the model was last found to be the one that it was.
    checked: Option<Instant>,
    /// Not to be asked before, and why.
    rest: Option<(Instant, String)>,
    /// Questions are not to be asked before.
    question_rest: Option<Instant>,
    /// What went wrong last, until something goes well.
    trouble: Option<String>,
    /// When its model was last asked for in vain, where nothing is known of it.
    tried: Option<Instant>,
    /// The server has another model by now.
    outdated: bool,
}

impl Endpoint {
    /// The endpoint as it was found before. Where it never was, it is asked now, and if it does
    /// not answer nothing is known of its model: everything fails until it is opened again.
    pub fn open(settings: EndpointSettings) -> Endpoint {
        let known = Identities::at(&settings.memory).of(settings.address.url(), &settings.model);
        if known.is_some() {
            return Endpoint::with(settings, known);
        }
        let endpoint = Endpoint::with(settings, None);
        match endpoint.find_out(QUESTION) {
            Ok(identity) => Endpoint::just_seen(endpoint.settings, identity),
            Err(error) => {
                endpoint.lock().trouble = Some(error.to_string());
                endpoint
            }
        }
    }

    /// Asks the endpoint now, and remembers its model. What it has to say if it does not work
    /// names the address that was asked, the status and the server's own words.
    ///
    /// # Errors
    /// It cannot be reached, refuses, or gives no vector; its model cannot be remembered.
    pub fn try_out(settings: EndpointSettings) -> Result<Endpoint, EndpointError> {
        let timeout = settings.timeout;
        let endpoint = Endpoint::with(settings, None);
        let identity = endpoint.find_out(timeout)?;
        Ok(Endpoint::just_seen(endpoint.settings, identity))
    }

    fn just_seen(settings: EndpointSettings, identity: Identity) -> Endpoint {
        let endpoint = Endpoint::with(settings, Some(identity));
        endpoint.lock().checked = Some(Instant::now());
        endpoint
    }

    fn with(settings: EndpointSettings, identity: Option<Identity>) -> Endpoint {
        let key = settings.key.clone().unwrap_or_default();
        let revision = identity
            .as_ref()
            .map_or("unknown".to_string(), Identity::revision);
        let prefix = match settings.prefixes.passage.as_str() {
            "" => "none",
            prefix => prefix,
        };
        let fingerprint = Fingerprint::new(&FingerprintParts {
            model: &settings.model,
            revision: &revision,
            precision: "endpoint",
            pooling: POOLING,
            prefix,
            text_rules: PassageInput::TEXT_RULES,
        });
        Endpoint {
            wire: Wire::new(settings.address.clone(), settings.model.clone(), key),
            limits: Limits::new(settings.batch),
            memory: Identities::at(&settings.memory),
            fingerprint,
            identity,
            opened: Instant::now(),
            state: Mutex::default(),
            settings,
        }
    }

    /// What it was told.
    pub fn settings(&self) -> &EndpointSettings {
        &self.settings
    }

    /// Whether the server was found to have another model than the one that this stands for, or
    /// nothing was known of it a moment ago: it is to be opened anew.
    pub fn is_outdated(&self) -> bool {
        match self.identity {
            Some(_) => self.lock().outdated,
            None => self.opened.elapsed() > REST,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for the probe, and remembers the model that it is of.
    fn find_out(&self, timeout: Duration) -> Result<Identity, EndpointError> {
        if let Err(why) = &self.settings.key {
            return Err(EndpointError::Key(why.clone()));
        }
        let fault = |fault: Fault| EndpointError::Trial(fault.said);
        let mut asked = self.wire.ask(&[PROBE], timeout);
        let began = Instant::now();
        while let Err(Fault {
            kind: Kind::Busy(Some(wait)),
            ..
        }) = &asked
            && began.elapsed() + *wait <= timeout
        {
            thread::sleep(*wait);
            asked = self.wire.ask(&[PROBE], timeout);
        }
        let vectors = asked.map_err(fault)?;
        let probe = vectors
            .into_iter()
            .next()
            .unwrap_or(Err("nothing".to_string()));
        let probe = probe.map_err(|why| {
            EndpointError::Trial(format!("{}: {why}", self.settings.address.url()))
        })?;
        self.remember(probe)
    }

    fn remember(&self, probe: Vec<f32>) -> Result<Identity, EndpointError> {
        let (url, model) = (self.settings.address.url(), &self.settings.model);
        let learnt = self.memory.learn(url, model, probe);
        learnt.map_err(|source| EndpointError::Memory {
            path: self.memory.path().to_path_buf(),
            source,
        })
    }

    /// The model as it is known, or why it cannot be used now.
    fn usable(&self) -> Result<&Identity, String> {
        if let Err(why) = &self.settings.key {
            return Err(EndpointError::Key(why.clone()).to_string());
        }
        let state = self.lock();
        if let Some((until, why)) = &state.rest
            && Instant::now() < *until
        {
            return Err(why.clone());
        }
        match &self.identity {
            Some(identity) if !state.outdated => Ok(identity),
            Some(_) => Err(OTHER_MODEL.to_string()),
            None => Err(state.trouble.clone().unwrap_or_default()),
        }
    }

    /// The same. Where nothing is known of the model yet, it is asked for again, at most every few
    /// seconds: whoever opens this anew can use it then.
    fn ready(&self) -> Result<&Identity, String> {
        if self.identity.is_none() && self.settings.key.is_ok() && self.may_find_out() {
            let found = self.find_out(QUESTION);
            self.lock().trouble = Some(match found {
                Ok(_) => "its model is known only by now".to_string(),
                Err(error) => error.to_string(),
            });
        }
        self.usable()
    }

    fn may_find_out(&self) -> bool {
        let mut state = self.lock();
        let last = state.tried.unwrap_or(self.opened);
        let may = last.elapsed() > REST;
        if may {
            state.tried = Some(Instant::now());
        }
        may
    }

    fn is_due(&self) -> bool {
        let checked = self.lock().checked;
        checked.is_none_or(|at| at.elapsed() > TRUST)
    }

    /// Compares the vector of the probe with the one that is known. One that differs is asked for
    /// again: a slip of the server is no other model.
    fn compare(&self, identity: &Identity, probe: Vec<f32>) -> Result<(), String> {
        if identity.is_same(&probe) {
            self.lock().checked = Some(Instant::now());
            return Ok(());
        }
        let again = self.wire.ask(&[PROBE], QUESTION).ok();
        let probe = match again.and_then(|mut vectors| vectors.pop()) {
            Some(Ok(probe)) if !identity.is_same(&probe) => probe,
            _ => return Err(UNSTEADY.to_string()),
        };
        self.lock().outdated = true;
        let kept = self.remember(probe).err();
        let also = kept.map_or(String::new(), |error| format!(" ({error})"));
        Err(format!("{OTHER_MODEL}{also}"))
    }

    /// Makes sure that the model is the one that it was.
    fn check(&self, identity: &Identity) -> Result<(), Trouble> {
        if !self.is_due() {
            return Ok(());
        }
        let means = self.means("", self.settings.timeout, identity);
        match run(means, &[PROBE.to_string()]) {
            (outcomes, None) => match outcomes.into_iter().next() {
                Some(Embedded::Vector(probe)) => {
                    self.compare(identity, probe).map_err(Trouble::from)
                }
                Some(Embedded::Refused { reason }) => Err(reason.into()),
                _ => Ok(()),
            },
            (_, Some(trouble)) if trouble.other_model => Err(self.look_again()),
            (_, Some(trouble)) => Err(trouble),
        }
    }

    /// Looks after a batch whether the model is still the one that it was; if not, nothing of the
    /// batch can be trusted. A server that does not answer now says nothing against what it gave.
    fn check_after(&self, identity: &Identity, outcomes: &mut [Embedded]) -> Result<(), String> {
        if !outcomes
            .iter()
            .any(|outcome| matches!(outcome, Embedded::Vector(_)))
        {
            return Ok(());
        }
        let Ok(mut vectors) = self.wire.ask(&[PROBE], self.settings.timeout) else {
            return Ok(());
        };
        let Some(Ok(probe)) = vectors.pop() else {
            return Ok(());
        };
        self.compare(identity, probe).inspect_err(|why| {
            for outcome in outcomes {
                if matches!(outcome, Embedded::Vector(_)) {
                    let reason = why.clone();
                    *outcome = Embedded::Failed { reason };
                }
            }
        })
    }

    /// Vectors of another length came: finds out which model is there.
    fn look_again(&self) -> Trouble {
        let found = self.find_out(QUESTION);
        if let Ok(found) = &found
            && Some(found) == self.identity.as_ref()
        {
            return Trouble::from(UNSTEADY.to_string());
        }
        self.lock().outdated = true;
        match found {
            Ok(_) => Trouble::from(OTHER_MODEL.to_string()),
            Err(error) => Trouble::from(format!("{OTHER_MODEL} ({error})")),
        }
    }

    fn means<'a>(&'a self, prefix: &'a str, timeout: Duration, identity: &Identity) -> Means<'a> {
        Means {
            wire: &self.wire,
            limits: &self.limits,
            prefix,
            dimension: identity.dimension(),
            timeout,
        }
    }

    /// Notes how a call ended.
    fn note(&self, trouble: Option<Trouble>) {
        let trouble = match trouble {
            Some(trouble) if trouble.other_model => Some(self.look_again()),
            other => other,
        };
        let mut state = self.lock();
        if let Some(rest) = trouble.as_ref().and_then(|trouble| trouble.rest) {
            let why = trouble.as_ref().map(|t| t.said.clone()).unwrap_or_default();
            state.rest = Some((Instant::now() + rest.min(LONGEST_REST), why));
        }
        state.question_rest = None;
        if trouble.is_some() {
            // Whoever comes back may be another.
            state.checked = None;
            state.question_rest = Some(Instant::now() + REST);
        }
        state.trouble = trouble.map(|trouble| trouble.said);
    }

    /// A question's vector; the probe goes along where it is due.
    fn question(&self, identity: &Identity, text: &str) -> Result<Embedded, String> {
        if self
            .lock()
            .question_rest
            .is_some_and(|until| Instant::now() < until)
        {
            let why = self.lock().trouble.clone();
            return Err(why.unwrap_or_default());
        }
        let is_due = self.is_due();
        let text = format!("{}{text}", self.settings.prefixes.question);
        let texts = [text.as_str(), PROBE];
        let texts = if is_due { &texts[..] } else { &texts[..1] };
        let timeout = self.settings.timeout.min(QUESTION);
        let mut vectors = self.wire.ask(texts, timeout).map_err(|fault| fault.said)?;
        if is_due && let Some(Ok(probe)) = vectors.pop() {
            self.compare(identity, probe)?;
        }
        match vectors.into_iter().next() {
            Some(Ok(vector)) if vector.len() == identity.dimension() => {
                Ok(Embedded::Vector(vector))
            }
            Some(Ok(_)) => Err(self.look_again().said),
            Some(Err(reason)) => Ok(Embedded::Refused { reason }),
            None => Err("no vector came".to_string()),
        }
    }
}

const OTHER_MODEL: &str = "the server has another model under the same name than before; the \
                           vectors of the two are kept apart, and the passages wait for the new \
                           one: `lorewell models upgrade` embeds them, and looks which model is \
                           there now";

const UNSTEADY: &str = "the server's answers for the same text differ from one moment to the next";

impl From<String> for Trouble {
    fn from(said: String) -> Trouble {
        Trouble {
            said,
            rest: None,
            other_model: false,
        }
    }
}

impl Embedder for Endpoint {
    fn model(&self) -> &str {
        &self.settings.model
    }

    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    fn dimension(&self) -> usize {
        self.identity.as_ref().map_or(UNKNOWN, Identity::dimension)
    }

    fn cost(&self) -> Cost {
        Cost::Dear
    }

    fn weight(&self) -> f32 {
        WEIGHT
    }

    fn network_target(&self) -> Option<String> {
        let address = &self.settings.address;
        let how = match (address.is_loopback(), address.is_encrypted()) {
            (true, _) => " (this machine)",
            (false, true) => "",
            (false, false) => " (not encrypted)",
        };
        Some(format!("{}{how}", address.target()))
    }

    fn trouble(&self) -> Option<String> {
        if let Err(why) = self.usable() {
            return Some(why);
        }
        let state = self.lock();
        let rests = state
            .question_rest
            .is_some_and(|until| Instant::now() < until);
        state.trouble.clone().filter(|_| rests)
    }

    fn embed_question(&self, text: &str) -> Embedded {
        if !text.chars().any(char::is_alphanumeric) {
            return Embedded::Empty;
        }
        let asked = self
            .usable()
            .and_then(|identity| self.question(identity, text));
        let mut state = self.lock();
        match asked {
            Ok(embedded) => {
                (state.question_rest, state.trouble) = (None, None);
                embedded
            }
            Err(reason) => {
                let rests = state
                    .question_rest
                    .is_some_and(|until| Instant::now() < until);
                if !rests {
                    state.question_rest = Some(Instant::now() + REST);
                }
                state.checked = None;
                state.trouble = Some(reason.clone());
                Embedded::Failed { reason }
            }
        }
    }

    fn embed_passages(&self, inputs: &[PassageInput<'_>]) -> Vec<Embedded> {
        let failed = |reason: String| vec![Embedded::Failed { reason }; inputs.len()];
        let identity = match self.ready() {
            Ok(identity) => identity,
            Err(reason) => return failed(reason),
        };
        if let Err(trouble) = self.check(identity) {
            let said = trouble.said.clone();
            self.note(Some(trouble));
            return failed(said);
        }
        let texts: Vec<String> = inputs.iter().map(PassageInput::text).collect();
        let prefix = &self.settings.prefixes.passage;
        let means = self.means(prefix, self.settings.timeout, identity);
        let (mut outcomes, mut trouble) = run(means, &texts);
        if let Err(why) = self.check_after(identity, &mut outcomes) {
            trouble = Some(why.into());
        }
        self.note(trouble);
        outcomes
    }
}
