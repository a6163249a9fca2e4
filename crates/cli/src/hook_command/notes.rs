//! Who answers the hook: the bridge where it runs, else this process.
//!
//! What the hook adds is read where the agent's model runs, so that it is asked for a reader that
//! is not on this machine: notes behind fences are left out.

use std::time::{Duration, Instant};

use lorewell_agents::{Caller, Reader};
use lorewell_bridge::{As, Client, Places, Request, print};
use lorewell_capabilities::{Capability, ContextOutput, ContextPack, Desk, Failure};
use lorewell_direct::{Asked, Direct, took_out};
use lorewell_engine::{Freshness, Host, Observer, Patience, Quiet};
use serde::Deserialize;
use serde_json::Value;

use crate::outcome::Problem;

/// So long changes of notes are taken in before it answers from what there is.
const FRESHEN: Duration = Duration::from_millis(150);
/// So long an index for remote readers is built at a time; the next prompt goes on with it.
const BUILD: Duration = Duration::from_millis(900);

/// The notes of one vault, ready to be asked.
pub(super) enum Notes<'a> {
    /// Asked over the bridge's socket.
    Bridge {
        client: Box<Client>,
        vault: String,
        print: String,
        caller: As,
    },
    /// Asked here.
    Here(Box<Here<'a>>),
}

/// A vault that this process opened.
pub(super) struct Here<'a> {
    direct: Direct,
    asked: Asked<'a>,
    host: Host,
    freshness: Option<Freshness>,
    /// The last answer.
    answer: Value,
}

impl<'a> Notes<'a> {
    /// The bridge, if it runs and may be asked; else the vault, opened here. Nothing where there
    /// is no whole index yet: building one takes longer than a prompt may wait.
    pub(super) fn of(asked: Asked<'a>, client: &str) -> Result<Option<Notes<'a>>, Problem> {
        let environment = asked.config.environment();
        if asked.settings.bridge() != "never"
            && let Ok(connection) = Client::connect(&Places::of_process(environment))
        {
            return Ok(Some(Notes::Bridge {
                client: Box::new(connection),
                vault: asked.vault.path.display().to_string(),
                print: print(environment, asked.settings),
                caller: match client {
                    "" => As::RemoteClient,
                    client => As::RemoteClientCalled(client.to_string()),
                },
            }));
        }
        Notes::here(asked, client)
    }

    /// The vault, opened here.
    pub(super) fn here(asked: Asked<'a>, client: &str) -> Result<Option<Notes<'a>>, Problem> {
        let caller = match client {
            "" => Caller::client(Reader::Remote),
            client => Caller::client_called(Reader::Remote, client)?,
        };
        let direct = Direct::new(asked.config.environment(), caller);
        let host = direct.open(asked)?;
        let fenced = host.has_fences();
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
        // What is not taken in yet may be a fence.
        let is_whole = || host.view().is_ok_and(|view| !view.totals().unfinished);
        let is_current = freshness.as_ref().is_some_and(|fresh| fresh.pending == 0);
        if fenced && !(is_current && is_whole()) {
            return Ok(None);
        }
        Ok(Some(Notes::Here(Box::new(Here {
            direct,
            asked,
            host,
            freshness,
            answer: Value::Null,
        }))))
    }

    /// The answer of `knowledge.context`.
    pub(super) fn context(&mut self, input: Value) -> Result<ContextOutput, Problem> {
        let output = match self {
            Notes::Bridge {
                client,
                vault,
                print,
                caller,
            } => {
                let request = Request::Ask {
                    capability: ContextPack::ID.to_string(),
                    vault: Some(vault.clone()),
                    input,
                    refresh: false,
                    progress: false,
                    print: Some(print.clone()),
                    caller: caller.clone(),
                };
                let output = client.send(&request, &Quiet)?;
                serde_json::from_str(output.get()).map_err(unreadable)?
            }
            Notes::Here(here) => {
                let desk = match &here.freshness {
                    Some(freshness) => Desk::refreshed(&here.host, freshness.clone()),
                    None => Desk::new(&here.host),
                };
                here.answer = (here.asked.entry.run)(&desk, input)?;
                here.answer.clone()
            }
        };
        Ok(ContextOutput::deserialize(&output).map_err(unreadable)?)
    }

    /// The last answer is to be given: writes down what leaves. The bridge did so itself.
    pub(super) fn gives(&self) -> Result<(), Problem> {
        if let Notes::Here(here) = self {
            let grant = here.direct.allow(here.asked)?;
            here.direct.tell(here.asked, grant, Ok(&here.answer))?;
        }
        Ok(())
    }

    /// Afterwards, when nobody waits any more: what the look for changes took out of the index goes
    /// out of the log too.
    pub(super) fn follow(&self) -> Result<(), Problem> {
        if let Notes::Here(here) = self
            && here.freshness.as_ref().is_some_and(took_out)
        {
            here.direct.follow(here.asked, &here.host)?;
        }
        Ok(())
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
