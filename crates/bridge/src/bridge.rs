//! The one place that every request goes through, whatever road it came by: who asks, what of
//! which vault, how fresh the index is, the ability itself, and the log.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use lorewell_agents::{AgentsError, AuditEntry, AuditLog, Caller, Gate, Grant, Reader};
use lorewell_capabilities::{Access, Desk, Entry, Failure, table};
use lorewell_direct::audit_log;
use lorewell_engine::Observer;
use lorewell_setup::{Environment, VaultRef, agents_dir, rest_models};
use serde_json::Value;
use tracing::{info, warn};

use crate::Refusal;
use crate::fresh::Surroundings;
use crate::hearing::Cancel;
use crate::limits::Limits;
use crate::news::{Item, Sender};
use crate::shares::Shares;
use crate::vaults::Vaults;
use crate::work::{Place, Work};

/// A warm process's abilities. One a process, shared by its threads.
pub struct Bridge {
    table: &'static [Entry],
    gate: Gate,
    audit: AuditLog,
    vaults: Vaults,
    limits: Limits,
    of_agents: Arc<Shares>,
    of_owner: Arc<Shares>,
    work: Work,
    pub(crate) news: Sender,
    stopping: Arc<AtomicBool>,
    running: AtomicUsize,
    last_used: Mutex<Instant>,
}

/// One request.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    /// The capability: its id or its name.
    pub capability: String,
    /// The vault: a name, or nothing where it is clear which. Of the owner also a folder.
    pub vault: Option<String>,
    /// The capability's input.
    pub input: Value,
    /// Whether changes that were made just now are waited for.
    pub refresh: bool,
    /// The print of the asker's settings, if it has any of its own.
    pub print: Option<String>,
}

/// A request that is being answered.
struct Running<'a>(&'a Bridge);

impl Bridge {
    /// The bridge of the user whose surroundings these are. `named` vaults are known beside those
    /// of the list.
    pub fn new(environment: Environment, named: Vec<VaultRef>, limits: Limits) -> Bridge {
        let news = Sender::new();
        let gate = Gate::new(&agents_dir(&environment));
        let audit = audit_log(&environment);
        let surroundings = Surroundings {
            news: news.clone(),
            audit: audit.clone(),
        };
        Bridge {
            table: table(),
            gate,
            vaults: Vaults::new(environment, named, surroundings),
            audit,
            of_agents: Shares::new(limits.of_agent, usize::MAX),
            of_owner: Shares::new(limits.of_owner, usize::MAX),
            work: Work::new(limits.at_work),
            limits,
            news,
            stopping: Arc::default(),
            running: AtomicUsize::new(0),
            last_used: Mutex::new(Instant::now()),
        }
    }

    /// The same with these abilities in place of those of the capability table.
    #[must_use]
    pub fn with_table(mut self, table: &'static [Entry]) -> Bridge {
        self.table = table;
        self
    }

    /// Answers a request. `observer` hears of long work, and says when nobody waits any longer.
    ///
    /// # Errors
    /// Why it is refused, or what the capability says.
    pub fn answer(
        &self,
        caller: &Caller,
        ask: Ask,
        observer: &dyn Observer,
    ) -> Result<Value, Failure> {
        let began = Instant::now();
        let _running = self.running()?;
        let name = ask.capability.clone();
        let outcome = catch_unwind(AssertUnwindSafe(|| self.checked(caller, ask, observer)));
        let outcome = outcome.unwrap_or_else(|_| {
            // Where it was is in the log; the words of a panic may hold text of notes.
            Err(Failure::internal("the answer could not be made"))
        });
        let ms = began.elapsed().as_millis() as u64;
        let caller = caller.name();
        match &outcome {
            Ok(_) => info!(caller, ability = self.known(&name), ms, "answered"),
            Err(failure) => {
                let code = failure.code.as_str();
                warn!(
                    caller,
                    ability = self.known(&name),
                    code,
                    ms,
                    "not answered"
                );
            }
        }
        outcome
    }

    fn checked(
        &self,
        caller: &Caller,
        ask: Ask,
        observer: &dyn Observer,
    ) -> Result<Value, Failure> {
        let Some(entry) = self.entry(&ask.capability) else {
            return Err(Refusal::NoSuchAbility(ask.capability).into());
        };
        let shares = match caller {
            Caller::Owner => &self.of_owner,
            _ => &self.of_agents,
        };
        let _share = shares.take(caller)?;
        self.check_question(&ask.input)?;
        entry.check_sizes(&ask.input)?;
        let vault = self
            .vaults
            .meant(&self.gate, caller, ask.vault.as_deref())?;
        let grant = self.gate.allow(caller, entry, &vault.name, &vault.path)?;
        let outcome = self.granted((caller, grant), (entry, &vault), ask, observer);
        if grant.logged {
            // Before anything leaves: an answer that cannot be logged is none.
            let whom = (caller, grant.reader);
            let which = (vault.name.as_str(), vault.path.as_path());
            let said = outcome.as_ref();
            let mut told = AuditEntry::new(Timestamp::now(), whom, entry, which, said);
            told.late = observer.stopped();
            self.audit.record(&told)?;
        }
        outcome
    }

