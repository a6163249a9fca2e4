//! Checks of what passages say and where they stand.

use std::fs;

use serde_json::Value;

use super::hits::hits;
use super::{expect, result, text};
use crate::Check;
use crate::actions::{passages, paths};
use crate::world::World;

/// What of a hit is shown: the passage without its hidden pieces, or a related note's line.
fn excerpt(hit: &Value) -> &str {
    let shown = ["shown", "snippet", "text"].into_iter();
    { shown }
        .find_map(|key| hit[key].as_str())
        .unwrap_or_default()
}

fn excerpts(answer: &Value) -> String {
    let shown: Vec<&str> = hits(answer).map(excerpt).collect();
    let text = format!("{shown:?}");
    text.chars().take(400).collect()
}

/// An excerpt holds a text.
pub(super) fn excerpt_contains(world: &World, check: &Check) -> Result<(), String> {
    let answer = result(world, check)?;
    let wanted = check.text("text")?;
    let holds = hits(answer).any(|hit| excerpt(hit).contains(wanted));
    expect(
        holds,
        format!("an excerpt with {wanted:?}"),
        excerpts(answer),
    )
}

/// No excerpt holds a text, and there is one.
pub(super) fn excerpt_lacks(world: &World, check: &Check) -> Result<(), String> {
    let answer = result(world, check)?;
    let wanted = check.text("text")?;
    let mut all = hits(answer).map(excerpt).peekable();
    let lacks = all.peek().is_some() && !all.any(|shown| shown.contains(wanted));
    expect(
        lacks,
        format!("excerpts without {wanted:?}"),
        excerpts(answer),
    )
}

/// The first passage, or what the answer says beside its text, holds a text.
pub(super) fn passage_contains(world: &World, check: &Check) -> Result<(), String> {
    let answer = result(world, check)?;
    let wanted = check.text("text")?;
    let first = hits(answer).next().unwrap_or(&Value::Null);
    let holds = text(first, "text").contains(wanted) || first.to_string().contains(wanted);
    expect(
        holds,
        format!("{wanted:?} in the first passage"),
        excerpts(answer),
    )
}

/// The cited bytes of every hit, read from the file, are its text, and the lines are theirs.
pub(super) fn position_matches_file(world: &World, check: &Check) -> Result<(), String> {
    let answer = result(world, check)?;
    let mut looked_at = 0;
    for hit in hits(answer) {
        let note = text(hit, "note");
        let bytes = fs::read(world.path(note)).map_err(|e| format!("{note}: {e}"))?;
        let [from, to] = [0, 1].map(|at| hit["byte_range"][at].as_u64().unwrap_or(0) as usize);
        let cited = bytes.get(from..to).unwrap_or_default();
        let same = cited == text(hit, "text").as_bytes();
        expect(
            same,
            hit["text"].to_string(),
            String::from_utf8_lossy(cited),
        )?;
        let line = |at: usize| 1 + bytes[..at].iter().filter(|byte| **byte == b'\n').count();
        let lines = (line(from), line(to.saturating_sub(1)));
        let [first, last] = [0, 1].map(|at| hit["line_range"][at].as_u64().unwrap_or(0) as usize);
        let said = format!("lines {lines:?} of {note}");
        expect(lines == (first, last), said, hit["line_range"].to_string())?;
        looked_at += 1;
    }
    expect(looked_at > 0, "a hit", "none")
}

/// The passages of a note that have text: how many, how long, what none holds, and whether each is
/// whole lines. (A note without text has an entry for its names, links and tags.)
pub(super) fn chunks(world: &World, check: &Check) -> Result<(), String> {
    let path = check.text("path")?;
    let mut passages = passages(world, path)?;
    passages.retain(|passage| !passage.text.is_empty());
    let count = passages.len() as u64;
    if let Ok(most) = check.number("max") {
        expect(
            count <= most,
            format!("at most {most} passages"),
            format!("{count}"),
        )?;
    }
    if let Ok(least) = check.number("min") {
        expect(
            count >= least,
            format!("at least {least} passages"),
            format!("{count}"),
        )?;
    }
    if let Ok(most) = check.number("max_chars") {
        let longest = passages.iter().map(|p| p.text.chars().count()).max();
        let longest = longest.unwrap_or_default() as u64;
        expect(
            longest <= most,
            format!("at most {most} characters"),
            format!("{longest}"),
        )?;
    }
    if let Ok(piece) = check.text("lacks") {
        let holding = passages.iter().filter(|p| p.said().contains(piece)).count();
        expect(
            holding == 0,
            format!("no passage with {piece:?}"),
            format!("{holding}"),
        )?;
    }
    if check.get("whole_lines") == Some(&Value::Bool(true)) {
        let bytes = fs::read(world.path(path)).map_err(|e| e.to_string())?;
        for passage in &passages {
            let [from, to] =
                [passage.byte_range.start, passage.byte_range.end].map(|at| at as usize);
            let begins = from == 0 || bytes.get(from - 1) == Some(&b'\n');
            let ends = matches!(bytes.get(to), None | Some(b'\n' | b'\r'))
                || bytes.get(to.wrapping_sub(1)) == Some(&b'\n');
            expect(begins && ends, "whole lines", format!("{:?}", passage.text))?;
        }
    }
    Ok(())
}

/// What an embedder is given of a passage, its words without hidden pieces, is not longer.
pub(super) fn embed_input_chars(world: &World, check: &Check) -> Result<(), String> {
    let most = check.number("max")?;
    let mut longest = 0;
    for path in paths(world)? {
        let lengths = passages(world, &path)?;
        let lengths = lengths.iter().map(|p| p.said().chars().count() as u64);
        longest = lengths.max().unwrap_or(0).max(longest);
    }
    let came = format!("{longest}");
    expect(
        longest > 0 && longest <= most,
        format!("1 to {most} characters"),
        came,
    )
}
