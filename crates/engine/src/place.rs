//! A place in a note, as people and answers write it: `Kiln.md`, `Kiln.md#Firing`,
//! `Kiln.md:12-40`, `[[Kiln]]`.

use lorewell_text::split_note_extension;

use crate::{EngineError, ReadRequest, View};

/// No more of a place is read, in characters.
const MOST: usize = 8_000;

impl View<'_> {
    /// The text of a place in a note; `None` where the words are no such place.
    ///
    /// # Errors
    /// The words name a place, and there is no such note, heading, block or line.
    pub fn text_at(&self, words: &str) -> Result<Option<String>, EngineError> {
        let Some(request) = place(words.trim()) else {
            return Ok(None);
        };
        Ok(Some(self.read(&request)?.text))
    }
}

/// What to read, if the words are a place.
fn place(words: &str) -> Option<ReadRequest> {
    if words.contains('\n') {
        return None;
    }
    let mut request = ReadRequest {
        note: words.to_string(),
        max_chars: MOST,
        ..ReadRequest::default()
    };
    if words.starts_with("[[") && words.ends_with("]]") {
        return Some(request);
    }
    if let Some((note, lines)) = words.rsplit_once(':')
        && let Some(lines) = lines_of(lines)
    {
        request.note = note.to_string();
        request.lines = Some(lines);
    }
    let note = request.note.split('#').next().unwrap_or_default();
    (!split_note_extension(note).1.is_empty()).then_some(request)
}

fn lines_of(text: &str) -> Option<(u32, u32)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number = |text: &str| text.parse::<u32>().ok().filter(|line| *line > 0);
    let (first, last) = (number(first)?, number(last)?);
    (first <= last).then_some((first, last))
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn what_is_a_place_and_what_is_a_text() {
        for (words, expected) in [
            ("Kiln.md", Some(("Kiln.md", None))),
            ("A b/Kiln.md#Firing", Some(("A b/Kiln.md#Firing", None))),
            ("Kiln.md:12-40", Some(("Kiln.md", Some((12, 40))))),
            ("Kiln.md:7", Some(("Kiln.md", Some((7, 7))))),
            ("[[Kiln#Firing]]", Some(("[[Kiln#Firing]]", None))),
            ("Kiln.md:40-12", None),
            ("the kiln is hot", None),
            ("see Kiln.md\nand more", None),
        ] {
            let found = place(words);
            let found = found.as_ref().map(|r| (r.note.as_str(), r.lines));
            assert_eq!(found, expected, "{words}");
        }
    }
}
