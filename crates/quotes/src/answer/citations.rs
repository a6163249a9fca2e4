//! Citations: what is one, and what it names.

use std::ops::Range;

use lorewell_text::percent_decoded;

use super::{Citation, Cited, Label, Leaf, Target};

/// So many sources are named by one pair of brackets at most (`[1-9]`).
const RANGE: u32 = 32;

/// Between the brackets of a citation stand so many bytes at most.
const INSIDE: usize = 64;

/// Whether a label is the number of a source.
pub(crate) fn is_number(label: &str) -> bool {
    (1..=6).contains(&label.len()) && label.bytes().all(|b| b.is_ascii_digit())
}

/// Whether a label is the number of a source or of a footnote (`^1`).
pub(crate) fn is_label(label: &str) -> bool {
    is_number(label.strip_prefix('^').unwrap_or(label))
}

/// Adds the citations that are no links to Markdown (`[1]`, `[1, 3]`, `[^2]`, `【1】`) and brings
/// all in order.
pub(crate) fn find(leaf: &mut Leaf) {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(length) = leaf.text[at..].find(['[', '【']) {
        let start = at + length;
        let (end, numbers) = brackets(&leaf.text[start..]);
        at = start + end;
        let next = leaf
            .cited
            .partition_point(|cited| cited.range.start <= start);
        if next > 0 && start < leaf.cited[next - 1].range.end || leaf.is_code(start) {
            continue;
        }
        for number in numbers {
            found.push(Cited {
                range: start..at,
                citation: Citation {
                    written: leaf.text[start..at].to_string(),
                    target: Target::Source(number),
                },
                label: Label::Mark,
            });
        }
    }
    leaf.cited.append(&mut found);
    leaf.cited.sort_by_key(|cited| cited.range.start);
    let addresses = addresses(leaf);
    leaf.outside.extend(addresses);
    leaf.outside.sort_by_key(|link| link.start);
}

/// Addresses in running text, outside of links.
fn addresses(leaf: &Leaf) -> Vec<Range<usize>> {
    let schemes = leaf.text.match_indices("://").filter_map(|(at, _)| {
        let before = &leaf.text[..at];
        let scheme = ["https", "http"]
            .into_iter()
            .find(|s| before.ends_with(s))?;
        Some(at - scheme.len())
    });
    let end = |at: usize| {
        let rest = &leaf.text[at..];
        let length = rest.find(|c: char| c.is_whitespace() || ")]>\"”»|".contains(c));
        at + length.unwrap_or(rest.len())
    };
    let is_in = |links: &[Range<usize>], at: usize| {
        let next = links.partition_point(|link| link.start <= at);
        next > 0 && at < links[next - 1].end
    };
    let cited: Vec<Range<usize>> = leaf.cited.iter().map(|c| c.range.clone()).collect();
    schemes
        .filter(|at| !leaf.is_code(*at) && !is_in(&cited, *at) && !is_in(&leaf.outside, *at))
        .map(|at| at..end(at))
        .collect()
}

/// The numbers between the brackets that open a text, and their length; of brackets that hold
/// anything else, the length of the first sign.
fn brackets(rest: &str) -> (usize, Vec<String>) {
    let (open, close) = if rest.starts_with('[') {
        ('[', ']')
    } else {
        ('【', '】')
    };
    let skip = (open.len_utf8(), Vec::new());
    let inside = &rest[open.len_utf8()..];
    let near = &inside[..inside.floor_char_boundary(INSIDE)];
    let Some(end) = near.find(close) else {
        return skip;
    };
    let mut numbers = Vec::new();
    // 【1†source】 names source 1.
    let named = inside[..end].split('†').next().unwrap_or_default();
    for part in named.split([',', ';', '、', '，']) {
        let part = part.trim();
        let mark = if part.starts_with('^') { "^" } else { "" };
        let part = part.trim_start_matches('^');
        match part.split_once(['-', '–']) {
            None if is_number(part) => numbers.push(format!("{mark}{part}")),
            Some((first, last)) => match span(first.trim(), last.trim().trim_start_matches('^')) {
                Some(span) => numbers.extend(span.map(|number| format!("{mark}{number}"))),
                None => return skip,
            },
            None => return skip,
        }
    }
    (open.len_utf8() + end + close.len_utf8(), numbers)
}

