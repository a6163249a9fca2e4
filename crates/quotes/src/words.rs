//! The words of a folded text, one by one, as they are compared.

use std::ops::Range;

use lorewell_text::StopWords;

use crate::folded::{Folded, is_unspaced};

/// Words of a folded text in order: words, characters of scripts without blanks, signs.
#[derive(Debug, Default)]
pub(crate) struct Words {
    /// Where each stands in the folded text.
    pub(crate) ranges: Vec<Range<usize>>,
    /// What each counts in a comparison.
    pub(crate) weights: Vec<f32>,
}

/// What a word counts: one; less where it says little.
const WORD: f32 = 1.0;
/// A stop word.
const STOP_WORD: f32 = 0.3;
/// A character of a script without blanks, of which a word has about two.
const UNSPACED: f32 = 0.5;
/// A sign.
const SIGN: f32 = 0.1;

impl Words {
    pub(crate) fn of(folded: &Folded) -> Words {
        let text = folded.text.as_str();
        let stop_words = StopWords::of(&text[..text.floor_char_boundary(4096)]);
        let mut words = Words::default();
        let mut at = 0;
        while let Some(c) = text[at..].chars().next() {
            let start = at;
            at += c.len_utf8();
            if c == ' ' {
                continue;
            }
            let weight = if is_unspaced(c) && c.is_alphanumeric() {
                UNSPACED
            } else if c.is_alphanumeric() {
                let more = |c: &char| !is_unspaced(*c) && is_in_word(*c);
                at += text[at..]
                    .chars()
                    .take_while(more)
                    .map(char::len_utf8)
                    .sum::<usize>();
                if stop_words.holds(&text[start..at]) {
                    STOP_WORD
                } else {
                    WORD
                }
            } else {
                SIGN
            };
            words.ranges.push(start..at);
            words.weights.push(weight);
        }
        words
    }

    pub(crate) fn len(&self) -> usize {
        self.ranges.len()
    }

    /// How many words; signs do not count, a character of a script without blanks a half.
    pub(crate) fn length(&self) -> f32 {
        let counts = |weight: &f32| match *weight {
            STOP_WORD => WORD,
            SIGN => 0.0,
            other => other,
        };
        self.weights.iter().map(counts).sum()
    }
}

/// Letters, digits, and the signs that belong to the letter before them.
fn is_in_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '\u{300}'..='\u{36F}' | '\u{900}'..='\u{DFF}')
}
