//! One caller that is answered in this process.

use jiff::Timestamp;
use lorewell_agents::{AuditEntry, AuditLog, Caller, Gate, Grant, Reader};
use lorewell_capabilities::{Desk, Entry, Failure, Listener};
use lorewell_engine::{Freshness, Host, Patience};
use lorewell_setup::{Config, Environment, Settings, VaultRef, agents_dir, open, open_remote};
use serde_json::Value;

use crate::{audit_log, follow, of_opening, of_setup, took_out};

/// Answers one caller in this process. It keeps no vault open.
pub struct Direct {
    gate: Gate,
    log: AuditLog,
    caller: Caller,
}

/// What is asked, of which vault.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// The user's settings.
    pub config: &'a Config,
    /// Those of the vault.
    pub settings: &'a Settings,
    /// The vault.
    pub vault: &'a VaultRef,
    /// The ability.
    pub entry: &'a Entry,
}

impl Direct {
    /// Answers a program of the owner that passes on what it is given to a reader on this machine.
    pub fn for_client(environment: &Environment) -> Direct {
        Direct::new(environment, Caller::client(Reader::Local))
    }

    /// The same for a reader elsewhere: without notes behind fences.
    pub fn for_remote_client(environment: &Environment) -> Direct {
        Direct::new(environment, Caller::client(Reader::Remote))
    }

    /// The same, by what the program calls itself; whether its reader is elsewhere.
    pub fn for_program(environment: &Environment, name: &str, is_remote: bool) -> Direct {
        let reader = match is_remote {
            true => Reader::Remote,
            false => Reader::Local,
        };
        Direct::new(environment, Caller::client_that_says(reader, name))
    }

    /// Answers `caller`.
    pub fn new(environment: &Environment, caller: Caller) -> Direct {
        Direct {
            gate: Gate::new(&agents_dir(environment)),
            log: audit_log(environment),
            caller,
        }
    }

    /// What the caller gets of this.
    ///
    /// # Errors
    /// Why nothing.
    pub fn allow(&self, asked: Asked<'_>) -> Result<Grant, Failure> {
        let (vault, entry) = (asked.vault, asked.entry);
        let grant = self
            .gate
            .allow(&self.caller, entry, &vault.name, &vault.path);
        Ok(grant?)
    }

    /// The vault as the caller may see it.
    ///
    /// # Errors
    /// The caller may not ask, or reads elsewhere and a variable or flag changes what the user alone
    /// says; the folder is missing, or an exclusion cannot be understood.
    pub fn open(&self, asked: Asked<'_>) -> Result<Host, Failure> {
        let grant = self.allow(asked)?;
        let (config, settings, vault) = (asked.config, asked.settings, asked.vault);
        let host = match grant.reader {
            Reader::Local => open(config, settings, vault),
            Reader::Remote => {
                let checked = config.check_remote(settings, Some(vault));
                checked.map_err(of_setup)?;
                open_remote(config, settings, vault)
            }
        };
        host.map_err(of_opening)
    }

    /// Makes the answer from `host`, which [`Direct::open`] gave. Looks for changes first, where
    /// the ability depends on them and the caller wants it (`refresh`); where notes are behind
    /// fences it always does, for one that came behind a fence just now must not be given. What
    /// leaves is written down.
    ///
    /// # Errors
    /// What the ability says; nobody waits any more; the log cannot be written.
    pub fn answer(
        &self,
        asked: Asked<'_>,
        host: &Host,
        (input, refresh): (Value, bool),
        listener: Listener<'_>,
    ) -> Result<Value, Failure> {
        let grant = self.allow(asked)?;
        let mut desk = Desk::new(host);
        let mut outcome = Ok(());
        if asked.entry.fresh && (refresh || host.has_fences()) {
            outcome = look(host, listener).map(|freshness| desk = Desk::refreshed(host, freshness));
        }
        desk.listener = listener;
        let mut outcome = outcome.and_then(|()| (asked.entry.run)(&desk, input));
        if desk.freshness.as_ref().is_some_and(took_out)
            && let (Err(failure), Ok(output)) = (self.follow(asked, host), &mut outcome)
            && let Some(Value::Array(degraded)) = output.get_mut("degraded")
        {
            degraded.push(format!("the log of what agents received: {failure}").into());
        }
        self.tell(asked, grant, outcome.as_ref())?;
        outcome
    }

    /// Writes down what leaves, where it must be. An answer must not leave before.
    ///
    /// # Errors
    /// The log cannot be written.
    pub fn tell(
        &self,
        asked: Asked<'_>,
        grant: Grant,
        answer: Result<&Value, &Failure>,
    ) -> Result<(), Failure> {
        if !grant.logged {
            return Ok(());
        }
        let which = (asked.vault.name.as_str(), asked.vault.path.as_path());
        let whom = (&self.caller, grant.reader);
        let told = AuditEntry::new(Timestamp::now(), whom, asked.entry, which, answer);
        Ok(self.log.record(&told)?)
    }

    /// To be called after an update took notes out of the index of `host`; see [`follow`].
    ///
    /// # Errors
    /// As [`follow`].
    pub fn follow(&self, asked: Asked<'_>, host: &Host) -> Result<(), Failure> {
        let (config, settings, vault) = (asked.config, asked.settings, asked.vault);
        follow(config, settings, vault, host, &self.log).map(drop)
    }
}

/// Looks for changes. Behind fences it waits for another process that takes them in: what it has
/// not taken in yet may be a fence.
///
/// # Errors
/// The folder or the index; nobody waits any more.
pub fn look(host: &Host, listener: Listener<'_>) -> Result<Freshness, Failure> {
    let patience = match host.has_fences() {
        true => Patience::Wait,
        false => Patience::Read,
    };
    let freshness = host.refresh(patience, listener)?;
    if listener.stopped() {
        return Err(Failure::interrupted(freshness.pending as u64));
    }
    Ok(freshness)
}
