//! The answer to a question.

use std::fmt::Write;
use std::ops::Range;

use lorewell_capabilities::{Explained, PassageJson, SearchOutput};
use lorewell_text::Question;

use super::{Looks, counted};
use crate::style::{FAINT, MATCH, TITLE, WARN, inert, styled};

/// So much of a passage is shown, in characters; `lorewell read` shows the rest.
const EXCERPT_CHARS: usize = 420;

pub(crate) fn text(answer: &SearchOutput, looks: &Looks<'_>) -> String {
    let mut out = String::new();
    if answer.confidence == "none" && !answer.passages.is_empty() {
        out += &styled(
            WARN,
            "Nothing in these notes seems to answer this. The nearest passages:\n\n",
        );
    }
    if let Some(notice) = &answer.notice {
        let _ = writeln!(out, "{}", styled(WARN, notice));
    }
    if answer.passages.is_empty() && answer.notice.is_none() {
        out += &styled(WARN, "Nothing found.\n");
    }
    let question = Question::new(&answer.query);
    for passage in &answer.passages {
        out += &entry(passage, &question, looks);
    }
    out += &footer(answer);
    out
}

fn entry(passage: &PassageJson, question: &Question, looks: &Looks<'_>) -> String {
    let mut out = String::new();
    let mut place = vec![passage.note.clone()];
    // A heading that only repeats the note's name says nothing new.
    place.extend(
        passage
            .heading_path
            .iter()
            .filter(|h| **h != passage.title)
            .cloned(),
    );
    let place = inert(&place.join(" › ")).replace('\n', " ");
    let lines = match passage.line_range {
        [first, last] if first == last => format!("line {first}"),
        [first, last] => format!("lines {first}–{last}"),
    };
    let heading = linked(&styled(TITLE, &place), passage, looks);
    let _ = writeln!(
        out,
        "{}. {heading}  {}",
        passage.rank,
        styled(FAINT, &lines)
    );
    for line in excerpt(&passage.text, question).lines() {
        let _ = writeln!(out, "   {line}");
    }
    let _ = writeln!(out, "   {}", styled(FAINT, &inert(&reasons(passage))));
    if let Some(explained) = &passage.explain {
        out += &explanation(explained);
    }
    out.push('\n');
    out
}

/// A link that terminals open: in Obsidian where the folder is its vault, else the file.
fn linked(label: &str, passage: &PassageJson, looks: &Looks<'_>) -> String {
    if !looks.links {
        return label.to_string();
    }
    let address = if looks.root.join(".obsidian").is_dir() {
        passage.uri.clone()
    } else {
        let path = looks.root.join(&passage.note).display().to_string();
        let encoded: String = path
            .bytes()
            .map(|b| match b {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                    char::from(b).to_string()
                }
                _ => format!("%{b:02X}"),
            })
            .collect();
        format!("file://{encoded}")
    };
    format!("\u{1b}]8;;{address}\u{1b}\\{label}\u{1b}]8;;\u{1b}\\")
}

fn reasons(passage: &PassageJson) -> String {
    let why: Vec<String> = passage
        .signals
        .iter()
        .map(|signal| match (signal.kind.as_str(), signal.rank) {
            ("text", Some(rank)) => format!("words #{rank}"),
            ("dense", Some(rank)) => format!("meaning #{rank}"),
            ("title", _) => "the note's name".to_string(),
            (kind, _) => kind.to_string(),
        })
        .collect();
    let mut parts = vec![format!("{:.2}", passage.score), why.join(", ")];
    parts.push(format!(
        "{} ({})",
        passage.evidence.class, passage.evidence.rule
    ));
    parts.push(passage.date.clone());
    if !passage.copies.is_empty() {
        parts.push(format!("also in {}", passage.copies.join(", ")));
    }
    parts.join(" · ")
}

