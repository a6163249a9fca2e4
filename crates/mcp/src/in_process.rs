//! Answers in this process, without a bridge.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use lorewell_capabilities::{Entry, Failure, Listener, table};
use lorewell_direct::{Asked, Direct, look, of_setup};
use lorewell_engine::Host;
use lorewell_setup::{Config, Environment, Flags, Settings, VaultRef, vaults};
use serde_json::Value;

use crate::Backend;

/// Vaults opened in this process. Each request looks for changes in the folder first, as the
/// command line does; settings are read anew too, so that what was excluded just now is out. What
/// leaves is in the log of what agents received.
pub struct InProcess {
    environment: Environment,
    flags: Flags,
    /// The only vault that may be asked, by name or folder.
    bound: Option<String>,
    /// Made anew when the client says what it is called.
    direct: Mutex<(String, Arc<Direct>)>,
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
            direct: Mutex::new((String::new(), Arc::new(Direct::for_client(&environment)))),
            is_remote: false,
            environment,
            flags,
            bound,
            open: Mutex::new(HashMap::new()),
        }
    }

    /// For a reader that is not on this machine: without the notes behind the vault's fences.
    #[must_use]
    pub fn for_remote_reader(mut self) -> InProcess {
        let direct = Direct::for_remote_client(&self.environment);
        self.direct = Mutex::new((String::new(), Arc::new(direct)));
        self.is_remote = true;
        self
    }

    fn direct(&self) -> Arc<Direct> {
        let direct = self.direct.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&direct.1)
    }

    /// Brings the index of the vault that is meant up to date, so that the first answer is quick.
    ///
    /// # Errors
    /// There is no such vault, its folder cannot be read, or the index cannot be written.
    pub fn warm_up(&self, listener: Listener<'_>) -> Result<(), Failure> {
        let (config, vault, settings) = self.meant(None)?;
        let entry = entry("knowledge.status")?;
        let asked = Asked {
            config: &config,
            settings: &settings,
            vault: &vault,
            entry,
        };
        look(&*self.host(asked)?, listener).map(drop)
    }

    /// The vault that is meant by the name `asked`, or without one, and the settings that hold for
    /// it now.
    ///
    /// # Errors
    /// There is no such vault, it may not be asked, the settings cannot be read, or a variable or
    /// flag changes for a reader elsewhere what the user alone says.
    pub fn meant(&self, asked: Option<&str>) -> Result<(Config, VaultRef, Settings), Failure> {
        let config = Config::load(&self.environment).map_err(of_setup)?;
        let vault = self.vault(&config, asked)?;
        let settings = config
            .settings(Some(&vault), &self.flags)
            .map_err(of_setup)?;
        if self.is_remote {
            let checked = config.check_remote(&settings, Some(&vault));
            checked.map_err(of_setup)?;
        }
        Ok((config, vault, settings))
    }

    /// Whether variables and flags leave what the user alone says as it is, where the reader is
    /// elsewhere. To be called before a process is started that inherits them.
    ///
    /// # Errors
    /// They do not, or cannot be read.
    pub fn check_surroundings(&self) -> Result<(), Failure> {
        if !self.is_remote {
            return Ok(());
        }
        let config = Config::load(&self.environment).map_err(of_setup)?;
        let settings = config.settings(None, &self.flags).map_err(of_setup)?;
        config.check_remote(&settings, None).map_err(of_setup)
    }

    /// The vault, opened as the settings say now.
    fn host(&self, asked: Asked<'_>) -> Result<Arc<Host>, Failure> {
        let (vault, settings) = (asked.vault, asked.settings);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(opened) = open.get(&vault.path)
            && opened.settings == *settings
            && opened.host.name() == vault.name
        {
            return Ok(Arc::clone(&opened.host));
        }
        let host = Arc::new(self.direct().open(asked)?);
        let opened = Opened {
            settings: settings.clone(),
            host: Arc::clone(&host),
        };
        open.insert(vault.path.clone(), opened);
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
        let (config, vault, settings) = self.meant(vault)?;
        let asked = Asked {
            config: &config,
            settings: &settings,
            vault: &vault,
            entry: entry(capability)?,
        };
        let host = self.host(asked)?;
        self.direct().answer(asked, &host, (input, true), listener)
    }

    fn client_says(&self, name: &str) {
        let mut direct = self.direct.lock().unwrap_or_else(PoisonError::into_inner);
        if direct.0 != name {
            let known = Direct::for_program(&self.environment, name, self.is_remote);
            *direct = (name.to_string(), Arc::new(known));
        }
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

fn entry(capability: &str) -> Result<&'static Entry, Failure> {
    let mut all = table().iter();
    all.find(|entry| entry.id == capability)
        .ok_or_else(|| Failure::internal(format!("there is no capability “{capability}”")))
}
