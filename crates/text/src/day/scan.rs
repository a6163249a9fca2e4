//! A text as numbers, words and single signs: what the readers of dates look at.

use std::ops::Range;

use crate::normal::fold_into;
use crate::script::{Class, class};

/// Longer words and numbers are no part of a date.
const LONGEST: usize = 24;

/// The pieces of a text.
pub(super) struct Scan<'a> {
    text: &'a str,
    pieces: Vec<Piece>,
}

struct Piece {
    kind: PieceKind,
    range: Range<usize>,
}

enum PieceKind {
    /// A run of ASCII digits and what it counts; `None` of one that is too long.
    Number(Option<u64>),
    /// A run of letters, folded; empty if it is too long.
    Word(String),
    /// A run of blanks.
    Blank,
    Sign(char),
}

impl<'a> Scan<'a> {
    pub(super) fn new(text: &'a str) -> Scan<'a> {
        let mut pieces = Vec::new();
        let mut buffer = String::new();
        let mut at = 0;
        while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
            let rest = text.get(at..).unwrap_or_default();
            let run = |belongs: fn(char) -> bool| {
                rest.find(|c| !belongs(c))
                    .unwrap_or(rest.len())
                    .max(c.len_utf8())
            };
            let (length, kind) = if c.is_ascii_digit() {
                let length = run(|c| c.is_ascii_digit());
                let number = rest.get(..length).filter(|d| d.len() <= 14);
                (
                    length,
                    PieceKind::Number(number.and_then(|d| d.parse().ok())),
                )
            } else if class(c) == Class::Unspaced {
                (c.len_utf8(), PieceKind::Word(c.to_string()))
            } else if is_letter(c) {
                let length = run(is_letter);
                buffer.clear();
                if length <= LONGEST {
                    fold_into(rest.get(..length).unwrap_or_default(), &mut buffer);
                }
                (length, PieceKind::Word(buffer.clone()))
            } else if c.is_whitespace() {
                (run(char::is_whitespace), PieceKind::Blank)
            } else {
                (c.len_utf8(), PieceKind::Sign(c))
            };
            pieces.push(Piece {
                kind,
                range: at..at + length,
            });
            at += length;
        }
        Scan { text, pieces }
    }

    pub(super) fn len(&self) -> usize {
        self.pieces.len()
    }

    /// The bytes of some pieces.
    pub(super) fn range(&self, pieces: Range<usize>) -> Range<usize> {
        let start = self.pieces.get(pieces.start).map_or(0, |p| p.range.start);
        let last = pieces.end.checked_sub(1).and_then(|at| self.pieces.get(at));
        start..last.map_or(start, |piece| piece.range.end)
    }

    /// A number and how many digits it has.
    pub(super) fn number(&self, at: usize) -> Option<(u64, usize)> {
        let piece = self.pieces.get(at)?;
        match &piece.kind {
            PieceKind::Number(number) => Some(((*number)?, piece.range.len())),
            _ => None,
        }
    }

    /// A number of so many digits.
    pub(super) fn digits(&self, at: usize, least: usize, most: usize) -> Option<u16> {
        let (number, digits) = self.number(at)?;
        (least..=most).contains(&digits).then_some(())?;
        u16::try_from(number).ok()
    }

    /// A folded word; of a script without blanks (Chinese…) one character.
    pub(super) fn word(&self, at: usize) -> Option<&str> {
        match &self.pieces.get(at)?.kind {
            PieceKind::Word(word) => Some(word),
            _ => None,
        }
    }

    /// The word before a piece, blanks and signs between them passed over.
    pub(super) fn word_before(&self, at: usize) -> Option<&str> {
        let before = self.pieces.get(..at)?.iter().rev();
        before
            .take_while(|p| !matches!(p.kind, PieceKind::Number(_)))
            .find_map(|piece| match &piece.kind {
                PieceKind::Word(word) => Some(word.as_str()),
                _ => None,
            })
    }

    /// A piece as written.
    pub(super) fn written(&self, at: usize) -> &str {
        let piece = self.pieces.get(at);
        piece
            .and_then(|p| self.text.get(p.range.clone()))
            .unwrap_or_default()
    }

    pub(super) fn sign(&self, at: usize) -> Option<char> {
        match self.pieces.get(at)?.kind {
            PieceKind::Sign(sign) => Some(sign),
            _ => None,
        }
    }

    pub(super) fn is_blank(&self, at: usize) -> bool {
        matches!(
            self.pieces.get(at),
            Some(Piece {
                kind: PieceKind::Blank,
                ..
            })
        )
    }

    /// The piece behind the blanks that may stand at a piece.
    pub(super) fn skip_blank(&self, at: usize) -> usize {
        at + usize::from(self.is_blank(at))
    }

    /// The words from a piece on, each with the piece behind it, with nothing but blanks, hyphens
    /// and apostrophes between them.
    pub(super) fn words_from(&self, at: usize) -> impl Iterator<Item = (&str, usize)> {
        let mut next = at;
        std::iter::from_fn(move || {
            while self.is_blank(next) || matches!(self.sign(next), Some('-' | '\'' | '’')) {
                next += 1;
            }
            let word = self.word(next)?;
            next += 1;
            Some((word, next))
        })
    }

    /// All words of the text.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match &piece.kind {
            PieceKind::Word(word) => Some(word.as_str()),
            _ => None,
        })
    }

    /// The words and numbers outside of some bytes; a number is an empty word.
    pub(super) fn outside(&self, bytes: Range<usize>) -> impl Iterator<Item = &str> {
        let outside =
            move |piece: &&Piece| piece.range.end <= bytes.start || bytes.end <= piece.range.start;
        let pieces = self.pieces.iter().filter(outside);
        pieces.filter_map(|piece| match &piece.kind {
            PieceKind::Word(word) => Some(word.as_str()),
            PieceKind::Number(_) => Some(""),
            PieceKind::Blank | PieceKind::Sign(_) => None,
        })
    }

    /// Whether a date can begin at a piece: not within a word such as `x2024` or `v2.2024`.
    pub(super) fn begins(&self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1).and_then(|b| self.pieces.get(b)) else {
            return true;
        };
        match &before.kind {
            PieceKind::Blank => true,
            PieceKind::Number(_) => false,
            PieceKind::Word(_) => {
                let first = self
                    .text
                    .get(before.range.clone())
                    .and_then(|w| w.chars().next());
                first.is_some_and(|c| class(c) == Class::Unspaced)
            }
            PieceKind::Sign(sign) => {
                let joins = matches!(sign, '.' | ',' | '/' | ':' | '-');
                let number = at >= 2 && matches!(self.pieces[at - 2].kind, PieceKind::Number(_));
                !(joins && number)
            }
        }
    }

    /// Whether a date can end before a piece: not where digits or letters go on.
    pub(super) fn ends(&self, at: usize) -> bool {
        match self.pieces.get(at).map(|piece| &piece.kind) {
            Some(PieceKind::Number(_)) => false,
            Some(PieceKind::Word(_)) => {
                let first = self.written(at).chars().next();
                first.is_some_and(|c| class(c) == Class::Unspaced)
            }
            Some(PieceKind::Sign(sign)) => {
                let joins = matches!(sign, '.' | '/' | '-' | '_');
                !(joins && self.number(at + 1).is_some())
            }
            _ => true,
        }
    }
}

/// Letters, and the marks that belong to them.
fn is_letter(c: char) -> bool {
    (c.is_alphabetic() && class(c) != Class::Unspaced) || class(c) == Class::Mark
}