fn span(first: &str, last: &str) -> Option<std::ops::RangeInclusive<u32>> {
    if !is_number(first) || !is_number(last) {
        return None;
    }
    let (first, last) = (first.parse::<u32>().ok()?, last.parse::<u32>().ok()?);
    (first <= last && last - first < RANGE).then_some(first..=last)
}

/// The note that a link's destination names: a path, or an address of Obsidian's that names a
/// file. `None` for what leads elsewhere.
pub(crate) fn note_target(destination: &str) -> Option<Target> {
    let destination = destination.trim();
    if let Some(query) = destination.strip_prefix("obsidian://open?") {
        let file = query
            .split('&')
            .find_map(|field| field.strip_prefix("file="))?;
        return Some(Target::Note(percent_decoded(file)));
    }
    // A place in the answer itself is no source.
    if destination.is_empty() || destination.starts_with('#') || is_outside(destination) {
        return None;
    }
    Some(Target::Note(percent_decoded(destination)))
}

/// Whether a link's destination is an address rather than a path.
pub(crate) fn is_outside(destination: &str) -> bool {
    let destination = destination.trim();
    let scheme = destination
        .bytes()
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
        .count();
    destination.starts_with("//")
        || destination
            .as_bytes()
            .first()
            .is_some_and(u8::is_ascii_alphabetic)
            && destination.as_bytes().get(scheme) == Some(&b':')
}

/// Whether what is embedded (`![[Kiln#Firing]]`, `![[kiln.svg]]`) is a note and no picture or
/// other file.
pub(crate) fn is_note_embed(destination: &str, is_wiki_link: bool) -> bool {
    let file = destination.split('#').next().unwrap_or_default().trim();
    let name = file.rsplit('/').next().unwrap_or(file);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let is_note = ["md", "markdown"]
        .iter()
        .any(|e| extension.eq_ignore_ascii_case(e));
    // The name of a note may have a full stop: `![[Release 1.2]]`.
    let is_file = (1..=8).contains(&extension.len())
        && extension.bytes().all(|b| b.is_ascii_alphanumeric())
        && extension.bytes().any(|b| b.is_ascii_alphabetic());
    is_note || is_wiki_link && !is_file
}

/// A text that is nothing but a note's path (perhaps with headings behind it).
pub(crate) fn path(text: &str) -> Option<Target> {
    let text = text.trim().trim_matches('`');
    let (path, headings) = match text.split_once(" › ") {
        Some((path, headings)) => (path.trim_end(), headings),
        None => (text, ""),
    };
    let lower = path
        .split('#')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    let is_path = (lower.ends_with(".md") || lower.ends_with(".markdown")) && !path.contains('\n');
    let headings: String = headings
        .split(" › ")
        .filter(|h| !h.is_empty())
        .map(|h| format!("#{}", h.trim()))
        .collect();
    is_path.then(|| Target::Note(format!("{path}{headings}")))
}

/// If lines open with a number of a source and name a note and no more (`[1] Kiln.md`), what they
/// say; such lines are no claims.
pub(crate) fn listed(leaf: &Leaf, line: Range<usize>) -> Option<(String, Target)> {
    let text = &leaf.text[line.clone()];
    let indent = text.len() - text.trim_start().len();
    let start = line.start + indent;
    let mut cited = leaf.cited_in(&line).iter();
    let number = cited.next().filter(|c| c.range.start == start)?;
    let Target::Source(label) = &number.citation.target else {
        return None;
    };
    let rest = leaf.text[number.range.end..line.end].trim_matches(|c: char| {
        c.is_whitespace() || matches!(c, ':' | '-' | '–' | '—' | '.' | '=')
    });
    let named = match cited.next() {
        Some(link) => {
            let label = leaf.text[link.range.clone()].trim();
            let is_all = rest.trim() == label && matches!(link.citation.target, Target::Note(_));
            is_all.then(|| link.citation.target.clone())
        }
        None => path(rest),
    };
    named.map(|target| (label.clone(), target))
}
