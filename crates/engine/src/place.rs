//! A place in a note, as people and answers write it: `Kiln.md`, `[[Kiln#Firing]]`, `Kiln.md:12-40`,
//! `Kiln.md › Firing`, or the address that opens a note in Obsidian. The one reader of such words;
//! which note a name means is not decided here.

use lorewell_graph::split_target;
use lorewell_text::{percent_decoded, split_note_extension};

use crate::{EngineError, NoteText, ReadRequest, View};

/// No more of a place is read, in characters.
const MOST: usize = 8_000;

/// A note's name and the part of the note that is meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// Its path, name, title or alias.
    pub(crate) note: String,
    /// Headings, outermost first.
    pub(crate) heading: Vec<String>,
    /// The id of a block.
    pub(crate) block: Option<String>,
    /// First and last line, from 1.
    pub(crate) lines: Option<(u32, u32)>,
}

impl View<'_> {
    /// What stands at a place in a note; `None` where the words are no such place.
    ///
    /// # Errors
    /// The words name a place, and there is no such note, heading, block or line.
    pub fn text_at(&self, words: &str) -> Result<Option<NoteText>, EngineError> {
        if !is_place(words) {
            return Ok(None);
        }
        let request = ReadRequest {
            note: words.trim().to_string(),
            max_chars: MOST,
            ..ReadRequest::default()
        };
        self.read(&request).map(Some)
    }
}

/// The places that words can mean, the most literal reading first: a note may be called `a:1`. The
/// first one whose note is there is meant.
pub(crate) fn readings(words: &str) -> Vec<Place> {
    if let Some(file) = opened_file(words) {
        return readings(&file);
    }
    let inner = inner(words);
    let mut readings = vec![
        Place::whole(words),
        Place::whole(inner),
        Place::linked(inner),
    ];
    let (rest, lines) = match inner.rsplit_once(':') {
        Some((rest, lines)) => match lines_of(lines) {
            Some(lines) => (rest, Some(lines)),
            None => (inner, None),
        },
        None => (inner, None),
    };
    let place = Place::below_headings(rest).unwrap_or_else(|| Place::linked(rest));
    readings.push(Place { lines, ..place });
    readings.dedup();
    readings
}

impl Place {
    fn whole(note: &str) -> Place {
        Place {
            note: note.to_string(),
            ..Place::default()
        }
    }

    /// `Note#Heading`, `Note#^block`.
    fn linked(link: &str) -> Place {
        let target = split_target(link);
        Place {
            note: target.target,
            heading: target.headings,
            block: target.block,
            lines: None,
        }
    }

    /// `Note › Heading › Heading`, as answers show it.
    fn below_headings(words: &str) -> Option<Place> {
        let mark = [" › ", " > "]
            .into_iter()
            .find(|mark| words.contains(mark))?;
        let mut parts = words.split(mark).map(|part| part.trim().to_string());
        Some(Place {
            note: parts.next()?,
            heading: parts.filter(|part| !part.is_empty()).collect(),
            ..Place::default()
        })
    }
}

/// Whether words name a place rather than being a text.
fn is_place(words: &str) -> bool {
    let words = words.trim();
    let is_link = words.starts_with("[[") && words.ends_with("]]");
    let is_note = |place: &Place| !split_note_extension(&place.note).1.is_empty();
    !words.contains('\n')
        && (is_link || opened_file(words).is_some() || readings(words).iter().any(is_note))
}

/// Without the signs of a wiki-link.
fn inner(raw: &str) -> &str {
    let raw = raw.trim();
    let raw = raw.strip_prefix('!').unwrap_or(raw);
    raw.strip_prefix("[[")
        .and_then(|r| r.strip_suffix("]]"))
        .unwrap_or(raw)
}

/// The file that an address of Obsidian's opens.
fn opened_file(address: &str) -> Option<String> {
    let query = address.trim().strip_prefix("obsidian://open?")?;
    let file = query
        .split('&')
        .find_map(|field| field.strip_prefix("file="))?;
    // One address in another is none.
    Some(percent_decoded(file)).filter(|file| !file.contains("obsidian://"))
}

/// `12-40`, `12–40` or `12`.
fn lines_of(text: &str) -> Option<(u32, u32)> {
    let (first, last) = text.split_once(['-', '–']).unwrap_or((text, text));
    let number = |text: &str| text.trim().parse::<u32>().ok().filter(|line| *line > 0);
    let (first, last) = (number(first)?, number(last)?);
    (first <= last).then_some((first, last))
}

#[cfg(test)]
mod tests {
    use super::{is_place, readings};

    #[test]
    fn what_is_a_place_and_what_is_a_text() {
        for (words, expected) in [
            ("Kiln.md", true),
            ("A b/Kiln.md#Firing", true),
            ("Kiln.md:7", true),
            ("Kiln.md › Firing", true),
            ("[[Kiln#Firing]]", true),
            ("obsidian://open?vault=V&file=Kiln.md", true),
            ("Kiln.md:40-12", false),
            ("the kiln is hot", false),
            ("see Kiln.md\nand more", false),
        ] {
            assert_eq!(is_place(words), expected, "{words}");
        }
    }

    #[test]
    fn the_last_reading_tells_the_most() {
        for (words, note, heading, lines) in [
            ("Kiln", "Kiln", &[][..], None),
            ("A b/Kiln.md#Firing", "A b/Kiln.md", &["Firing"], None),
            ("Kiln.md:12-40", "Kiln.md", &[], Some((12, 40))),
            ("Kiln.md:12–40", "Kiln.md", &[], Some((12, 40))),
            ("Kiln.md#Firing:7", "Kiln.md", &["Firing"], Some((7, 7))),
            (
                "Kiln.md › Firing › Slow",
                "Kiln.md",
                &["Firing", "Slow"],
                None,
            ),
            ("Kiln.md > Firing", "Kiln.md", &["Firing"], None),
            ("![[Kiln#Firing]]", "Kiln", &["Firing"], None),
            (
                "obsidian://open?vault=V&file=A%20b%2FKiln.md",
                "A b/Kiln.md",
                &[],
                None,
            ),
            ("Kiln.md:40-12", "Kiln.md:40-12", &[], None),
            (
                "obsidian://open?vault=V",
                "obsidian://open?vault=V",
                &[],
                None,
            ),
        ] {
            let last = readings(words).pop().unwrap_or_default();
            assert_eq!((last.note.as_str(), last.lines), (note, lines), "{words}");
            assert_eq!(last.heading, heading, "{words}");
        }
    }
}
