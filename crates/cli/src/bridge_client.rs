//! Having the bridge answer, where it may.

use std::ffi::OsStr;

use lorewell_bridge::{BridgeError, Client, Places, Request, find_or_start, print};
use lorewell_capabilities::Failure;
use lorewell_setup::{Config, Settings, VaultRef};
use serde_json::Value;

use crate::capability::Asked;
use crate::outcome::Problem;
use crate::progress::Progress;
use crate::style;

/// A bridge that a command started ends after so long without a request.
pub(crate) const EXIT_AFTER: &str = "30m";

/// Errors after which the command does the work itself: the bridge could not, and nothing was
/// done.
const NOT_OF_THE_REQUEST: &[&str] = &[
    "other_settings",
    "stopping",
    "bridge_failed",
    "too_many_requests",
];

/// The bridge's answer; nothing where the command is to answer itself. What keeps it from asking a
/// bridge that runs is said.
pub(crate) fn answer(
    config: &Config,
    settings: &Settings,
    vault: &VaultRef,
    asked: &Asked<'_>,
    progress: &Progress,
) -> Result<Option<Value>, Problem> {
    let when = settings.bridge();
    if when == "never" {
        return Ok(None);
    }
    let is_required = when == "require";
    let environment = config.environment();
    let places = Places::of_process(environment);
    let found = match when.as_str() {
        "auto" => start(&places),
        _ => Client::connect(&places),
    };
    let mut client = match found {
        Ok(client) => client,
        Err(error) if is_required => return Err(Failure::from(error).into()),
        Err(BridgeError::NotRunning) => return Ok(None),
        Err(error) => {
            style::warn(&format!("{error}; this program answers itself"));
            return Ok(None);
        }
    };
    let request = Request::Ask {
        capability: asked.entry.id.to_string(),
        vault: Some(vault.path.display().to_string()),
        input: asked.input.clone(),
        refresh: asked.refresh,
        progress: true,
        print: Some(print(environment, settings)),
        caller: asked.caller.clone(),
    };
    match progress.through(|| client.send(&request, progress)) {
        Ok(output) => match serde_json::from_str(output.get()) {
            Ok(output) => Ok(Some(output)),
            Err(error) => Err(Failure::internal(format!("the answer is no JSON: {error}")).into()),
        },
        Err(failure) if !is_required && is_the_bridges(&failure) => {
            // Other settings are no fault: they were asked for.
            if failure.code != "other_settings" {
                style::warn(&format!("{failure}; this program answers itself"));
            }
            Ok(None)
        }
        Err(failure) => Err(failure.into()),
    }
}

pub(crate) fn start(places: &Places) -> Result<Client, BridgeError> {
    let program = std::env::current_exe().map_err(|source| BridgeError::Io {
        path: "lorewell".into(),
        source,
    })?;
    let words = ["--exit-after", EXIT_AFTER].map(OsStr::new);
    find_or_start(places, &program, &words)
}

pub(crate) fn is_the_bridges(failure: &Failure) -> bool {
    NOT_OF_THE_REQUEST.contains(&failure.code.as_str())
}
