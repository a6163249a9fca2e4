//! Reading a note, or a part of it, as it is on disk now.

use std::ops::Range;

use lorewell_graph::{Resolution, heading_matches};
use lorewell_index::StoredNote;
use lorewell_markdown::Heading;
use lorewell_text::{LineIndex, name_key, split_note_extension};
use lorewell_vault::NoteFile;

use crate::place::{self, Place};
use crate::{EngineError, View};

/// Names of more characters are like no other, and are not told in full.
const LONG: usize = 300;

/// What of a note is wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadRequest {
    /// The note: its path, its name, its title, an alias, or a place as it is written
    /// (`[[Note#Heading]]`, `Note#^block`, `Note.md:12-40`, `Note.md › Heading`, an address that
    /// opens it in Obsidian).
    pub note: String,
    /// A section: its heading, or the path of headings to it. It ends before the next heading
    /// of its level or above.
    pub heading: Vec<String>,
    /// The paragraph, list item or table that bears this block id.
    pub block: Option<String>,
    /// First and last line, counted from 1.
    pub lines: Option<(u32, u32)>,
    /// Begin at this byte of the part.
    pub offset: u64,
    /// At most so many characters.
    pub max_chars: usize,
}

/// A note's text, or a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteText {
    /// The note, as the index knows it.
    pub note: StoredNote,
    /// What is shown, in bytes of the file (of a file that is not clean UTF-8, its decoding).
    pub byte_range: Range<u64>,
    /// First and last line of it.
    pub line_range: (u32, u32),
    /// The text.
    pub text: String,
    /// BLAKE3 of the file's bytes as they are now.
    pub content_hash: [u8; 32],
    /// How the bytes were decoded.
    pub encoding: &'static str,
    /// Whether the index holds another content of the note.
    pub changed_since_indexed: bool,
    /// Paths of other notes that answer to the name that was asked for.
    pub others: Vec<String>,
    /// Where to go on, if there is more of the part: the offset for the next request.
    pub next: Option<u64>,
}

impl View<'_> {
    /// Reads a note that is in the index, from its file.
    ///
    /// # Errors
    /// No such note, heading, block or line; or the file cannot be read.
    pub fn read(&self, request: &ReadRequest) -> Result<NoteText, EngineError> {
        let Found {
            note,
            place,
            others,
        } = self.find_note(&request.note)?;
        let file = self.host.vault.read(&note.path)?;
        let mut wanted = request.clone();
        if wanted.heading.is_empty() && wanted.block.is_none() {
            wanted.heading = place.heading;
            wanted.block = place.block;
        }
        wanted.lines = wanted.lines.or(place.lines);
        let part = part_of(&file.text, &wanted, note.path.as_str())?;
        let text = NoteText {
            others,
            ..cut(note, &file, part, request)
        };
        Ok(text)
    }

    /// The note that a name means (a path, name, title or alias, or a place as it is written), and
    /// the paths of other notes that answer to it.
    pub(crate) fn note_named(
        &self,
        wanted: &str,
    ) -> Result<(StoredNote, Vec<String>), EngineError> {
        let found = self.find_note(wanted)?;
        Ok((found.note, found.others))
    }

    /// The note and the part of it that words mean.
    pub(crate) fn find_note(&self, wanted: &str) -> Result<Found, EngineError> {
        if let Some(found) = self.found(wanted)? {
            return Ok(found);
        }
        let readings = place::readings(wanted);
        Err(EngineError::NoSuchNote {
            wanted: shortened(wanted),
            near: self.near(wanted)?,
            left_out: readings.iter().find_map(|place| self.on_disk(&place.note)),
        })
    }

    /// The same, where it is no error that there is no such note.
    pub(crate) fn found(&self, wanted: &str) -> Result<Option<Found>, EngineError> {
        for place in place::readings(wanted) {
            if let Some((note, others)) = self.note_called(&place.note)? {
                return Ok(Some(Found {
                    note,
                    place,
                    others,
                }));
            }
        }
        Ok(None)
    }

    /// The note of a path, name, title or alias, and the paths of others that answer to it.
    fn note_called(&self, name: &str) -> Result<Option<(StoredNote, Vec<String>)>, EngineError> {
        if let Some(note) = self.snapshot.note_at(name)? {
            return Ok(Some((note, Vec::new())));
        }
        let (id, mut others) = match self.snapshot.resolve(name)? {
            Resolution::Note { id, others, .. } => (id, others),
            _ => {
                let named = self.snapshot.notes_named(name)?;
                let mut notes = named.iter().map(|name| name.note);
                let Some(first) = notes.next() else {
                    return Ok(None);
                };
                (first, notes.filter(|note| *note != first).collect())
            }
        };
        others.dedup();
        let others = others.iter().map(|other| self.snapshot.path_of(*other));
        let others = others.collect::<Result<_, _>>()?;
        Ok(self.snapshot.note(id)?.map(|note| (note, others)))
    }

    /// The path of a note that is in the folder, whether or not it is in the index.
    fn on_disk(&self, name: &str) -> Option<String> {
        if self.host.has_fences() {
            return None;
        }
        let is_inside = std::path::Path::new(name)
            .components()
            .all(|part| matches!(part, std::path::Component::Normal(_)));
        let names = [name.to_string(), format!("{name}.md")];
        let is_note = |path: &String| {
            !split_note_extension(path).1.is_empty() && self.host.root().join(path).is_file()
        };
        names.into_iter().filter(|_| is_inside).find(is_note)
    }

    /// Names that are like a name; comparing takes the product of their lengths.
    fn near(&self, wanted: &str) -> Result<Vec<String>, EngineError> {
        if is_long(wanted) {
            return Ok(Vec::new());
        }
        let key = name_key(wanted);
        let mut names: Vec<(f64, String)> = self
            .snapshot
            .names()?
            .into_iter()
            .filter(|name| !is_long(&name.name))
            .map(|name| (strsim::jaro_winkler(&name_key(&name.name), &key), name.name))
            .filter(|(likeness, _)| *likeness > 0.8)
            .collect();
        names.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        names.dedup_by(|a, b| a.1 == b.1);
        Ok(names.into_iter().take(3).map(|(_, name)| name).collect())
    }
}

