//! `lorewell audit`: who received which passages, when.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches, Command};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use lorewell_agents::{AuditEntry, AuditFilter, AuditLog};
use lorewell_direct::{audit_log, forget};
use lorewell_engine::{Host, Patience, Quiet};
use lorewell_setup::{Config, Environment, Flags, Key, Settings, VaultRef, open, vaults};
use serde_json::json;

use crate::arguments::{index_dir_flag, vault_flag};
use crate::outcome::{Outcome, Problem};
use crate::render::counted;
use crate::style::{self, FAINT, TITLE, inert_line, styled};

/// So many requests are shown unless more are asked for.
const SHOWN: usize = 50;

/// The command.
pub(crate) fn command() -> Command {
    Command::new("audit")
        .about("Show which passages agents received, and when")
        .long_about(
            "Show which passages agents received, and when: one entry a request, the newest last. \
             Neither the question nor the text is kept. Notes that are excluded by now are not \
             named; they are taken out of the log for good",
        )
        .arg(
            Arg::new("agent")
                .long("agent")
                .value_name("NAME")
                .help("Only of this agent; `client` for programs without an approval, `client:NAME` for one of them"),
        )
        .arg(
            vault_flag().help("Only of this vault: a name from `lorewell vault list`, or a folder"),
        )
        .arg(
            Arg::new("since")
                .long("since")
                .value_name("WHEN")
                .help("Only since then: 2h, 7d, 4w ago, a day such as 2026-11-30, or a time"),
        )
        .arg(
            Arg::new("limit")
                .long("limit")
                .value_name("N")
                .value_parser(clap::value_parser!(usize))
                .help("At most so many requests, the newest (50)"),
        )
        .arg(index_dir_flag())
}

/// Runs it.
pub(crate) fn run(environment: &Environment, matches: &ArgMatches) -> Result<Outcome, Problem> {
    let config = Config::load(environment)?;
    let mut flags = Flags::new();
    if let Some(folder) = matches.get_one::<String>("index-dir") {
        flags.set(Key::IndexDir, folder);
    }
    let log = audit_log(environment);
    let given = |name| matches.get_one::<String>(name);
    let asked = given("vault").map(|asked| vaults::resolve(&config, &flags, Some(asked)));
    let filter = AuditFilter {
        agent: given("agent").cloned(),
        folder: asked.transpose()?.map(|vault| vault.path),
        since: given("since").map(|text| since(text)).transpose()?,
        limit: matches.get_one("limit").copied().unwrap_or(SHOWN),
    };
    let Forgotten { unnamed, dropped } = forget_in_each(&config, &flags, &log)?;
    let mut view = log.read(&filter)?;
    view.unreadable_lines += dropped;
    for entry in &mut view.entries {
        if unnamed.contains_key(&entry.folder) {
            entry.passages.clear();
        }
    }
    let degraded: Vec<String> = unnamed.into_values().collect();
    if matches.get_flag("json") {
        let json = json!({
            "entries": view.entries,
            "more": view.more,
            "unreadable_lines": view.unreadable_lines,
            "degraded": degraded,
        });
        style::print_data(&json.to_string());
        return Ok(Outcome::Done);
    }
    degraded.iter().for_each(|said| style::warn(said));
    if view.unreadable_lines > 0 {
        let lines = counted(view.unreadable_lines as u64, "line");
        style::warn(&format!(
            "{lines} of the log could not be read, as after a loss of power"
        ));
    }
    if view.more {
        style::note("There are older ones; --limit shows more.");
    }
    let mut text: String = view.entries.iter().map(described).collect();
    if text.is_empty() {
        text += "No agent received anything.\n";
    }
    style::print_text(&text);
    Ok(Outcome::Done)
}

/// The log after it was rid of what is excluded.
#[derive(Default)]
struct Forgotten {
    /// The vaults of which it cannot be known, with the reason: nothing of theirs is named.
    unnamed: BTreeMap<PathBuf, String>,
    /// Lines that were no entries and went as well.
    dropped: usize,
}

