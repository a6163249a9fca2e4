//! Checks of what an embedding server saw, and of the vectors that were made of it.

use lorewell_testkit::StubCall;
use serde_json::Value;

use super::{expect, result};
use crate::Check;
use crate::embedding::{Embedding, served};
use crate::world::World;

fn embedding(world: &World) -> Result<&Embedding, String> {
    { world.embedding.as_ref() }.ok_or_else(|| "the case has no endpoint".to_string())
}

/// The calls that a check is about: since a step, or all.
fn calls(world: &World, check: &Check) -> Result<Vec<StubCall>, String> {
    embedding(world)?.calls_since(check.text("since").ok())
}

/// So many calls.
pub(super) fn calls_made(world: &World, check: &Check) -> Result<(), String> {
    let came = calls(world, check)?.len() as u64;
    within(check, came)
}

/// A number that a check bounds: `max`, `equals`.
fn within(check: &Check, came: u64) -> Result<(), String> {
    match (check.number("max"), check.number("equals")) {
        (Ok(most), _) => expect(came <= most, format!("at most {most}"), came.to_string()),
        (_, Ok(wanted)) => expect(came == wanted, wanted.to_string(), came.to_string()),
        (Err(error), _) => Err(error),
    }
}

/// So many calls ended with an error.
pub(super) fn errors(world: &World, check: &Check) -> Result<(), String> {
    let failed = calls(world, check)?
        .into_iter()
        .filter(|call| call.status >= 400);
    within(check, failed.count() as u64)
}

/// So many inputs were sent and served: a number, or `40-served`, less what was served before.
pub(super) fn inputs(world: &World, check: &Check) -> Result<(), String> {
    let came = served(&calls(world, check)?);
    match check.text("equals_stub") {
        Ok(wanted) => {
            let wanted = number_of(world, wanted, check.text("since").ok())?;
            expect(came == wanted, wanted.to_string(), came.to_string())
        }
        Err(_) => within(check, came),
    }
}

/// A number by what the stub served before a step: `served`, `40-served`.
pub(super) fn number_of(world: &World, text: &str, before: Option<&str>) -> Result<u64, String> {
    let served = embedding(world)?.served_before(before)?;
    match text.strip_suffix("served") {
        Some("") => Ok(served),
        Some(rest) => {
            let whole: Option<u64> = rest.strip_suffix('-').and_then(|n| n.parse().ok());
            let whole = whole.ok_or_else(|| format!("“{text}” is no number"))?;
            Ok(whole.saturating_sub(served))
        }
        None => Err(format!("“{text}” is no number")),
    }
}

