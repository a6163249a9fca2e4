//! Running a capability from the command line: vault, index, request, answer.

use clap::ArgMatches;
use lorewell_bridge::As;
use lorewell_capabilities::{Capability, Desk, Entry, Failure, Rebuild, table};
use lorewell_direct::took_out;
use lorewell_engine::{Host, Patience};
use lorewell_setup::{Config, Flags, Key, Settings, VaultRef, remote_is_left_over, vaults};
use serde_json::Value;

use crate::audit_command::follow;
use crate::bridge_client;
use crate::fields;
use crate::outcome::{Outcome, Problem};
use crate::progress::Progress;
use crate::remote::Remote;
use crate::render::{self, Looks};
use crate::style;

/// Runs the capability that the subcommand `name` stands for.
pub(crate) fn run(config: &Config, name: &str, matches: &ArgMatches) -> Result<Outcome, Problem> {
    let Some(entry) = table().iter().find(|entry| entry.name() == name) else {
        return Err(Problem::wrong_use(
            format!("there is no command “{name}”"),
            "See `lorewell --help`.",
        ));
    };
    let (vault, settings) = chosen_vault(config, matches)?;
    let remote = Remote::of(entry, matches);
    if let Some(remote) = &remote {
        remote.check(config, (&vault, &settings), &fields::files(entry, matches))?;
    }
    for warning in settings.warnings() {
        style::warn(&warning.message);
    }
    style::set_color(&settings.color());
    let progress = Progress::new(&settings.progress());
    let mut input = fields::input(entry, matches)?;
    if !matches.get_flag("json") {
        render::shorten(entry, &mut input);
    }
    let asked = Asked {
        entry,
        input: &input,
        refresh: !(entry.fresh && matches.get_flag("no-refresh")),
        caller: remote.as_ref().map_or(As::Owner, Remote::to_the_bridge),
    };
    let by_bridge = bridge_client::answer(config, &settings, &vault, &asked, &progress)?;
    let (root, output) = match (by_bridge, remote) {
        (Some(output), _) => (vault.path.clone(), output),
        (None, Some(remote)) => {
            let refresh = asked.refresh;
            let asked = lorewell_direct::Asked {
                config,
                settings: &settings,
                vault: &vault,
                entry,
            };
            let output = remote.answer(asked, (input, refresh), &progress)?;
            (vault.path.clone(), output)
        }
        (None, None) => {
            let host = lorewell_setup::open(config, &settings, &vault)?;
            let desk = desk(&host, &asked, &progress)?;
            let output = progress.unless_waiting(&host, || (entry.run)(&desk, input))?;
            let counts = |field| output.get(field).and_then(Value::as_u64) > Some(0);
            let rebuilt = entry.id == Rebuild::ID && (counts("removed") || counts("skipped"));
            if rebuilt
                || desk.freshness.as_ref().is_some_and(took_out)
                || remote_is_left_over(config, &settings, &vault)
            {
                follow(config, &settings, &vault, &host);
            }
            (host.root().to_path_buf(), output)
        }
    };
    let outcome = outcome(&output);
    if matches.get_flag("json") {
        style::print_data(&output.to_string());
    } else {
        let looks = Looks {
            links: style::links(&settings.links()),
            width: style::width(),
            root: &root,
        };
        render::print(entry, &output, &looks);
    }
    Ok(outcome)
}

/// What was asked of a capability.
pub(crate) struct Asked<'a> {
    pub(crate) entry: &'a Entry,
    pub(crate) input: &'a Value,
    /// Whether changes are looked for first.
    pub(crate) refresh: bool,
    /// In whose name.
    pub(crate) caller: As,
}

/// The vault that is meant, and its settings.
pub(crate) fn chosen_vault(
    config: &Config,
    matches: &ArgMatches,
) -> Result<(VaultRef, Settings), Problem> {
    let mut flags = Flags::new();
    if let Some(folder) = matches.get_one::<String>("index-dir") {
        flags.set(Key::IndexDir, folder);
    }
    if let Ok(Some(when)) = matches.try_get_one::<String>("bridge") {
        flags.set(Key::Bridge, when);
    }
    let asked = matches.get_one::<String>("vault").map(String::as_str);
    let vault = vaults::resolve(config, &flags, asked)?;
    let settings = config.settings(Some(&vault), &flags)?;
    Ok((vault, settings))
}

/// Looks for changes first, where the capability answers from the index.
fn desk<'a>(
    host: &'a Host,
    asked: &Asked<'_>,
    progress: &'a Progress,
) -> Result<Desk<'a>, Problem> {
    let mut desk = Desk::new(host);
    if asked.entry.fresh && asked.refresh {
        let freshness = progress.unless_waiting(host, || host.refresh(Patience::Read, progress))?;
        if progress.interrupted() {
            return Err(Failure::interrupted(freshness.pending as u64).into());
        }
        desk = Desk::refreshed(host, freshness);
    }
    desk.listener = progress;
    Ok(desk)
}

fn outcome(output: &Value) -> Outcome {
    let says = |field| output.get(field).and_then(Value::as_str);
    let is_empty = |field| {
        output
            .get(field)
            .and_then(Value::as_array)
            .is_some_and(Vec::is_empty)
    };
    if is_empty("related") || is_empty("sources") {
        return Outcome::NothingFound;
    }
    if output.get("holds") == Some(&Value::Bool(false)) {
        return Outcome::NothingFound;
    }
    match (says("confidence"), says("verified")) {
        (Some("none"), _) => Outcome::NothingFound,
        (_, Some(verified)) if verified != "ok" => Outcome::Damaged,
        _ => Outcome::Done,
    }
}
