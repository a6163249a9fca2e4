//! Checks of contexts and of what citations lead to.

use serde_json::Value;

use super::{expect, items, result, sorted, text};
use crate::Check;
use crate::world::World;

/// The context holds a text.
pub(super) fn context_contains(world: &World, check: &Check) -> Result<(), String> {
    let context = result(world, check)?;
    let wanted = check.text("text")?;
    expect(
        text(context, "text").contains(wanted),
        wanted,
        came(context),
    )
}

/// The context does not hold a text.
pub(super) fn context_lacks(world: &World, check: &Check) -> Result<(), String> {
    let context = result(world, check)?;
    let wanted = check.text("text")?;
    let lacks = !text(context, "text").contains(wanted);
    expect(lacks, format!("nothing of {wanted:?}"), came(context))
}

fn came(context: &Value) -> String {
    let shown: String = text(context, "text").chars().take(300).collect();
    format!(
        "{shown:?}, confidence {}, notice {}",
        context["confidence"], context["notice"]
    )
}

/// The context has so many sources; without any it is empty and says why.
pub(super) fn context_sources(world: &World, check: &Check) -> Result<(), String> {
    let context = result(world, check)?;
    let wanted = check.number("equals")?;
    let sources = items(context, "sources").count() as u64;
    let consistent =
        sources > 0 || (text(context, "text").is_empty() && context["notice"].is_string());
    expect(
        sources == wanted && consistent,
        format!("{wanted} sources"),
        came(context),
    )
}

/// The context is not larger: by what it says, and by a count of its own (a token holds at most
/// four characters of ASCII, and never more than one of another script).
pub(super) fn context_tokens(world: &World, check: &Check) -> Result<(), String> {
    let context = result(world, check)?;
    let most = check.number("max")?;
    let said = context["tokens"].as_u64().unwrap_or(u64::MAX);
    let ascii = text(context, "text").chars().filter(char::is_ascii).count();
    let least = (ascii / 4
        + text(context, "text")
            .chars()
            .filter(|c| *c >= '\u{2E80}')
            .count()) as u64;
    let came = format!("{said} said, {least} at least");
    expect(
        said <= most && least <= most,
        format!("at most {most}"),
        came,
    )
}

/// Every source is a file.
pub(super) fn sources_exist(world: &World, check: &Check) -> Result<(), String> {
    let context = result(world, check)?;
    let mut notes = items(context, "sources")
        .map(|source| text(source, "note"))
        .peekable();
    let any = notes.peek().is_some();
    let missing: Vec<&str> = notes.filter(|note| !world.path(note).is_file()).collect();
    expect(
        any && missing.is_empty(),
        "sources that are there",
        format!("{any}, missing {missing:?}"),
    )
}

/// So many citations open, each at the words that it cites.
pub(super) fn citations_open(world: &World, check: &Check) -> Result<(), String> {
    let opened = result(world, check)?.as_array().into_iter().flatten();
    let wanted = check.number("count")?;
    let good = |one: &&Value| {
        one["state"] == "same" && text(one, "text").contains(text(one, "cited").trim())
    };
    let came = opened.clone().filter(good).count() as u64;
    let all: Vec<&Value> = opened.collect();
    expect(
        came == wanted && all.len() as u64 == wanted,
        format!("{wanted} that open"),
        format!("{all:?}"),
    )
}

/// The address of every citation names exactly its note.
pub(super) fn uri_decodes_to_path(world: &World, check: &Check) -> Result<(), String> {
    for one in result(world, check)?.as_array().into_iter().flatten() {
        let uri = text(one, "uri");
        let file = uri.split_once("?vault=vault&file=").map(|(_, file)| file);
        let path = file.and_then(decoded).unwrap_or_default();
        expect(path == text(one, "note"), text(one, "note"), uri)?;
        // Whoever splits an address at these would otherwise cut it short.
        let plain = file.is_some_and(|file| !file.contains(['&', '#', '?', ' ', '|', '(', '[']));
        expect(plain, "an address without bare signs", uri)?;
    }
    Ok(())
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte == b'%' {
            let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &rest[2..];
        } else {
            bytes.push(*byte);
        }
    }
    String::from_utf8(bytes).ok()
}

/// A citation leads where it should: `same`, `changed`, `moved` or `gone`.
pub(super) fn citation_state(world: &World, check: &Check) -> Result<(), String> {
    let path = check.text("path")?;
    let opened = result(world, check)?.as_array().into_iter().flatten();
    let found = { opened }.find(|one| text(one, "note") == path);
    let state = found.map_or("not cited at all", |one| text(one, "state"));
    expect(state == check.text("state")?, check.text("state")?, state)
}

/// These citations of an answer lead to no source and no note.
pub(super) fn invalid_citations(world: &World, check: &Check) -> Result<(), String> {
    let verified = result(world, check)?;
    let loose =
        |claim: &&Value| claim["verdict"] == "absent" && !world.path(text(claim, "note")).is_file();
    let claims = items(verified, "claims").filter(loose);
    let came = sorted(claims.map(|claim| text(claim, "citation")));
    let wanted = sorted(check.texts("equals")?);
    expect(
        came == wanted,
        format!("{wanted:?}"),
        verified["claims"].to_string(),
    )
}