/// So many inputs without a visible character were sent.
pub(super) fn inputs_blank(world: &World, check: &Check) -> Result<(), String> {
    let is_blank = |input: &String| {
        input
            .chars()
            .all(|c| c.is_whitespace() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{feff}'))
    };
    let sent = calls(world, check)?
        .into_iter()
        .flat_map(|call| call.inputs);
    within(check, sent.filter(is_blank).count() as u64)
}

/// Questions, or passages sent to a model, begin with a text, and there is one.
pub(super) fn inputs_start_with(world: &World, check: &Check) -> Result<(), String> {
    let embedding = embedding(world)?;
    let wanted = check.text("text")?;
    let is_query = check.text("purpose")? == "query";
    let calls = match check.text("after") {
        Ok(name) => embedding.calls_during(name)?,
        Err(_) => embedding.calls_since(None)?,
    };
    let mut looked_at = 0;
    for call in calls {
        let is_of_model = check.text("model").is_ok_and(|model| model != call.model);
        if embedding.is_question(&call, &world.questions) != is_query || is_of_model {
            continue;
        }
        for input in &call.inputs {
            expect(
                input.starts_with(wanted),
                format!("{wanted:?} first"),
                format!("{input:?}"),
            )?;
            looked_at += 1;
        }
    }
    expect(looked_at > 0, "an input", "none")
}

/// At most so many calls came while the server had asked not to be asked.
pub(super) fn requests_during_pause(world: &World, check: &Check) -> Result<(), String> {
    let calls = embedding(world)?.stub.calls();
    let in_pause = |(at, call): (usize, &StubCall)| {
        let pause = call.pause?;
        let after = calls.iter().skip(at + 1);
        Some(after.filter(|later| later.at < call.at + pause).count() as u64)
    };
    let most = calls.iter().enumerate().filter_map(in_pause).max();
    let most = most.ok_or("the server asked for no pause")?;
    within(check, most)
}

/// An address led to the embeddings.
pub(super) fn config_ok(world: &World, check: &Check) -> Result<(), String> {
    result(world, check).map(drop)
}

/// Each stored vector is the stub's of the text as it is now.
pub(super) fn vectors_match_text(world: &World, check: &Check) -> Result<(), String> {
    let audit = result(world, check)?
        .as_array()
        .cloned()
        .unwrap_or_default();
    expect(!audit.is_empty(), "a vector", "none")?;
    let wrong = strangers(embedding(world)?, &audit);
    expect(
        wrong.is_empty(),
        "vectors of the texts",
        format!("others at {wrong:?}"),
    )
}

/// So many vectors that answer are not of the model that is asked.
pub(super) fn compared_across_models(world: &World, check: &Check) -> Result<(), String> {
    let audit = world.vectors()?;
    let wrong = strangers(embedding(world)?, &audit);
    within(check, wrong.len() as u64)
}

/// The texts whose vector is not the one that the stub gives to what was sent of them.
fn strangers(embedding: &Embedding, audit: &[Value]) -> Vec<String> {
    let calls = embedding.stub.calls();
    let sent: Vec<&String> = calls.iter().flat_map(|call| &call.inputs).collect();
    let is_of = |input: &str, vector: &[Value]| {
        let wanted = embedding.stub.vector(input);
        let pairs = wanted.iter().zip(vector.iter().filter_map(Value::as_f64));
        let dot: f64 = pairs.map(|(a, b)| a * b).sum();
        wanted.len() == vector.len() && dot > 0.99
    };
    let is_strange = |item: &&Value| {
        // Markup is not sent; the last line is as it stands, and others tell notes apart.
        let said = item[0].as_str().unwrap_or_default().trim();
        let said = said.lines().next_back().unwrap_or_default();
        let vector = item[1].as_array().map_or(&[][..], Vec::as_slice);
        let of_it = |input: &&&String| input.trim_end().ends_with(said);
        !sent.iter().filter(of_it).any(|input| is_of(input, vector))
    };
    let strange = audit.iter().filter(is_strange);
    strange.map(|item| item[0].to_string()).collect()
}

/// Every line of a note, but for headings, is in a passage.
pub(super) fn no_chunk_text_lost(world: &World, check: &Check) -> Result<(), String> {
    let path = check.text("path")?;
    let text = std::fs::read_to_string(world.path(path)).map_err(|error| error.to_string())?;
    let passages = crate::actions::passages(world, path)?;
    let is_lost = |line: &&str| {
        let line = line.trim();
        let is_held = passages.iter().any(|passage| passage.text.contains(line));
        !line.is_empty() && !line.starts_with('#') && !is_held
    };
    let lost: Vec<&str> = text.lines().filter(is_lost).collect();
    expect(lost.is_empty(), "every line", format!("without {lost:?}"))
}

/// A result is JSON that any reader takes, with finite scores.
pub(super) fn json_valid(world: &World, check: &Check) -> Result<(), String> {
    let answer = result(world, check)?;
    let again: Result<Value, _> = serde_json::from_str(&answer.to_string());
    let again = again.map_err(|error| error.to_string())?;
    let scores = super::hits::hits(&again).map(|hit| hit["score"].is_number());
    expect(
        again == *answer && scores.into_iter().all(|is| is),
        "JSON",
        answer.to_string(),
    )
}
