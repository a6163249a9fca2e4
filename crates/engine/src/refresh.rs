//! Bringing the index up to date before an answer, or on request.

use lorewell_embed::Cost;
use lorewell_index::{
    Changes, IndexError, Lock, LockAttempt, ModelState, Observer, Snapshot, Stage, UnreadNotes,
    UpdateReport, Writer, leaves_out,
};
use lorewell_text::NotePath;
use lorewell_vault::Listing;

use crate::portable::When;
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
    /// Why the index is not what the folder is, for people; nothing if it is.
    pub reason: Option<String>,
    /// Notes of the index that cannot be read now, so that their last content answers.
    pub unreadable: UnreadNotes,
    /// What an update did, if one ran.
    pub report: Option<UpdateReport>,
}

impl Host {
    /// Compares the folder with the index, and takes in what changed.
    ///
    /// Where that is not possible (another process writes, the disk is full, the index folder is
    /// read-only) and there is an index, it stays as it is and the outcome says what is pending.
    /// Only where the rules of what is left out changed too, this waits or fails rather than
    /// answer from notes that are now excluded.
    ///
    /// The index also stays where the folder is bare: a drive that is not mounted looks like that,
    /// and [`Host::rebuild`] is there for who really took everything out. An index of an older
    /// format is made anew.
    ///
    /// # Errors
    /// The folder cannot be read, or there is no usable index and none can be made.
    pub fn refresh(
        &self,
        patience: Patience,
        observer: &dyn Observer,
    ) -> Result<Freshness, EngineError> {
        let freshness = self.bring_up_to_date(patience, observer)?;
        self.tend_portable(When::Due);
        Ok(freshness)
    }

    fn bring_up_to_date(
        &self,
        patience: Patience,
        observer: &dyn Observer,
    ) -> Result<Freshness, EngineError> {
        let listing = self.list()?;
        let behind = match self.compare(&listing) {
            Err(IndexError::Older { .. }) if !is_bare(&listing) => {
                return self.replace_older(listing, observer);
            }
            other => other?,
        };
        let Some(behind) = behind else {
            let lock = Lock::wait(&self.layout)?;
            return Ok(self.update(lock, listing, 0, observer)?);
        };
        if behind.is_current {
            return Ok(Freshness::of(0, behind.changes.unread(), None));
        }
        if is_bare(&listing) && behind.notes > 0 {
            return Ok(self.stays(behind, BARE.to_string()));
        }
        let outcome = match (Lock::attempt(&self.layout), patience) {
            (Ok(LockAttempt::Taken(lock)), _) => {
                self.update(lock, listing, behind.generation, observer)
            }
            (Ok(LockAttempt::HeldBy(process)), Patience::Read) if behind.may_stay() => {
                return Ok(self.stays(behind, busy(process)));
            }
            (Ok(LockAttempt::HeldBy(_)), _) => Lock::wait(&self.layout)
                .and_then(|lock| self.update(lock, listing, behind.generation, observer)),
            (Err(error), _) => Err(error),
        };
        match outcome {
            Ok(freshness) => Ok(freshness),
            Err(
                error @ (IndexError::DiskFull(_)
                | IndexError::NoPermission(_)
                | IndexError::Busy(_)
                // What was damaged is marked: the next refresh makes it anew.
                | IndexError::Damaged { .. }),
            ) if behind.may_stay() => Ok(self.stays(behind, error.to_string())),
            Err(error) => Err(error.into()),
        }
    }

    /// Makes an index anew that an older version of the program wrote: all of it follows from the
    /// notes.
    fn replace_older(
        &self,
        listing: Listing,
        observer: &dyn Observer,
    ) -> Result<Freshness, EngineError> {
        let lock = Lock::wait(&self.layout)?;
        // Another process may have been first.
        if matches!(self.snapshot(), Err(IndexError::Older { .. })) {
            self.layout.discard()?;
        }
        Ok(self.update(lock, listing, 0, observer)?)
    }