    fn granted(
        &self,
        (caller, grant): (&Caller, Grant),
        (entry, vault): (&Entry, &VaultRef),
        ask: Ask,
        observer: &dyn Observer,
    ) -> Result<Value, Failure> {
        let open = self.vaults.open(vault, grant.reader)?;
        let (host, print) = open.kept.host()?;
        if ask.print.is_some_and(|theirs| theirs != print) {
            return Err(Refusal::OtherSettings.into());
        }
        let mut desk = Desk::new(&host);
        // A note that came behind a fence just now must not be given, whatever the asker wishes.
        if entry.fresh && (ask.refresh || host.has_fences()) {
            desk = Desk::refreshed(&host, open.freshness(&host, observer)?);
        }
        desk.listener = observer;
        let _place = self.place(caller, entry, observer)?;
        let output = (entry.run)(&desk, ask.input)?;
        if grant.logged {
            self.check_answer(&output)?;
        }
        Ok(output)
    }

    /// A place at work. What builds may wait long for the disk and takes none.
    fn place(
        &self,
        caller: &Caller,
        entry: &Entry,
        observer: &dyn Observer,
    ) -> Result<Option<Place<'_>>, Failure> {
        if entry.access == Access::Manage {
            return Ok(None);
        }
        loop {
            let soon = Instant::now() + Duration::from_millis(100);
            if let Some(place) = self.work.place(caller, soon) {
                return Ok(Some(place));
            }
            if observer.stopped() {
                return Err(Refusal::Stopping.into());
            }
        }
    }

    fn check_question(&self, input: &Value) -> Result<(), Failure> {
        let question = input.get("query").and_then(Value::as_str).unwrap_or("");
        let most = self.limits.question;
        // Bytes are counted first, for that costs nothing.
        if question.len() > most && question.chars().count() > most {
            return Err(Refusal::QuestionTooLong(most).into());
        }
        Ok(())
    }

    fn check_answer(&self, output: &Value) -> Result<(), Failure> {
        let mut size = Size(self.limits.answer);
        match serde_json::to_writer(&mut size, output) {
            Ok(()) => Ok(()),
            Err(_) => Err(Refusal::AnswerTooLarge(self.limits.answer).into()),
        }
    }

    /// The abilities that there are.
    pub fn table(&self) -> &'static [Entry] {
        self.table
    }

    /// Who may ask what.
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    /// The limits.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The vaults that a caller may ask.
    ///
    /// # Errors
    /// The settings or the register cannot be read.
    pub fn vaults_of(&self, caller: &Caller) -> Result<Vec<VaultRef>, Failure> {
        self.vaults.list(&self.gate, caller)
    }

    /// Whether a caller may hear of this.
    pub(crate) fn may_hear(&self, caller: &Caller, item: &Item) -> Result<bool, AgentsError> {
        // What remote readers hear is told apart only where a vault has fences.
        let reader = self.gate.reader(caller)?;
        let is_theirs = match item.reader {
            Reader::Remote => reader == Reader::Remote,
            Reader::Local => reader == Reader::Local || !self.vaults.has_fences(&item.folder),
        };
        Ok(is_theirs && self.gate.may_ask(caller, &item.folder)?)
    }

    /// Opens a vault before it is asked.
    ///
    /// # Errors
    /// Its folder or settings.
    pub fn open(&self, vault: &VaultRef) -> Result<(), Failure> {
        self.vaults.open(vault, Reader::Local).map(drop)
    }

    /// Folders of the vaults that are open.
    pub fn open_vaults(&self) -> Vec<std::path::PathBuf> {
        self.vaults.folders()
    }

    /// How many requests are being answered.
    pub fn running_now(&self) -> usize {
        self.running.load(Ordering::SeqCst)
    }

    /// When a request was last begun or ended.
    pub fn last_used(&self) -> Instant {
        *self
            .last_used
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets go of what is kept warm.
    pub fn rest(&self) {
        self.vaults.rest();
        rest_models();
    }

    /// Refuses requests from now on.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::SeqCst);
    }

    /// What ends the work of one request, and ends it too when the bridge stops.
    pub fn cancel(&self) -> Cancel {
        Cancel::with(Arc::clone(&self.stopping))
    }

    /// Whether it was told to stop.
    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }

    /// Closes all vaults and waits for their watchers.
    pub fn close(&self) {
        self.stop();
        self.vaults.close();
    }

    /// How long a request for this capability may take.
    pub fn time_for(&self, capability: &str) -> Duration {
        match self.entry(capability).map(|entry| entry.access) {
            Some(Access::Manage) => self.limits.build_time,
            _ => self.limits.time,
        }
    }

    /// The row of a capability, by its id or name.
    pub fn entry(&self, capability: &str) -> Option<&'static Entry> {
        let named = |entry: &&Entry| entry.id == capability || entry.name() == capability;
        self.table.iter().find(named)
    }

    /// What the log may name: nothing that a caller made up.
    fn known(&self, capability: &str) -> &'static str {
        self.entry(capability).map_or("unknown", |entry| entry.id)
    }

    fn running(&self) -> Result<Running<'_>, Refusal> {
        self.running.fetch_add(1, Ordering::SeqCst);
        self.touch();
        let running = Running(self);
        if self.is_stopping() {
            return Err(Refusal::Stopping);
        }
        Ok(running)
    }

    fn touch(&self) {
        *self
            .last_used
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.touch();
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Counts what is written, and fails where it is too much.
struct Size(usize);

impl std::io::Write for Size {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 = self
            .0
            .checked_sub(bytes.len())
            .ok_or(std::io::ErrorKind::FileTooLarge)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Ask {
    /// A request for changes to be waited for, as every surface makes it unless it is told
    /// otherwise.
    pub fn new(capability: &str, vault: Option<&str>, input: Value) -> Ask {
        Ask {
            capability: capability.to_string(),
            vault: vault.map(str::to_string),
            input,
            refresh: true,
            print: None,
        }
    }
}
