//! Checks of a result list: which notes, in which order.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{expect, items, nfc, result, text};
use crate::Check;
use crate::actions::notes_of;
use crate::world::World;

/// The hits of a result: passages, related notes or sources.
pub(super) fn hits(answer: &Value) -> impl Iterator<Item = &Value> {
    ["passages", "related", "sources"]
        .into_iter()
        .flat_map(|key| items(answer, key))
}

/// The path that a check names, and how it is compared.
fn is_wanted(check: &Check, note: &str) -> Result<bool, String> {
    match check.text("path_nfc") {
        Ok(path) => Ok(nfc(note) == nfc(path)),
        Err(_) => Ok(check.text("path")? == note),
    }
}

fn listed(answer: &Value) -> String {
    format!("{:?}", notes_of(answer))
}

/// The first hit is of this note.
pub(super) fn first(world: &World, check: &Check) -> Result<(), String> {
    let answer = result(world, check)?;
    let first = notes_of(answer).first().copied().unwrap_or_default();
    expect(is_wanted(check, first)?, "it first", listed(answer))
}

/// A hit is of this note, and, where asked, under a heading, over a line, with a mark.
pub(super) fn hit(world: &World, check: &Check) -> Result<(), String> {
    let answer = result(world, check)?;
    let mut of_note = Vec::new();
    for hit in hits(answer) {
        if is_wanted(check, text(hit, "note"))? {
            of_note.push(hit);
        }
    }
    let heading = check.text("heading").ok();
    let line = check.number("line").ok();
    let fits = |hit: &&&Value| {
        let [first, last] = [0, 1].map(|at| hit["line_range"][at].as_u64().unwrap_or(0));
        let under = |name: &str| items(hit, "heading_path").any(|part| part == name);
        heading.is_none_or(under) && line.is_none_or(|line| first <= line && line <= last)
    };
    let found = of_note.iter().find(fits);
    let places: Vec<String> = of_note.iter().map(|hit| place(hit)).collect();
    let under = heading.map_or(String::new(), |name| format!(" under “{name}”"));
    let over = line.map_or(String::new(), |line| format!(" over line {line}"));
    expect(
        found.is_some(),
        format!("a hit{under}{over}"),
        format!("{places:?} among {}", listed(answer)),
    )?;
    match (found, check.text("mark")) {
        (Some(hit), Ok(mark)) => marked(answer, hit, mark),
        _ => Ok(()),
    }
}

fn place(hit: &Value) -> String {
    format!("{} lines {}", hit["heading_path"], hit["line_range"])
}

/// The hit, or the answer with the note's name, bears a mark.
fn marked(answer: &Value, hit: &Value, mark: &str) -> Result<(), String> {
    let words: &[&str] = match mark {
        "not_local" => &["not on this", "not_local", "placeholder", "cloud"],
        "superseded" => &["supersede", "replaced by", "superseded_by"],
        other => return Err(format!("there is no mark “{other}” here")),
    };
    let mut own = hit.clone();
    for key in ["text", "shown", "title", "note", "uri", "heading_path"] {
        own.as_object_mut().map(|fields| fields.remove(key));
    }
    let said = items(answer, "degraded").filter_map(Value::as_str);
    let named = said.filter(|line| line.contains(text(hit, "note")));
    let holds = |line: &str| words.iter().any(|word| line.contains(word));
    let is_marked = holds(&own.to_string()) || { named }.any(holds);
    let came = format!("a hit without it, and degraded {}", answer["degraded"]);
    expect(is_marked, format!("the mark {mark}"), came)
}

/// The wished note is first, or the other one bears the mark that it is superseded.
pub(super) fn first_or_marked(world: &World, check: &Check) -> Result<(), String> {
    let answer = result(world, check)?;
    if notes_of(answer).first() == Some(&check.text("first")?) {
        return Ok(());
    }
    let other = check.text("marked")?;
    let hit = hits(answer).find(|hit| text(hit, "note") == other);
    match hit {
        Some(hit) => {
            marked(answer, hit, "superseded").map_err(|e| format!("{e}; {}", listed(answer)))
        }
        None => Err(format!("expected {other} marked; came {}", listed(answer))),
    }
}

/// No hit is of this note.
pub(super) fn no_hit(world: &World, check: &Check) -> Result<(), String> {
    let answer = result(world, check)?;
    let mut found = false;
    for note in notes_of(answer) {
        found |= is_wanted(check, note)?;
    }
    expect(!found, "no hit of it", listed(answer))
}

/// The hits are of these notes and no others, in any order.
pub(super) fn only(world: &World, check: &Check) -> Result<(), String> {
    same_notes(world, check, str::to_string)
}

