//! `lorewell`: the command line. It turns words typed into requests of the capability table, and
//! answers into text for people; what an ability takes and gives is defined there, not here.

mod agent_command;
mod arguments;
mod audit_command;
mod bridge_client;
mod capability;
mod config_command;
mod doctor_command;
mod eval_command;
mod fields;
mod fuse_command;
mod hook_command;
mod install_command;
mod mcp_command;
mod mcp_shim;
mod models_command;
mod outcome;
mod progress;
#[cfg(test)]
mod reference;
mod remote;
mod render;
mod serve_command;
mod service_command;
mod skill_command;
#[cfg(test)]
mod skill_reference;
mod style;
mod vault_command;
mod watch_command;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::ArgMatches;
use lorewell_setup::{Config, Environment};

use crate::outcome::{Outcome, Problem};

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    let json = wants_json(&words);
    match arguments::command().try_get_matches_from(&words) {
        Ok(matches) => match run(&matches) {
            Ok(outcome) => outcome.exit_code(),
            Err(problem) => problem.report(json),
        },
        Err(error) if hook_command::is_meant(&words) => hook_command::refused(&error),
        Err(error) => outcome::refused_arguments(&error, json),
    }
}

fn run(matches: &ArgMatches) -> Result<Outcome, Problem> {
    let Some((name, matches)) = matches.subcommand() else {
        return Ok(Outcome::Done);
    };
    if name == "completions" {
        return arguments::completions(matches);
    }
    if name == "hook" {
        return Ok(hook_command::run(matches));
    }
    if name == "fuse" {
        return fuse_command::run(matches);
    }
    let environment = Environment::from_process()?;
    match name {
        "vault" => vault_command::run(&environment, matches),
        "config" => config_command::run(&environment, matches),
        "eval" => eval_command::run(&environment, matches),
        "agent" => agent_command::run(&environment, matches),
        "audit" => audit_command::run(&environment, matches),
        "mcp" => mcp_command::run(&environment, matches),
        "models" => models_command::run(&environment, matches),
        "watch" => watch_command::run(&environment, matches),
        "serve" => serve_command::run(&environment, matches),
        "service" => service_command::run(&environment, matches),
        "doctor" => doctor_command::run(&environment, matches),
        "install" => install_command::run(&environment, matches, install_command::Way::Install),
        "uninstall" => install_command::run(&environment, matches, install_command::Way::Uninstall),
        "skill" => skill_command::run(&environment, matches),
        _ => {
            let config = Config::load(&environment)?;
            for warning in config.warnings() {
                style::warn(&warning.message);
            }
            capability::run(&config, name, matches)
        }
    }
}

/// Whether `--json` was typed; known even where the other words make no sense.
fn wants_json(words: &[OsString]) -> bool {
    words
        .iter()
        .take_while(|word| *word != "--")
        .any(|word| word == "--json")
}
