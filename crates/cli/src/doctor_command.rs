//! `lorewell doctor`: looks at everything that can be wrong, says what is and what to do, and
//! mends nothing. It works where nothing is set up, and where everything is broken.

mod callers;
mod machine;
mod notes;
mod programs;

use clap::{ArgMatches, Command};
use lorewell_capabilities::Failure;
use lorewell_setup::{Config, Environment, Flags, Key, Settings};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::arguments::index_dir_flag;
use crate::install_command::switch;
use crate::outcome::{Outcome, Problem};
use crate::render::counted;
use crate::style::{self, ERROR, FAINT, MATCH, TITLE, WARN, inert_line, styled};

/// The command.
pub(crate) fn command() -> Command {
    Command::new("doctor")
        .about("Check everything that can be wrong, and say what to do")
        .long_about(
            "Check everything that can be wrong, and say what to do: settings, vaults, indexes, \
             models, locks, the bridge, approved agents, registrations with other programs, the \
             skill, permissions, watching, the disk. It mends nothing. Exit code 0: nothing fails \
             (there may be warnings), 1: something does",
        )
        .args([
            index_dir_flag(),
            switch("quick", "Leave out reading every checksum of the indexes"),
            switch("schema", "Print the JSON Schema of what --json prints"),
        ])
}

/// How a check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    /// As it should be, or nothing to check.
    Ok,
    /// It works, and should be looked at.
    Warn,
    /// It does not work.
    Fail,
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Check {
    /// What it belongs to: `settings`, `vaults`, `index`, `models`, `locks`, `bridge`, `agents`,
    /// `programs`, `skill`, `permissions`, `watching`, `disk`.
    group: &'static str,
    /// What was looked at: a vault, a program, a folder.
    name: String,
    /// How it came out.
    state: State,
    /// What was found.
    found: String,
    /// A stable word for what is wrong, where an error has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<String>,
    /// What to do; absent where there is nothing to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    todo: Option<String>,
}

/// How many checks came out how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
struct Summary {
    ok: usize,
    warn: usize,
    fail: usize,
}

/// What `lorewell doctor --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
struct Report {
    /// The version of this contract.
    contract: u32,
    /// The version of the program.
    version: &'static str,
    /// Where it lies, as other programs are told.
    program: String,
    /// Every check, by group.
    checks: Vec<Check>,
    /// Their count.
    summary: Summary,
}

impl Check {
    fn new(
        group: &'static str,
        name: impl Into<String>,
        state: State,
        found: impl Into<String>,
    ) -> Check {
        Check {
            group,
            name: name.into(),
            state,
            found: found.into(),
            code: None,
            todo: None,
        }
    }

    fn ok(group: &'static str, name: impl Into<String>, found: impl Into<String>) -> Check {
        Check::new(group, name, State::Ok, found)
    }

    fn warn(group: &'static str, name: impl Into<String>, found: impl Into<String>) -> Check {
        Check::new(group, name, State::Warn, found)
    }

    /// What an error says.
    fn failed(group: &'static str, name: impl Into<String>, failure: impl Into<Problem>) -> Check {
        let Failure {
            code,
            message,
            hint,
        } = failure.into().0;
        let check = Check::new(group, name, State::Fail, message).with_code(code);
        if hint.is_empty() {
            check
        } else {
            check.todo(hint)
        }
    }

    fn with_code(mut self, code: impl Into<String>) -> Check {
        self.code = Some(code.into());
        self
    }

    fn todo(mut self, todo: impl Into<String>) -> Check {
        self.todo = Some(todo.into());
        self
    }
}

/// What the checks look at.
struct Patient<'a> {
    environment: &'a Environment,
    /// The configuration, where it can be read.
    config: Option<Config>,
    settings: Settings,
    flags: Flags,
    quick: bool,
    checks: Vec<Check>,
}

impl Patient<'_> {
    fn note(&mut self, check: Check) {
        self.checks.push(check);
    }
}

