//! `lorewell config`: settings, and where each comes from.

use clap::ArgMatches;
use lorewell_setup::{
    Config, Environment, Flags, Resolved, Setting, Settings, Value as SettingValue, edit, vaults,
};
use serde_json::{Value, json};

use crate::outcome::{Outcome, Problem};
use crate::style::{self, FAINT, TITLE, inert_line, styled};

/// Runs one of its subcommands.
pub(crate) fn run(environment: &Environment, matches: &ArgMatches) -> Result<Outcome, Problem> {
    match matches.subcommand() {
        Some(("get", matches)) => get(environment, matches),
        Some(("set", matches)) => set(environment, matches),
        Some(("unset", matches)) => unset(environment, matches),
        Some((_, matches)) => list(environment, matches),
        None => Ok(Outcome::Done),
    }
}

fn list(environment: &Environment, matches: &ArgMatches) -> Result<Outcome, Problem> {
    let settings = settings(environment, matches)?;
    if matches.get_flag("json") {
        let all: Vec<Value> = settings
            .iter()
            .map(|(setting, resolved)| as_json(setting, resolved))
            .collect();
        style::print_data(&json!({ "settings": all }).to_string());
    } else {
        let text: String = settings
            .iter()
            .map(|(setting, resolved)| line(setting, resolved))
            .collect();
        style::print_text(&text);
    }
    Ok(Outcome::Done)
}

fn get(environment: &Environment, matches: &ArgMatches) -> Result<Outcome, Problem> {
    let settings = settings(environment, matches)?;
    let (setting, resolved) = settings.named(key(matches))?;
    if matches.get_flag("json") {
        style::print_data(&as_json(setting, resolved).to_string());
    } else {
        style::print_text(&line(setting, resolved));
        style::print_text(&styled(FAINT, &format!("  {}\n", setting.doc)));
    }
    Ok(Outcome::Done)
}

fn set(environment: &Environment, matches: &ArgMatches) -> Result<Outcome, Problem> {
    let vault = matches.get_one::<String>("vault").map(String::as_str);
    let value = matches
        .get_one::<String>("value")
        .map_or("", String::as_str);
    let set = edit::set(environment, vault, key(matches), value)?;
    let file = environment.config_file().display().to_string();
    if matches.get_flag("json") {
        let json = json!({"name": key(matches), "value": value_json(&set), "file": file});
        style::print_data(&json.to_string());
    } else {
        let value = inert_line(&set.to_toml());
        style::print_text(&format!(
            "{} = {value} in {}\n",
            key(matches),
            inert_line(&file)
        ));
    }
    Ok(Outcome::Done)
}

fn unset(environment: &Environment, matches: &ArgMatches) -> Result<Outcome, Problem> {
    let vault = matches.get_one::<String>("vault").map(String::as_str);
    let was_there = edit::unset(environment, vault, key(matches))?;
    let file = environment.config_file().display().to_string();
    if matches.get_flag("json") {
        let json = json!({"name": key(matches), "was_set": was_there, "file": file});
        style::print_data(&json.to_string());
    } else {
        let said = if was_there {
            "is taken out of"
        } else {
            "was not in"
        };
        style::print_text(&format!("{} {said} {}\n", key(matches), inert_line(&file)));
    }
    Ok(Outcome::Done)
}

fn settings(environment: &Environment, matches: &ArgMatches) -> Result<Settings, Problem> {
    let config = Config::load(environment)?;
    let asked = matches.get_one::<String>("vault").map(String::as_str);
    let vault = asked
        .map(|asked| vaults::resolve(&config, &Flags::new(), Some(asked)))
        .transpose()?;
    let settings = config.settings(vault.as_ref(), &Flags::new())?;
    for warning in config.warnings().iter().chain(settings.warnings()) {
        style::warn(&warning.message);
    }
    Ok(settings)
}

fn key(matches: &ArgMatches) -> &str {
    matches.get_one::<String>("key").map_or("", String::as_str)
}

fn shown(resolved: &Resolved) -> String {
    resolved
        .value
        .as_ref()
        .map_or_else(|| "not set".to_string(), |value| value.to_toml())
}

fn line(setting: &Setting, resolved: &Resolved) -> String {
    let mut origins = vec![resolved.origin.to_string()];
    origins.extend(resolved.added_by.iter().map(ToString::to_string));
    format!(
        "{} = {}  {}\n",
        styled(TITLE, setting.name),
        inert_line(&shown(resolved)),
        styled(FAINT, &inert_line(&format!("({})", origins.join(", ")))),
    )
}

fn as_json(setting: &Setting, resolved: &Resolved) -> Value {
    let mut json = json!({
        "name": setting.name,
        "origin": resolved.origin.to_string(),
        "added_by": resolved.added_by.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "documentation": setting.doc,
        "variable": setting.variable(),
    });
    if let Some(value) = &resolved.value {
        json["value"] = value_json(value);
    }
    json
}

fn value_json(value: &SettingValue) -> Value {
    match value {
        SettingValue::Integer(number) => Value::from(*number),
        SettingValue::Float(number) => Value::from(*number),
        SettingValue::Text(text) => Value::from(text.as_str()),
        SettingValue::Path(path) => Value::from(path.display().to_string()),
        SettingValue::List(items) => Value::from(items.as_slice()),
    }
}
