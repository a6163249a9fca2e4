//! The commands and their flags. Those of capabilities are made from the capability table.

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use clap_complete::Shell;
use lorewell_capabilities::{Access, Entry, table};

use crate::fields::fields;
use crate::outcome::{Outcome, Problem};
use crate::style;

/// The whole command line.
pub(crate) fn command() -> Command {
    Command::new("lorewell")
        .bin_name("lorewell")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Ask a folder of Markdown notes; get passages that can be cited")
        .after_help(
            "Ask a folder at once:   lorewell search --vault ~/Notes \"when is the boat surveyed?\"\n\
             Remember it:            lorewell vault add ~/Notes\n\
             Exit codes:             0 done, 1 nothing found or not all holds, 2 wrong use or failure",
        )
        .subcommand_required(true)
        .arg_required_else_help(true)
        .arg(
            Arg::new("json")
                .long("json")
                .global(true)
                .action(ArgAction::SetTrue)
                .help("Print JSON (errors too)"),
        )
        .subcommands(table().iter().map(capability))
        .subcommand(vault())
        .subcommand(config())
        .subcommand(eval())
        .subcommand(crate::models_command::command())
        .subcommand(watch())
        .subcommand(crate::agent_command::command())
        .subcommand(crate::audit_command::command())
        .subcommand(crate::serve_command::command())
        .subcommand(crate::service_command::command())
        .subcommand(crate::install_command::install())
        .subcommand(crate::install_command::uninstall())
        .subcommand(crate::skill_command::command())
        .subcommand(crate::hook_command::command())
        .subcommand(crate::fuse_command::command())
        .subcommand(crate::doctor_command::command())
        .subcommand(crate::mcp_command::command())
        .subcommand(
            Command::new("completions").about("Print completions for a shell").arg(
                Arg::new("shell")
                    .required(true)
                    .value_name("SHELL")
                    .value_parser(value_parser!(Shell)),
            ),
        )
}

/// Prints completions.
pub(crate) fn completions(matches: &ArgMatches) -> Result<Outcome, Problem> {
    if let Some(shell) = matches.get_one::<Shell>("shell") {
        let mut script = Vec::new();
        clap_complete::generate(*shell, &mut command(), "lorewell", &mut script);
        style::print_data(String::from_utf8_lossy(&script).trim_end());
    }
    Ok(Outcome::Done)
}

fn capability(entry: &Entry) -> Command {
    let mut command = Command::new(entry.name())
        .about(entry.summary)
        .long_about(entry.description);
    for field in fields(entry) {
        command = command.args(field.arguments());
    }
    let mut command = command
        .arg(vault_flag())
        .arg(index_dir_flag())
        .arg(bridge_flag());
    if entry.access == Access::Read {
        command = command.arg(crate::remote::flag());
    }
    if entry.fresh {
        command.arg(
            Arg::new("no-refresh")
                .long("no-refresh")
                .action(ArgAction::SetTrue)
                .help("Answer from the index as it is, without looking for changes"),
        )
    } else {
        command
    }
}

fn vault() -> Command {
    let name = || {
        Arg::new("vault")
            .required(true)
            .value_name("NAME_OR_DIR")
            .help("Its name in the list, or its folder")
    };
    Command::new("vault")
        .about("Remember folders of notes by name")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            Command::new("add")
                .about("Remember a folder of notes")
                .arg(
                    Arg::new("path")
                        .required(true)
                        .value_name("DIR")
                        .help("The folder"),
                )
                .arg(
                    Arg::new("name")
                        .long("name")
                        .value_name("NAME")
                        .help("Its name (default: the folder's)"),
                ),
        )
        .subcommand(Command::new("list").about("Show the folders that are remembered"))
        .subcommand(
            Command::new("default")
                .about("Choose the vault that is meant where none is named")
                .arg(name()),
        )
        .subcommand(
            Command::new("remove")
                .about("Forget a folder; the notes stay as they are")
                .arg(name())
                .arg(index_dir_flag())
                .arg(
                    Arg::new("purge")
                        .long("purge")
                        .action(ArgAction::SetTrue)
                        .help("Delete its index as well"),
                ),
        )
}

