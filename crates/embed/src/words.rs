//! From text to the words that the vocabulary was made for: BERT's uncased normalization and word
//! splitting (Devlin et al. 2019, as the `tokenizers` library does it), in one linear pass.
//!
//! Control and format characters vanish, white space divides, each Chinese character and each
//! punctuation character is a word of its own, accents are taken off, letters become lower case.

use unicode_normalization::char::decompose_canonical;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// What an ASCII byte is within a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// A digit or a lower-case letter.
    Plain,
    Upper,
    Punctuation,
    Space,
    /// A control character, or part of a character beyond ASCII.
    Other,
}

/// What becomes of a character when it is folded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// It vanishes and does not divide.
    Drop,
    /// It divides words.
    Divide,
    /// It is a word of its own, in this form.
    Alone(char),
    /// It belongs to a word, in this form.
    Join(char),
    /// Likewise, but it had an accent.
    JoinBare(char),
    /// It is an accent, which is taken off.
    Accent,
    /// It becomes several characters.
    Several,
}

/// Splits texts and keeps its buffers between them.
#[derive(Debug)]
pub(crate) struct WordSplitter {
    word: String,
    /// Whether the word at hand had accents.
    accented: bool,
    /// The fates of characters met lately, at their number modulo the length: finding a fate takes
    /// several searches in Unicode's tables.
    fates: Vec<(char, Fate)>,
}

/// Fates remembered: more than a text in one script has characters, but for Chinese ones.
const FATES: usize = 1024;

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Other; 256];
    let mut byte = 0;
    while byte < 128 {
        let b = byte as u8;
        classes[byte] = if b.is_ascii_digit() || b.is_ascii_lowercase() {
            Class::Plain
        } else if b.is_ascii_uppercase() {
            Class::Upper
        } else if b.is_ascii_punctuation() {
            Class::Punctuation
        } else if matches!(b, b' ' | b'\t' | b'\n' | b'\r') {
            Class::Space
        } else {
            Class::Other
        };
        byte += 1;
    }
    classes
};

impl WordSplitter {
    /// Calls `visit` with each word of the text in order, and whether accents were taken off it.
    pub(crate) fn each(&mut self, text: &str, mut visit: impl FnMut(&str, bool)) {
        let bytes = text.as_bytes();
        let mut start = 0;
        while start < bytes.len() {
            let mut simple = true;
            let mut end = start;
            while let Some(&byte) = bytes.get(end) {
                match CLASSES[usize::from(byte)] {
                    Class::Space => break,
                    Class::Other => simple = false,
                    _ => {}
                }
                end += 1;
            }
            // ASCII white space stands on both sides, so that these are character boundaries.
            let chunk = text.get(start..end).unwrap_or_default();
            if simple {
                self.ascii(chunk, &mut visit);
            } else {
                self.unicode(chunk, &mut visit);
            }
            start = end + 1;
        }
    }

    /// A chunk of ASCII letters, digits and punctuation.
    fn ascii(&mut self, chunk: &str, visit: &mut impl FnMut(&str, bool)) {
        let bytes = chunk.as_bytes();
        let class = |at: usize| bytes.get(at).map(|byte| CLASSES[usize::from(*byte)]);
        let mut start = 0;
        while let Some(first) = class(start) {
            let mut end = start + 1;
            let mut upper = first == Class::Upper;
            if first != Class::Punctuation {
                while let Some(next @ (Class::Plain | Class::Upper)) = class(end) {
                    upper |= next == Class::Upper;
                    end += 1;
                }
            }
            let word = chunk.get(start..end).unwrap_or_default();
            if upper {
                self.word.clear();
                self.word.push_str(word);
                self.word.make_ascii_lowercase();
                visit(&self.word, false);
            } else {
                visit(word, false);
            }
            start = end;
        }
    }

    /// Any chunk.
    fn unicode(&mut self, chunk: &str, visit: &mut impl FnMut(&str, bool)) {
        self.word.clear();
        self.accented = false;
        for c in chunk.chars() {
            match self.fate(c) {
                Fate::Several => {
                    for part in fold(c) {
                        self.take(fate_of_folded(part), visit);
                    }
                }
                fate => self.take(fate, visit),
            }
        }
        self.finish(visit);
    }

