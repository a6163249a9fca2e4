//! `lorewell install` and `lorewell uninstall`: registrations with programs that ask Lorewell.

use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches, Command};
use lorewell_agents::Register;
use lorewell_capabilities::Failure;
use lorewell_clients::{
    Action, Change, Client, ClientError, Part, Places, Reach, Registrar, Server, System, VARIABLES,
};
use lorewell_setup::{Config, Environment, Flags, agents_dir, vaults};
use serde_json::{Value, json};

use crate::arguments::vault_flag;
use crate::outcome::{Outcome, Problem};
use crate::style::{self, FAINT, TITLE, inert, inert_line, styled};

/// Which of the two commands it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Registrations come.
    Install,
    /// Registrations go.
    Uninstall,
}

/// `lorewell install`.
pub(crate) fn install() -> Command {
    Command::new("install")
        .about("Register Lorewell with agents and editors")
        .long_about(
            "Register Lorewell with agents and editors, so that they can ask your notes: writes \
             the server `lorewell` into the configuration of each, shows the difference first, and \
             keeps a backup. Comments, order and all other keys of the file stay as they are; a \
             file that cannot be understood is left alone. Doing it twice changes nothing",
        )
        .args(shared("Register with every program of these that is found"))
        .arg(vault_flag().help(
            "The vault that the program asks (default: whatever is the default vault when it asks)",
        ))
        .arg(
            Arg::new("as")
                .long("as")
                .value_name("NAME")
                .help("It asks in the name of this approved agent, with its scope and tools"),
        )
        .arg(switch(
            "hook",
            "Also let it add passages of your notes to every prompt (claude-code, codex)",
        ))
}

/// `lorewell uninstall`.
pub(crate) fn uninstall() -> Command {
    Command::new("uninstall")
        .about("Take registrations with agents and editors back")
        .long_about(
            "Take registrations with agents and editors back. A file that is still as `lorewell \
             install` wrote it becomes what it was before, byte for byte; from one that was \
             edited since, only the registration goes",
        )
        .args(shared("Take the registrations with all of them back"))
        .arg(switch("hook", "Only what adds passages to prompts"))
}

fn shared(all: &'static str) -> Vec<Arg> {
    vec![
        Arg::new("client")
            .value_name("PROGRAM")
            .num_args(1..)
            .required_unless_present("all")
            .value_parser(Client::ALL.map(Client::name).to_vec())
            .help("Which program"),
        switch("all", all).conflicts_with("client"),
        Arg::new("project")
            .long("project")
            .value_name("DIR")
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value(".")
            .help("For the project in this folder (here, if none is given), instead of the user"),
        switch("dry-run", "Show what would change, and change nothing"),
        switch("yes", "Do it without asking").short('y'),
    ]
}

pub(crate) fn switch(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .action(ArgAction::SetTrue)
        .help(help)
}

/// What of other programs is found, and where backups go.
pub(crate) fn registrar(environment: &Environment) -> Registrar {
    let places = Places {
        system: System::here(),
        home: environment.home.clone(),
        variables: lorewell_setup::variables(VARIABLES),
    };
    Registrar::new(
        places,
        &environment.data_dir.join("lorewell").join("clients"),
    )
}

/// What is to be done, and how it went.
#[derive(Default)]
struct Plan {
    changes: Vec<Change>,
    skipped: Vec<(Client, String)>,
    failed: Vec<(Client, Failure)>,
}

/// Runs one of the two commands.
pub(crate) fn run(
    environment: &Environment,
    matches: &ArgMatches,
    way: Way,
) -> Result<Outcome, Problem> {
    let consent = Consent::of(matches)?;
    let registrar = registrar(environment);
    let reach = match matches.get_one::<String>("project") {
        Some(folder) => Reach::Project(absolute(environment, folder)),
        None => Reach::User,
    };
    let server = match way {
        Way::Install => Some(server(environment, matches)?),
        Way::Uninstall => None,
    };
    let mut plan = plan(&registrar, matches, &reach, server.as_ref());
    let mut backups = Vec::new();
    if consent != Consent::Never {
        show(matches, &plan);
        let is_something = plan.changes.iter().any(|change| !change.is_nothing());
        if is_something && consent == Consent::Ask && !asked("Make these changes?") {
            style::note("nothing was changed");
            return Ok(Outcome::Done);
        }
        let changes = std::mem::take(&mut plan.changes);
        for change in changes {
            match registrar.apply(&change) {
                Ok(backup) => {
                    backups.push(backup);
                    plan.changes.push(change);
                }
                Err(error) => plan.failed.push((change.client, failure(error))),
            }
        }
    } else {
        show(matches, &plan);
    }
    tell(matches, &plan, &backups, consent == Consent::Never);
    if way == Way::Install && !matches.get_flag("json") {
        advise(environment, matches, &plan, &reach);
    }
    match plan.failed.as_slice() {
        [] => Ok(Outcome::Done),
        [(_, only)] if plan.changes.is_empty() && !matches.get_flag("json") => {
            Err(Problem(only.clone()))
        }
        _ => Ok(Outcome::Damaged),
    }
}