/// The part of a passage with the most matched words, those marked.
fn excerpt(text: &str, question: &Question) -> String {
    let matches = question.matches(text);
    let window = window(text, &matches);
    let mut out = String::new();
    if window.start > 0 {
        out.push('…');
    }
    let mut at = window.start;
    for range in matches
        .iter()
        .filter(|r| window.start <= r.start && r.end <= window.end)
    {
        out += &inert(&text[at..range.start]);
        out += &styled(MATCH, &inert(&text[range.clone()]));
        at = range.end;
    }
    out += &inert(&text[at..window.end]);
    if window.end < text.len() {
        out.push('…');
    }
    out.lines()
        .filter(|line| !line.trim().is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}

/// The stretch to show: it begins at a line or word and holds as many matches as it can.
fn window(text: &str, matches: &[Range<usize>]) -> Range<usize> {
    let end_of = |start: usize| {
        text[start..]
            .char_indices()
            .nth(EXCERPT_CHARS)
            .map_or(text.len(), |(at, _)| start + at)
    };
    if end_of(0) == text.len() {
        return 0..text.len();
    }
    let held = |start: usize| {
        let end = end_of(start);
        matches
            .iter()
            .filter(|m| m.start >= start && m.end <= end)
            .count()
    };
    let starts = matches
        .iter()
        .map(|m| text[..m.start].rfind('\n').map_or(0, |at| at + 1));
    let near = matches
        .iter()
        .map(|m| text.floor_char_boundary(m.start.saturating_sub(80)));
    let best = std::iter::once(0)
        .chain(starts)
        .chain(near)
        .max_by_key(|start| (held(*start), std::cmp::Reverse(*start)));
    let start = best.unwrap_or(0);
    let start = if start == 0 || text[..start].ends_with('\n') {
        start
    } else {
        text[start..]
            .find(char::is_whitespace)
            .map_or(start, |at| start + at + 1)
    };
    let start = text.floor_char_boundary(start);
    let end = end_of(start);
    let end = if end == text.len() {
        end
    } else {
        text[start..end]
            .rfind(char::is_whitespace)
            .map_or(end, |at| start + at)
    };
    start..end.max(start)
}

fn explanation(explained: &Explained) -> String {
    let mut out = format!(
        "   {}\n",
        styled(FAINT, &format!("fused {:.5}", explained.fused))
    );
    for lane in &explained.lanes {
        let line = format!(
            "  {} #{}: score {:.3}, adds {:.5}",
            lane.lane, lane.rank, lane.score, lane.added
        );
        let _ = writeln!(out, "   {}", styled(FAINT, &line));
    }
    for term in explained.terms.iter().filter(|term| term.frequency > 0) {
        let line = format!(
            "  “{}”: {} here, in {}, adds {:.3}",
            term.term,
            counted(u64::from(term.frequency), "time"),
            counted(u64::from(term.passages), "passage"),
            term.added
        );
        let _ = writeln!(out, "   {}", styled(FAINT, &inert(&line)));
    }
    out
}

fn footer(answer: &SearchOutput) -> String {
    let mut out = String::new();
    for degraded in &answer.degraded {
        let _ = writeln!(out, "{}", styled(FAINT, &inert(degraded)));
    }
    let index = &answer.index;
    let mut line = format!(
        "{}: {}, {}; confidence: {}",
        inert(&answer.vault),
        counted(index.notes, "note"),
        counted(index.passages, "passage"),
        answer.confidence
    );
    if let Some(pending) = index.pending.filter(|pending| *pending > 0) {
        line += &format!("; {pending} pending");
    }
    if let Some(next) = &answer.next {
        line += &format!("; more with --cursor {next}");
    }
    let _ = writeln!(out, "{}", styled(FAINT, &line));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_a_stretch_of_the_passage_around_the_matches() {
        let text = format!(
            "{}\nthe madder bath takes an hour\n{}",
            "filler words here ".repeat(60),
            "more ".repeat(100)
        );
        let question = Question::new("madder bath");
        let window = window(&text, &question.matches(&text));
        assert!(
            text[window.clone()].contains("madder bath takes an hour"),
            "{}",
            &text[window]
        );
        for text in ["", "é", "短い"] {
            assert_eq!(excerpt(text, &question), text);
        }
        let wide = "釉薬の色".repeat(500);
        let _ = excerpt(&wide, &Question::new("薬の"));
    }
}
