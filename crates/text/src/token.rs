//! The tokenizer: text to terms, with offsets of the original text.

mod boundary;

use std::ops::Range;

use crate::forms::WordForms;
use crate::language::is_foreign;
use crate::normal::{fold_into, is_folded};
use crate::script::{Class, class};
use crate::stem::EnglishStemmer;
use boundary::{
    CaseWatch, begins_dotted_name, char_at, connector, is_apostrophe, is_hyphen, is_possessive,
    is_version, sign_suffix, word_begins,
};

/// No term is longer; the rest of a longer word is cut off, in index and question alike.
const MAX_TERM_BYTES: usize = 64;

/// Of a word of another language than English that has so many letters, so many are a beginning:
/// what the forms of a word have in common in most languages. On XQuAD (nDCG@10, words alone)
/// beginnings beside whole words lift every language with inflection; English has its stemmer.
const LATIN_BEGINNING: (usize, usize) = (6, 5);
/// The same for words of other scripts.
const OTHER_BEGINNING: (usize, usize) = (5, 4);

/// One term found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// The analysed term: folded, and stemmed where it is a plain English word.
    pub term: &'a str,
    /// Where the piece stands in the original text, in bytes, half-open.
    pub range: Range<usize>,
    /// What kind of piece it is.
    pub kind: TokenKind,
}

/// The kinds of terms that one piece of text can give.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// A word of a script with blanks, or a part of an identifier.
    Word,
    /// An identifier as a whole: `RFC-2119`, `node.js`, `C++`, `camelCase`, `2024-01-05`.
    Identifier,
    /// A word with diacritics as it was spelled, beside its folded form.
    Spelling,
    /// The beginning of a longer word of another language than English, marked with `*`.
    Beginning,
    /// One character of a script without blanks, or one syllable of a Hangul word.
    Unigram,
    /// Two neighbouring characters of a script without blanks, or two Hangul syllables.
    Bigram,
    /// An emoji or another symbol.
    Symbol,
}

/// Cuts text into terms. Holds buffers and a bounded memory of words: keep one per thread.
#[derive(Debug, Default)]
pub struct Tokenizer {
    term: String,
    whole: String,
    parts: Vec<Range<usize>>,
    units: Vec<Range<usize>>,
    stemmer: EnglishStemmer,
    forms: WordForms,
    /// Whether the text at hand is in Latin letters and not English.
    foreign: bool,
}

impl Tokenizer {
    /// A tokenizer with empty buffers.
    pub fn new() -> Tokenizer {
        Tokenizer::default()
    }