fn is_long(name: &str) -> bool {
    name.chars().nth(LONG).is_some()
}

/// A name as messages tell it: the middle of a long one is left out.
fn shortened(name: &str) -> String {
    if !is_long(name) {
        return name.to_string();
    }
    let head = name
        .char_indices()
        .nth(LONG * 2 / 3)
        .map_or(0, |(at, _)| at);
    let tail = name.char_indices().nth_back(LONG / 3 - 2);
    let tail = tail.map_or(name.len(), |(at, _)| at);
    format!("{}…{}", &name[..head], &name[tail..])
}

/// A note that was found by a name.
pub(crate) struct Found {
    pub(crate) note: StoredNote,
    /// The reading of the name that found it.
    pub(crate) place: Place,
    /// Paths of other notes with the name.
    pub(crate) others: Vec<String>,
}

/// The bytes of a note's text that a request means.
pub(crate) fn part_of(
    text: &str,
    wanted: &ReadRequest,
    path: &str,
) -> Result<Range<usize>, EngineError> {
    let missing = |part: String, there: Vec<String>| EngineError::NoSuchPart {
        note: path.to_string(),
        part,
        there,
    };
    let whole = 0..text.len();
    let within = if let Some(id) = &wanted.block {
        let note = lorewell_markdown::parse(text, &lorewell_markdown::Settings::default()).note;
        let block = note
            .blocks
            .iter()
            .find(|block| block.id.eq_ignore_ascii_case(id));
        block
            .map(|block| block.range.clone())
            .ok_or_else(|| missing(format!("block ^{}", shortened(id)), Vec::new()))?
    } else if wanted.heading.is_empty() {
        whole
    } else {
        let note = lorewell_markdown::parse(text, &lorewell_markdown::Settings::default()).note;
        section(&note.headings, &wanted.heading, text.len()).ok_or_else(|| {
            let there = note
                .headings
                .iter()
                .take(12)
                .map(|h| h.text.clone())
                .collect();
            let heading = shortened(&wanted.heading.join(" › "));
            missing(format!("heading “{heading}”"), there)
        })?
    };
    let Some((first, last)) = wanted.lines else {
        return Ok(within);
    };
    let lines = LineIndex::new(text);
    let start = lines.start(first).filter(|_| first <= last);
    let start = start.ok_or_else(|| {
        missing(
            format!("lines {first} to {last}; it has {}", lines.count()),
            Vec::new(),
        )
    })?;
    let end = lines.start(last.saturating_add(1)).unwrap_or(text.len());
    let (start, end) = (start.max(within.start), end.min(within.end));
    if start >= end && !within.is_empty() {
        return Err(missing(
            format!("lines {first} to {last} in that part"),
            Vec::new(),
        ));
    }
    Ok(start..end.max(start))
}

/// From a heading to the next one of its level or above.
fn section(headings: &[Heading], wanted: &[String], end: usize) -> Option<Range<usize>> {
    let at = headings
        .iter()
        .position(|h| heading_matches(wanted, &h.path))?;
    let level = headings[at].level;
    let next = headings[at + 1..].iter().find(|h| h.level <= level);
    Some(headings[at].range.start..next.map_or(end, |h| h.range.start))
}

fn cut(note: StoredNote, file: &NoteFile, part: Range<usize>, request: &ReadRequest) -> NoteText {
    let text = &file.text;
    let offset = usize::try_from(request.offset).unwrap_or(usize::MAX);
    let from = text.floor_char_boundary(part.start.saturating_add(offset).min(part.end));
    let rest = &text[from..part.end];
    let shown = rest
        .char_indices()
        .nth(request.max_chars)
        .map_or(rest, |(at, _)| &rest[..at]);
    let to = from + shown.len();
    let lines = LineIndex::new(text);
    let last = if to > from { to - 1 } else { from };
    NoteText {
        byte_range: from as u64..to as u64,
        line_range: (lines.line(from), lines.line(last)),
        text: shown.to_string(),
        content_hash: file.content_hash,
        encoding: file.encoding.label(),
        changed_since_indexed: file.content_hash != note.content_hash,
        others: Vec::new(),
        next: (to < part.end).then(|| (to - part.start) as u64),
        note,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_a_long_name_is_left_out() {
        let fits = "é".repeat(LONG);
        assert_eq!(shortened(&fits), fits);
        let long = shortened(&format!("a{}z", "é".repeat(LONG)));
        assert_eq!(long.chars().count(), LONG);
        assert!(long.starts_with("aé") && long.ends_with("éz") && long.contains('…'));
    }
}
