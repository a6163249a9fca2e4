//! A question, analysed: the terms that a search looks for.

use std::ops::Range;

use crate::normal::fold;
use crate::stop_words::StopWords;
use crate::token::{TokenKind, Tokenizer};

/// A question holds at most so many different terms; those after are left out, and
/// [`Question::shortened`] says so.
const MAX_TERMS: usize = 64;

/// Only so much of a question is read at all, in bytes.
const MAX_BYTES: usize = 64 * 1024;

/// The searchable content of a question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// Different terms in order of first appearance.
    pub terms: Vec<QuestionTerm>,
    /// Whether the question was longer than what is searched for.
    pub shortened: bool,
    /// Whether it held words, though only stop words.
    pub only_stop_words: bool,
}

/// One term to look for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuestionTerm {
    /// The term as the index holds it.
    pub term: String,
    /// The piece of the question that gave it, in bytes.
    pub range: Range<usize>,
    /// What kind of piece it is.
    pub kind: TokenKind,
}

impl Question {
    /// Analyses a question. Every character is literal; there are no operators.
    ///
    /// Stop words are left out. Of an unspaced script pairs of characters are looked for, and
    /// single ones only where a run has no pair.
    pub fn new(text: &str) -> Question {
        let read = &text[..text.floor_char_boundary(MAX_BYTES)];
        let mut question = Question {
            shortened: read.len() < text.len(),
            ..Question::default()
        };
        let mut found: Vec<QuestionTerm> = Vec::new();
        let stop_words = StopWords::of(read);
        let mut stopped = false;
        let mut seen = std::collections::HashSet::new();
        Tokenizer::new().tokens(read, &mut |token| {
            let word = matches!(
                token.kind,
                TokenKind::Word | TokenKind::Spelling | TokenKind::Beginning
            );
            if word && stop_words.holds(&fold(&read[token.range.clone()])) {
                stopped = true;
                return;
            }
            if seen.insert((token.term.to_string(), token.kind == TokenKind::Unigram)) {
                found.push(QuestionTerm {
                    term: token.term.to_string(),
                    range: token.range.clone(),
                    kind: token.kind,
                });
            }
        });
        let pairs: Vec<Range<usize>> = found
            .iter()
            .filter(|t| t.kind == TokenKind::Bigram)
            .map(|t| t.range.clone())
            .collect();
        found.retain(|t| t.kind != TokenKind::Unigram || !covered(&pairs, &t.range));
        question.only_stop_words = stopped && found.is_empty();
        question.shortened |= found.len() > MAX_TERMS;
        found.truncate(MAX_TERMS);
        question.terms = found;
        question
    }

    /// The pieces of a text that have terms of the question, in bytes, in order, apart.
    pub fn matches(&self, text: &str) -> Vec<Range<usize>> {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        Tokenizer::new().tokens(text, &mut |token| {
            if !self.terms.iter().any(|t| t.term == token.term) {
                return;
            }
            match ranges.last_mut() {
                Some(last) if token.range.start < last.end => {
                    last.end = last.end.max(token.range.end)
                }
                _ => ranges.push(token.range),
            }
        });
        ranges
    }

    /// Whether there is nothing to look for.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }
}

/// Whether `range` lies in one of `pairs`, which are sorted by start.
fn covered(pairs: &[Range<usize>], range: &Range<usize>) -> bool {
    let after = pairs.partition_point(|p| p.start <= range.start);
    pairs[after.saturating_sub(2)..after]
        .iter()
        .any(|p| p.start <= range.start && range.end <= p.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str) -> Vec<String> {
        Question::new(text)
            .terms
            .into_iter()
            .map(|t| t.term)
            .collect()
    }

    #[test]
    fn what_is_looked_for() {
        for (text, expected) in [
            (
                "How long does the second firing take?",
                &["long", "second", "fire", "take"][..],
            ),
            ("kiln kilns KILN", &["kiln"]),
            ("釉薬 火", &["釉薬", "火"]),
            ("釉薬火", &["釉薬", "薬火"]),
            ("\"C++\" AND (x OR -y)", &["c++", "c", "x", "y"]),
            (
                "wie lange dauert der Brand",
                &["lang", "dauert", "dauer*", "brand"],
            ),
        ] {
            assert_eq!(terms(text), expected, "{text}");
        }
    }

    #[test]
    fn nothing_to_look_for() {
        assert!(Question::new("what is it?").only_stop_words);
        assert_eq!(Question::new("?! …"), Question::default());
        assert_eq!(Question::new(""), Question::default());
    }

    #[test]
    fn matches_are_pieces_of_the_text() {
        let question = Question::new("kilns and 釉薬の色, résumé");
        let text = "The Kiln, two KILNS; 釉薬の話。 Resume!";
        let found: Vec<&str> = question
            .matches(text)
            .into_iter()
            .map(|r| &text[r])
            .collect();
        assert_eq!(found, ["Kiln", "KILNS", "釉薬の", "Resume"]);
    }

    #[test]
    fn a_long_question_is_shortened_and_says_so() {
        let words: String = (0..1_000).map(|i| format!("w{i} ")).collect();
        let question = Question::new(&words);
        assert!(question.shortened);
        assert_eq!(question.terms.len(), MAX_TERMS);
        assert!(Question::new(&"a ".repeat(500_000)).shortened);
    }
}
