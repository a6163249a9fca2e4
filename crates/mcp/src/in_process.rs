//! Answers in this process, without a bridge.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use lorewell_capabilities::{Access, Desk, Failure, Listener, table};
use lorewell_engine::{Host, Patience};
use lorewell_setup::{
    Config, Environment, Flags, OpenError, Settings, SetupError, VaultRef, vaults,
};
use serde_json::Value;

use crate::Backend;

/// Vaults opened in this process. Each request looks for changes in the folder first, as the
/// command line does; settings are read anew too, so that what was excluded just now is out.
pub struct InProcess {
    environment: Environment,
    flags: Flags,
    /// The only vault that may be asked, by name or folder.
    bound: Option<String>,
    /// Whether notes behind the fences are left out, because the reader is elsewhere.
    is_remote: bool,
    open: Mutex<HashMap<PathBuf, Opened>>,
}

struct Opened {
    settings: Settings,
    host: Arc<Host>,
}

impl InProcess {
    /// Answers from the vault `bound` (a name of the list, or a folder), or without one from
    /// every vault of the list.
    #[must_use]
    pub fn new(environment: Environment, flags: Flags, bound: Option<String>) -> InProcess {
        InProcess {
            environment,
            flags,
            bound,
            is_remote: false,
            open: Mutex::new(HashMap::new()),
        }
    }

    /// For a reader that is not on this machine: without the notes behind the vault's fences.
    #[must_use]
    pub fn for_remote_reader(mut self) -> InProcess {
        self.is_remote = true;
        self
    }

    /// Brings the index of the vault that is meant up to date, so that the first answer is quick.
    ///
    /// # Errors
    /// There is no such vault, its folder cannot be read, or the index cannot be written.
    pub fn warm_up(&self, listener: Listener<'_>) -> Result<(), Failure> {
        let host = self.host(None)?;
        host.refresh(Patience::Read, listener)?;
        Ok(())
    }

    /// The vault that is meant by the name `asked`, or without one, and the settings that hold for
    /// it now.
    ///
    /// # Errors
    /// There is no such vault, it may not be asked, or the settings cannot be read.
    pub fn meant(&self, asked: Option<&str>) -> Result<(Config, VaultRef, Settings), Failure> {
        let config = Config::load(&self.environment).map_err(of_setup)?;
        let vault = self.vault(&config, asked)?;
        let settings = config
            .settings(Some(&vault), &self.flags)
            .map_err(of_setup)?;
        Ok((config, vault, settings))
    }

    /// The vault that is meant, opened as the settings say now.
    fn host(&self, asked: Option<&str>) -> Result<Arc<Host>, Failure> {
        let (config, vault, settings) = self.meant(asked)?;
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(opened) = open.get(&vault.path)
            && opened.settings == settings
            && opened.host.name() == vault.name
        {
            return Ok(Arc::clone(&opened.host));
        }
        let open_for = if self.is_remote {
            lorewell_setup::open_remote
        } else {
            lorewell_setup::open
        };
        let host = open_for(&config, &settings, &vault).map_err(|error| match error {
            OpenError::Setup(error) => of_setup(error),
            OpenError::Engine(error) => error.into(),
        })?;
        let host = Arc::new(host);
        let opened = Opened {
            settings,
            host: Arc::clone(&host),
        };
        open.insert(vault.path, opened);
        Ok(host)
    }

    fn vault(&self, config: &Config, asked: Option<&str>) -> Result<VaultRef, Failure> {
        let resolve = |asked| vaults::resolve(config, &self.flags, asked).map_err(of_setup);
        let Some(bound) = self.bound.as_deref() else {
            // A name of the list and nothing else: a client does not choose folders.
            let listed = |name: &str| {
                let mut listed = vaults::list(config);
                listed.any(|vault| vault.name.to_lowercase() == name.to_lowercase())
            };
            return match asked {
                Some(name) if !listed(name) => Err(unknown(name, &self.vaults())),
                _ => resolve(asked),
            };
        };
        let vault = resolve(Some(bound))?;
        match asked {
            Some(name) if name.to_lowercase() != vault.name.to_lowercase() => {
                Err(unknown(name, &[vault.name]))
            }
            _ => Ok(vault),
        }
    }
}

impl Backend for InProcess {
    fn call(
        &self,
        capability: &str,
        vault: Option<&str>,
        input: Value,
        listener: Listener<'_>,
    ) -> Result<Value, Failure> {
        let entry = table()
            .iter()
            .find(|entry| entry.id == capability && entry.access == Access::Read)
            .ok_or_else(|| Failure::internal(format!("there is no capability “{capability}”")))?;
        let host = self.host(vault)?;
        let mut desk = Desk::new(&host);
        if entry.fresh {
            let freshness = host.refresh(Patience::Read, listener)?;
            if listener.stopped() {
                return Err(Failure::interrupted(freshness.pending as u64));
            }
            desk = Desk::refreshed(&host, freshness);
        }
        desk.listener = listener;
        (entry.run)(&desk, input)
    }

    fn vaults(&self) -> Vec<String> {
        let Ok(config) = Config::load(&self.environment) else {
            return Vec::new();
        };
        let meant = self.vault(&config, None).ok().map(|vault| vault.name);
        let mut names: Vec<String> = meant.into_iter().collect();
        if self.bound.is_none() {
            for vault in vaults::list(&config) {
                if !names.contains(&vault.name) {
                    names.push(vault.name.clone());
                }
            }
        }
        names
    }

    fn may_change(&self) -> bool {
        self.bound.is_none()
    }
}

fn unknown(asked: &str, known: &[String]) -> Failure {
    Failure {
        code: "unknown_vault".to_string(),
        message: format!("there is no vault named “{asked}” here"),
        hint: match known {
            [] => String::new(),
            [only] => format!("Leave “vault” out: “{only}” is the one that is asked."),
            several => format!("There are: {}.", several.join(", ")),
        },
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn of_setup(error: SetupError) -> Failure {
    Failure {
        code: error.code().to_string(),
        message: error.to_string(),
        hint: error.hint().unwrap_or_default(),
    }
}
