//! Steps that ask a capability, as every surface would.

use lorewell_engine::Lane;
use serde_json::{Map, Value, json};

use crate::Step;
use crate::reranking::CaseReranker;
use crate::vault_copy::generated;
use crate::world::{Trouble, World};

/// The notes of an answer's hits, best first: passages, related notes or sources.
pub(crate) fn notes_of(answer: &Value) -> Vec<&str> {
    let lists = ["passages", "related", "sources"];
    let hits = lists.iter().find_map(|key| answer[key].as_array());
    let hits = hits.into_iter().flatten();
    hits.filter_map(|hit| hit["note"].as_str()).collect()
}

/// A search. Without `mode` only words and names are asked.
pub(super) fn search(world: &mut World, step: &Step) -> Result<Value, Trouble> {
    let mut input = Map::new();
    let query = match step.get("query_generate") {
        Some(generate) => generated(generate)?,
        None => step.text("query")?.to_string(),
    };
    world.questions.push(query.clone());
    input.insert("query".to_string(), query.into());
    input.insert("limit".to_string(), step.number_or("limit", 10).into());
    input.insert("lanes".to_string(), lanes(step)?.into());
    for (key, value) in step
        .get("filter")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        input.insert(key.clone(), json!([value]));
    }
    if let Some(today) = step.get("today") {
        input.insert("today".to_string(), today.clone());
    }
    let mut answer = world.ask("search", Value::Object(input))?;
    add_shown(world, &mut answer)?;
    Ok(answer)
}

/// From now on this judges the first passages of every answer again.
pub(super) fn reranker(world: &mut World, step: &Step) -> Result<Value, Trouble> {
    // It lives as long as the process, as a fetched one does.
    world.reranker = Some(Box::leak(Box::new(CaseReranker::of(step))));
    Ok(Value::Null)
}

fn lanes(step: &Step) -> Result<Vec<&'static str>, String> {
    let mut lanes = match step.text("mode") {
        Err(_) | Ok("lexical") => vec![Lane::Text, Lane::Title],
        Ok("hybrid") => Lane::DEFAULT.to_vec(),
        Ok("semantic") => vec![Lane::Dense],
        Ok(other) => return Err(format!("there is no mode “{other}”")),
    };
    if step.flag("prefer_recent") {
        lanes.push(Lane::Recent);
    }
    Ok(lanes.into_iter().map(Lane::name).collect())
}

/// Adds to each passage what of it is shown: its text without hidden pieces.
fn add_shown(world: &World, answer: &mut Value) -> Result<(), String> {
    let Some(passages) = answer["passages"].as_array_mut() else {
        return Ok(());
    };
    if passages.is_empty() {
        return Ok(());
    }
    let snapshot = world.snapshot()?;
    for passage in passages {
        let note = passage["note"].as_str().unwrap_or_default();
        let begin = passage["byte_range"][0].as_u64().unwrap_or_default();
        let stored = snapshot.note_at(note).map_err(|e| e.to_string())?;
        let Some(stored) = stored else { continue };
        let at = snapshot.passage_at(stored.id, begin);
        if let Some(found) = at.map_err(|e| e.to_string())? {
            passage["shown"] = found.said().into_owned().into();
        }
    }
    Ok(())
}

/// A text for a prompt. What is pinned is attached to the prompt already.
pub(super) fn context(world: &mut World, step: &Step) -> Result<Value, Trouble> {
    let mut input = json!({ "query": step.text("question")? });
    if let Some(budget) = step.get("budget_tokens") {
        input["budget"] = budget.clone();
    }
    if let Some(pinned) = step.get("pinned") {
        input["attached"] = pinned.clone();
    }
    world.ask("context", input)
}

/// Notes related to one.
pub(super) fn related(world: &mut World, step: &Step) -> Result<Value, Trouble> {
    world.ask("related", json!({ "note": step.text("path")? }))
}

/// A note, or lines of it.
pub(super) fn read(world: &mut World, step: &Step) -> Result<Value, Trouble> {
    let mut input = json!({ "note": step.text("path")? });
    for key in ["lines", "heading", "block"] {
        if let Some(value) = step.get(key) {
            input[key] = value.clone();
        }
    }
    world.ask("read", input)
}

/// The links of a note both ways.
pub(super) fn links(world: &mut World, step: &Step) -> Result<Value, Trouble> {
    world.ask(
        "links",
        json!({ "note": step.text("path")?, "limit": 1000 }),
    )
}

/// What is loose in the vault.
pub(super) fn unresolved(world: &mut World, _: &Step) -> Result<Value, Trouble> {
    world.ask("links", json!({ "limit": 1000 }))
}

/// What a link that a note holds leads to.
pub(super) fn resolve(world: &mut World, step: &Step) -> Result<Value, Trouble> {
    let (path, link) = (step.text("path")?, step.text("link")?);
    let links = links(world, step)?;
    let outgoing = links["outgoing"].as_array().into_iter().flatten();
    let written = |other: &&Value| {
        let text = other["text"].as_str().unwrap_or_default();
        text == link || text.strip_prefix('!') == Some(link)
    };
    let found = { outgoing }.find(written).cloned();
    Ok(found.ok_or_else(|| format!("“{path}” holds no link {link}"))?)
}

/// The arguments of a tool, as the capability calls them.
pub(super) fn arguments_of(step: &Step) -> Value {
    let mut input = step.get("args").cloned().unwrap_or_else(|| json!({}));
    if let Some(arguments) = input.as_object_mut()
        && let Some(path) = arguments.remove("path")
    {
        arguments.insert("note".to_string(), path);
    }
    input
}