/// The same, after composition.
pub(super) fn only_nfc(world: &World, check: &Check) -> Result<(), String> {
    same_notes(world, check, nfc)
}

fn same_notes(world: &World, check: &Check, form: fn(&str) -> String) -> Result<(), String> {
    let answer = result(world, check)?;
    let came: BTreeSet<String> = notes_of(answer).into_iter().map(form).collect();
    let wanted: BTreeSet<String> = check
        .texts("paths")?
        .iter()
        .map(|path| form(path))
        .collect();
    let notice = text(answer, "notice");
    expect(
        came == wanted,
        format!("only {wanted:?}"),
        format!("{came:?} {notice}"),
    )
}

/// There is no hit.
pub(super) fn empty(world: &World, check: &Check) -> Result<(), String> {
    let answer = result(world, check)?;
    expect(notes_of(answer).is_empty(), "nothing", listed(answer))
}

/// There are so many hits.
pub(super) fn count(world: &World, check: &Check) -> Result<(), String> {
    let answer = result(world, check)?;
    let wanted = check.number("equals")?;
    let came = notes_of(answer).len() as u64;
    expect(
        came == wanted,
        format!("{wanted} hits"),
        format!("{came}: {}", listed(answer)),
    )
}

/// The first two hits are of these notes.
pub(super) fn first_two_include(world: &World, check: &Check) -> Result<(), String> {
    let answer = result(world, check)?;
    let notes = notes_of(answer);
    let wanted = check.texts("paths")?;
    let two = &notes[..notes.len().min(2)];
    let all = wanted.iter().all(|path| two.contains(&path.as_str()));
    expect(all, format!("{wanted:?} at the top"), listed(answer))
}

/// The notes are there in this order; a later one may be folded into an earlier.
pub(super) fn order(world: &World, check: &Check) -> Result<(), String> {
    let answer = result(world, check)?;
    let folded_ok = check.get("folded_ok") == Some(&Value::Bool(true));
    let wanted = check.texts("paths")?;
    let holds = |hit: &Value, path: &str| {
        text(hit, "note") == path || (folded_ok && items(hit, "copies").any(|copy| copy == path))
    };
    let mut places = Vec::new();
    for (at, path) in wanted.iter().enumerate() {
        let found = hits(answer).position(|hit| match at {
            0 => text(hit, "note") == path,
            _ => holds(hit, path),
        });
        places.push(found);
    }
    let in_order = places.iter().all(Option::is_some) && places.is_sorted();
    expect(
        in_order,
        format!("{wanted:?} in this order"),
        listed(answer),
    )
}

/// The named results list the same hits in the same order.
pub(super) fn same_order(world: &World, check: &Check) -> Result<(), String> {
    let mut lists = Vec::new();
    for name in check.texts("after")? {
        let answer = world.output(&name)?;
        let places = hits(answer).map(|hit| (hit["note"].clone(), hit["byte_range"].clone()));
        lists.push(places.collect::<Vec<_>>());
    }
    let same = lists.len() > 1 && lists.windows(2).all(|pair| pair[0] == pair[1]);
    expect(same, "the same hits", format!("{lists:?}"))
}

/// No text is there more than so many times.
pub(super) fn duplicates_folded(world: &World, check: &Check) -> Result<(), String> {
    let answer = result(world, check)?;
    let most = check.number("max_same_text")?;
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for hit in hits(answer) {
        *counts.entry(text(hit, "text").trim()).or_default() += 1;
    }
    let came = counts.values().copied().max().unwrap_or_default();
    expect(
        came > 0 && came <= most,
        format!("each text at most {most} times"),
        format!("{came} times in {}", listed(answer)),
    )
}

/// At most so many hits are of this note.
pub(super) fn max_per_note(world: &World, check: &Check) -> Result<(), String> {
    let answer = result(world, check)?;
    let (path, most) = (check.text("path")?, check.number("max")?);
    let came = notes_of(answer)
        .into_iter()
        .filter(|note| *note == path)
        .count() as u64;
    expect(came <= most, format!("at most {most}"), format!("{came}"))
}

/// Every hit lies below a folder.
pub(super) fn all_paths_start_with(world: &World, check: &Check) -> Result<(), String> {
    let answer = result(world, check)?;
    let prefix = check.text("prefix")?;
    let notes = notes_of(answer);
    let all = !notes.is_empty() && notes.iter().all(|note| note.starts_with(prefix));
    expect(all, format!("all below {prefix}"), listed(answer))
}

/// The path of every hit opens its file.
pub(super) fn path_opens(world: &World, check: &Check) -> Result<(), String> {
    let answer = result(world, check)?;
    let notes = notes_of(answer);
    let all = !notes.is_empty() && notes.iter().all(|note| world.path(note).is_file());
    expect(all, "paths of files", listed(answer))
}
