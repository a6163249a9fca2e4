//! Links both ways, or what is loose in a vault.

use std::fmt::Write;

use lorewell_capabilities::{BacklinkJson, LinksOutput, OutgoingJson, TargetJson};

use super::counted;
use crate::style::{FAINT, TITLE, WARN, inert_line, styled};

/// So many items of each list are asked for, unless `--limit N` says.
pub(super) const SHOWN: u32 = 20;

pub(crate) fn text(links: &LinksOutput) -> String {
    let mut out = String::new();
    match &links.note {
        Some(note) => out += &of_note(note, links),
        None => out += &of_vault(links),
    }
    for degraded in &links.degraded {
        let _ = writeln!(out, "{}", styled(FAINT, &inert_line(degraded)));
    }
    if let Some(next) = &links.next {
        let more = format!("there is more: --cursor {next}, or a larger --limit");
        let _ = writeln!(out, "{}", styled(FAINT, &more));
    }
    out
}

fn of_note(note: &str, links: &LinksOutput) -> String {
    let totals = &links.totals;
    let mut out = format!("{}\n", styled(TITLE, &inert_line(note)));
    let title = links.title.as_deref().unwrap_or_default();
    if title != name_of(note) {
        let _ = writeln!(out, "{}", styled(FAINT, &inert_line(title)));
    }
    out += &heading(totals.outgoing, links.outgoing.len(), "link", "No links.");
    for link in &links.outgoing {
        let _ = writeln!(out, "  {}", outgoing(link));
    }
    out += &heading(
        totals.backlinks,
        links.backlinks.len(),
        "backlink",
        "No backlinks.",
    );
    for link in &links.backlinks {
        let _ = writeln!(out, "  {}", backlink(link));
    }
    out
}

fn outgoing(link: &OutgoingJson) -> String {
    let written = match &link.text {
        Some(text) => text.clone(),
        None => format!("[[{}]]", link.target),
    };
    let meaning = match (link.leads_to.as_str(), &link.note) {
        (_, Some(note)) => inert_line(note),
        ("same_note", _) => "this note".to_string(),
        ("file", _) => "a file that is no note".to_string(),
        _ => styled(WARN, "nothing"),
    };
    let mut line = format!("{} → {meaning}", inert_line(&written));
    if link.part_exists == Some(false) {
        let part = match &link.block {
            Some(_) => "no such block",
            None => "no such heading",
        };
        line += &format!(" {}", styled(WARN, &format!("({part})")));
    }
    if !link.others.is_empty() {
        let others = format!("(or {})", link.others.join(", "));
        line += &format!(" {}", styled(WARN, &inert_line(&others)));
    }
    format!("{}{line}", place(link.line, link.property))
}

/// Where a link stands, as the beginning of its line.
fn place(line: Option<u32>, property: bool) -> String {
    let kind = if property { " (property)" } else { "" };
    match line {
        Some(line) => format!("{}  ", styled(FAINT, &format!("line {line}{kind}"))),
        None => String::new(),
    }
}

fn backlink(link: &BacklinkJson) -> String {
    let place = match link.line_range {
        Some([first, _]) => format!("{}:{first}", link.note),
        None => link.note.clone(),
    };
    let mut line = format!("{}  {}", inert_line(&place), inert_line(&link.sentence));
    if !link.others.is_empty() {
        let others = format!("(it could mean {} too)", link.others.join(", "));
        line += &format!(" {}", styled(WARN, &inert_line(&others)));
    }
    line
}

fn of_vault(links: &LinksOutput) -> String {
    let totals = &links.totals;
    let mut out = format!(
        "{}: {}, {}\n",
        styled(TITLE, &inert_line(&links.vault)),
        counted(links.index.notes, "note"),
        counted(totals.outgoing, "link")
    );
    out += &heading(
        totals.unresolved,
        links.unresolved.len(),
        "target that leads nowhere",
        "Every link leads somewhere.",
    );
    for shared in &links.unresolved {
        let _ = writeln!(out, "  {}", target(shared));
    }
    out += &heading(
        totals.ambiguous,
        links.ambiguous.len(),
        "target that could mean several notes",
        "No link is ambiguous.",
    );
    for shared in &links.ambiguous {
        let _ = writeln!(out, "  {}", target(shared));
    }
    out += &heading(
        totals.orphans,
        links.orphans.len(),
        "note without links",
        "Every note is linked.",
    );
    for note in &links.orphans {
        let _ = writeln!(out, "  {}", inert_line(&note.note));
    }
    out
}

fn target(shared: &TargetJson) -> String {
    let mut line = format!("[[{}]]", shared.target);
    if let [first, others @ ..] = shared.notes.as_slice() {
        line += &format!(" → {first} (or {})", others.join(", "));
    }
    let places: Vec<String> = shared
        .from
        .iter()
        .map(|place| match place.line {
            Some(line) => format!("{}:{line}", place.note),
            None => place.note.clone(),
        })
        .collect();
    let more = shared.linking_notes.saturating_sub(places.len() as u64);
    let mut from = match shared.links > shared.linking_notes {
        true => format!(
            "{} from {}",
            counted(shared.links, "link"),
            places.join(", ")
        ),
        false => format!("from {}", places.join(", ")),
    };
    if more > 0 {
        from += &format!(" and {}", counted(more, "other note"));
    }
    format!(
        "{}  {}",
        inert_line(&line),
        styled(FAINT, &inert_line(&from))
    )
}

/// `3 links:`, or what is said where there are none; nothing where all were shown before.
fn heading(total: u64, shown: usize, thing: &str, none: &str) -> String {
    if total == 0 {
        return format!("{none}\n");
    }
    if shown == 0 {
        return String::new();
    }
    // "2 targets that lead nowhere" is the only grammar that a plural `s` at the end would spoil.
    let (noun, rest) = thing.split_once(' ').unwrap_or((thing, ""));
    let rest = if total == 1 {
        rest.to_string()
    } else {
        rest.replace("leads", "lead")
    };
    let space = if rest.is_empty() { "" } else { " " };
    format!("{}{space}{rest}:\n", counted(total, noun))
}

fn name_of(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map_or(name, |(name, _)| name)
}
