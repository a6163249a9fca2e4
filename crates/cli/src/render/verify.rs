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
    for quote in &verified.uncited {
        let words = shortened(&inert_line(&quote.quote));
        let line = format!("line {} of the answer", quote.line);
        let _ = writeln!(out, "{}  “{words}”", styled(WARN, "no citation"));
        let _ = writeln!(out, "{INDENT}{}\n", styled(FAINT, &line));
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
    // Nobody should take a sentence of the answer for a quotation that was altered.
    let verdict = if claim.own_words {
        "in other words"
    } else {
        &claim.verdict
    };
    let style = match claim.verdict.as_str() {
        "exact" | "normalized" => TITLE,
        "moved" if !claim.holds => ERROR,
        "moved" => WARN,
        _ if claim.kind == "sentence" => WARN,
        _ => ERROR,
    };
    let words = shortened(&inert_line(&claim.quote));
    let words = match claim.kind.as_str() {
        "quote" => format!("“{words}”"),
        _ => words,
    };
    let mut out = format!("{}  {words}\n", styled(style, verdict));
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
    for number in &claim.not_in_note {
        let lacks = format!("{} is not in the note", inert_line(number));
        let _ = writeln!(out, "{INDENT}{}", styled(WARN, &lacks));
    }
    if let Some(found) = &claim.found {
        let stands = if claim.verdict == "absent" {
            "its words stand in "
        } else {
            ""
        };
        let _ = writeln!(out, "{INDENT}{stands}{}", place(found, looks));
    }
    if let Some(elsewhere) = &claim.elsewhere {
        let label = styled(TITLE, &inert_line(&elsewhere.note));
        let label = linked(&label, &elsewhere.uri, &elsewhere.note, looks);
        let lines = styled(FAINT, &lines(elsewhere.line_range));
        let _ = write!(out, "{INDENT}these very words stand in {label}  {lines}");
        if let Some(newer) = &elsewhere.superseded_by {
            let newer = format!(" · replaced by {}", newer.join(", "));
            out += &styled(FAINT, &inert_line(&newer)).to_string();
        }
        out.push('\n');
    }
    out
}

fn lines(range: [u32; 2]) -> String {
    match range {
        [first, last] if first == last => format!("line {first}"),
        [first, last] => format!("lines {first}–{last}"),
    }
}

fn is_found_in(claim: &ClaimJson, note: &str) -> bool {
    claim.found.as_ref().is_some_and(|found| found.note == note)
}

fn place(found: &PlaceJson, looks: &Looks<'_>) -> String {
    let mut place = vec![found.note.clone()];
    place.extend(found.heading_path.iter().cloned());
    let label = styled(TITLE, &inert_line(&place.join(" › ")));
    let lines = lines(found.line_range);
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
        line += &format!("; {} of these in other words", counts.own_words);
    }
    if counts.uncited > 0 {
        line += &format!(
            "; {} without a citation",
            counted(counts.uncited, "quotation")
        );
    }
    line
}