/// Whether changes are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Consent {
    /// Only shown.
    Never,
    /// Made if the user says so.
    Ask,
    /// Made.
    Given,
}

impl Consent {
    /// Nobody can be asked where there is no terminal.
    pub(crate) fn of(matches: &ArgMatches) -> Result<Consent, Problem> {
        let json = matches.get_flag("json");
        match (matches.get_flag("dry-run"), matches.get_flag("yes")) {
            (true, _) => Ok(Consent::Never),
            (_, true) => Ok(Consent::Given),
            _ if !json && std::io::stdin().is_terminal() => Ok(Consent::Ask),
            _ => Err(Problem::wrong_use(
                "there is nobody to ask whether the changes are wanted",
                "`--dry-run` shows them, `--yes` makes them.",
            )),
        }
    }
}

/// Asks on standard error; only `y` and `yes` are yes.
pub(crate) fn asked(question: &str) -> bool {
    let mut err = anstream::stderr();
    let _ = write!(err, "{question} [y/N] ");
    let _ = err.flush();
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    read.is_ok() && matches!(line.trim().to_lowercase().as_str(), "y" | "yes")
}

fn absolute(environment: &Environment, folder: &str) -> PathBuf {
    let path = environment.current_dir.join(folder);
    path.canonicalize().unwrap_or(path)
}

/// What the programs are told to start.
fn server(environment: &Environment, matches: &ArgMatches) -> Result<Server, Problem> {
    let program = lorewell_setup::program().map_err(|error| {
        Failure::internal(format!(
            "the system does not say where this program lies: {error}"
        ))
    })?;
    let mut args = vec!["mcp".to_string()];
    // Uninstalling knows no such flag, and needs none: it is the entry that goes.
    if let Ok(Some(name)) = matches.try_get_one::<String>("as") {
        let agents = Register::at(agents_dir(environment));
        args.extend(["--as".to_string(), agents.agent(name)?.name]);
    }
    if let Some(asked) = matches.get_one::<String>("vault") {
        let config = Config::load(environment)?;
        let vault = vaults::resolve(&config, &Flags::new(), Some(asked))?;
        let is_listed = vaults::list(&config).any(|listed| *listed == vault);
        args.push("--vault".to_string());
        args.push(if is_listed {
            vault.name
        } else {
            vault.path.display().to_string()
        });
    }
    Ok(Server {
        command: program.display().to_string(),
        args,
    })
}

fn plan(
    registrar: &Registrar,
    matches: &ArgMatches,
    reach: &Reach,
    server: Option<&Server>,
) -> Plan {
    let mut plan = Plan::default();
    let all = matches.get_flag("all");
    let hook = matches.get_flag("hook");
    let clients: Vec<Client> = match matches.get_many::<String>("client") {
        Some(names) => names.filter_map(|name| Client::named(name)).collect(),
        None => Client::ALL.to_vec(),
    };
    for client in clients {
        if all && server.is_some() && !registrar.places().has(client) {
            plan.skipped
                .push((client, "not found on this machine".to_string()));
            continue;
        }
        let parts: &[Part] = match server {
            Some(_) if hook && (client.has_hooks() || !all) => &[Part::Server, Part::Hook],
            Some(_) => &[Part::Server],
            None if hook => &[Part::Hook],
            None if client.has_hooks() => &[Part::Server, Part::Hook],
            None => &[Part::Server],
        };
        let change = |part: &Part| match server {
            Some(server) => registrar.install(client, reach, *part, server),
            None => registrar.uninstall(client, reach, *part),
        };
        // All parts of a program or none.
        let changes: Result<Vec<Change>, ClientError> = parts.iter().map(change).collect();
        match changes {
            Ok(changes) => plan.changes.extend(changes),
            Err(ClientError::NoPlace(why)) if all => plan.skipped.push((client, why)),
            Err(error) => plan.failed.push((client, failure(error))),
        }
    }
    plan
}

fn failure(error: ClientError) -> Failure {
    Failure {
        code: error.code().to_string(),
        message: error.to_string(),
        hint: error.hint().to_string(),
    }
}

impl From<ClientError> for Problem {
    fn from(error: ClientError) -> Problem {
        Problem(failure(error))
    }
}

/// The differences, before anything is done.
fn show(matches: &ArgMatches, plan: &Plan) {
    if matches.get_flag("json") {
        return;
    }
    for change in &plan.changes {
        let difference = change.difference();
        if !difference.is_empty() {
            style::print_text(&format!("{}\n", coloured(&difference)));
        }
    }
}

