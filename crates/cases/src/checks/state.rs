//! Checks of how steps ended, of the status and of what the index holds.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{expect, items, result, sorted, text};
use crate::Check;
use crate::actions::{paths, status_of};
use crate::world::World;

/// A step, or all, ended without an error.
pub(super) fn no_error(world: &World, check: &Check) -> Result<(), String> {
    match check.text("after") {
        Ok(name) => world.output(name).map(drop),
        Err(_) => world
            .answers
            .keys()
            .try_for_each(|name| world.output(name).map(drop)),
    }
}

/// No step panicked.
pub(super) fn no_crash(world: &World, _: &Check) -> Result<(), String> {
    expect(!world.panicked, "no panic", "one")
}

/// A step failed, and the message names these things.
pub(super) fn error(world: &World, check: &Check) -> Result<(), String> {
    let failure = match &world.answer(check.text("after")?)?.output {
        Ok(output) => return Err(format!("expected an error; came {output}")),
        Err(failure) => failure,
    };
    let wanted = check.texts("mentions").unwrap_or_default();
    let said = format!("{} {}", failure.message, failure.hint);
    let all = wanted.iter().all(|word| said.contains(word.as_str()));
    expect(all, format!("{wanted:?} in the message"), said)
}

/// A step was refused: an error, and nothing of what was asked for.
pub(super) fn refused(world: &World, check: &Check) -> Result<(), String> {
    match &world.answer(check.text("after")?)?.output {
        Ok(output) => Err(format!("expected a refusal; came {output}")),
        Err(failure) if failure.code == "internal" => {
            Err(format!("expected a refusal; came {failure}"))
        }
        Err(_) => Ok(()),
    }
}

/// Results are the same.
pub(super) fn equal(world: &World, check: &Check) -> Result<(), String> {
    let names = check.texts("after")?;
    let results: Result<Vec<&Value>, String> =
        names.iter().map(|name| world.output(name)).collect();
    let results = results?;
    let same = results.len() > 1 && results.windows(2).all(|pair| pair[0] == pair[1]);
    expect(same, "the same", format!("{results:?}"))
}

/// A field of the status has a value. Fields that cases name stand under `fields`.
pub(super) fn status(world: &World, check: &Check) -> Result<(), String> {
    let name = check.text("field")?;
    // Where no step is named, the status as it is at the end.
    let status = match check.get("after") {
        Some(_) => result(world, check)?.clone(),
        None => status_of(world).map_err(|trouble| trouble.to_string())?,
    };
    let came = &status["fields"][name];
    if let Ok(wanted) = check.text("equals_stub") {
        let before = check.text("after").ok();
        let wanted = super::embedding::number_of(world, wanted, before)?;
        return expect(came == wanted, format!("{name} {wanted}"), came.to_string());
    }
    let holds = match (
        check.get("equals"),
        check.get("one_of"),
        check.get("not_equals"),
    ) {
        (Some(wanted), _, _) => came == wanted,
        (_, Some(Value::Array(several)), _) => several.contains(came),
        (_, _, Some(other)) => came != other && !came.is_null(),
        _ => came.as_u64() >= Some(check.number("min")?),
    };
    expect(holds, format!("{name} as said"), came.to_string())
}

/// A field of an answer has a value, or holds it. What a case calls by a word of its own is the
/// state of the dense lane.
pub(super) fn result_says(world: &World, check: &Check) -> Result<(), String> {
    let answer = result(world, check)?;
    let came = &answer[check.text("field")?];
    let wanted = check.get("value").unwrap_or(&Value::Null);
    let dense = &answer["lanes"]["dense"];
    if check.text("field") == Ok("indexing") {
        // Notes are still to be taken in, or vectors to be made.
        let is_behind = answer["index"]["pending"].as_u64() > Some(0) || !dense["wanted"].is_null();
        return expect(
            json!(is_behind) == *wanted,
            wanted.to_string(),
            answer.to_string(),
        );
    }
    let of_state = match wanted.as_str() {
        Some("embedding_unavailable") => Some(dense["state"] == "unavailable"),
        Some("vectors_from_other_model") => {
            Some(dense["state"] != "ok" && tells_of_other(world, check, dense))
        }
        _ => None,
    };
    if let Some(holds) = of_state {
        let told = items(answer, "degraded").any(|line| line.to_string().contains("dense"));
        return expect(holds && told, wanted.to_string(), format!("{dense} {came}"));
    }
    let holds = match (came, wanted) {
        (Value::Array(list), Value::String(piece)) => list
            .iter()
            .any(|item| item.to_string().contains(piece.as_str())),
        (came, wanted) => came == wanted,
    };
    expect(holds, wanted.to_string(), came.to_string())
}