fn config() -> Command {
    let key = || {
        Arg::new("key")
            .required(true)
            .value_name("KEY")
            .help("A setting; `lorewell config list` names them all")
    };
    let vault = || vault_flag().help("Of this listed vault, instead of all");
    Command::new("config")
        .about("Show and change settings")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            Command::new("list")
                .about("Show every setting, its value and where it comes from")
                .arg(vault()),
        )
        .subcommand(
            Command::new("get")
                .about("Show one setting")
                .arg(key())
                .arg(vault()),
        )
        .subcommand(
            Command::new("set")
                .about("Change a setting in the configuration file")
                .arg(key())
                .arg(
                    Arg::new("value")
                        .required(true)
                        .value_name("VALUE")
                        .help("Its new value; items of a list are parted by commas")
                        .allow_hyphen_values(true),
                )
                .arg(vault()),
        )
        .subcommand(
            Command::new("unset")
                .about("Take a setting out of the configuration file")
                .arg(key())
                .arg(vault()),
        )
}

fn eval() -> Command {
    let value = |name: &'static str, shown: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(shown).help(help)
    };
    let no_refresh = || {
        switch(
            "no-refresh",
            "Use the index as it is, without looking for changes",
        )
    };
    Command::new("eval")
        .about("Measure how well this vault's questions are answered")
        .long_about(
            "Measure how well this vault's questions are answered: those of its golden set, those \
             of files, and probes made of the notes' own links. Shows every lane alone and all \
             together, with 95 % intervals, and recommends other weights where the questions \
             show that they are better. The golden set is a file of JSON objects, one a line, in \
             the folder `lorewell/questions` of the user's data folder; `lorewell eval list` \
             names it",
        )
        .args_conflicts_with_subcommands(true)
        .arg(
            value(
                "questions",
                "FILE",
                "Also the questions of this file: JSON objects, one a line",
            )
            .num_args(1..)
            .action(ArgAction::Append),
        )
        .arg(switch(
            "misses",
            "Name the questions that fell, with the rank",
        ))
        .arg(switch("no-probes", "Leave the notes' own links out"))
        .arg(switch("no-advice", "Try no other weights"))
        .args([vault_flag(), index_dir_flag(), no_refresh()])
        .subcommand(
            Command::new("add")
                .about("Add a question to the vault's golden set")
                .arg(
                    Arg::new("question")
                        .required(true)
                        .value_name("QUESTION")
                        .num_args(1..)
                        .help("The question, as you would ask it"),
                )
                .arg(
                    value("note", "NOTE", "The note that answers it: its path or name")
                        .conflicts_with("none"),
                )
                .arg(
                    value(
                        "snippet",
                        "TEXT",
                        "What the answer says there, word for word",
                    )
                    .requires("note")
                    .conflicts_with("none"),
                )
                .arg(
                    value(
                        "kind",
                        "WORD",
                        "What kind of question it is, such as `paraphrase`",
                    )
                    .conflicts_with("none"),
                )
                .arg(switch("none", "The notes do not answer it"))
                .args([vault_flag(), index_dir_flag(), no_refresh()]),
        )
        .subcommand(
            Command::new("list")
                .about("Show the vault's golden set")
                .args([vault_flag(), index_dir_flag()]),
        )
        .subcommand(
            Command::new("remove")
                .about("Take a question out of the vault's golden set")
                .arg(
                    Arg::new("id")
                        .required(true)
                        .value_name("ID")
                        .help("Its id; `lorewell eval list` shows it"),
                )
                .args([vault_flag(), index_dir_flag()]),
        )
}

fn watch() -> Command {
    Command::new("watch")
        .about("Keep a vault's index up to date until it is stopped")
        .long_about(
            "Keep a vault's index up to date while its notes change, until it is stopped with \
             Ctrl-C or SIGTERM. Says what it does on standard error, with --json one object a \
             line on standard output. A vault has one watcher; for a second one this ends with \
             exit code 2 and the error `already_watched`",
        )
        .args([vault_flag(), index_dir_flag()])
}

/// A flag that is there or not.
pub(crate) fn switch(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .action(ArgAction::SetTrue)
        .help(help)
}

pub(crate) fn vault_flag() -> Arg {
    Arg::new("vault")
        .long("vault")
        .value_name("NAME_OR_DIR")
        .help("The vault: a name from `lorewell vault list`, or a folder (default: the default vault)")
}

fn bridge_flag() -> Arg {
    Arg::new("bridge")
        .long("bridge")
        .value_name("WHEN")
        .help("Have the bridge answer: never, running, auto or require (setting `bridge`)")
}

pub(crate) fn index_dir_flag() -> Arg {
    Arg::new("index-dir")
        .long("index-dir")
        .value_name("DIR")
        .help("The folder under which all indexes are kept")
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_line_is_well_formed() {
        super::command().debug_assert();
    }
}
