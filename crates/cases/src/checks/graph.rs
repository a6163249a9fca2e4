//! Checks of links, tags and headings.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{expect, items, nfc, result, sorted, text};
use crate::Check;
use crate::world::World;

/// Where a link leads: `Note.md#Heading`, `Note.md#^block`; or its target, where that is nothing.
fn target(link: &Value) -> String {
    let note = match text(link, "leads_to") {
        "note" | "same_note" => text(link, "note").to_string(),
        other => format!("{other}: {}", text(link, "target")),
    };
    let headings = items(link, "heading").filter_map(Value::as_str);
    let mut whole = { headings }.fold(note, |whole, heading| format!("{whole}#{heading}"));
    if let Some(block) = link["block"].as_str() {
        whole = format!("{whole}#^{block}");
    }
    whole
}

/// The links of a note lead to these targets, in order.
pub(super) fn links_equal(world: &World, check: &Check) -> Result<(), String> {
    let links = result(world, check)?;
    let came: Vec<String> = items(links, "outgoing").map(target).collect();
    let wanted = check.texts("targets")?;
    let same = came
        .iter()
        .map(|t| nfc(t))
        .eq(wanted.iter().map(|t| nfc(t)));
    let parts_are_there = !items(links, "outgoing").any(|link| link["part_exists"] == false);
    expect(
        same && parts_are_there,
        format!("{wanted:?}"),
        format!("{came:?}"),
    )
}

/// These notes link to it.
pub(super) fn backlinks_equal(world: &World, check: &Check) -> Result<(), String> {
    let links = result(world, check)?;
    let came: BTreeSet<&str> = items(links, "backlinks").map(|l| text(l, "note")).collect();
    let wanted = check.texts("paths")?;
    let same = came
        .iter()
        .copied()
        .eq(sorted(wanted.iter().map(String::as_str)));
    expect(same, format!("{wanted:?}"), format!("{came:?}"))
}

/// These targets of a note lead nowhere.
pub(super) fn unresolved_equal(world: &World, check: &Check) -> Result<(), String> {
    let input = serde_json::json!({ "note": check.text("path")?, "limit": 1000 });
    let links = world.ask("links", input).map_err(|e| e.to_string())?;
    let came = sorted(items(&links, "unresolved").map(|t| text(t, "target")));
    let wanted = check.texts("targets")?;
    let same = came
        .iter()
        .copied()
        .eq(sorted(wanted.iter().map(String::as_str)));
    expect(same, format!("{wanted:?}"), format!("{came:?}"))
}

/// Of the whole vault, each of these targets leads nowhere, is listed once, and these notes have it.
pub(super) fn unresolved_targets(world: &World, check: &Check) -> Result<(), String> {
    let links = result(world, check)?;
    let wanted = check.get("targets").and_then(Value::as_object);
    for (name, notes) in wanted.into_iter().flatten() {
        let found: Vec<&Value> = items(links, "unresolved")
            .filter(|target| text(target, "target") == name)
            .collect();
        let from = found.iter().flat_map(|target| items(target, "from"));
        let came = sorted(from.map(|place| text(place, "note")));
        let notes = notes.as_array().into_iter().flatten();
        let same = came
            .iter()
            .copied()
            .eq(sorted(notes.filter_map(Value::as_str)));
        let all = links["unresolved"].to_string();
        expect(found.len() == 1 && same, format!("“{name}” once"), all)?;
    }
    Ok(())
}

/// A link leads to a note, and, where asked, to a heading or block that is there.
pub(super) fn resolves(world: &World, check: &Check) -> Result<(), String> {
    leads(result(world, check)?, check)
}

/// The same of the link that is written so in a list of links.
pub(super) fn resolves_link(world: &World, check: &Check) -> Result<(), String> {
    let links = result(world, check)?;
    let written = check.text("link")?;
    let link = items(links, "outgoing").find(|link| text(link, "text") == written);
    leads(link.unwrap_or(&Value::Null), check)
}

fn leads(link: &Value, check: &Check) -> Result<(), String> {
    let wanted = check.text("to")?;
    expect(text(link, "note") == wanted, wanted, target(link))?;
    let heading = check.text("heading").ok();
    let block = check.text("block").ok();
    let has_heading = |name: &str| {
        items(link, "heading")
            .last()
            .is_some_and(|last| last == name)
    };
    let named = heading.is_none_or(has_heading) && block.is_none_or(|id| link["block"] == id);
    let exists = (heading.is_none() && block.is_none()) || link["part_exists"] == true;
    expect(
        named && exists,
        "its part, which is there",
        link.to_string(),
    )
}

/// A link could mean several notes.
pub(super) fn ambiguous(world: &World, check: &Check) -> Result<(), String> {
    let link = result(world, check)?;
    expect(
        items(link, "others").count() > 0,
        "other notes",
        link.to_string(),
    )
}

fn tags<'w>(world: &'w World, check: &Check) -> Result<(Vec<&'w str>, Vec<String>), String> {
    let came = result(world, check)?.as_array().into_iter().flatten();
    Ok((
        sorted(came.filter_map(Value::as_str)),
        sorted(check.texts("tags")?),
    ))
}

/// A note has these tags.
pub(super) fn tags_equal(world: &World, check: &Check) -> Result<(), String> {
    let (came, wanted) = tags(world, check)?;
    expect(came == wanted, format!("{wanted:?}"), format!("{came:?}"))
}

/// A note has these tags and perhaps others.
pub(super) fn tags_include(world: &World, check: &Check) -> Result<(), String> {
    let (came, wanted) = tags(world, check)?;
    let all = wanted.iter().all(|tag| came.contains(&tag.as_str()));
    expect(all, format!("{wanted:?} among them"), format!("{came:?}"))
}

/// A note has none of these tags.
pub(super) fn tags_exclude(world: &World, check: &Check) -> Result<(), String> {
    let (came, wanted) = tags(world, check)?;
    let none = !wanted.iter().any(|tag| came.contains(&tag.as_str()));
    expect(none, format!("none of {wanted:?}"), format!("{came:?}"))
}

/// A note has these headings.
pub(super) fn outline_equal(world: &World, check: &Check) -> Result<(), String> {
    let came = result(world, check)?.as_array().into_iter().flatten();
    let came: Vec<&str> = came.filter_map(Value::as_str).collect();
    let wanted = check.texts("headings")?;
    expect(came == wanted, format!("{wanted:?}"), format!("{came:?}"))
}
