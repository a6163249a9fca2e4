//! What an MCP client on standard input and output is answered by: the bridge, found or started;
//! else this process, which says so in the answer.

use std::fmt::Display;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use lorewell_bridge::{As, BridgeError, Client, Offer, Places, Request, print};
use lorewell_capabilities::{Failure, Listener, table};
use lorewell_mcp::{Backend, InProcess};
use lorewell_setup::{Config, Environment, Settings, VaultRef};
use serde_json::Value;

use crate::bridge_client::{is_the_bridges, start};

/// Answers through the bridge where it may and can.
pub(crate) struct Shim {
    /// Answers where no bridge does, and knows which vault is meant.
    pub(crate) own: InProcess,
    pub(crate) places: Places,
    pub(crate) when: When,
    pub(crate) caller: As,
    /// What the agent was offered last, and when.
    pub(crate) offered: Mutex<Option<(Offer, Instant)>>,
    /// What the client calls itself, once it said so.
    pub(crate) program: Mutex<Option<String>>,
    /// The only vault that may be asked, by name or folder.
    pub(crate) bound: Option<String>,
    /// Why a bridge could not be started, where it could not. It is not tried again.
    pub(crate) not_started: Mutex<Option<Failure>>,
}

/// Questions of one moment are answered by one look at what is offered; a call that is switched
/// off is refused by the bridge itself.
const OFFER_HOLDS: Duration = Duration::from_millis(100);

/// When the bridge answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// Never.
    Never,
    /// When one runs.
    Running,
    /// Always where that can be: one is started if none runs.
    Auto,
    /// Always.
    Require,
}

/// Why the bridge gave no answer.
enum NoAnswer {
    /// It refused the request.
    Refused(Failure),
    /// It could not be asked.
    NotAsked(Failure),
}

impl When {
    /// `setting`: the value of the setting or flag `bridge`.
    pub(crate) fn of(setting: &str) -> When {
        match setting {
            "never" => When::Never,
            "running" => When::Running,
            "require" => When::Require,
            _ => When::Auto,
        }
    }
}

impl Shim {
    fn connected(&self) -> Result<Client, Failure> {
        let not_started = || {
            let held = self.not_started.lock();
            held.unwrap_or_else(PoisonError::into_inner)
        };
        let failed = not_started().clone();
        if self.when != When::Auto || failed.is_some() {
            return Client::connect(&self.places).map_err(|error| match (error, failed) {
                (BridgeError::NotRunning, Some(failed)) => failed,
                (error, _) => error.into(),
            });
        }
        self.own.check_surroundings()?;
        start(&self.places).map_err(|error| {
            let could_not = matches!(error, BridgeError::NotStarted | BridgeError::Io { .. });
            let failure = Failure::from(error);
            if could_not {
                *not_started() = Some(failure.clone());
            }
            failure
        })
    }

    fn through(
        &self,
        (config, vault, settings): (&Config, &VaultRef, &Settings),
        capability: &str,
        input: &Value,
        listener: Listener<'_>,
    ) -> Result<Value, NoAnswer> {
        let environment: &Environment = config.environment();
        let print = Some(print(environment, settings));
        let place = Some(vault.path.display().to_string());
        self.ask(place, print, capability, input, listener)
    }

    /// Asks in the name of an approved agent. Which vault it means is the bridge's to say, by the
    /// agent's scope; the user's own default may lie outside it.
    fn as_agent(
        &self,
        vault: Option<&str>,
        capability: &str,
        input: &Value,
        listener: Listener<'_>,
    ) -> Result<Value, Failure> {
        if self.when == When::Never {
            return Err(Failure::wrong_use(
                "only the bridge answers in the name of an approved agent",
                "Leave out `--bridge never`, or `--as`.",
            ));
        }
        let asked = match (&self.bound, vault) {
            (Some(_), Some(asked)) => {
                if self.own.meant(Some(asked)).is_err() {
                    return Err(Failure::wrong_use(
                        format!(
                            "this server answers from one vault only, which is not called {asked}"
                        ),
                        "Leave `vault` out.",
                    ));
                }
                self.bound.clone()
            }
            (bound, asked) => bound.clone().or(asked.map(str::to_string)),
        };
        match self.ask(asked, None, capability, input, listener) {
            Ok(output) => Ok(output),
            Err(NoAnswer::NotAsked(failure) | NoAnswer::Refused(failure)) => Err(failure),
        }
    }

    fn ask(
        &self,
        vault: Option<String>,
        print: Option<String>,
        capability: &str,
        input: &Value,
        listener: Listener<'_>,
    ) -> Result<Value, NoAnswer> {
        let mut client = self.connected().map_err(NoAnswer::NotAsked)?;
        let request = Request::Ask {
            capability: capability.to_string(),
            vault,
            input: input.clone(),
            refresh: true,
            progress: true,
            print,
            caller: self.caller(),
        };
        let output = client.send(&request, listener).map_err(|failure| {
            if is_the_bridges(&failure) {
                NoAnswer::NotAsked(failure)
            } else {
                NoAnswer::Refused(failure)
            }
        })?;
        serde_json::from_str(output.get()).map_err(|error| {
            NoAnswer::Refused(Failure::internal(format!("the answer is no JSON: {error}")))
        })
    }

