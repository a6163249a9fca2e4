//! Who answers the hook: the bridge where it runs, else this process.
//!
//! What the hook adds is read where the agent's model runs, so that it is asked for a reader that
//! is not on this machine: notes behind fences are left out.

use std::time::{Duration, Instant};

use lorewell_bridge::{As, Client, Places, Request, print};
use lorewell_capabilities::{Capability, ContextOutput, ContextPack, Desk, Failure, table};
use lorewell_engine::{Freshness, Host, Observer, Patience, Quiet};
use lorewell_setup::{Config, Settings, VaultRef};
use serde::Deserialize;
use serde_json::Value;

use crate::outcome::Problem;

/// So long changes of notes are taken in before it answers from what there is.
const FRESHEN: Duration = Duration::from_millis(150);
/// So long an index for remote readers is built at a time; the next prompt goes on with it.
const BUILD: Duration = Duration::from_millis(900);

/// The notes of one vault, ready to be asked.
pub(super) enum Notes {
    /// Asked over the bridge's socket.
    Bridge {
        client: Box<Client>,
        vault: String,
        print: String,
    },
    /// Asked here.
    Here {
        host: Box<Host>,
        freshness: Option<Freshness>,
    },
}

impl Notes {
    /// The bridge, if it runs and may be asked; else the vault, opened here. Nothing where there
    /// is no whole index yet: building one takes longer than a prompt may wait.
    pub(super) fn of(
        config: &Config,
        settings: &Settings,
        vault: &VaultRef,
    ) -> Result<Option<Notes>, Problem> {
        if settings.bridge() != "never"
            && let Ok(client) = Client::connect(&Places::of_process(config.environment()))
        {
            return Ok(Some(Notes::Bridge {
                client: Box::new(client),
                vault: vault.path.display().to_string(),
                print: print(config.environment(), settings),
            }));
        }
        Notes::here(config, settings, vault)
    }

    /// The vault, opened here.
    pub(super) fn here(
        config: &Config,
        settings: &Settings,
        vault: &VaultRef,
    ) -> Result<Option<Notes>, Problem> {
        let host = lorewell_setup::open_remote(config, settings, vault)?;
        let fenced = lorewell_setup::has_fences(settings);
        let is_there = host.view();
        let time = match &is_there {
            Ok(view) if view.totals().unfinished && fenced => BUILD,
            Err(_) if fenced => BUILD,
            // The usual index is built by the commands that people type.
            Err(_) => {
                is_there.map_err(Failure::from)?;
                return Ok(None);
            }
            Ok(_) => FRESHEN,
        };
        drop(is_there);
        let freshness = host
            .refresh(Patience::Read, &Limit(Instant::now() + time))
            .ok();
        if fenced && !host.view().is_ok_and(|view| !view.totals().unfinished) {
            return Ok(None);
        }
        Ok(Some(Notes::Here {
            host: Box::new(host),
            freshness,
        }))
    }

    /// The answer of `knowledge.context`.
    pub(super) fn context(&mut self, input: Value) -> Result<ContextOutput, Problem> {
        let output = match self {
            Notes::Bridge {
                client,
                vault,
                print,
            } => {
                let request = Request::Ask {
                    capability: ContextPack::ID.to_string(),
                    vault: Some(vault.clone()),
                    input,
                    refresh: false,
                    progress: false,
                    print: Some(print.clone()),
                    caller: As::RemoteClient,
                };
                let output = client.send(&request, &Quiet)?;
                serde_json::from_str(output.get()).map_err(unreadable)?
            }
            Notes::Here { host, freshness } => {
                let entry = table().iter().find(|entry| entry.id == ContextPack::ID);
                let Some(entry) = entry else {
                    return Err(Failure::internal("there is no context").into());
                };
                let desk = match freshness {
                    Some(freshness) => Desk::refreshed(host, freshness.clone()),
                    None => Desk::new(host),
                };
                (entry.run)(&desk, input)?
            }
        };
        Ok(ContextOutput::deserialize(&output).map_err(unreadable)?)
    }
}

fn unreadable(error: serde_json::Error) -> Failure {
    Failure::internal(format!("the answer cannot be read: {error}"))
}

/// Lets an update of the index run only so long.
struct Limit(Instant);

impl Observer for Limit {
    fn stopped(&self) -> bool {
        Instant::now() > self.0
    }
}
