//! Answers as text for people. What is shown here is all in the JSON; nothing is added.

mod context;
pub(crate) mod eval;
mod excerpt;
mod links;
mod models;
mod read;
mod rebuild;
mod related;
mod search;
mod status;
mod verify;

use std::path::Path;

use lorewell_capabilities::{
    Capability, ContextPack, Entry, Links, Read, Rebuild, Related, Search, Status, Verify,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::style;

/// How answers look.
pub(crate) struct Looks<'a> {
    /// Whether terminals open links.
    pub(crate) links: bool,
    /// How many columns the terminal has; nothing where there is none.
    pub(crate) width: Option<usize>,
    /// The vault's folder.
    pub(crate) root: &'a Path,
}

/// Asks for less where a person would not read more; what was asked for stands.
pub(crate) fn shorten(entry: &Entry, input: &mut Value) {
    if entry.id == Status::ID
        && let Some(fields) = input.as_object_mut()
    {
        fields.entry("list").or_insert(Value::from(status::SHOWN));
    }
    if entry.id == Links::ID
        && let Some(fields) = input.as_object_mut()
    {
        fields.entry("limit").or_insert(Value::from(links::SHOWN));
    }
}

/// Prints the output of a capability.
pub(crate) fn print(entry: &Entry, output: &Value, looks: &Looks<'_>) {
    let text = match entry.id {
        ContextPack::ID => typed(output, context::text),
        Search::ID => typed(output, |answer| search::text(answer, looks)),
        Read::ID => typed(output, read::text),
        Links::ID => typed(output, links::text),
        Related::ID => typed(output, related::text),
        Verify::ID => typed(output, |verified| verify::text(verified, looks)),
        Status::ID => typed(output, status::text),
        Rebuild::ID => typed(output, rebuild::text),
        _ => None,
    };
    match text {
        Some(text) => style::print_text(&text),
        None => style::print_data(&format!("{output:#}")),
    }
}

fn typed<T: DeserializeOwned>(output: &Value, text: impl FnOnce(&T) -> String) -> Option<String> {
    T::deserialize(output).ok().map(|output| text(&output))
}

/// A number in groups: `12,345`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// One thing or several: `1 note`, `2 notes`.
pub(crate) fn counted(number: u64, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", grouped(number))
}
