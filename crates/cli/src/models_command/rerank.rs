//! `models use` with a reranker: a setting of the vault, and nothing to embed.

use clap::ArgMatches;
use lorewell_models::{RerankSession, Task};
use lorewell_setup::{Config, Environment, Key, Settings, edit, model_store};
use serde_json::json;

use crate::capability::chosen_vault;
use crate::outcome::{Outcome, Problem};
use crate::style::{self, inert_line};

/// The name that means none.
const OFF: &str = "off";

/// Whether a name means a reranker that was fetched, or none.
pub(super) fn is_meant(environment: &Environment, name: &str) -> bool {
    let is_reranker = || {
        let manifest = model_store(environment).manifest(name);
        manifest.is_ok_and(|manifest| manifest.task == Task::Rerank)
    };
    name.eq_ignore_ascii_case(OFF) || is_reranker()
}

/// Gives a vault a reranker, or takes it away. `listed` is the vault's name on the list, `before`
/// its settings.
///
/// # Errors
/// The model cannot be used; a precision was asked for; the configuration cannot be written.
pub(super) fn give(
    environment: &Environment,
    matches: &ArgMatches,
    (listed, before): (&str, &Settings),
    name: &str,
) -> Result<Outcome, Problem> {
    if matches.contains_id("precision") {
        return Err(Problem::wrong_use(
            "a vault has one precision for all of its models, and another would embed it anew",
            "Leave --precision out, or give it with the model that embeds.",
        ));
    }
    let is_off = name.eq_ignore_ascii_case(OFF);
    let name = if is_off { OFF } else { name };
    if !is_off {
        let (store, precision) = (model_store(environment), before.precision());
        RerankSession::of(&store, name, &precision, &before.device())?;
    }
    edit::set(environment, Some(listed), "reranker", name)?;
    let (vault, settings) = chosen_vault(&Config::load(environment)?, matches)?;
    if settings.reranker() != name {
        let origin = &settings.get(Key::Reranker).origin;
        style::warn(&format!(
            "{origin} decides: it says `{}`",
            settings.reranker()
        ));
    }
    if matches.get_flag("json") {
        let json = json!({ "contract": 1, "vault": vault.name, "reranker": settings.reranker() });
        style::print_data(&json.to_string());
        return Ok(Outcome::Done);
    }
    let vault = inert_line(&vault.name);
    style::print_text(&match is_off {
        true => format!("{vault} has no reranker.\n"),
        false => format!(
            "{vault}: {} judges the first twenty passages of each answer from now on.\n",
            inert_line(name)
        ),
    });
    Ok(Outcome::Done)
}
