//! Phrases: words of a question that stand between quotation marks, and whether they stand
//! together in a text.

use std::ops::Range;

use crate::normal::fold;
use crate::token::{TokenKind, Tokenizer};

/// What opens a quotation, and what closes it then.
const MARKS: [(char, &[char]); 7] = [
    ('"', &['"']),
    ('“', &['”', '“']),
    ('„', &['“', '”', '‟']),
    ('«', &['»']),
    ('「', &['」']),
    ('『', &['』']),
    ('＂', &['＂']),
];

/// A question has at most so many phrases; what is quoted after them is words like others.
const MAX_PHRASES: usize = 8;

/// Words that are asked to stand together, in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phrase {
    /// As it stands in the question, without its marks.
    pub written: String,
    /// Where it stands there with its marks, in bytes.
    pub range: Range<usize>,
    /// Its words, folded; characters of a script without blanks count as words.
    words: Vec<String>,
}

/// A word of a text, for comparing neighbours.
struct Unit {
    word: String,
    range: Range<usize>,
}

impl Phrase {
    /// The phrases of a question, in order. A mark that is not closed is a character like others,
    /// and so is a straight mark inside of words (`5" pipe`).
    pub fn quoted_in(question: &str) -> Vec<Phrase> {
        let mut phrases = Vec::new();
        let mut at = 0;
        while phrases.len() < MAX_PHRASES
            && let Some(quoted) = next_quoted(question, at)
        {
            at = quoted.outer.end;
            let written = question[quoted.inner].trim();
            let words: Vec<String> = units(written).into_iter().map(|unit| unit.word).collect();
            if !words.is_empty() {
                phrases.push(Phrase {
                    written: written.to_string(),
                    range: quoted.outer,
                    words,
                });
            }
        }
        phrases
    }

    /// Whether its words stand together in a text: in order, with nothing between them but signs
    /// and white space. Case and diacritics do not matter, the end of a word does; an empty line
    /// parts what stands before it from what stands after it.
    pub fn stands_in(&self, text: &str) -> bool {
        let units = units(text);
        let follows = |pair: &[Unit]| match pair {
            [one, two] => text
                .get(one.range.end..two.range.start)
                .is_some_and(|gap| !has_empty_line(gap)),
            _ => true,
        };
        units.windows(self.words.len()).any(|window| {
            window
                .iter()
                .zip(&self.words)
                .all(|(unit, word)| unit.word == *word)
                && window.windows(2).all(follows)
        })
    }
}

/// Something between quotation marks: with them, and without.
struct Quoted {
    outer: Range<usize>,
    inner: Range<usize>,
}

fn next_quoted(text: &str, from: usize) -> Option<Quoted> {
    let rest = text.get(from..)?;
    for (at, open) in rest.char_indices() {
        let Some((_, closing)) = MARKS.iter().find(|(mark, _)| *mark == open) else {
            continue;
        };
        let start = from + at;
        let inner = start + open.len_utf8();
        if !opens(text, start, open) {
            continue;
        }
        let end = text[inner..]
            .char_indices()
            .find(|(at, c)| closing.contains(c) && closes(text, inner + at, *c));
        if let Some((length, close)) = end {
            let end = inner + length;
            return Some(Quoted {
                outer: start..end + close.len_utf8(),
                inner: inner..end,
            });
        }
    }
    None
}

/// Whether a straight mark may open: at the beginning of a word. Others say so themselves.
fn opens(text: &str, at: usize, mark: char) -> bool {
    mark != '"' || !text[..at].ends_with(char::is_alphanumeric)
}

/// Whether a straight mark may close: at the end of a word.
fn closes(text: &str, at: usize, mark: char) -> bool {
    let after = text.get(at + mark.len_utf8()..).unwrap_or_default();
    mark != '"' || !after.starts_with(char::is_alphanumeric)
}

/// The words of a text in order, apart, each once.
fn units(text: &str) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    Tokenizer::new().tokens(text, &mut |token| {
        let is_unit = matches!(
            token.kind,
            TokenKind::Word | TokenKind::Unigram | TokenKind::Symbol
        );
        let is_new = units
            .last()
            .is_none_or(|last| last.range.end <= token.range.start);
        if is_unit && is_new {
            units.push(Unit {
                word: fold(&text[token.range.clone()]),
                range: token.range,
            });
        }
    });
    units
}

fn has_empty_line(gap: &str) -> bool {
    let mut lines = gap.split('\n').skip(1);
    let count = gap.matches('\n').count();
    count > 1
        && lines
            .by_ref()
            .take(count - 1)
            .any(|line| line.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phrases(question: &str) -> Vec<String> {
        let quoted = Phrase::quoted_in(question).into_iter();
        quoted.map(|phrase| phrase.written).collect()
    }

    #[test]
    fn what_is_quoted() {
        for (question, expected) in [
            ("\"cold frame\"", &["cold frame"][..]),
            (
                "“cold frame” and „kalter Kasten“ and « serre »",
                &["cold frame", "kalter Kasten", "serre"],
            ),
            (
                "where is the \"cold frame\", and the \"hot bed\"?",
                &["cold frame", "hot bed"],
            ),
            ("何が「冷床」ですか", &["冷床"]),
            ("\"cold frame", &[]),
            ("cold frame\"", &[]),
            ("a 5\" pipe and a 3\" valve", &[]),
            ("\"\" and \"?!\"", &[]),
            ("it's 'so' they said", &[]),
        ] {
            assert_eq!(phrases(question), expected, "{question}");
        }
        assert_eq!(phrases(&"\"a\" ".repeat(20)).len(), MAX_PHRASES);
        let quoted = &Phrase::quoted_in("a “b c” d")[0];
        assert_eq!(&"a “b c” d"[quoted.range.clone()], "“b c”");
    }

    #[test]
    fn where_a_phrase_stands() {
        let phrase = |question: &str| Phrase::quoted_in(question).remove(0);
        let cold = phrase("\"Cold frame\"");
        for text in [
            "The cold frame stands.",
            "COLD\nframe",
            "a **cold** _frame_.",
            "cold-frame",
            "Cöld frame's lid",
        ] {
            assert!(cold.stands_in(text), "{text}");
        }
        for text in [
            "cold\n\nframe",
            "cold\n \t\nframe",
            "a frame, cold",
            "cold frames",
            "scold frame",
            "cold old frame",
            "",
        ] {
            assert!(!cold.stands_in(text), "{text}");
        }
        assert!(phrase("「釉薬の色」").stands_in("この釉薬の色は青い"));
        assert!(!phrase("「釉薬の色」").stands_in("釉薬と色"));
        assert!(phrase("\"to be\"").stands_in("or not to be"));
        assert!(phrase("\"서울에서\"").stands_in("나는 서울에서 산다"));
    }
}