/// Whether a lane says that the model of the settings does not answer, or not for all.
fn tells_of_other(world: &World, check: &Check, lane: &Value) -> bool {
    let answer = check.text("after").and_then(|name| world.answer(name));
    let model = answer.ok().and_then(|answer| answer.model.as_deref());
    model.is_some_and(|model| text(lane, "reason").contains(model))
}

/// A step, or all of them, took less time.
pub(super) fn time_under(world: &World, check: &Check) -> Result<(), String> {
    let took = match check.text("after") {
        Ok(name) => world.answer(name)?.took,
        Err(_) => world.took,
    };
    let most = check.number("ms")?;
    expect(
        took.as_millis() < u128::from(most),
        format!("under {most} ms"),
        format!("{took:?}"),
    )
}

/// These notes are in the index.
pub(super) fn indexed(world: &World, check: &Check) -> Result<(), String> {
    let came = paths(world)?;
    let wanted = check.texts("paths")?;
    let all = wanted.iter().all(|path| came.contains(path));
    expect(all, format!("{wanted:?}"), format!("{came:?}"))
}

/// These notes and no others are in the index.
pub(super) fn listing_equal(world: &World, check: &Check) -> Result<(), String> {
    let came = result(world, check)?.as_array().into_iter().flatten();
    let came = sorted(came.filter_map(Value::as_str));
    let wanted = sorted(check.texts("paths")?);
    expect(came == wanted, format!("{wanted:?}"), format!("{came:?}"))
}

/// The status names the file among what could not be read as it stands, or was left out.
pub(super) fn warning(world: &World, check: &Check) -> Result<(), String> {
    let path = check.text("path")?;
    let status = world.ask("status", json!({})).map_err(|e| e.to_string())?;
    let lists = ["warnings", "left_out", "unreadable"];
    let named = lists.iter().flat_map(|list| items(&status, list));
    let came: BTreeSet<&str> = named.map(|file| text(file, "path")).collect();
    expect(came.contains(path), path, format!("{came:?}"))
}

/// A search of files found none.
pub(super) fn found_nothing(world: &World, check: &Check) -> Result<(), String> {
    let came = result(world, check)?;
    expect(
        came.as_array().is_some_and(Vec::is_empty),
        "nothing",
        came.to_string(),
    )
}

/// What was embedded since a step: the calls that the endpoint saw, or, of a case without one, that
/// the vectors on disk did not grow.
pub(super) fn embed_calls(world: &World, check: &Check) -> Result<(), String> {
    if world.embedding.is_some() {
        return super::embedding::calls_made(world, check);
    }
    let grown = world.vector_bytes_since(check.text("since")?)?;
    let wanted = check.number("equals")?;
    if wanted > 0 {
        return Err("only “none” can be told from what is on disk".to_string());
    }
    expect(
        grown == 0,
        "no new vectors",
        format!("{grown} bytes of them"),
    )
}

/// Passages and vectors that belong to no note.
pub(super) fn orphan_rows(world: &World, check: &Check) -> Result<(), String> {
    let failed = |error: lorewell_index::IndexError| error.to_string();
    let snapshot = world.snapshot()?;
    let mut passages = BTreeSet::new();
    for label in snapshot.labels().map_err(failed)? {
        passages.extend(snapshot.passages_of(label.id).map_err(failed)?);
    }
    let totals = snapshot.totals();
    let mut orphans = totals.passages.abs_diff(passages.len() as u64);
    if let Some((_, rows)) = snapshot.vectors() {
        for row in rows.iter() {
            let of_row = snapshot.passages_of_row(row).map_err(failed)?;
            let lives = of_row.iter().any(|passage| passages.contains(passage));
            orphans += u64::from(!lives);
        }
    }
    snapshot.verify().map_err(failed)?;
    let wanted = check.number("equals")?;
    expect(
        orphans == wanted,
        format!("{wanted} orphans"),
        format!("{orphans}"),
    )
}
