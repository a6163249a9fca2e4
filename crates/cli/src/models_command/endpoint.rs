//! `models use --endpoint`: a model at a server.

use clap::{Arg, ArgMatches};
use lorewell_capabilities::Failure;
use lorewell_setup::{Config, EndpointChoice, EndpointSetupError, VaultRef, use_endpoint};

use crate::arguments::switch;
use crate::outcome::Problem;

/// The name that the setting `model` has for it.
pub(super) const NAME: &str = "endpoint";

/// The flags.
pub(super) fn arguments() -> Vec<Arg> {
    let option = |name: &'static str, shown: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(shown).help(help)
    };
    vec![
        option(
            "endpoint",
            "URL",
            "The address of a server that embeds, in any form: http://localhost:11434",
        )
        .conflicts_with_all(["name", "precision"])
        .requires("endpoint-model"),
        option(
            "endpoint-model",
            "NAME",
            "The model, by its name at that server",
        )
        .requires("endpoint"),
        option(
            "key-env",
            "VARIABLE",
            "The environment variable that holds the server's key",
        )
        .requires("endpoint"),
        option(
            "key-file",
            "FILE",
            "A file that holds the server's key, and that only you may read",
        )
        .requires("endpoint")
        .conflicts_with("key-env"),
        switch(
            "allow-remote",
            "Allow that text of notes and questions is sent to that host, beyond this machine",
        )
        .requires("endpoint"),
    ]
}

/// Tries the endpoint that the flags name, if they do, and writes it down. Whether they did.
pub(super) fn give(
    config: &Config,
    vault: &VaultRef,
    matches: &ArgMatches,
) -> Result<bool, Problem> {
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    let Some(url) = text("endpoint") else {
        return Ok(false);
    };
    let choice = EndpointChoice {
        url,
        model: text("endpoint-model").unwrap_or_default(),
        key_env: text("key-env"),
        key_file: text("key-file"),
        allow_remote: matches.get_flag("allow-remote"),
    };
    use_endpoint(config, Some(vault), &choice)?;
    Ok(true)
}

impl From<EndpointSetupError> for Problem {
    fn from(error: EndpointSetupError) -> Problem {
        Problem(Failure {
            code: error.code().to_string(),
            message: error.to_string(),
            hint: error.hint(),
        })
    }
}