/// Takes out of the log what its vaults exclude by now.
fn forget_in_each(config: &Config, flags: &Flags, log: &AuditLog) -> Result<Forgotten, Problem> {
    let mut forgotten = Forgotten::default();
    for folder in log.folders()? {
        let listed = vaults::list(config).find(|vault| vault.path == folder);
        let vault = listed.cloned().unwrap_or_else(|| vault_at(&folder));
        let outcome = config
            .settings(Some(&vault), flags)
            .map_err(Problem::from)
            .and_then(|settings| {
                let host = open(config, &settings, &vault)?;
                host.refresh(Patience::Read, &Quiet)?;
                Ok(forget(log, &host)?)
            });
        match outcome {
            Ok(dropped) => forgotten.dropped += dropped,
            Err(Problem(failure)) => {
                let said = format!(
                    "notes of “{}” are not named, for it is not known which are excluded: {}",
                    vault.name, failure.message
                );
                forgotten.unnamed.insert(folder, said);
            }
        }
    }
    Ok(forgotten)
}

fn vault_at(folder: &Path) -> VaultRef {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    VaultRef::at(&name, folder)
}

/// After an update that took notes out of the index: they go out of everything else that this
/// program keeps of the vault, the index for remote readers and the log. What cannot be done is
/// said.
pub(crate) fn follow(config: &Config, settings: &Settings, vault: &VaultRef, host: &Host) {
    let log = audit_log(config.environment());
    let said = match lorewell_direct::follow(config, settings, vault, host, &log) {
        Ok(0) => return,
        Ok(lines) => format!(
            "{} could not be read and went",
            counted(lines as u64, "line")
        ),
        Err(failure) => failure.message,
    };
    style::warn(&format!("the log of what agents received: {said}"));
}

/// The time that `--since` means.
fn since(text: &str) -> Result<Timestamp, Problem> {
    let text = text.trim();
    let wrong = || {
        Problem::wrong_use(
            format!("--since cannot be {text:?}"),
            "Write 2h, 7d or 4w for that long ago, a day such as 2026-11-30, or 2026-11-30T10:00:00Z.",
        )
    };
    if let Some(ago) = span(text) {
        return Timestamp::now().checked_sub(ago).map_err(|_| wrong());
    }
    if let Ok(day) = text.parse::<Date>() {
        let start = TimeZone::system().to_timestamp(day.at(0, 0, 0, 0));
        return start.map_err(|_| wrong());
    }
    text.parse().map_err(|_| wrong())
}

/// `2h`, `7d`, `4w`.
fn span(text: &str) -> Option<SignedDuration> {
    let unit = text.chars().next_back()?;
    let hours = match unit {
        'h' => 1,
        'd' => 24,
        'w' => 24 * 7,
        _ => return None,
    };
    let number: u32 = text.strip_suffix(unit)?.parse().ok()?;
    Some(SignedDuration::from_hours(i64::from(number) * hours))
}

fn described(entry: &AuditEntry) -> String {
    let mut text = format!(
        "{}  {}  {} of {}{}\n",
        styled(FAINT, &inert_line(&entry.time)),
        styled(TITLE, &inert_line(&entry.agent)),
        inert_line(entry.capability.rsplit('.').next().unwrap_or_default()),
        inert_line(&entry.vault),
        match &entry.error {
            Some(code) => format!(": failed, {}", inert_line(code)),
            None if entry.late => ": late, perhaps not received".to_string(),
            None => String::new(),
        },
    );
    for passage in &entry.passages {
        let bytes = match passage.byte_range {
            Some((start, end)) => format!("  {}", styled(FAINT, &format!("bytes {start}-{end}"))),
            None => String::new(),
        };
        text += &format!("    {}{bytes}\n", inert_line(&passage.note));
    }
    text
}
