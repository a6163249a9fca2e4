//! `lorewell mcp`: serves one agent on standard input and output.

use std::sync::{Arc, Mutex};
use std::thread;

use clap::{Arg, ArgAction, ArgMatches, Command};
use lorewell_bridge::{As, Places};
use lorewell_capabilities::Failure;
use lorewell_engine::Quiet;
use lorewell_mcp::{InProcess, serve_stdio};
use lorewell_setup::{Config, Environment, Flags, Key, Origin};

use crate::arguments::{index_dir_flag, vault_flag};
use crate::mcp_shim::{Shim, When};
use crate::outcome::{Outcome, Problem};
use crate::style;

/// The code of the error where a client cannot be served.
pub(crate) const MCP_FAILED: &str = "mcp_failed";

/// The command's arguments.
pub(crate) fn command() -> Command {
    Command::new("mcp")
        .about("Serve an agent over the Model Context Protocol")
        .long_about(
            "Serve an agent over the Model Context Protocol: it starts this command and speaks to \
             it on standard input and output, until it closes its side. With --vault it sees that \
             vault only, else every vault of the list. The bridge answers, and is started if none \
             runs; where that cannot be this process answers itself and says so. What is read is \
             taken to leave this machine, so notes behind fences are left out unless --local says \
             otherwise. Talk goes to standard error",
        )
        .args([vault_flag(), index_dir_flag()])
        .arg(
            Arg::new("bridge")
                .long("bridge")
                .value_name("WHEN")
                .value_parser(["never", "running", "auto", "require"])
                .help("Have the bridge answer (default: auto, or the setting `bridge`)"),
        )
        .arg(
            Arg::new("as")
                .long("as")
                .value_name("NAME")
                .help("Ask in the name of this approved agent, with its scope and tools"),
        )
        .arg(
            Arg::new("local")
                .long("local")
                .action(ArgAction::SetTrue)
                .conflicts_with("as")
                .help("The agent's model runs on this machine: show notes behind fences"),
        )
}

/// Serves until the client closes its side.
pub(crate) fn run(environment: &Environment, matches: &ArgMatches) -> Result<Outcome, Problem> {
    let mut flags = Flags::new();
    if let Some(folder) = matches.get_one::<String>("index-dir") {
        flags.set(Key::IndexDir, folder);
    }
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    let when = match text("bridge") {
        Some(when) => When::of(&when),
        None => wished(environment),
    };
    let is_local = matches.get_flag("local");
    let mut own = InProcess::new(environment.clone(), flags, text("vault"));
    if !is_local {
        own = own.for_remote_reader();
    }
    let caller = match text("as") {
        Some(name) => As::Agent(name),
        None if is_local => As::LocalClient,
        None => As::RemoteClient,
    };
    let shim = Arc::new(Shim {
        own,
        places: Places::of_process(environment),
        when,
        caller,
        bound: text("vault"),
        not_started: Mutex::new(None),
        offered: Mutex::new(None),
        program: Mutex::new(None),
    });
    let first = Arc::clone(&shim);
    // The client is greeted meanwhile; what is wrong here is said again by each answer.
    thread::spawn(move || {
        if let Err(failure) = first.warm_up(&Quiet) {
            style::warn(&failure.message);
        }
    });
    serve_stdio(shim).map_err(|error| {
        Problem(Failure {
            code: MCP_FAILED.to_string(),
            message: error.to_string(),
            hint: "Start this command from an MCP client.".to_string(),
        })
    })?;
    Ok(Outcome::Done)
}

/// What the user set, if anything; agents are served by the bridge otherwise.
fn wished(environment: &Environment) -> When {
    let settings =
        Config::load(environment).and_then(|config| config.settings(None, &Flags::new()));
    // Settings that cannot be read are told by each answer.
    settings.map_or(When::Auto, |settings| {
        match settings.get(Key::Bridge).origin {
            Origin::Default => When::Auto,
            _ => When::of(&settings.bridge()),
        }
    })
}
