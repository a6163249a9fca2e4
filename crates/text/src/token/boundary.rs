//! Where words and identifiers begin, are joined and end: signs between letters, and changes of
//! case. What becomes of the pieces is the tokenizer's.

use crate::script::{Class, class};

/// Finds where `camelCase` and `HTMLParser` are cut.
#[derive(Default)]
pub(super) struct CaseWatch {
    previous: Option<(bool, usize)>,
    upper_run: u32,
    seen_lower: bool,
}

impl CaseWatch {
    /// Takes the next letter; answers with the offset of a boundary that it reveals.
    pub(super) fn boundary_before(&mut self, c: char, at: usize) -> Option<usize> {
        let (upper, lower) = if c.is_ascii() {
            (c.is_ascii_uppercase(), c.is_ascii_lowercase())
        } else {
            (c.is_uppercase(), c.is_lowercase())
        };
        let cut = match self.previous {
            Some((false, _)) if upper && self.seen_lower => Some(at),
            Some((true, before)) if lower && self.upper_run > 1 => Some(before),
            _ => None,
        };
        self.upper_run = if upper { self.upper_run + 1 } else { 0 };
        self.seen_lower = lower;
        self.previous = Some((upper, at));
        cut
    }
}

pub(super) fn char_at(text: &str, at: usize) -> (char, usize) {
    let byte = text.as_bytes()[at];
    if byte < 0x80 {
        return (char::from(byte), 1);
    }
    let c = text[at..].chars().next().unwrap_or('\u{FFFD}');
    (c, c.len_utf8())
}

pub(super) fn word_begins(text: &str, at: usize) -> bool {
    at < text.len() && matches!(class(char_at(text, at).0), Class::Word | Class::Hangul)
}

pub(super) fn connector(c: char) -> bool {
    matches!(c, '-' | '_' | '.' | '&' | '\'' | '’') || is_hyphen(c)
}

pub(super) fn is_hyphen(c: char) -> bool {
    matches!(c, '-' | '\u{2010}' | '\u{2011}')
}

pub(super) fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '’')
}

/// An apostrophe and an `s` that ends the word.
pub(super) fn is_possessive(text: &str, c: char, after: usize) -> bool {
    is_apostrophe(c)
        && matches!(text.as_bytes().get(after), Some(b's' | b'S'))
        && !word_begins(text, after + 1)
}

/// `v2.4.1`: the number is found without its letter too.
pub(super) fn is_version(bytes: &[u8]) -> bool {
    matches!(bytes, [b'v' | b'V', b'0'..=b'9', ..])
}

/// The bytes of `++` or `#` after a one- or two-letter name (`C++`, `F#`), if nothing of a word
/// follows.
pub(super) fn sign_suffix(bytes: &[u8], end: usize) -> usize {
    let size = match &bytes[end..] {
        [b'+', b'+', ..] => 2,
        [b'#', ..] => 1,
        _ => return 0,
    };
    match bytes.get(end + size) {
        Some(b) if b.is_ascii_alphanumeric() || matches!(b, b'+' | b'#') => 0,
        _ => size,
    }
}

/// `.NET`, `.gitignore`: a dot after a blank and before a letter.
pub(super) fn begins_dotted_name(bytes: &[u8], dot: usize) -> bool {
    let after_blank = dot == 0
        || bytes[dot - 1].is_ascii_whitespace()
        || matches!(bytes[dot - 1], b'`' | b'(' | b'"');
    after_blank && bytes.get(dot + 1).is_some_and(u8::is_ascii_alphabetic)
}