    /// Calls `sink` for every term of `text`, in order of where it begins.
    ///
    /// Works in time linear in the length of the text, whatever it holds.
    pub fn tokens(&mut self, text: &str, sink: &mut dyn FnMut(Token<'_>)) {
        let bytes = text.as_bytes();
        self.foreign = is_foreign(text);
        let mut at = 0;
        while at < bytes.len() {
            if bytes[at] < 0x80 {
                if bytes[at].is_ascii_alphanumeric() {
                    at = self.word(text, at, sink);
                } else if bytes[at] == b'.' && begins_dotted_name(bytes, at) {
                    at = self.dotted_name(text, at, sink);
                } else {
                    at += 1;
                }
                continue;
            }
            let Some(c) = text[at..].chars().next() else {
                break;
            };
            at = match class(c) {
                Class::Word | Class::Hangul => self.word(text, at, sink),
                Class::Unspaced => self.unspaced(text, at, sink),
                Class::Symbol => {
                    let range = at..at + c.len_utf8();
                    self.emit(text, range.clone(), TokenKind::Symbol, sink);
                    range.end
                }
                Class::Mark | Class::Ignorable | Class::Other => at + c.len_utf8(),
            };
        }
    }

    /// All terms of a text, for callers that want a list.
    pub fn terms(&mut self, text: &str) -> Vec<String> {
        let mut terms = Vec::new();
        self.tokens(text, &mut |token| terms.push(token.term.to_string()));
        terms
    }

    /// A run of word characters and connectors: its parts, and the whole if there are several.
    fn word(&mut self, text: &str, start: usize, sink: &mut dyn FnMut(Token<'_>)) -> usize {
        let (end, mut plain) = self.find_parts(text, start);
        let bytes = text.as_bytes();
        let last_is_short = self
            .parts
            .last()
            .is_some_and(|p| p.end == end && p.len() <= 2);
        let mut whole_end = end;
        if last_is_short {
            whole_end += sign_suffix(bytes, end);
        }
        plain &= whole_end == end;
        let parts = std::mem::take(&mut self.parts);
        if !plain {
            self.identifier(text, start..whole_end, &parts, sink);
        }
        for (place, part) in parts.iter().enumerate() {
            self.emit(text, part.clone(), TokenKind::Word, sink);
            if place == 0 && parts.len() > 1 && is_version(&bytes[start..]) {
                self.identifier(text, start + 1..whole_end, &parts, sink);
                self.emit(text, start + 1..part.end, TokenKind::Word, sink);
            }
        }
        self.parts = parts;
        whole_end
    }

    /// Fills `parts` with the pieces of the run that begins at `start`; returns its end and
    /// whether it is one plain word.
    fn find_parts(&mut self, text: &str, start: usize) -> (usize, bool) {
        let bytes = text.as_bytes();
        self.parts.clear();
        let mut plain = true;
        let (mut part, mut at, mut end) = (start, start, start);
        let mut case = CaseWatch::default();
        while at < bytes.len() {
            let (c, size) = char_at(text, at);
            match class(c) {
                Class::Word | Class::Hangul => {
                    if let Some(cut) = case.boundary_before(c, at)
                        && cut > part
                    {
                        self.parts.push(part..cut);
                        part = cut;
                        plain = false;
                    }
                    at += size;
                    end = at;
                }
                Class::Mark | Class::Ignorable => {
                    at += size;
                    end = at;
                }
                Class::Other => {
                    let Some(after) = connector(c).then(|| at + size) else {
                        break;
                    };
                    if !word_begins(text, after) {
                        break;
                    }
                    if is_possessive(text, c, after) {
                        self.parts.push(part..end);
                        return (after + 1, plain);
                    }
                    self.parts.push(part..end);
                    case = CaseWatch::default();
                    part = after;
                    plain &= is_apostrophe(c);
                    at = after;
                }
                Class::Unspaced | Class::Symbol => break,
            }
        }
        self.parts.push(part..end);
        (end, plain)
    }

    /// `.NET`: the whole with its dot, and the word.
    fn dotted_name(&mut self, text: &str, dot: usize, sink: &mut dyn FnMut(Token<'_>)) -> usize {
        let (end, _) = self.find_parts(text, dot + 1);
        self.term.clear();
        self.term.push_str(&text[dot..end]);
        self.term.make_ascii_lowercase();
        cut_term(&mut self.term);
        sink(Token {
            term: &self.term,
            range: dot..end,
            kind: TokenKind::Identifier,
        });
        self.word(text, dot + 1, sink)
    }

    /// The whole of an identifier. A connector between letters is dropped (`wi-fi`, `wifi` and
    /// `WiFi` meet), one between digits kept (`1.10` is not `110`).
    fn identifier(
        &mut self,
        text: &str,
        range: Range<usize>,
        parts: &[Range<usize>],
        sink: &mut dyn FnMut(Token<'_>),
    ) {
        fold_into(&text[range.clone()], &mut self.term);
        let mut whole = std::mem::take(&mut self.whole);
        whole.clear();
        let mut previous = ' ';
        let mut letters = self.term.chars().peekable();
        while let Some(c) = letters.next() {
            let next_is_digit = letters.peek().is_some_and(char::is_ascii_digit);
            let keep = match c {
                '+' | '#' => true,
                '\'' | '’' | '&' => false,
                _ if connector(c) => previous.is_ascii_digit() && next_is_digit,
                _ => true,
            };
            if keep {
                whole.push(if is_hyphen(c) || c == '_' { '-' } else { c });
            }
            previous = c;
        }
        cut_term(&mut whole);
        let repeats_its_only_part = parts.len() == 1 && whole.len() == parts[0].len();
        if !whole.is_empty() && !repeats_its_only_part {
            sink(Token {
                term: &whole,
                range,
                kind: TokenKind::Identifier,
            });
        }
        self.whole = whole;
    }

    /// One word or part: folded, stemmed; its spelling too if folding lost diacritics; and the
    /// syllables of a Hangul word.
    fn emit(
        &mut self,
        text: &str,
        range: Range<usize>,
        kind: TokenKind,
        sink: &mut dyn FnMut(Token<'_>),
    ) {
        let piece = &text[range.clone()];
        if piece.is_ascii() || kind != TokenKind::Word {
            fold_into(head(piece), &mut self.term);
        } else {
            self.forms.of(head(piece), &mut self.term, &mut self.whole);
            cut_term(&mut self.whole);
            if !self.whole.is_empty() && self.whole != self.term {
                sink(Token {
                    term: &self.whole,
                    range: range.clone(),
                    kind: TokenKind::Spelling,
                });
            }
        }
        if self.term.is_empty() {
            return;
        }
        cut_term(&mut self.term);
        let beginning = kind == TokenKind::Word && self.stem();
        sink(Token {
            term: &self.term,
            range: range.clone(),
            kind,
        });
        if beginning {
            sink(Token {
                term: &self.whole,
                range: range.clone(),
                kind: TokenKind::Beginning,
            });
        }
        if kind == TokenKind::Word
            && piece
                .chars()
                .next()
                .is_some_and(|c| class(c) == Class::Hangul)
        {
            self.find_units(text, range.start, Class::Hangul);
            if self.units.len() > 1 {
                self.grams(text, sink);
            }
        }
    }

    /// Stems the word in `term`, by the rules of English. Puts the beginning of a longer word of
    /// another language into `whole`, and says so.
    fn stem(&mut self) -> bool {
        let latin = self.term.chars().next().is_some_and(|c| (c as u32) < 0x250);
        let (least, kept) = if latin {
            LATIN_BEGINNING
        } else {
            OTHER_BEGINNING
        };
        let beginning = (self.foreign || !latin) && self.term.chars().nth(least - 1).is_some();
        if beginning {
            self.whole.clear();
            self.whole.extend(self.term.chars().take(kept));
            self.whole.push('*');
        }
        self.stemmer.stem(&mut self.term);
        beginning
    }

    /// A run of an unspaced script: each character, and each pair of neighbours.
    fn unspaced(&mut self, text: &str, start: usize, sink: &mut dyn FnMut(Token<'_>)) -> usize {
        let end = self.find_units(text, start, Class::Unspaced);
        self.grams(text, sink);
        end
    }

    /// Fills `units` with the characters (and the marks on them) of one class from `start` on.
    fn find_units(&mut self, text: &str, start: usize, wanted: Class) -> usize {
        self.units.clear();
        let mut at = start;
        while at < text.len() {
            let (c, size) = char_at(text, at);
            let found = class(c);
            if found == wanted {
                self.units.push(at..at + size);
            } else if matches!(found, Class::Mark | Class::Ignorable) {
                if let Some(unit) = self.units.last_mut() {
                    unit.end = at + size;
                }
            } else {
                break;
            }
            at += size;
        }
        at
    }

    fn grams(&mut self, text: &str, sink: &mut dyn FnMut(Token<'_>)) {
        let units = std::mem::take(&mut self.units);
        for (i, unit) in units.iter().enumerate() {
            self.gram(text, unit.clone(), TokenKind::Unigram, sink);
            if let Some(next) = units.get(i + 1) {
                self.gram(text, unit.start..next.end, TokenKind::Bigram, sink);
            }
        }
        self.units = units;
    }

    fn gram(
        &mut self,
        text: &str,
        range: Range<usize>,
        kind: TokenKind,
        sink: &mut dyn FnMut(Token<'_>),
    ) {
        let piece = &text[range.clone()];
        if is_folded(piece) {
            sink(Token {
                term: piece,
                range,
                kind,
            });
            return;
        }
        fold_into(head(piece), &mut self.term);
        cut_term(&mut self.term);
        if !self.term.is_empty() {
            sink(Token {
                term: &self.term,
                range,
                kind,
            });
        }
    }
}

/// The beginning of a piece that can give a term; folding the rest would be wasted.
fn head(piece: &str) -> &str {
    &piece[..piece.floor_char_boundary(MAX_TERM_BYTES * 2)]
}

fn cut_term(term: &mut String) {
    if term.len() > MAX_TERM_BYTES {
        term.truncate(term.floor_char_boundary(MAX_TERM_BYTES));
    }
}

#[cfg(test)]
mod tests;