/// Runs it. There is hardly a failure: what is wrong is the answer.
pub(crate) fn run(environment: &Environment, matches: &ArgMatches) -> Result<Outcome, Problem> {
    if matches.get_flag("schema") {
        let schema = schemars::schema_for!(Report);
        style::print_data(&format!("{:#}", schema.as_value()));
        return Ok(Outcome::Done);
    }
    let mut flags = Flags::new();
    if let Some(folder) = matches.get_one::<String>("index-dir") {
        flags.set(Key::IndexDir, folder);
    }
    let mut patient = Patient {
        environment,
        config: None,
        settings: Settings::defaults(),
        flags,
        quick: matches.get_flag("quick"),
        checks: Vec::new(),
    };
    settings(&mut patient);
    style::set_color(&patient.settings.color());
    notes::look(&mut patient);
    callers::look(&mut patient);
    programs::look(&mut patient);
    machine::look(&mut patient);
    let report = report(patient.checks);
    let fails = report.summary.fail > 0;
    if matches.get_flag("json") {
        style::print_data(&json!(report).to_string());
    } else {
        style::print_text(&words(&report));
    }
    Ok(if fails {
        Outcome::NothingFound
    } else {
        Outcome::Done
    })
}

/// The configuration file, and every setting that can be read without a vault.
fn settings(patient: &mut Patient<'_>) {
    let file = patient.environment.config_file();
    let name = file.display().to_string();
    let config = match Config::load(patient.environment) {
        Ok(config) => config,
        Err(error) => return patient.note(Check::failed("settings", name, error)),
    };
    match config.settings(None, &patient.flags) {
        Ok(settings) => {
            let warnings: Vec<Check> = config
                .warnings()
                .iter()
                .chain(settings.warnings())
                .map(|w| Check::warn("settings", name.clone(), w.message.clone()).with_code(w.code))
                .collect();
            if warnings.is_empty() {
                let found = if file.exists() {
                    "can be read"
                } else {
                    "there is none; every setting has its default"
                };
                patient.note(Check::ok("settings", name, found));
            }
            patient.checks.extend(warnings);
            patient.settings = settings;
        }
        Err(error) => patient.note(Check::failed("settings", name, error)),
    }
    patient.config = Some(config);
}

/// The groups, in the order in which they are shown.
const GROUPS: [&str; 12] = [
    "settings",
    "vaults",
    "index",
    "models",
    "locks",
    "bridge",
    "agents",
    "programs",
    "skill",
    "permissions",
    "watching",
    "disk",
];

fn report(mut checks: Vec<Check>) -> Report {
    checks.sort_by_key(|check| GROUPS.iter().position(|group| *group == check.group));
    let mut summary = Summary::default();
    for check in &checks {
        match check.state {
            State::Ok => summary.ok += 1,
            State::Warn => summary.warn += 1,
            State::Fail => summary.fail += 1,
        }
    }
    let program = lorewell_setup::program().unwrap_or_default();
    Report {
        contract: 1,
        version: env!("CARGO_PKG_VERSION"),
        program: program.display().to_string(),
        checks,
        summary,
    }
}

fn words(report: &Report) -> String {
    let program = inert_line(&report.program);
    let mut text = format!("lorewell {}  {}\n", report.version, styled(FAINT, &program));
    let mut group = "";
    for check in &report.checks {
        if check.group != group {
            group = check.group;
            text += &format!("\n{}\n", styled(TITLE, group));
        }
        let (style, mark) = match check.state {
            State::Ok => (FAINT, "ok  "),
            State::Warn => (WARN, "warn"),
            State::Fail => (ERROR, "FAIL"),
        };
        let found = inert_line(&check.found);
        let name = inert_line(&check.name);
        text += &format!("  {}  {name}: {found}\n", styled(style, mark));
        // What is well needs no advice; it is in the JSON.
        if let (Some(todo), true) = (&check.todo, check.state != State::Ok) {
            text += &format!("        {}\n", styled(MATCH, &inert_line(todo)));
        }
    }
    let Summary { ok, warn, fail } = report.summary;
    let said = match (warn, fail) {
        (0, 0) => "Everything is well.".to_string(),
        (_, 0) => format!("{}; nothing fails.", counted(warn as u64, "warning")),
        _ => format!("{fail} fail, {}.", counted(warn as u64, "warning")),
    };
    text + &format!(
        "\n{} made. {said}\n",
        counted((ok + warn + fail) as u64, "check")
    )
}
