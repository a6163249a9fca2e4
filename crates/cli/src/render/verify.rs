//! What became of claims.

use std::fmt::Write;

use lorewell_capabilities::{ClaimJson, PlaceJson, VerifyOutput};

use super::search::linked;
use super::{Looks, counted};
use crate::style::{ERROR, FAINT, TITLE, WARN, inert_line, styled};

/// What stands before what is said of a claim.
const INDENT: &str = "   ";
/// So many characters of a claim are shown.
const SHOWN: usize = 160;

pub(crate) fn text(verified: &VerifyOutput, looks: &Looks<'_>) -> String {
    let mut out = String::new();
    for claim in &verified.claims {
        out += &entry(claim, looks);
        out.push('\n');
    }
    if let Some(notice) = &verified.notice {
        let _ = writeln!(out, "{}", styled(WARN, &inert_line(notice)));
    }
    for degraded in &verified.degraded {
        let _ = writeln!(out, "{}", styled(FAINT, &inert_line(degraded)));
    }
    let _ = writeln!(out, "{}", styled(FAINT, &summary(verified)));
    out
}

fn entry(claim: &ClaimJson, looks: &Looks<'_>) -> String {
    let style = match claim.verdict.as_str() {
        "exact" | "normalized" => TITLE,
        "moved" => WARN,
        _ if claim.kind == "sentence" => WARN,
        _ => ERROR,
    };
    let words = shortened(&inert_line(&claim.quote));
    let words = match claim.kind.as_str() {
        "quote" => format!("“{words}”"),
        _ => words,
    };
    let mut out = format!("{}  {words}\n", styled(style, &claim.verdict));
    let mut about: Vec<String> = Vec::new();
    about.extend(claim.line.map(|line| format!("line {line} of the answer")));
    about.extend(
        claim
            .citation
            .as_ref()
            .map(|citation| format!("cites {citation}")),
    );
    if let Some(note) = claim.note.as_ref().filter(|note| !is_found_in(claim, note)) {
        about.push(format!("of {note}"));
    }
    about.extend(claim.reason.clone());
    if claim.stale {
        about.push("the note changed since it was cited".to_string());
    }
    if !about.is_empty() {
        let about = inert_line(&about.join(" · "));
        let _ = writeln!(out, "{INDENT}{}", styled(FAINT, &about));
    }
    if let Some(difference) = &claim.difference {
        let _ = writeln!(out, "{INDENT}{}", inert_line(&difference.text));
    }
    if let Some(found) = &claim.found {
        let stands = if claim.verdict == "absent" {
            "its words stand in "
        } else {
            ""
        };
        let _ = writeln!(out, "{INDENT}{stands}{}", place(found, looks));
    }
    out
}

fn is_found_in(claim: &ClaimJson, note: &str) -> bool {
    claim.found.as_ref().is_some_and(|found| found.note == note)
}

fn place(found: &PlaceJson, looks: &Looks<'_>) -> String {
    let mut place = vec![found.note.clone()];
    place.extend(found.heading_path.iter().cloned());
    let label = styled(TITLE, &inert_line(&place.join(" › ")));
    let lines = match found.line_range {
        [first, last] if first == last => format!("line {first}"),
        [first, last] => format!("lines {first}–{last}"),
    };
    let label = linked(&label, &found.uri, &found.note, looks);
    format!("{label}  {}", styled(FAINT, &lines))
}

fn shortened(words: &str) -> String {
    match words.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", words[..end].trim_end()),
        None => words.to_string(),
    }
}

fn summary(verified: &VerifyOutput) -> String {
    let counts = &verified.summary;
    let all = [
        (counts.exact, "exact"),
        (counts.normalized, "normalized"),
        (counts.moved, "moved"),
        (counts.changed, "changed"),
        (counts.absent, "absent"),
    ];
    let some = all.iter().filter(|(count, _)| *count > 0);
    let list: Vec<String> = some
        .map(|(count, name)| format!("{count} {name}"))
        .collect();
    let mut line = format!(
        "{}: {}",
        inert_line(&verified.vault),
        counted(counts.claims, "claim")
    );
    if !list.is_empty() {
        line += &format!(": {}", list.join(", "));
    }
    if counts.own_words > 0 {
        line += &format!("; {} perhaps in words of their own", counts.own_words);
    }
    if counts.uncited > 0 {
        line += &format!(
            "; {} without a citation",
            counted(counts.uncited, "quotation")
        );
    }
    line
}
