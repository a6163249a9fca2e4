//! Steps that run the engine: indexing, watching, settings, status.

use lorewell_engine::{ModelStatus, RuleSettings, Rules};
use serde_json::{Value, json};

use super::embedding;
use crate::Step;
use crate::embedding::{Embedding, bring_up};
use crate::watching::Watching;
use crate::world::{Trouble, World};

/// Brings the index up to date. Where there is an endpoint, what waits is embedded, too; a switch of
/// models is left until it is asked for.
pub(super) fn index(world: &mut World, step: &Step) -> Result<Value, Trouble> {
    if step.flag("background") {
        return embedding::index_in_background(world);
    }
    world.refresh()?;
    let embeds = |embedding: &Embedding| !embedding.is_switching;
    if world.embedding.as_ref().is_some_and(embeds) {
        bring_up(&world.host()?, true)?;
    }
    let freshness = world.freshness.clone().unwrap_or_default();
    Ok(json!({ "pending": freshness.pending, "reason": freshness.reason }))
}

/// Starts the program. It holds the vault open while the steps that follow are done.
pub(super) fn start(world: &mut World, _: &Step) -> Result<Value, Trouble> {
    world.start()?;
    Ok(Value::Null)
}

/// Stops the program.
pub(super) fn stop(world: &mut World, _: &Step) -> Result<Value, Trouble> {
    world.stop();
    Ok(Value::Null)
}

/// Stops the program and starts it again.
pub(super) fn restart(world: &mut World, step: &Step) -> Result<Value, Trouble> {
    stop(world, step)?;
    start(world, step)
}

/// Starts a watcher. The limit of watches that a case may name holds for the whole process.
pub(super) fn watch(world: &mut World, _: &Step) -> Result<Value, Trouble> {
    let settings_file = world.place.join("settings");
    let (root, index) = (&world.root, world.index_folder());
    let watching = Watching::begin(root, index, &world.settings, settings_file)?;
    world.watching = Some(watching);
    Ok(Value::Null)
}

/// Waits until the watcher is quiet.
pub(super) fn wait_settled(world: &mut World, _: &Step) -> Result<Value, Trouble> {
    match world.embedding {
        Some(_) => embedding::settle(world)?,
        None => world.settle()?,
    }
    Ok(Value::Null)
}

/// Makes the index anew.
pub(super) fn rebuild(world: &mut World, _: &Step) -> Result<Value, Trouble> {
    world.ask("rebuild", json!({}))
}

/// Leaves more out: `exclude` is a list of folders (with `/` at the end) and globs.
pub(super) fn configure(world: &mut World, step: &Step) -> Result<Value, Trouble> {
    if let (Ok(prefix), Some(embedding)) = (step.text("query_prefix"), &mut world.embedding) {
        embedding.set_question_prefix(prefix);
        return Ok(Value::Null);
    }
    let exclude = step.get("exclude").and_then(Value::as_array);
    let names = exclude.into_iter().flatten().filter_map(Value::as_str);
    let (folders, globs): (Vec<&str>, Vec<&str>) = names.partition(|name| name.ends_with('/'));
    let rules = Rules::new(RuleSettings {
        folders: folders.into_iter().map(str::to_string).collect(),
        globs: globs.into_iter().map(str::to_string).collect(),
        ..RuleSettings::default()
    });
    world.settings.index.rules = rules.map_err(|error| error.to_string())?;
    if let Some(watching) = &world.watching {
        watching.configure(&world.settings)?;
    }
    Ok(Value::Null)
}

/// The status, with the fields that cases name under `fields`.
pub(super) fn status(world: &mut World, _: &Step) -> Result<Value, Trouble> {
    status_of(world)
}

/// The same, at any time.
pub(crate) fn status_of(world: &World) -> Result<Value, Trouble> {
    let mut status = match world.ask("status", json!({})) {
        Err(Trouble::Said(failure)) if failure.code == "vault_missing" => {
            return Ok(json!({ "fields": { "state": "root_missing" } }));
        }
        other => other?,
    };
    status["fields"] = fields_of(world, &status)?;
    Ok(status)
}

/// The fields of a status by the names that cases have for them.
pub(super) fn fields_of(world: &World, status: &Value) -> Result<Value, Trouble> {
    let freshness = world.freshness.clone().unwrap_or_default();
    let wanted = world.models()?.into_iter().next();
    let of_wanted = |count: fn(&ModelStatus) -> u64| wanted.as_ref().map_or(0, count);
    let state = match (freshness.pending, freshness.reason) {
        (0, _) if of_wanted(|model| model.missing) > 0 => "embedding",
        (0, _) => "current",
        (_, Some(_)) => "suspended",
        (_, None) => "behind",
    };
    let watch = match status["watcher"]["by"].as_str() {
        Some("poll") => "polling",
        Some(by) => by,
        None => "off",
    };
    Ok(json!({
        "watch": watch,
        "notes": status["index"]["notes"],
        "not_embeddable": of_wanted(|model| model.refused),
        "pending_vectors": of_wanted(|model| model.missing),
        "state": state,
        "vectors": of_wanted(|model| model.embedded),
    }))
}