fn coloured(difference: &str) -> String {
    let line = |line: &str| match line.chars().next() {
        Some('+') => styled(style::MATCH, &inert(line)),
        Some('-') => styled(style::ERROR, &inert(line)),
        Some('@') => styled(FAINT, &inert(line)),
        _ => inert(line).into_owned(),
    };
    let lines: Vec<String> = difference.lines().map(line).collect();
    lines.join("\n") + "\n"
}

/// How it went, in words or as data.
fn tell(matches: &ArgMatches, plan: &Plan, backups: &[Option<PathBuf>], dry: bool) {
    let backup = |at: usize| backups.get(at).cloned().flatten();
    if matches.get_flag("json") {
        let changes = plan.changes.iter().enumerate();
        let json = json!({
            "contract": 1,
            "dry_run": dry,
            "changes": changes.map(|(at, change)| as_json(change, backup(at))).collect::<Vec<_>>(),
            "skipped": plan.skipped.iter().map(|(client, reason)| {
                json!({ "client": client.name(), "reason": reason })
            }).collect::<Vec<_>>(),
            "failed": plan.failed.iter().map(|(client, error)| {
                json!({ "client": client.name(), "error": error })
            }).collect::<Vec<_>>(),
        });
        style::print_data(&json.to_string());
        return;
    }
    let mut text = String::new();
    for (at, change) in plan.changes.iter().enumerate() {
        text += &said(change, backup(at).as_deref(), dry);
    }
    for (client, reason) in &plan.skipped {
        let reason = styled(FAINT, &inert_line(reason));
        text += &format!("{}: skipped, {reason}\n", client.title());
    }
    style::print_text(&text);
    if plan.failed.len() > 1 || !plan.changes.is_empty() {
        for (client, error) in &plan.failed {
            style::fail(
                &format!("{}: {}", client.title(), error.message),
                &error.hint,
            );
        }
    }
}

fn said(change: &Change, backup: Option<&Path>, dry: bool) -> String {
    let what = match change.part {
        Part::Server => "",
        Part::Hook => "the hook for prompts ",
    };
    let done = match (change.action, dry) {
        (Action::Added, false) => "is registered",
        (Action::Added, true) => "would be registered",
        (Action::Updated, false) => "is registered anew",
        (Action::Updated, true) => "would be registered anew",
        (Action::Unchanged, _) => "is registered already",
        (Action::Removed, false) => "is taken out",
        (Action::Removed, true) => "would be taken out",
        (Action::NotThere, _) => "is not registered",
    };
    let path = inert_line(&change.path.display().to_string());
    let mut line = format!(
        "{}: {what}{done}  {}\n",
        styled(TITLE, change.client.title()),
        styled(FAINT, &path)
    );
    if let Some(backup) = backup {
        let backup = inert_line(&backup.display().to_string());
        line += &styled(FAINT, &format!("  the file as it was: {backup}"));
        line.push('\n');
    }
    line
}

fn as_json(change: &Change, backup: Option<PathBuf>) -> Value {
    let mut json = json!({
        "client": change.client.name(),
        "part": match change.part { Part::Server => "server", Part::Hook => "hook" },
        "path": change.path.display().to_string(),
        "action": match change.action {
            Action::Added => "added",
            Action::Updated => "updated",
            Action::Unchanged => "unchanged",
            Action::Removed => "removed",
            Action::NotThere => "absent",
        },
        "makes_file": change.makes_file(),
        "removes_file": change.removes_file(),
        "difference": change.difference(),
    });
    if let Some(backup) = backup {
        json["backup"] = Value::from(backup.display().to_string());
    }
    json
}

/// What is left for the user to do.
fn advise(environment: &Environment, matches: &ArgMatches, plan: &Plan, reach: &Reach) {
    let changed: Vec<&Change> = plan.changes.iter().filter(|c| !c.is_nothing()).collect();
    if changed.is_empty() {
        return;
    }
    if changed.iter().any(|change| change.client.must_restart()) {
        style::note("Claude Desktop knows it after a restart.");
    }
    let hook = |client| {
        changed
            .iter()
            .any(|c| c.client == client && c.part == Part::Hook)
    };
    if hook(Client::Codex) {
        style::note(
            "Codex asks whether you trust the hook; older versions run hooks only with `codex_hooks = true` under [features].",
        );
    }
    if *reach != Reach::User {
        style::note(
            "The file names this program by its path on this machine: who shares the project needs it there too.",
        );
    }
    let config = Config::load(environment);
    let resolved = config.map(|config| vaults::resolve(&config, &Flags::new(), None));
    if matches.get_one::<String>("vault").is_none() && !matches!(resolved, Ok(Ok(_))) {
        style::warn(
            "no vault is the default, so the program will not know which notes to ask; `lorewell vault add DIR` lists one",
        );
    }
}