    /// Whether this process may answer in the bridge's stead. In the name of an approved agent it
    /// never does: its scope, and what it received, only the bridge keeps account of.
    fn may_answer_itself(&self) -> bool {
        self.when != When::Require
    }

    /// Readies whatever will answer, so that the first answer is quick.
    ///
    /// # Errors
    /// What keeps answers from being given.
    pub(crate) fn warm_up(&self, listener: Listener<'_>) -> Result<(), Failure> {
        if let As::Agent(_) = self.caller {
            let nothing = serde_json::json!({"list": 0});
            return self
                .as_agent(None, "knowledge.status", &nothing, listener)
                .map(drop);
        }
        if self.when != When::Never {
            // The bridge opens the vault when it is asked of it.
            let asked = self.own.meant(None)?;
            let place = (&asked.0, &asked.1, &asked.2);
            let nothing = serde_json::json!({"list": 0});
            match self.through(place, "knowledge.status", &nothing, listener) {
                Err(NoAnswer::NotAsked(_)) if self.may_answer_itself() => {}
                Err(NoAnswer::NotAsked(failure) | NoAnswer::Refused(failure)) => {
                    return Err(failure);
                }
                Ok(_) => return Ok(()),
            }
        }
        self.own.warm_up(listener)
    }

    /// In whose name to ask: without an approval, in that of the client by what it calls itself.
    fn caller(&self) -> As {
        let program = self.program.lock().unwrap_or_else(PoisonError::into_inner);
        match (&self.caller, &*program) {
            (As::RemoteClient | As::LocalClient, Some(name)) => As::Program {
                name: name.clone(),
                remote: self.caller == As::RemoteClient,
            },
            (caller, _) => caller.clone(),
        }
    }

    /// What the agent is offered. Asked again and again while a client listens, which is no reason
    /// to start a bridge that was ended: then it is what was offered last.
    fn offer(&self) -> Result<Offer, Failure> {
        let mut offered = self.offered.lock().unwrap_or_else(PoisonError::into_inner);
        let known = offered.as_ref();
        if let Some((offer, _)) = known.filter(|(_, since)| since.elapsed() < OFFER_HOLDS) {
            return Ok(offer.clone());
        }
        let client = match known {
            None => self.connected(),
            Some(_) => Client::connect(&self.places).map_err(Failure::from),
        };
        let caller = self.caller.clone();
        match client.and_then(|mut client| client.get(&Request::Offered { caller })) {
            Ok(offer) => Ok(offered.insert((offer, Instant::now())).0.clone()),
            Err(failure) => match known {
                Some((offer, _)) if is_the_bridges(&failure) => Ok(offer.clone()),
                _ => Err(failure),
            },
        }
    }
}

impl Backend for Shim {
    fn call(
        &self,
        capability: &str,
        vault: Option<&str>,
        input: Value,
        listener: Listener<'_>,
    ) -> Result<Value, Failure> {
        if let As::Agent(_) = self.caller {
            return self.as_agent(vault, capability, &input, listener);
        }
        if self.when == When::Never {
            let mut output = self.own.call(capability, vault, input, listener)?;
            say_who_answered(&mut output, "it is not to be asked");
            return Ok(output);
        }
        let (config, meant, settings) = self.own.meant(vault)?;
        let place = (&config, &meant, &settings);
        let why = match self.through(place, capability, &input, listener) {
            Ok(output) => return Ok(output),
            Err(NoAnswer::Refused(failure)) => return Err(failure),
            Err(NoAnswer::NotAsked(failure)) if !self.may_answer_itself() => return Err(failure),
            Err(NoAnswer::NotAsked(failure)) => failure,
        };
        let mut output = self.own.call(capability, vault, input, listener)?;
        say_who_answered(&mut output, &why);
        Ok(output)
    }

    fn client_says(&self, name: &str) {
        self.own.client_says(name);
        let mut program = self.program.lock().unwrap_or_else(PoisonError::into_inner);
        if program.as_deref() != Some(name) {
            *program = Some(name.to_string());
        }
    }

    fn vaults(&self) -> Vec<String> {
        match &self.caller {
            As::Agent(_) => self.offer().map(|offer| offer.vaults).unwrap_or_default(),
            _ => self.own.vaults(),
        }
    }

    fn switched_off(&self) -> Vec<String> {
        let As::Agent(_) = &self.caller else {
            return Vec::new();
        };
        // Without the bridge nothing is off: each call says why it cannot be answered.
        let Ok(offer) = self.offer() else {
            return Vec::new();
        };
        let ids = table().iter().map(|entry| entry.id);
        ids.filter(|id| !offer.capabilities.iter().any(|offered| offered == id))
            .map(str::to_string)
            .collect()
    }

    fn may_change(&self) -> bool {
        matches!(self.caller, As::Agent(_)) || self.own.may_change()
    }
}

/// Says in an answer that no bridge gave it, and why.
fn say_who_answered(output: &mut Value, why: impl Display) {
    let Some(fields) = output.as_object_mut() else {
        return;
    };
    // The status has none where nothing is to be said.
    let degraded = fields
        .entry("degraded")
        .or_insert_with(|| Value::Array(Vec::new()));
    if let Value::Array(degraded) = degraded {
        degraded.push(format!("bridge: {why}; this process answered itself").into());
    }
}
