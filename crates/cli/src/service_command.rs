//! `lorewell service`: has the bridge started at login.

use clap::{Arg, ArgAction, ArgMatches, Command};
use lorewell_bridge::service::{Manager, Plan, Standing};
use lorewell_bridge::{BridgeError, Places, is_running};
use lorewell_capabilities::Failure;
use lorewell_setup::Environment;
use serde_json::{Value, json};

use crate::outcome::{Outcome, Problem};
use crate::style;

/// The command's arguments.
pub(crate) fn command() -> Command {
    let dry_run = || {
        Arg::new("dry-run")
            .long("dry-run")
            .action(ArgAction::SetTrue)
            .help("Show what would be done, and do nothing")
    };
    let yes = || {
        Arg::new("yes")
            .long("yes")
            .action(ArgAction::SetTrue)
            .conflicts_with("dry-run")
            .help("Do it")
    };
    Command::new("service")
        .about("Have the bridge started at login")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            Command::new("install")
                .about("Have the bridge started at login")
                .long_about(
                    "Have the bridge started at login, by systemd on Linux and by launchd on \
                     macOS. Shows the file first and writes it with --yes. What stands behind `--` \
                     is given to `lorewell serve`",
                )
                .arg(dry_run())
                .arg(yes())
                .arg(
                    Arg::new("words")
                        .value_name("SERVE_FLAG")
                        .num_args(0..)
                        .last(true)
                        .help("Flags of `lorewell serve`, behind `--`"),
                ),
        )
        .subcommand(
            Command::new("uninstall")
                .about("Have it started at login no longer")
                .arg(dry_run())
                .arg(yes()),
        )
        .subcommand(Command::new("status").about("Show whether it is started at login"))
}

/// Installs, takes away or shows.
pub(crate) fn run(environment: &Environment, matches: &ArgMatches) -> Result<Outcome, Problem> {
    let Some((name, matches)) = matches.subcommand() else {
        return Ok(Outcome::Done);
    };
    let words: Vec<String> = match name {
        "install" => matches
            .get_many::<String>("words")
            .unwrap_or_default()
            .cloned()
            .collect(),
        _ => Vec::new(),
    };
    let program = lorewell_setup::program().map_err(|source| {
        Failure::from(BridgeError::Io {
            path: "lorewell".into(),
            source,
        })
    })?;
    let manager = Manager::here().map_err(Failure::from)?;
    let plan = Plan::new(environment, manager, &program, &words);
    let json = matches.get_flag("json");
    match name {
        "install" => {
            check_words(&words)?;
            install(&plan, matches.get_flag("yes"), json)
        }
        "uninstall" => uninstall(&plan, matches.get_flag("yes"), json),
        _ => status(environment, &plan, json),
    }
}

/// Flags that serve would refuse are found now and not at the next login.
fn check_words(words: &[String]) -> Result<(), Problem> {
    let call = ["lorewell", "serve"].into_iter().map(str::to_string);
    match crate::arguments::command().try_get_matches_from(call.chain(words.iter().cloned())) {
        Ok(_) => Ok(()),
        Err(error) => {
            let text = error.render().to_string();
            let first = text.lines().next().unwrap_or_default();
            Err(Problem::wrong_use(
                first.trim_start_matches("error: "),
                "See `lorewell serve --help`.",
            ))
        }
    }
}

fn install(plan: &Plan, yes: bool, json: bool) -> Result<Outcome, Problem> {
    let before = plan.standing().map_err(Failure::from)?;
    if yes {
        plan.install().map_err(Failure::from)?;
    }
    if json {
        let mut line = said(plan, if yes { Standing::Installed } else { before });
        line["text"] = Value::String(plan.text.clone());
        line["written"] = Value::Bool(yes);
        style::print_data(&line.to_string());
        return Ok(Outcome::Done);
    }
    let path = plan.path.display();
    style::print_data(&format!("{path}:\n\n{}", plan.text.trim_end()));
    if let Some(link) = &plan.link {
        style::print_data(&format!("\n{} -> {path}", link.display()));
    }
    match (yes, before) {
        (true, _) => style::note(&format!(
            "written; from the next login on the bridge is started. To start it now: {}",
            plan.start
        )),
        (false, Standing::Installed) => style::note("it is there already, word for word"),
        (false, Standing::Different) => {
            style::note("another text is there; nothing was written; add --yes to replace it");
        }
        (false, Standing::Absent) => style::note("nothing was written; add --yes to write it"),
    }
    Ok(Outcome::Done)
}

fn uninstall(plan: &Plan, yes: bool, json: bool) -> Result<Outcome, Problem> {
    let before = plan.standing().map_err(Failure::from)?;
    let removed = yes && plan.uninstall().map_err(Failure::from)?;
    if json {
        let mut line = said(plan, if yes { Standing::Absent } else { before });
        line["removed"] = Value::Bool(removed);
        style::print_data(&line.to_string());
        return Ok(Outcome::Done);
    }
    let path = plan.path.display();
    match (before, yes) {
        (Standing::Absent, _) => style::print_data("the bridge is not started at login"),
        (_, true) => {
            style::print_data(&format!("removed {path}"));
            style::note(&format!(
                "a bridge that runs goes on; to end it: {}",
                plan.stop
            ));
        }
        (_, false) => {
            style::print_data(&format!("would remove {path}"));
            style::note("nothing was removed; add --yes to remove it");
        }
    }
    Ok(Outcome::Done)
}

fn status(environment: &Environment, plan: &Plan, json: bool) -> Result<Outcome, Problem> {
    let standing = plan.standing().map_err(Failure::from)?;
    let is_running = is_running(&Places::of_process(environment));
    if json {
        let mut line = said(plan, standing);
        line["running"] = Value::Bool(is_running);
        style::print_data(&line.to_string());
    } else {
        let path = plan.path.display();
        style::print_data(&match standing {
            Standing::Absent => "the bridge is not started at login".to_string(),
            Standing::Installed => format!("the bridge is started at login by {path}"),
            Standing::Different => format!("{path} is there, with other words than usual"),
        });
        style::print_data(match is_running {
            true => "a bridge is running now",
            false => "no bridge is running now",
        });
    }
    Ok(match standing {
        Standing::Absent => Outcome::NothingFound,
        _ => Outcome::Done,
    })
}

fn said(plan: &Plan, standing: Standing) -> Value {
    json!({
        "contract": 1,
        "manager": match plan.manager {
            Manager::Systemd => "systemd",
            Manager::Launchd => "launchd",
        },
        "path": plan.path.display().to_string(),
        "standing": match standing {
            Standing::Absent => "absent",
            Standing::Installed => "installed",
            Standing::Different => "different",
        },
    })
}