    fn take(&mut self, fate: Fate, visit: &mut impl FnMut(&str, bool)) {
        match fate {
            Fate::Join(c) => self.word.push(c),
            Fate::JoinBare(c) => {
                self.word.push(c);
                self.accented = true;
            }
            Fate::Accent => self.accented = true,
            Fate::Divide => self.finish(visit),
            Fate::Alone(c) => {
                self.finish(visit);
                visit(c.encode_utf8(&mut [0; 4]), false);
            }
            Fate::Drop | Fate::Several => {}
        }
    }

    /// Ends the word at hand, if there is one.
    fn finish(&mut self, visit: &mut impl FnMut(&str, bool)) {
        if !self.word.is_empty() {
            visit(&self.word, self.accented);
            self.word.clear();
        }
        self.accented = false;
    }

    fn fate(&mut self, c: char) -> Fate {
        if ('\u{4E00}'..='\u{9FFF}').contains(&c) {
            return Fate::Alone(c);
        }
        let place = &mut self.fates[u32::from(c) as usize % FATES];
        if place.0 != c {
            *place = (c, find_fate(c));
        }
        place.1
    }
}

impl Default for WordSplitter {
    fn default() -> Self {
        Self {
            word: String::new(),
            accented: false,
            fates: vec![('\0', Fate::Drop); FATES],
        }
    }
}

fn find_fate(c: char) -> Fate {
    match c {
        _ if is_dropped(c) => Fate::Drop,
        _ if c.is_whitespace() => Fate::Divide,
        // Taken apart they would be more characters of the same unknown word.
        '\u{AC00}'..='\u{D7A3}' => Fate::Join(c),
        _ => {
            let mut parts = fold(c);
            match (parts.next(), parts.next()) {
                (None, _) => Fate::Accent,
                (Some(part), None) if is_chinese(c) => Fate::Alone(part),
                (Some(part), None) => match fate_of_folded(part) {
                    Fate::Join(part) if !c.to_lowercase().eq([part]) => Fate::JoinBare(part),
                    fate => fate,
                },
                _ => Fate::Several,
            }
        }
    }
}

/// The character decomposed (NFD), without accents, in lower case. Marks that belong to several
/// characters are not put in order: those that have an order are taken off anyway.
fn fold(c: char) -> impl Iterator<Item = char> {
    let mut parts = Vec::new();
    decompose_canonical(c, |part| {
        if part.general_category() != GeneralCategory::NonspacingMark {
            parts.extend(part.to_lowercase());
        }
    });
    parts.into_iter()
}

fn fate_of_folded(c: char) -> Fate {
    if c.is_whitespace() {
        Fate::Divide
    } else if is_punctuation(c) {
        Fate::Alone(c)
    } else {
        Fate::Join(c)
    }
}

/// Whether a character vanishes: control (but the three that are white space), format and private
/// use characters, and the mark of a failed decoding.
fn is_dropped(c: char) -> bool {
    match c {
        '\t' | '\n' | '\r' => false,
        '\u{FFFD}' => true,
        _ if c.is_ascii() => c.is_ascii_control(),
        _ => matches!(
            c.general_category(),
            GeneralCategory::Control | GeneralCategory::Format | GeneralCategory::PrivateUse
        ),
    }
}

/// Every ASCII character that is neither letter, digit, space nor control counts, as in BERT.
fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation()
        || !c.is_ascii() && c.general_category_group() == GeneralCategoryGroup::Punctuation
}

/// The blocks of Han characters that BERT sets apart.
fn is_chinese(c: char) -> bool {
    matches!(
        u32::from(c),
        0x4E00..=0x9FFF
            | 0x3400..=0x4DBF
            | 0x20000..=0x2A6DF
            | 0x2A700..=0x2B73F
            | 0x2B740..=0x2B81F
            | 0x2B920..=0x2CEAF
            | 0xF900..=0xFAFF
            | 0x2F800..=0x2FA1F
    )
}