    /// Reads every note anew. A healthy index goes on answering as it was until the last note is
    /// read, and keeps the vectors of texts that stay; one that is damaged
    /// or of another format is thrown away first.
    ///
    /// # Errors
    /// See [`IndexError`]; and the folder of notes.
    pub fn rebuild(&self, observer: &dyn Observer) -> Result<Freshness, EngineError> {
        // Nothing is thrown away before the notes are known to be there.
        self.list()?;
        let lock = Lock::wait(&self.layout)?;
        let listing = self.list()?;
        // Damage to what is derived from the vectors is no reason to lose them.
        self.layout.forget_codes()?;
        match self.snapshot().and_then(|snapshot| snapshot.verify()) {
            Ok(()) | Err(IndexError::Absent(_)) => {}
            Err(
                IndexError::Damaged { .. } | IndexError::Older { .. } | IndexError::Newer { .. },
            ) => self.layout.discard()?,
            // Lack of room, of permission or of patience says nothing against the index.
            Err(error) => return Err(error.into()),
        }
        let mut writer = self.writer(lock)?;
        writer.read_everything()?;
        let freshness = self.run(writer, &listing, observer)?;
        self.tend_portable(When::Now);
        Ok(freshness)
    }

    /// How far the index is behind the folder, without changing anything.
    ///
    /// # Errors
    /// The folder or the index cannot be read.
    pub fn behind(&self) -> Result<usize, EngineError> {
        let listing = self.list()?;
        Ok(self
            .compare(&listing)?
            .map_or(listing.notes.len(), |behind| self.count(behind.changes)))
    }

    /// How the index stands to the folder while something else brings it up to date; `reason` says
    /// what, for people. Changes nothing.
    ///
    /// # Errors
    /// The folder or the index cannot be read.
    pub fn standing(&self, reason: &str) -> Result<Freshness, EngineError> {
        let listing = self.list()?;
        Ok(match self.compare(&listing)? {
            Some(behind) => self.stays(behind, reason.to_string()),
            None => Freshness::of(
                listing.notes.len(),
                UnreadNotes::default(),
                Some(reason.to_string()),
            ),
        })
    }

    /// An index that cannot be brought up to date now, and why.
    fn stays(&self, behind: Behind, reason: String) -> Freshness {
        let changes = self.settled(behind.changes);
        let pending = changes.pending();
        Freshness::of(pending, changes.unread(), (pending > 0).then_some(reason))
    }

    /// How many notes really differ.
    fn count(&self, changes: Changes) -> usize {
        self.settled(changes).pending()
    }

    /// What really differs: files with a doubtful stamp are read, and new ones where a rule asks for
    /// what is in them.
    pub(crate) fn settled(&self, mut changes: Changes) -> Changes {
        changes.settle(|path| self.vault.read(path).map(|file| file.content_hash));
        if self.has_fences() {
            changes.keep_known();
        }
        changes.drop_new(|path| self.is_left_out(path));
        changes
    }

    /// Whether a rule leaves a file out by what is in it.
    pub(crate) fn is_left_out(&self, path: &NotePath) -> bool {
        let settings = &self.settings.index;
        settings.rules.looks_into_notes()
            && self
                .vault
                .read(path)
                .is_ok_and(|file| leaves_out(settings, &file.text))
    }

