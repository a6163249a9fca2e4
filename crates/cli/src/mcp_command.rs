//! `lorewell mcp`: serves one agent on standard input and output.

use std::sync::Arc;
use std::thread;

use clap::{ArgMatches, Command};
use lorewell_capabilities::Failure;
use lorewell_engine::Quiet;
use lorewell_mcp::{InProcess, serve_stdio};
use lorewell_setup::{Environment, Flags, Key};

use crate::arguments::{index_dir_flag, vault_flag};
use crate::outcome::{Outcome, Problem};
use crate::style;

/// The command's arguments.
pub(crate) fn command() -> Command {
    Command::new("mcp")
        .about("Serve an agent over the Model Context Protocol")
        .long_about(
            "Serve an agent over the Model Context Protocol: it starts this command and speaks to \
             it on standard input and output, until it closes its side. With --vault it sees that \
             vault only, else every vault of the list. Talk goes to standard error",
        )
        .args([vault_flag(), index_dir_flag()])
}

/// Serves until the client closes its side.
pub(crate) fn run(environment: &Environment, matches: &ArgMatches) -> Result<Outcome, Problem> {
    let mut flags = Flags::new();
    if let Some(folder) = matches.get_one::<String>("index-dir") {
        flags.set(Key::IndexDir, folder);
    }
    let vault = matches.get_one::<String>("vault").cloned();
    let backend = Arc::new(InProcess::new(environment.clone(), flags, vault));
    let first = Arc::clone(&backend);
    // The client is greeted meanwhile; what is wrong here is said again by each answer.
    thread::spawn(move || {
        if let Err(failure) = first.warm_up(&Quiet) {
            style::warn(&failure.message);
        }
    });
    serve_stdio(backend).map_err(|error| {
        Problem(Failure {
            code: "mcp_failed".to_string(),
            message: error.to_string(),
            hint: "Start this command from an MCP client.".to_string(),
        })
    })?;
    Ok(Outcome::Done)
}
