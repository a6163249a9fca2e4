//! A quotation, made ready to be looked for.

use std::borrow::Cow;
use std::ops::Range;

use crate::folded::Folded;
use crate::words::Words;

/// So many pieces of one quotation are told apart; what is left out behind them is not.
const PIECES: usize = 64;

/// The words that somebody says stand in a text.
#[derive(Debug)]
pub struct Quote {
    whole: Piece,
    /// What stands between ellipses, where there are any.
    pieces: Vec<Piece>,
}

/// A stretch without an ellipsis.
#[derive(Debug)]
pub(crate) struct Piece {
    /// Without white space around it.
    pub(crate) text: String,
    /// What `folded` and `words` are of.
    pub(crate) read: String,
    pub(crate) folded: Folded,
    /// The part of the folded text that is looked for.
    pub(crate) sought: Range<usize>,
    pub(crate) words: Words,
}

impl Quote {
    /// Reads a quotation. Ellipses (`…`, `...`, `[...]`) part it into pieces.
    #[must_use]
    pub fn new(text: &str) -> Quote {
        let pieces: Vec<Piece> = between_ellipses(text)
            .into_iter()
            .map(Piece::new)
            .filter(|piece| !piece.is_empty())
            .take(PIECES)
            .collect();
        Quote {
            whole: Piece::new(text),
            pieces,
        }
    }

    /// Whether there is nothing to look for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.whole.is_empty() || self.pieces.is_empty()
    }

    /// How many words it has; a character of a script without blanks counts a half.
    #[must_use]
    pub fn length(&self) -> f32 {
        self.whole.words.length()
    }

    /// The longest of its pieces: what to search for.
    #[must_use]
    pub fn longest_piece(&self) -> &str {
        let longest = self.pieces.iter().max_by_key(|piece| piece.text.len());
        longest.map_or("", |piece| &piece.text)
    }

    pub(crate) fn whole(&self) -> &Piece {
        &self.whole
    }

    pub(crate) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }
}

impl Piece {
    fn new(text: &str) -> Piece {
        let text = text.trim();
        let read = without_adaptation(text).into_owned();
        let folded = Folded::new(&read);
        let signs = |c: char| matches!(c, ' ' | '\'');
        let trimmed = folded.text.trim_matches(signs);
        let mut start = folded.text.len() - folded.text.trim_start_matches(signs).len();
        let mut end = start + trimmed.len();
        if trimmed.is_empty() {
            (start, end) = (0, folded.text.len());
        }
        // A dash that opens or ends a quotation is no part of it; the sign of a number is.
        let sought = &folded.text[start..end];
        let behind = sought.strip_prefix('-').unwrap_or(sought).trim_start();
        if behind.len() < sought.len() && !behind.starts_with(|c: char| c.is_ascii_digit()) {
            start = end - behind.len();
        }
        let sought = &folded.text[start..end];
        end = start + sought.strip_suffix('-').unwrap_or(sought).trim_end().len();
        Piece {
            text: text.to_string(),
            read,
            words: Words::of(&folded),
            sought: start..end.max(start),
            folded,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        !self.folded.text.chars().any(char::is_alphanumeric) && self.sought().is_empty()
    }

    /// What is looked for.
    pub(crate) fn sought(&self) -> &str {
        &self.folded.text[self.sought.clone()]
    }

    /// The same without the mark that an author's own sentence puts at the end of a quotation.
    pub(crate) fn unpunctuated(&self) -> Option<&str> {
        let sought = self.sought();
        let bare =
            sought.trim_end_matches(['.', ',', ';', ':', '!', '?', '\'', '。', '、', '，', '-']);
        (bare.len() < sought.len() && !bare.is_empty()).then_some(bare)
    }
}

/// A quotation without the brackets of one that adapts a letter to its own sentence: `[T]he`.
fn without_adaptation(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut from = 0;
    for (at, _) in text.match_indices('[') {
        let mut inside = text[at + 1..].chars();
        let (letter, close, next) = (inside.next(), inside.next(), inside.next());
        let before = text[..at].chars().next_back();
        let is_letter = |c: Option<char>| c.is_some_and(char::is_alphabetic);
        if let Some(letter) = letter.filter(|c| c.is_alphabetic())
            && close == Some(']')
            && (is_letter(before) || is_letter(next))
        {
            out += &text[from..at];
            out.push(letter);
            from = at + 1 + letter.len_utf8() + 1;
        }
    }
    if from == 0 {
        return Cow::Borrowed(text);
    }
    out += &text[from..];
    Cow::Owned(out)
}

/// The stretches between ellipses; a text without one is one stretch.
fn between_ellipses(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut from = 0;
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let Some(length) = ellipsis(rest) else {
            at += rest.chars().next().map_or(1, char::len_utf8);
            continue;
        };
        pieces.push(&text[from..at]);
        at += length;
        from = at;
    }
    pieces.push(&text[from..]);
    pieces
}

/// The length of the ellipsis that begins a text.
fn ellipsis(rest: &str) -> Option<usize> {
    for (open, close) in [("[", "]"), ("(", ")"), ("", "")] {
        let Some(inner) = rest.strip_prefix(open) else {
            continue;
        };
        let inner = if open.is_empty() {
            inner
        } else {
            inner.trim_start_matches(' ')
        };
        let dots = match inner {
            _ if inner.starts_with('…') => inner.len() - inner.trim_start_matches('…').len(),
            _ if inner.starts_with("...") => inner.len() - inner.trim_start_matches('.').len(),
            _ if inner.starts_with(". . .") => 5,
            _ => continue,
        };
        let behind = &inner[dots..];
        let behind = if open.is_empty() {
            behind
        } else {
            behind.trim_start_matches(' ')
        };
        if let Some(behind) = behind.strip_prefix(close) {
            return Some(rest.len() - behind.len());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ellipses_part_a_quotation() {
        for (text, pieces) in [
            ("a b", &["a b"][..]),
            ("a … b", &["a ", " b"]),
            (
                "a ... b [...] c [ … ] d (…) e",
                &["a ", " b ", " c ", " d ", " e"],
            ),
            ("…a....", &["", "a", ""]),
            ("a. . . b", &["a", " b"]),
            ("v1..2 [a]", &["v1..2 [a]"]),
        ] {
            assert_eq!(between_ellipses(text), pieces, "{text}");
        }
        assert!(Quote::new("…").is_empty() && Quote::new(" \n").is_empty());
        assert_eq!(Quote::new("a … bcd").longest_piece(), "bcd");
    }

    #[test]
    fn the_sign_of_a_number_is_looked_for() {
        assert_eq!(Piece::new("-5 °C").sought(), "-5°c");
        assert_eq!(
            Piece::new("[T]he kil[n]s [1] [a b]").sought(),
            "the kilns[1][a b]"
        );
        assert_eq!(Piece::new("— so it is —").sought(), "so it is");
        assert_eq!(Piece::new("‘quoted.’").sought(), "quoted.");
        assert_eq!(Piece::new("quoted.").unpunctuated(), Some("quoted"));
    }
}
