//! Notes related to a note, and why.

use std::fmt::Write;

use lorewell_capabilities::{RelatedJson, RelatedOutput, RelatedSignalJson};

use super::counted;
use super::search::unread;
use crate::style::{FAINT, TITLE, WARN, inert_line, styled};

const INDENT: &str = "   ";

pub(crate) fn text(related: &RelatedOutput) -> String {
    let mut out = String::new();
    if related.related.is_empty() {
        let none = format!("No note seems to be related to {}.", related.note);
        let _ = writeln!(out, "{}", styled(WARN, &inert_line(&none)));
    }
    for (at, note) in related.related.iter().enumerate() {
        out += &entry(at + 1, note);
    }
    for degraded in &related.degraded {
        let _ = writeln!(out, "{}", styled(FAINT, &inert_line(degraded)));
    }
    let line = format!(
        "{}: {}",
        inert_line(&related.vault),
        counted(related.index.notes, "note")
    );
    let _ = writeln!(out, "{}", styled(FAINT, &line));
    out
}

fn entry(rank: usize, note: &RelatedJson) -> String {
    let mut out = format!("{rank}. {}", styled(TITLE, &inert_line(&note.note)));
    if note.near_copy {
        out += &format!("  {}", styled(WARN, "nearly the same text"));
    }
    out.push('\n');
    out += &unread(note.state.as_deref(), INDENT);
    if !note.snippet.is_empty() {
        let _ = writeln!(out, "{INDENT}{}", inert_line(&note.snippet));
    }
    let reasons: Vec<String> = note.signals.iter().map(reason).collect();
    let why = format!("{:.2} · {}", note.score, reasons.join(" · "));
    let _ = writeln!(out, "{INDENT}{}\n", styled(FAINT, &inert_line(&why)));
    out
}

fn reason(signal: &RelatedSignalJson) -> String {
    let list = |names: &Option<Vec<String>>| names.as_deref().unwrap_or_default().join(", ");
    match signal.kind.as_str() {
        "link" => match signal.direction.as_deref() {
            Some("both") => "links both ways".to_string(),
            Some("in") => "links to it".to_string(),
            _ => "is linked from it".to_string(),
        },
        "neighbour" => format!("both linked with {}", list(&signal.via)),
        "tag" => {
            let tags = signal.tags.as_deref().unwrap_or_default();
            let tags: Vec<String> = tags.iter().map(|tag| format!("#{tag}")).collect();
            format!("shares {}", tags.join(", "))
        }
        "words" => format!("shares the words {}", list(&signal.words)),
        "dense" => "near in meaning".to_string(),
        kind => kind.to_string(),
    }
}
