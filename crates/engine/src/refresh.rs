//! Bringing the index up to date before an answer, or on request.

use lorewell_index::{IndexError, Lock, LockAttempt, Observer, UpdateReport, Writer};
use lorewell_vault::Listing;

use crate::{EngineError, Host};

/// What to do while another process writes the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// Go on with what there is; wait only if there is nothing yet.
    Read,
    /// Wait until it is done.
    Wait,
}

/// How the index stands to the folder after a refresh.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Freshness {
    /// Notes that differ from the folder and are not taken in.
    pub pending: usize,
    /// Why they are not, for people; nothing if there are none.
    pub reason: Option<String>,
    /// What an update did, if one ran.
    pub report: Option<UpdateReport>,
}

impl Host {
    /// Compares the folder with the index, and takes in what changed.
    ///
    /// Where that is not possible (another process writes, the disk is full, the index folder is
    /// read-only) and there is an index, it stays as it is and the outcome says what is pending.
    ///
    /// # Errors
    /// The folder cannot be read, or there is no usable index and none can be made.
    pub fn refresh(
        &self,
        patience: Patience,
        observer: &dyn Observer,
    ) -> Result<Freshness, EngineError> {
        let listing = self.vault.list(&self.settings.index.rules)?;
        let Some(pending) = self.pending(&listing)? else {
            let lock = Lock::wait(&self.layout)?;
            return Ok(self.update(lock, &listing, observer)?);
        };
        if pending == Pending::Nothing {
            return Ok(Freshness::default());
        }
        let outcome = match (Lock::attempt(&self.layout), patience) {
            (Ok(LockAttempt::Taken(lock)), _) => self.update(lock, &listing, observer),
            (Ok(LockAttempt::HeldBy(_)), Patience::Wait) => {
                Lock::wait(&self.layout).and_then(|lock| self.update(lock, &listing, observer))
            }
            (Ok(LockAttempt::HeldBy(process)), Patience::Read) => {
                return Ok(busy(pending, process));
            }
            (Err(error), _) => Err(error),
        };
        match outcome {
            Ok(freshness) => Ok(freshness),
            Err(
                error @ (IndexError::DiskFull(_)
                | IndexError::NoPermission(_)
                | IndexError::Busy(_)),
            ) => Ok(Freshness {
                pending: pending.count(),
                reason: Some(error.to_string()),
                report: None,
            }),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads every note anew. A healthy index goes on answering meanwhile; one that is damaged
    /// or of another format is thrown away first.
    ///
    /// # Errors
    /// See [`IndexError`]; and the folder of notes.
    pub fn rebuild(&self, observer: &dyn Observer) -> Result<Freshness, EngineError> {
        let listing = self.vault.list(&self.settings.index.rules)?;
        let lock = Lock::wait(&self.layout)?;
        let healthy = match self.snapshot() {
            Ok(snapshot) => snapshot.verify().is_ok(),
            Err(_) => false,
        };
        if !healthy {
            self.layout.discard()?;
        }
        let mut writer = Writer::open(&self.layout, lock, self.embedder)?;
        writer.read_everything()?;
        Ok(self.run(writer, &listing, observer)?)
    }

    /// How far the index is behind the folder, without changing anything.
    ///
    /// # Errors
    /// The folder or the index cannot be read.
    pub fn behind(&self) -> Result<usize, EngineError> {
        let listing = self.vault.list(&self.settings.index.rules)?;
        Ok(self
            .pending(&listing)?
            .map_or(listing.notes.len(), |pending| pending.count()))
    }

    /// `None` where there is no index yet.
    fn pending(&self, listing: &Listing) -> Result<Option<Pending>, IndexError> {
        let snapshot = match self.snapshot() {
            Ok(snapshot) => snapshot,
            Err(IndexError::Absent(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        let changes = snapshot.changes(listing)?;
        let unchanged = changes.is_empty()
            && !snapshot.totals().unfinished
            && snapshot.was_read_with(&self.settings.index, &listing.rules)?;
        Ok(Some(if unchanged {
            Pending::Nothing
        } else {
            Pending::Notes(changes.pending())
        }))
    }

    fn update(
        &self,
        lock: Lock,
        listing: &Listing,
        observer: &dyn Observer,
    ) -> Result<Freshness, IndexError> {
        let writer = Writer::open(&self.layout, lock, self.embedder)?;
        self.run(writer, listing, observer)
    }

    fn run(
        &self,
        mut writer: Writer,
        listing: &Listing,
        observer: &dyn Observer,
    ) -> Result<Freshness, IndexError> {
        let report = writer.update(
            &self.vault,
            listing,
            &self.settings.index,
            self.embedder,
            observer,
        )?;
        drop(writer);
        let pending = if report.stopped {
            self.pending(listing)?
                .map_or(listing.notes.len(), |pending| pending.count())
        } else {
            0
        };
        let reason = report
            .stopped
            .then(|| "the build was interrupted; the next one goes on from here".to_string());
        Ok(Freshness {
            pending,
            reason,
            report: Some(report),
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Pending {
    Nothing,
    Notes(usize),
}

impl Pending {
    fn count(self) -> usize {
        match self {
            Pending::Nothing => 0,
            Pending::Notes(count) => count,
        }
    }
}

fn busy(pending: Pending, process: Option<u32>) -> Freshness {
    let who = process.map_or_else(
        || "another process".to_string(),
        |id| format!("another process ({id})"),
    );
    Freshness {
        pending: pending.count(),
        reason: Some(format!("{who} is taking them in")),
        report: None,
    }
}
