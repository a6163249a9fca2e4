//! `lorewell skill`: the skill that teaches agents to ask, put where they look for skills.

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command};
use lorewell_clients::skill::{self, Fate, SkillChange};
use lorewell_setup::Environment;
use serde_json::{Value, json};

use crate::install_command::{registrar, switch};
use crate::outcome::{Outcome, Problem};
use crate::style::{self, FAINT, inert_line, styled};

/// The command.
pub(crate) fn command() -> Command {
    let shared = |claude: &'static str, force: &'static str| {
        [
            switch("claude", claude),
            Arg::new("project")
                .long("project")
                .value_name("DIR")
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value(".")
                .help(
                    "In the project in this folder (here, if none is given), instead of the user's",
                ),
            switch("force", force),
            switch("dry-run", "Say what would change, and change nothing"),
        ]
    };
    Command::new("skill")
        .about("Teach agents how to ask: install, show or remove the agent skill")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            Command::new("install")
                .about("Put the skill where agents look for skills")
                .long_about(
                    "Put the skill where agents look for skills: `.agents/skills`, which all \
                     share, and `.claude/skills` where Claude Code is in use. Files that were \
                     changed by hand are not overwritten without --force",
                )
                .args(shared(
                    "Also for Claude Code, though there is no trace of it",
                    "Overwrite files that were changed by hand; a backup is kept",
                )),
        )
        .subcommand(
            Command::new("uninstall")
                .about("Take the skill out again")
                .args(shared(
                    "Also from Claude Code's folder, though there is no trace of it",
                    "Remove files that were changed by hand too; a backup is kept",
                )),
        )
        .subcommand(
            Command::new("show").about("Print a file of the skill").arg(
                Arg::new("file")
                    .value_name("FILE")
                    .default_value("SKILL.md")
                    .value_parser(
                        skill::FILES
                            .iter()
                            .map(|(name, _)| *name)
                            .collect::<Vec<_>>(),
                    )
                    .help("Which file"),
            ),
        )
}

/// Runs one of its subcommands.
pub(crate) fn run(environment: &Environment, matches: &ArgMatches) -> Result<Outcome, Problem> {
    match matches.subcommand() {
        Some(("install", matches)) => change(environment, matches, true),
        Some(("uninstall", matches)) => change(environment, matches, false),
        Some((_, matches)) => show(matches),
        None => Ok(Outcome::Done),
    }
}

fn show(matches: &ArgMatches) -> Result<Outcome, Problem> {
    let asked = matches.get_one::<String>("file").map_or("", String::as_str);
    let file = skill::FILES.iter().find(|(name, _)| *name == asked);
    if let Some((name, text)) = file {
        if matches.get_flag("json") {
            style::print_data(&json!({ "contract": 1, "file": name, "text": text }).to_string());
        } else {
            style::print_data(text.trim_end());
        }
    }
    Ok(Outcome::Done)
}

/// Looks at every folder before anything is written.
fn change(
    environment: &Environment,
    matches: &ArgMatches,
    install: bool,
) -> Result<Outcome, Problem> {
    let registrar = registrar(environment);
    let (claude, force) = (matches.get_flag("claude"), matches.get_flag("force"));
    let folders = match matches.get_one::<String>("project") {
        Some(folder) => skill::project_folders(&environment.current_dir.join(folder), claude),
        None => skill::user_folders(registrar.places(), claude),
    };
    let mut changes = Vec::new();
    for folder in &folders {
        changes.push(if install {
            registrar.install_skill(folder, force)?
        } else {
            registrar.uninstall_skill(folder, force)?
        });
    }
    let dry = matches.get_flag("dry-run");
    let mut told = Vec::new();
    let mut text = String::new();
    for change in &changes {
        let backups = if dry {
            Vec::new()
        } else {
            registrar.apply_skill(change)?
        };
        text += &said(change, &backups, dry, install);
        told.push(as_json(change, &backups));
    }
    if matches.get_flag("json") {
        let json = json!({ "contract": 1, "dry_run": dry, "folders": told });
        style::print_data(&json.to_string());
    } else {
        style::print_text(&text);
    }
    Ok(Outcome::Done)
}

fn said(change: &SkillChange, backups: &[PathBuf], dry: bool, install: bool) -> String {
    let folder = inert_line(&change.folder.display().to_string());
    let would = if dry { "would be " } else { "" };
    if change.files.is_empty() {
        return format!("{folder}: the skill is not there\n");
    }
    if change.is_nothing() && install {
        return format!("{folder}: the skill is there already\n");
    }
    let mut text = format!("{folder}\n");
    for (name, fate) in &change.files {
        let fate = match fate {
            Fate::Written => format!("{would}written"),
            Fate::Replaced => format!("{would}brought up to date"),
            Fate::Overwritten => format!("{would}overwritten, though it was changed by hand"),
            Fate::Unchanged => "as it was".to_string(),
            Fate::Removed => format!("{would}removed"),
            Fate::Kept => "kept, for it was changed by hand; --force removes it".to_string(),
        };
        text += &format!("  {}  {}\n", inert_line(name), styled(FAINT, &fate));
    }
    for backup in backups {
        let backup = inert_line(&backup.display().to_string());
        text += &styled(FAINT, &format!("  backup: {backup}"));
        text.push('\n');
    }
    text
}

fn as_json(change: &SkillChange, backups: &[PathBuf]) -> Value {
    let file = |(name, fate): &(String, Fate)| {
        let fate = match fate {
            Fate::Written => "written",
            Fate::Replaced => "replaced",
            Fate::Overwritten => "overwritten",
            Fate::Unchanged => "unchanged",
            Fate::Removed => "removed",
            Fate::Kept => "kept",
        };
        json!({ "file": name, "fate": fate })
    };
    json!({
        "folder": change.folder.display().to_string(),
        "files": change.files.iter().map(file).collect::<Vec<_>>(),
        "backups": backups.iter().map(|path| path.display().to_string()).collect::<Vec<_>>(),
    })
}
