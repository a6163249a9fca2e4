//! `lorewell vault`: the list of vaults.

use std::io::ErrorKind;
use std::path::Path;

use clap::ArgMatches;
use lorewell_capabilities::Failure;
use lorewell_setup::{
    Config, Environment, Flags, Key, VaultRef, index_dir_for, index_root, remote_index_dir, vaults,
};
use serde_json::{Value, json};

use crate::outcome::{Outcome, Problem};
use crate::style::{self, FAINT, TITLE, inert_line, styled};

/// The code of the error that `remove --purge` may end with.
pub(crate) const INDEX_NOT_DELETED: &str = "index_not_deleted";

/// Runs one of its subcommands.
pub(crate) fn run(environment: &Environment, matches: &ArgMatches) -> Result<Outcome, Problem> {
    match matches.subcommand() {
        Some(("add", matches)) => add(environment, matches),
        Some(("default", matches)) => {
            let vault = vaults::set_default(environment, given(matches, "vault"))?;
            let said = format!("{} is the default vault.\n", inert_line(&vault.name));
            say(matches, as_json(&vault, true), &said)
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
    let json = json!({"name": name, "path": path, "already": added.already});
    let said = format!("{} ({}) {said}.\n", inert_line(name), inert_line(&path));
    say(matches, json, &said)
}

/// The outcome of a change: as data with `--json`, else in words.
fn say(matches: &ArgMatches, json: Value, words: &str) -> Result<Outcome, Problem> {
    if matches.get_flag("json") {
        style::print_data(&json.to_string());
    } else {
        style::print_text(words);
    }
    Ok(Outcome::Done)
}

fn as_json(vault: &VaultRef, default: bool) -> Value {
    json!({
        "name": vault.name,
        "path": vault.path.display().to_string(),
        "missing": vault.missing,
        "default": default,
    })
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
            .map(|vault| as_json(vault, is_default(&vault.name)))
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
            styled(TITLE, &inert_line(&vault.name)),
            styled(FAINT, &inert_line(&path))
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
        inert_line(&vault.name)
    );
    let purged = matches.get_flag("purge") && index.exists();
    if matches.get_flag("purge") {
        delete_index(&remote_index_dir(&index))?;
    }
    if purged {
        delete_index(&index)?;
        said += "Its index is deleted.\n";
    } else if index.exists() {
        said += &format!(
            "Its index stays in {}; --purge would have deleted it.\n",
            inert_line(&index.display().to_string())
        );
    }
    let json = json!({
        "name": vault.name,
        "path": vault.path.display().to_string(),
        "purged": purged,
    });
    say(matches, json, &said)
}

/// Deletes the folder of an index, if it is there.
fn delete_index(folder: &Path) -> Result<(), Problem> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(Problem(Failure {
            code: INDEX_NOT_DELETED.to_string(),
            message: format!(
                "the index in {} could not be deleted: {error}",
                folder.display()
            ),
            hint: "Delete the folder by hand; it holds nothing but derived data.".to_string(),
        })),
        _ => Ok(()),
    }
}

fn given<'m>(matches: &'m ArgMatches, name: &str) -> &'m str {
    matches.get_one::<String>(name).map_or("", String::as_str)
}
