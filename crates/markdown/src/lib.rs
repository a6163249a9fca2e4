//! One note's text in; its properties, links, tags, headings, blocks and passages out.
//!
//! The crate reads text and knows no files, no index and no other note: resolving a link to a note, weighing a tag or
//! storing a passage is the business of others. Reading cannot fail. Whatever is wrong in a note becomes an [`Issue`]
//! with a line, and the rest of the note is read as well as can be.
//!
//! All byte ranges are half-open and count in the text that was given, a leading byte order mark included.

mod comments;
mod cut;
mod data_uri;
mod drawing;
mod html;
mod inline;
mod lines;
mod note;
mod pack;
mod passage;
mod properties;
mod ranges;
mod structure;
mod target;
mod yaml_lines;

use std::borrow::Cow;
use std::collections::HashSet;

use comments::{Comment, Comments};
use structure::Structure;

pub use note::{Block, Heading, Issue, Link, LinkKind, Note, Parsed, Settings, Tag};
pub use passage::Passage;

/// Reads one note. `text` is the decoded file, possibly beginning with U+FEFF; all ranges of the result slice it.
///
/// Never fails and never panics: what is wrong in the note is named in [`Parsed::issues`]. Time and memory are linear
/// in the length of the text.
#[must_use]
pub fn parse(text: &str, settings: &Settings) -> Parsed {
    let mut issues = Vec::new();
    let begin = if text.starts_with('\u{feff}') {
        '\u{feff}'.len_utf8()
    } else {
        0
    };
    let properties = properties::read(text, begin, &mut issues);
    let body = properties.range.as_ref().map_or(begin, |range| range.end);
    let comments = comments::find(text, body);
    if let Some(open) = comments.unclosed {
        let message =
            "The comment that begins here with %% is never closed; it was read as text".to_owned();
        issues.push(Issue {
            line: lines::line_of(text, open),
            message,
        });
    }
    let readable = readable(text, body, &comments);
    let is_drawing =
        drawing::is_drawing(&properties.values, readable.get(body..).unwrap_or_default());
    let mut structure = structure::read(&readable, body, is_drawing);
    if is_drawing {
        drawing::hide_machinery(&readable, &mut structure);
    }
    hide(text, body, comments, settings, &mut structure);
    let mut passages = pack::pack(&readable, &structure, settings);
    if passages.is_empty() {
        passages.push(Passage::nameplate(text));
    }
    issues.sort_by_key(|issue| issue.line);
    let note = Note {
        properties: properties.values,
        properties_range: properties.range,
        title: properties.title,
        aliases: properties.aliases,
        tags: distinct(properties.tags, structure.tags),
        headings: structure.headings,
        links: properties
            .links
            .into_iter()
            .chain(structure.links)
            .collect(),
        blocks: structure.blocks,
        hidden: structure.hidden,
        passages,
    };
    Parsed { note, issues }
}

/// The text with the same offsets that the Markdown parser is given: comments blanked out, and a lone CR, which the
/// parser does not always take for the end of a line, as LF.
fn readable<'t>(text: &'t str, body: usize, comments: &Comments) -> Cow<'t, str> {
    let is_lone = |bytes: &[u8], at: usize| bytes.get(at + 1) != Some(&b'\n');
    let source = text.as_bytes();
    let has_lone = memchr::memchr_iter(b'\r', &source[body..]).any(|at| is_lone(source, body + at));
    if comments.found.is_empty() && !has_lone {
        return Cow::Borrowed(text);
    }
    let mut bytes = source.to_vec();
    if has_lone {
        for at in memchr::memchr_iter(b'\r', source).filter(|at| is_lone(source, *at)) {
            bytes[at] = b'\n';
        }
    }
    for Comment { range, whole_lines } in &comments.found {
        let piece = &mut bytes[range.clone()];
        piece
            .iter_mut()
            .filter(|b| !matches!(b, b'\n' | b'\r'))
            .for_each(|b| *b = b' ');
        if !whole_lines {
            // Blanks at the beginning of a line would make code of it. This sign means nothing to Markdown.
            let line = memchr::memrchr(b'\n', piece).map_or(0, |newline| newline + 1);
            if let Some(first) = piece.get_mut(line) {
                *first = 1;
            }
        }
    }
    // Whole characters were replaced by ASCII: this cannot fail.
    String::from_utf8(bytes).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// Adds to the structure what it cannot know to be hidden, and brings its ranges in order.
fn hide(
    text: &str,
    body: usize,
    comments: Comments,
    settings: &Settings,
    structure: &mut Structure,
) {
    for comment in comments.found {
        if comment.whole_lines {
            structure.walls.push(comment.range)
        } else {
            structure.hidden.push(comment.range)
        }
    }
    structure.hidden.extend(data_uri::find(text, body));
    let hidden = ranges::joined(std::mem::take(&mut structure.hidden));
    // What is too long to be carried along ends the passage, like a hidden block.
    let long = settings.passage_chars / 4;
    structure
        .walls
        .extend(hidden.iter().filter(|range| range.len() > long).cloned());
    structure.walls = ranges::joined(std::mem::take(&mut structure.walls));
    structure.hidden = ranges::joined(
        hidden
            .into_iter()
            .chain(structure.walls.iter().cloned())
            .collect(),
    );
    structure.spoken = ranges::without(
        &ranges::joined(std::mem::take(&mut structure.spoken)),
        &structure.hidden,
    );
    structure.solid = ranges::joined(std::mem::take(&mut structure.solid));
}

/// Tags of the properties and of the text in order, each once, letter case not counted.
fn distinct(properties: Vec<Tag>, mut text: Vec<Tag>) -> Vec<Tag> {
    text.sort_by_key(|tag| tag.range.as_ref().map_or(0, |range| range.start));
    let mut known = HashSet::new();
    properties
        .into_iter()
        .chain(text)
        .filter(|tag| known.insert(lorewell_text::name_key(&tag.name)))
        .collect()
}
