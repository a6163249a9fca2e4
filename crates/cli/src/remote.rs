//! `--remote`: a command that an agent runs itself is answered as any agent whose model runs
//! elsewhere. Notes behind fences do not exist for it, what it receives is in the log, and what the
//! owner alone may do is refused.

use std::fs;
use std::path::Path;

use clap::{Arg, ArgMatches};
use lorewell_agents::{AgentsError, Caller, Reader};
use lorewell_bridge::As;
use lorewell_capabilities::{Access, Entry, Failure};
use lorewell_direct::{Asked, Direct};
use lorewell_setup::{Config, Settings, VaultRef, vaults};
use serde_json::Value;

use crate::outcome::Problem;
use crate::progress::Progress;

/// What `--remote` says.
pub(crate) struct Remote {
    /// What the log calls the agent, if it says so.
    name: Option<String>,
}

/// The flag. A name stands behind a sign of equality, so that no word of a question is taken for
/// it.
pub(crate) fn flag() -> Arg {
    Arg::new("remote")
        .long("remote")
        .value_name("NAME")
        .num_args(0..=1)
        .require_equals(true)
        .default_missing_value("")
        .conflicts_with("index-dir")
        .help(
            "Answer as an agent is answered whose model runs elsewhere: without notes behind \
             fences, and written down in `lorewell audit`, under this name",
        )
}

impl Remote {
    /// What was typed; nothing where the owner asks.
    pub(crate) fn of(entry: &Entry, matches: &ArgMatches) -> Option<Remote> {
        if entry.access != Access::Read {
            return None;
        }
        let name = matches.get_one::<String>("remote")?;
        Some(Remote {
            name: Some(name.trim().to_string()).filter(|name| !name.is_empty()),
        })
    }

    /// Whether it may ask this vault with these settings, and have these files read.
    pub(crate) fn check(
        &self,
        config: &Config,
        (vault, settings): (&VaultRef, &Settings),
        files: &[String],
    ) -> Result<(), Problem> {
        self.caller()?;
        config.check_remote(settings, Some(vault))?;
        if !vaults::list(config).any(|listed| listed.path == vault.path) {
            let path = vault.path.display();
            return Err(Problem::wrong_use(
                format!("with --remote listed vaults alone are asked, and {path} is not listed"),
                "`lorewell vault add DIR` lists it.",
            ));
        }
        let is_of_vault = |file: &&String| {
            let real = fs::canonicalize(file);
            let lies_in = |real: &Path| vaults::list(config).any(|v| real.starts_with(&v.path));
            real.is_ok_and(|real| lies_in(&real))
        };
        match files.iter().find(is_of_vault) {
            None => Ok(()),
            // It may lie behind a fence.
            Some(file) => Err(Problem::wrong_use(
                format!("“{file}” lies in a vault; with --remote no file of one is taken in"),
                "`lorewell read --remote NOTE` reads a note.",
            )),
        }
    }

    /// Who asks, for the bridge.
    pub(crate) fn to_the_bridge(&self) -> As {
        match &self.name {
            None => As::RemoteClient,
            Some(name) => As::RemoteClientCalled(name.clone()),
        }
    }

    fn caller(&self) -> Result<Caller, AgentsError> {
        match &self.name {
            None => Ok(Caller::client(Reader::Remote)),
            Some(name) => Caller::client_called(Reader::Remote, name),
        }
    }

    /// Answers in this process.
    pub(crate) fn answer(
        &self,
        asked: Asked<'_>,
        (input, refresh): (Value, bool),
        progress: &Progress,
    ) -> Result<Value, Problem> {
        let direct = Direct::new(asked.config.environment(), self.caller()?);
        let host = direct.open(asked)?;
        let answer = || direct.answer(asked, &host, (input, refresh), progress);
        let output: Result<Value, Failure> = progress.unless_waiting(&host, answer);
        Ok(output?)
    }
}
