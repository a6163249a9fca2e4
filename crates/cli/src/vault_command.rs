//! `lorewell vault`: the list of vaults.

use clap::ArgMatches;
use lorewell_setup::{Config, Environment, Flags, Key, index_dir_for, index_root, vaults};
use serde_json::json;

use crate::outcome::{Outcome, Problem};
use crate::style::{self, FAINT, TITLE, inert, styled};

/// Runs one of its subcommands.
pub(crate) fn run(environment: &Environment, matches: &ArgMatches) -> Result<Outcome, Problem> {
    match matches.subcommand() {
        Some(("add", matches)) => add(environment, matches),
        Some(("default", matches)) => {
            let vault = vaults::set_default(environment, given(matches, "vault"))?;
            style::print_text(&format!("{} is the default vault.\n", inert(&vault.name)));
            Ok(Outcome::Done)
        }
        Some(("remove", matches)) => remove(environment, matches),
        Some((_, matches)) => list(environment, matches),
        None => Ok(Outcome::Done),
    }
}

fn add(environment: &Environment, matches: &ArgMatches) -> Result<Outcome, Problem> {
    let name = matches.get_one::<String>("name").map(String::as_str);
    let added = vaults::add(environment, name, given(matches, "path"))?;
    for warning in &added.warnings {
        style::warn(&warning.message);
    }
    let (name, path) = (&added.vault.name, added.vault.path.display().to_string());
    let said = if added.already {
        "was listed already"
    } else {
        "is listed"
    };
    style::print_text(&format!("{} ({}) {said}.\n", inert(name), inert(&path)));
    Ok(Outcome::Done)
}

fn list(environment: &Environment, matches: &ArgMatches) -> Result<Outcome, Problem> {
    let config = Config::load(environment)?;
    let settings = config.settings(None, &Flags::new())?;
    let default = settings.default_vault();
    let is_default = |name: &str| {
        default
            .as_deref()
            .is_some_and(|d| d.eq_ignore_ascii_case(name))
    };
    if matches.get_flag("json") {
        let vaults: Vec<_> = vaults::list(&config)
            .map(|v| json!({"name": v.name, "path": v.path.display().to_string(), "missing": v.missing, "default": is_default(&v.name)}))
            .collect();
        style::print_data(&json!({ "vaults": vaults }).to_string());
        return Ok(Outcome::Done);
    }
    let mut text = String::new();
    for vault in vaults::list(&config) {
        let mark = if is_default(&vault.name) {
            " (default)"
        } else {
            ""
        };
        let missing = if vault.missing {
            "  the folder is not there"
        } else {
            ""
        };
        let path = vault.path.display().to_string();
        text += &format!(
            "{}{mark}  {}{missing}\n",
            styled(TITLE, &inert(&vault.name)),
            styled(FAINT, &inert(&path))
        );
    }
    if text.is_empty() {
        text += "No vault is listed. Add one with `lorewell vault add DIR`.\n";
    }
    style::print_text(&text);
    Ok(Outcome::Done)
}

fn remove(environment: &Environment, matches: &ArgMatches) -> Result<Outcome, Problem> {
    let mut flags = Flags::new();
    if let Some(folder) = matches.get_one::<String>("index-dir") {
        flags.set(Key::IndexDir, folder);
    }
    let config = Config::load(environment)?;
    let settings = config.settings(None, &flags)?;
    let vault = vaults::remove(environment, given(matches, "vault"))?;
    let index = index_dir_for(&index_root(environment, &settings), &vault.path);
    let mut said = format!(
        "{} is forgotten; its notes stay as they are.\n",
        inert(&vault.name)
    );
    if matches.get_flag("purge") && index.exists() {
        std::fs::remove_dir_all(&index).map_err(|error| {
            let message = format!(
                "the index in {} could not be deleted: {error}",
                index.display()
            );
            Problem::wrong_use(
                message,
                "Delete the folder by hand; it holds nothing but derived data.",
            )
        })?;
        said += "Its index is deleted.\n";
    } else if index.exists() {
        said += &format!(
            "Its index stays in {}; --purge would have deleted it.\n",
            index.display()
        );
    }
    style::print_text(&said);
    Ok(Outcome::Done)
}

fn given<'m>(matches: &'m ArgMatches, name: &str) -> &'m str {
    matches.get_one::<String>(name).map_or("", String::as_str)
}
