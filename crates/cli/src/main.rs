//! `lorewell`: the command line. It turns words typed into requests of the capability table, and
//! answers into text for people; what an ability takes and gives is defined there, not here.

mod arguments;
mod capability;
mod config_command;
mod outcome;
mod progress;
mod render;
mod style;
mod vault_command;

use std::process::ExitCode;

use clap::ArgMatches;
use lorewell_setup::{Config, Environment};

use crate::outcome::{Outcome, Problem};

fn main() -> ExitCode {
    let matches = arguments::command().get_matches();
    let json = wants_json(&matches);
    match run(&matches) {
        Ok(outcome) => outcome.exit_code(),
        Err(problem) => problem.report(json),
    }
}

fn run(matches: &ArgMatches) -> Result<Outcome, Problem> {
    let Some((name, matches)) = matches.subcommand() else {
        return Ok(Outcome::Done);
    };
    if name == "completions" {
        return arguments::completions(matches);
    }
    let environment = Environment::from_process()?;
    match name {
        "vault" => vault_command::run(&environment, matches),
        "config" => config_command::run(&environment, matches),
        _ => {
            let config = Config::load(&environment)?;
            for warning in config.warnings() {
                style::warn(&warning.message);
            }
            capability::run(&config, name, matches)
        }
    }
}

/// Whether the innermost subcommand was given `--json`.
fn wants_json(matches: &ArgMatches) -> bool {
    let mut matches = matches;
    while let Some((_, inner)) = matches.subcommand() {
        matches = inner;
    }
    matches
        .try_get_one::<bool>("json")
        .ok()
        .flatten()
        .copied()
        .unwrap_or(false)
}
