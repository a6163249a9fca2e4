//! The answer to a question.

use std::fmt::Write;

use lorewell_capabilities::{Explained, PassageJson, SearchOutput, SignalJson};
use lorewell_text::{Question, percent_encoded_path};

use super::{Looks, counted, excerpt};
use crate::style::{FAINT, TITLE, WARN, inert_line, styled};

/// What stands before each line of a passage.
const INDENT: &str = "   ";

pub(crate) fn text(answer: &SearchOutput, looks: &Looks<'_>) -> String {
    let mut out = String::new();
    if answer.confidence == "none" && !answer.passages.is_empty() {
        let none = "Nothing in these notes seems to answer this. The nearest passages:";
        let _ = writeln!(out, "{}\n", styled(WARN, none));
    }
    if let Some(notice) = &answer.notice {
        let _ = writeln!(out, "{}", styled(WARN, &inert_line(notice)));
    }
    if answer.passages.is_empty() && answer.notice.is_none() {
        let _ = writeln!(out, "{}", styled(WARN, "Nothing found."));
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
    let place = inert_line(&place.join(" › "));
    let lines = match passage.line_range {
        [first, last] if first == last => format!("line {first}"),
        [first, last] => format!("lines {first}–{last}"),
    };
    let heading = linked(&styled(TITLE, &place), &passage.uri, &passage.note, looks);
    let _ = writeln!(
        out,
        "{}. {heading}  {}",
        passage.rank,
        styled(FAINT, &lines)
    );
    out += &unread(passage.state.as_deref(), INDENT);
    let width = looks
        .width
        .map(|width| width.saturating_sub(INDENT.len() + 1));
    let headings = passage.heading_path.iter().map(String::as_str);
    let above: Vec<&str> = headings.chain([passage.title.as_str()]).collect();
    let lines = excerpt::lines(&passage.text, &above, question, width);
    if let Some(header) = &passage.table_header {
        let columns = excerpt::lines(header, &[], question, width);
        let _ = writeln!(out, "{INDENT}{}", columns.join(" "));
    }
    // A note that is only properties has a passage without text.
    for line in lines.iter().filter(|line| !line.is_empty()) {
        let _ = writeln!(out, "{INDENT}{line}");
    }
    let why = inert_line(&reasons(passage));
    let _ = writeln!(out, "{INDENT}{}", styled(FAINT, &why));
    if let Some(explained) = &passage.explain {
        out += &explanation(explained);
    }
    out.push('\n');
    out
}

/// The line that marks what is told of a note that cannot be read now; nothing where it can.
pub(super) fn unread(state: Option<&str>, indent: &str) -> String {
    let why = match state {
        None => return String::new(),
        Some("not_local") => "not on this device now",
        Some(_) => "cannot be read now",
    };
    let line = format!("{why}; this is its last known text");
    format!("{indent}{}\n", styled(WARN, &line))
}

/// A link that terminals open: in Obsidian where the folder is its vault, else the file.
pub(super) fn linked(label: &str, uri: &str, note: &str, looks: &Looks<'_>) -> String {
    if !looks.links {
        return label.to_string();
    }
    let address = if looks.root.join(".obsidian").is_dir() {
        uri.to_string()
    } else {
        let path = looks.root.join(note).display().to_string();
        format!("file://{}", percent_encoded_path(path.as_bytes()))
    };
    format!("\u{1b}]8;;{address}\u{1b}\\{label}\u{1b}]8;;\u{1b}\\")
}

fn reasons(passage: &PassageJson) -> String {
    let why: Vec<String> = passage.signals.iter().map(reason).collect();
    let mut parts = Vec::new();
    // What is only listed answers nothing.
    if !why.is_empty() {
        parts = vec![format!("{:.2}", passage.score), why.join(", ")];
    }
    let evidence = &passage.evidence;
    parts.push(match evidence.rule.as_str() {
        "default" => evidence.class.clone(),
        rule => format!("{} ({rule})", evidence.class),
    });
    if passage.date_source != "file time" {
        parts.push(passage.date.clone());
    }
    if !passage.copies.is_empty() {
        parts.push(format!("also in {}", passage.copies.join(", ")));
    }
    if let Some(newer) = &passage.superseded_by {
        parts.push(format!("replaced by {}", newer.join(", ")));
    }
    parts.join(" · ")
}

/// One signal in words.
fn reason(signal: &SignalJson) -> String {
    let rank = signal.rank.unwrap_or_default();
    let list = |list: &Option<Vec<String>>| list.as_deref().unwrap_or_default().join(", ");
    let reason = match signal.kind.as_str() {
        "text" => format!("words #{rank}"),
        "dense" => format!("meaning #{rank}"),
        "title" => "the note's name".to_string(),
        "vocab" => format!("goes with: {}", list(&signal.added)),
        "link" => format!("linked with {}", list(&signal.via)),
        "tag" => format!("shares #{}", list(&signal.tags).replace(", ", ", #")),
        kind => kind.to_string(),
    };
    match (signal.also, signal.like) {
        (Some(item), _) => format!("{reason} for paraphrase {}", item + 1),
        (_, Some(item)) => format!("{reason} for likeness {}", item + 1),
        _ => reason,
    }
}

fn explanation(explained: &Explained) -> String {
    let standing = explained.standing.map_or(String::new(), |standing| {
        format!(", its kind of note counts {standing}")
    });
    let order = explained
        .order
        .map_or(String::new(), |order| format!("; order {order:.4}"));
    let relevance = explained.relevance.map_or(String::new(), |share| {
        format!("; the reranker says {share:.2}")
    });
    let place = explained.place.map_or(String::new(), |place| {
        let what = match explained.place_lane.as_deref() {
            Some("text") => "has most of the question's words",
            _ => "is nearest in meaning",
        };
        format!("; place {place} is kept for what {what}")
    });
    let mut out = format!(
        "{INDENT}{}\n",
        styled(
            FAINT,
            &format!(
                "fused {:.5}{standing}{order}{relevance}{place}",
                explained.fused
            )
        )
    );
    for lane in &explained.lanes {
        let line = format!(
            "  {} #{}: score {:.3}, adds {:.5}",
            lane.lane, lane.rank, lane.score, lane.added
        );
        let _ = writeln!(out, "{INDENT}{}", styled(FAINT, &line));
    }
    for term in explained.terms.iter().filter(|term| term.frequency > 0) {
        let line = format!(
            "  “{}”: {} here, in {}, adds {:.3}",
            term.term,
            counted(u64::from(term.frequency), "time"),
            counted(u64::from(term.passages), "passage"),
            term.added
        );
        let _ = writeln!(out, "{INDENT}{}", styled(FAINT, &inert_line(&line)));
    }
    out
}

fn footer(answer: &SearchOutput) -> String {
    let mut out = String::new();
    for degraded in &answer.degraded {
        let _ = writeln!(out, "{}", styled(FAINT, &inert_line(degraded)));
    }
    let index = &answer.index;
    let mut line = format!(
        "{}: {}, {}; confidence: {}",
        inert_line(&answer.vault),
        counted(index.notes, "note"),
        counted(index.passages, "passage"),
        answer.confidence
    );
    if let Some(model) = &answer.reranked_by {
        line += &format!("; judged by {}", inert_line(model));
    }
    if let Some(pending) = index.pending.filter(|pending| *pending > 0) {
        line += &format!("; {pending} pending");
    }
    if let Some(next) = &answer.next {
        line += &format!("; more with --cursor {next}");
    }
    let _ = writeln!(out, "{}", styled(FAINT, &line));
    out
}
