//! Steps that follow what an answer cites.

use serde_json::{Value, json};

use crate::Step;
use crate::world::{Trouble, World};

/// Follows each source of a context: reads its lines, and asks whether its words stand there.
pub(super) fn open_each(world: &mut World, step: &Step) -> Result<Value, Trouble> {
    let context = world.output(step.text("after")?)?.clone();
    let sources = context["sources"].as_array().into_iter().flatten();
    let opened: Result<Vec<Value>, Trouble> = sources.map(|source| open(world, source)).collect();
    Ok(Value::Array(opened?))
}

/// Where a source leads: what is there now, and how that stands to what was cited.
fn open(world: &World, source: &Value) -> Result<Value, Trouble> {
    let read = world.ask(
        "read",
        json!({ "note": source["note"], "lines": lines(source) }),
    );
    let quote = json!({
        "quote": source["text"],
        "note": source["note"],
        "byte_range": source["byte_range"],
        "content_hash": source["content_hash"],
    });
    let verified = world.ask("verify", json!({ "quotes": [quote] }))?;
    let claim = &verified["claims"][0];
    let verdict = claim["verdict"].as_str().unwrap_or_default();
    let elsewhere = claim["found"]["note"].is_string() && claim["found"]["note"] != source["note"];
    let state = match (verdict, &read) {
        ("exact" | "normalized" | "moved", _) if elsewhere => "moved",
        ("exact" | "normalized" | "moved", _) => "same",
        ("absent", Err(_)) => "gone",
        _ => "changed",
    };
    let text = read.map_or(Value::Null, |read| read["text"].clone());
    Ok(json!({
        "note": source["note"], "cited": source["text"], "text": text, "uri": source["uri"],
        "state": state, "verdict": verdict,
    }))
}

/// The lines of the first passage of a search, read from the file.
pub(super) fn read_span(world: &mut World, step: &Step) -> Result<Value, Trouble> {
    let passage = world.output(step.text("after")?)?["passages"][0].clone();
    world.ask(
        "read",
        json!({ "note": passage["note"], "lines": lines(&passage) }),
    )
}

/// Verifies an answer that was made from a context.
pub(super) fn check_answer(world: &mut World, step: &Step) -> Result<Value, Trouble> {
    let sources = world.output(step.text("after")?)?["sources"].clone();
    let input = json!({ "answer": step.text("answer")?, "sources": sources });
    world.ask("verify", input)
}

fn lines(passage: &Value) -> String {
    let [first, last] = [0, 1].map(|at| passage["line_range"][at].as_u64().unwrap_or_default());
    format!("{first}-{last}")
}
