//! The commands and their flags. Those of capabilities are made from the capability table.

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use clap_complete::Shell;
use lorewell_capabilities::{Entry, table};
use serde_json::Value;

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
             Exit codes:             0 done, 1 nothing found, 2 wrong use or failure",
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
        command = command.arg(field.argument());
    }
    let command = command.arg(vault_flag()).arg(index_dir_flag());
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

/// One field of a capability's input.
pub(crate) struct InputField {
    /// Its name in JSON.
    pub(crate) name: String,
    /// What kind of value it holds.
    pub(crate) kind: FieldKind,
    documentation: String,
    positional: bool,
}

/// The kinds of values that a command line can give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldKind {
    Text,
    Number,
    Switch,
    List,
}

/// The input fields of a capability, read off its schema.
pub(crate) fn fields(entry: &Entry) -> Vec<InputField> {
    let schema = (entry.input_schema)();
    let properties = schema
        .as_value()
        .get("properties")
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default();
    let field = |(name, schema): (String, Value)| InputField {
        kind: FieldKind::of(&schema),
        documentation: help_text(
            schema
                .get("description")
                .and_then(Value::as_str)
                .unwrap_or_default(),
        ),
        positional: entry.positional == Some(name.as_str()),
        name,
    };
    properties.into_iter().map(field).collect()
}

impl FieldKind {
    fn of(schema: &Value) -> FieldKind {
        let names: Vec<&str> = match schema.get("type") {
            Some(Value::String(name)) => vec![name],
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        match names.iter().find(|name| **name != "null") {
            Some(&"integer") => FieldKind::Number,
            Some(&"boolean") => FieldKind::Switch,
            Some(&"array") => FieldKind::List,
            _ => FieldKind::Text,
        }
    }
}

impl InputField {
    fn argument(&self) -> Arg {
        let argument = Arg::new(self.name.clone()).help(self.documentation.clone());
        let value_name = self.name.to_uppercase();
        if self.positional {
            let help = format!("{}; `-` reads it from standard input", self.documentation);
            return argument
                .help(help)
                .value_name(value_name)
                .required(true)
                .num_args(1..);
        }
        let argument = argument.long(self.name.replace('_', "-"));
        match self.kind {
            FieldKind::Switch => argument.action(ArgAction::SetTrue),
            // What is no number is refused with the others, by the capability.
            FieldKind::Number => argument.value_name("N").allow_negative_numbers(true),
            FieldKind::List => argument.value_name(value_name).action(ArgAction::Append),
            FieldKind::Text => argument.value_name(value_name),
        }
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

fn vault_flag() -> Arg {
    Arg::new("vault")
        .long("vault")
        .value_name("NAME_OR_DIR")
        .help("The vault: a name from `lorewell vault list`, or a folder (default: the default vault)")
}

fn index_dir_flag() -> Arg {
    Arg::new("index-dir")
        .long("index-dir")
        .value_name("DIR")
        .help("The folder under which all indexes are kept")
}

/// A documentation comment as help shows it: on one line, without the last full stop.
fn help_text(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.trim_end_matches('.').to_string()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_line_is_well_formed() {
        super::command().debug_assert();
    }
}
