//! Running a capability from the command line: vault, index, request, answer.

use std::io::Read;

use clap::ArgMatches;
use lorewell_capabilities::{Desk, Entry, Failure, table};
use lorewell_engine::{Host, Patience};
use lorewell_setup::{Config, Flags, Key, Settings, VaultRef, vaults};
use serde_json::{Map, Value};

use crate::arguments::{FieldKind, fields};
use crate::outcome::{Outcome, Problem};
use crate::progress::Progress;
use crate::render::{self, Looks};
use crate::style;

/// So many bytes of standard input are read at most.
const MAX_STANDARD_INPUT: u64 = 16 << 20;

/// Runs the capability that the subcommand `name` stands for.
pub(crate) fn run(config: &Config, name: &str, matches: &ArgMatches) -> Result<Outcome, Problem> {
    let Some(entry) = table().iter().find(|entry| entry.name() == name) else {
        return Err(Problem::wrong_use(
            format!("there is no command “{name}”"),
            "See `lorewell --help`.",
        ));
    };
    let (vault, settings) = chosen_vault(config, matches)?;
    for warning in settings.warnings() {
        style::warn(&warning.message);
    }
    style::set_color(&settings.color());
    let host = lorewell_setup::open(config, &settings, &vault)?;
    let progress = Progress::new(&settings.progress());
    let mut input = input(entry, matches)?;
    if !matches.get_flag("json") {
        render::shorten(entry, &mut input);
    }
    let desk = desk(&host, entry, matches, &progress)?;
    let output = progress.unless_waiting(&host, || (entry.run)(&desk, input))?;
    let outcome = outcome(&output);
    if matches.get_flag("json") {
        style::print_data(&output.to_string());
    } else {
        let looks = Looks {
            links: style::links(&settings.links()),
            width: style::width(),
            root: host.root(),
        };
        render::print(entry, &output, &looks);
    }
    Ok(outcome)
}

/// The vault that is meant, and its settings.
fn chosen_vault(config: &Config, matches: &ArgMatches) -> Result<(VaultRef, Settings), Problem> {
    let mut flags = Flags::new();
    if let Some(folder) = matches.get_one::<String>("index-dir") {
        flags.set(Key::IndexDir, folder);
    }
    let asked = matches.get_one::<String>("vault").map(String::as_str);
    let vault = vaults::resolve(config, &flags, asked)?;
    let settings = config.settings(Some(&vault), &flags)?;
    Ok((vault, settings))
}

/// Looks for changes first, where the capability answers from the index.
fn desk<'a>(
    host: &'a Host,
    entry: &Entry,
    matches: &ArgMatches,
    progress: &'a Progress,
) -> Result<Desk<'a>, Problem> {
    let no_refresh = entry.fresh && matches.get_flag("no-refresh");
    let mut desk = Desk::new(host);
    if entry.fresh && !no_refresh {
        let freshness = progress.unless_waiting(host, || host.refresh(Patience::Read, progress))?;
        if progress.interrupted() {
            return Err(Failure::interrupted(freshness.pending as u64).into());
        }
        desk = Desk::refreshed(host, freshness);
    }
    desk.listener = progress;
    Ok(desk)
}

/// The request, from the words that were typed.
fn input(entry: &Entry, matches: &ArgMatches) -> Result<Value, Problem> {
    let mut input = Map::new();
    for field in fields(entry) {
        let name = field.name.as_str();
        let positional = entry.positional == Some(name);
        let value = match field.kind {
            _ if positional => {
                let words: Vec<&str> = matches
                    .get_many::<String>(name)
                    .into_iter()
                    .flatten()
                    .map(String::as_str)
                    .collect();
                let text = match words.as_slice() {
                    ["-"] => standard_input()?,
                    words => words.join(" "),
                };
                Some(Value::from(text))
            }
            FieldKind::Text => matches
                .get_one::<String>(name)
                .map(|text| Value::from(text.as_str())),
            FieldKind::Number => matches.get_one::<String>(name).map(|text| {
                text.parse::<i64>()
                    .map_or_else(|_| text.as_str().into(), Value::from)
            }),
            FieldKind::Switch => matches.get_flag(name).then_some(Value::Bool(true)),
            FieldKind::List => matches
                .get_many::<String>(name)
                .map(|items| items.map(|item| Value::from(item.as_str())).collect()),
        };
        if let Some(value) = value {
            input.insert(field.name, value);
        }
    }
    Ok(Value::Object(input))
}

/// The text on standard input, without the line end that shells add.
fn standard_input() -> Result<String, Problem> {
    let mut bytes = Vec::new();
    std::io::stdin()
        .take(MAX_STANDARD_INPUT + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| {
            Problem::wrong_use(format!("standard input cannot be read: {error}"), "")
        })?;
    if bytes.len() as u64 > MAX_STANDARD_INPUT {
        return Err(Problem::wrong_use(
            "standard input holds more than 16 MiB",
            "Ask with fewer words; the first few dozen decide.",
        ));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| Problem::wrong_use("standard input is not UTF-8", ""))?;
    let text = text.strip_suffix('\n').unwrap_or(&text);
    Ok(text.strip_suffix('\r').unwrap_or(text).to_string())
}

fn outcome(output: &Value) -> Outcome {
    let says = |field| output.get(field).and_then(Value::as_str);
    match (says("confidence"), says("verified")) {
        (Some("none"), _) => Outcome::NothingFound,
        (_, Some(verified)) if verified != "ok" => Outcome::Damaged,
        _ => Outcome::Done,
    }
}