    /// `None` where there is no index yet.
    fn compare(&self, listing: &Listing) -> Result<Option<Behind>, IndexError> {
        let snapshot = match self.snapshot() {
            Ok(snapshot) => snapshot,
            Err(IndexError::Absent(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        let changes = snapshot.changes(listing)?;
        let totals = snapshot.totals();
        Ok(Some(Behind {
            is_current: changes.is_empty()
                && !totals.unfinished
                && snapshot.damage().is_none()
                && !self.lacks_vectors(&snapshot)?
                && snapshot.was_read_with(&self.settings.index, listing)?,
            same_rules: snapshot.excludes_by(&listing.rules)?,
            notes: totals.notes,
            generation: totals.generation,
            changes,
        }))
    }

    /// Whether vectors are missing that are made without waiting: those of a cheap model, wanted or
    /// answering in the place of another.
    fn lacks_vectors(&self, snapshot: &Snapshot) -> Result<bool, IndexError> {
        if snapshot.totals().passages == 0 {
            return Ok(false);
        }
        let complete = snapshot.model().is_some_and(ModelState::is_complete);
        if self.embedder.cost() == Cost::Cheap {
            return Ok(!complete);
        }
        let wanted = self.wanted_snapshot()?;
        let answers = snapshot.fingerprint() != wanted.fingerprint();
        Ok(match self.deputy {
            _ if answers => !complete,
            Some(_) => self.is_troubled() || wants_deputy(wanted.model()),
            None => false,
        })
    }

    /// `listing` and `generation` were seen before the lock was ours.
    fn update(
        &self,
        lock: Lock,
        listing: Listing,
        generation: u64,
        observer: &dyn Observer,
    ) -> Result<Freshness, IndexError> {
        let writer = self.writer(lock)?;
        if writer.generation()? == generation {
            return self.run(writer, &listing, observer);
        }
        // Another process wrote meanwhile, and may know files that came after our look.
        let listing = self.list()?;
        self.run(writer, &listing, observer)
    }

    fn run(
        &self,
        mut writer: Writer,
        listing: &Listing,
        observer: &dyn Observer,
    ) -> Result<Freshness, IndexError> {
        let behind_fences = BehindFences(observer);
        let observer = match self.has_fences() {
            true => &behind_fences,
            false => observer,
        };
        let mut report = writer.update(
            &self.vault,
            listing,
            &self.settings.index,
            self.embedder,
            observer,
        )?;
        drop(writer);
        self.fill_deputy(&report, observer)?;
        if self.has_fences() {
            report.skipped = 0;
        }
        let (pending, unreadable) = if report.stopped || report.unread > 0 {
            let changes = self.settled(self.snapshot()?.changes(listing)?);
            (changes.pending(), changes.unread())
        } else {
            (0, report.unreadable.clone())
        };
        let reason = if report.stopped {
            Some("the build was interrupted; the next one goes on from here".to_string())
        } else {
            (pending > 0).then(|| "they cannot be read just now".to_string())
        };
        Ok(Freshness {
            report: Some(report),
            ..Freshness::of(pending, unreadable, reason)
        })
    }
}

impl Host {
    /// Embeds for the model that answers until the wanted one covers everything, where it lacks
    /// something. It is cheap, so this is not put off.
    fn fill_deputy(
        &self,
        report: &UpdateReport,
        observer: &dyn Observer,
    ) -> Result<(), IndexError> {
        let Some(deputy) = self.deputy.filter(|_| !report.stopped) else {
            return Ok(());
        };
        if !self.lacks_vectors(&self.snapshot()?)? {
            return Ok(());
        }
        let lock = Lock::wait(&self.layout)?;
        let mut writer = Writer::open(&self.layout, lock, deputy)?;
        writer.fill_in(&self.vault, &self.settings.index, deputy, observer)
    }
}

/// Whether another model answers better than the wanted one with what it has by now: it has fewer
/// vectors than it lacks.
fn wants_deputy(wanted: Option<&ModelState>) -> bool {
    wanted.is_none_or(|model| model.missing > model.embedded)
}

impl Freshness {
    /// `pending` notes are still to be taken in, for a reason. Those that cannot be read come
    /// on top.
    fn of(pending: usize, unreadable: UnreadNotes, reason: Option<String>) -> Freshness {
        let cannot = match unreadable.doubtful() {
            0 => None,
            1 => Some("1 note cannot be read; its last content answers".to_string()),
            n => Some(format!(
                "{n} notes cannot be read; their last content answers"
            )),
        };
        Freshness {
            pending: pending + unreadable.changed(),
            reason: match (reason, cannot) {
                (Some(reason), Some(cannot)) => Some(format!("{reason}; {cannot}")),
                (reason, cannot) => reason.or(cannot),
            },
            unreadable,
            report: None,
        }
    }
}

/// An observer that does not hear which files are read, nor how many: some may be behind a fence.
struct BehindFences<'a>(&'a dyn Observer);

impl Observer for BehindFences<'_> {
    fn stage(&self, stage: Stage) {
        self.0.stage(stage);
    }

    fn stopped(&self) -> bool {
        self.0.stopped()
    }
}

/// How an index stands to a listing.
struct Behind {
    /// There is nothing to do.
    is_current: bool,
    /// The same notes are excluded as when it was written.
    same_rules: bool,
    changes: Changes,
    /// Notes that the index holds.
    notes: u64,
    generation: u64,
}

impl Behind {
    /// Whether answers may come from it as it is. A catalogue that a first build has only just
    /// made would answer that there is nothing, and is waited for like one that is not there.
    fn may_stay(&self) -> bool {
        self.same_rules && self.generation > 0
    }
}

const BARE: &str = "the folder is bare, as if its drive were not there, so the notes known from \
                    before stay; `lorewell rebuild` drops them";

/// Whether there is nothing at all in the folder, not even Obsidian's settings.
fn is_bare(listing: &Listing) -> bool {
    listing.notes.is_empty()
        && listing.left_out.is_empty()
        && listing.unreadable.is_empty()
        && listing.other_files.is_empty()
}

fn busy(process: Option<u32>) -> String {
    match process {
        Some(id) => format!("another process ({id}) is taking them in"),
        None => "another process is taking them in".to_string(),
    }
}
