//! The tokens of a word, remembered: words repeat, and remembering one is far cheaper than cutting
//! it into pieces again.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use crate::{
    coverage::Letters,
    vocabulary::{TokenId, Vocabulary},
};

/// Words remembered at most, some 3 MiB. A text of only new words costs a look into the vocabulary
/// for each, and no more memory.
const MOST_WORDS: usize = 1 << 15;

/// Longer words are not remembered: they seldom come again.
const LONGEST_WORD: usize = 48;

/// Remembers words. It never changes a result, only how soon it is there.
#[derive(Debug, Default)]
pub(crate) struct WordTokens {
    words: HashMap<Box<str>, Remembered, FxBuildHasher>,
    /// The tokens of all remembered words, one word's after another's.
    tokens: Vec<TokenId>,
    /// Of a word that was just looked up.
    fresh: Vec<TokenId>,
}

#[derive(Debug, Clone, Copy)]
struct Remembered {
    start: u32,
    end: u32,
    letters: Letters,
}

impl WordTokens {
    /// The tokens of a word, none when it is unknown, and its letters.
    pub(crate) fn of(&mut self, vocabulary: &Vocabulary, word: &str) -> (&[TokenId], Letters) {
        if let Some(known) = self.words.get(word) {
            let tokens = &self.tokens[known.start as usize..known.end as usize];
            return (tokens, known.letters);
        }
        let known = vocabulary.pieces(word, &mut self.fresh);
        if known.is_none() {
            self.fresh.clear();
        }
        let letters = Letters::of_word(word, known.map(|()| self.fresh.len()));
        if word.len() <= LONGEST_WORD {
            self.remember(word, letters);
        }
        (&self.fresh, letters)
    }

    /// Keeps what `fresh` holds. When it is full it begins anew: the words that matter are back
    /// within a few passages.
    fn remember(&mut self, word: &str, letters: Letters) {
        if self.words.len() >= MOST_WORDS {
            self.words.clear();
            self.tokens.clear();
        }
        let start = self.tokens.len() as u32;
        self.tokens.extend_from_slice(&self.fresh);
        let end = self.tokens.len() as u32;
        let remembered = Remembered {
            start,
            end,
            letters,
        };
        self.words.insert(word.into(), remembered);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_words_than_are_remembered_cost_no_memory_and_stay_right() {
        let vocabulary = Vocabulary::new("[PAD]\na\n##b\nword\n##1\n");
        let mut words = WordTokens::default();
        for number in 0..MOST_WORDS + 100 {
            words.of(&vocabulary, &format!("w{number}"));
            assert!(words.words.len() <= MOST_WORDS);
        }
        for _ in 0..2 {
            assert_eq!(words.of(&vocabulary, "word1").0, [3, 4]);
            assert_eq!(words.of(&vocabulary, "abb").0, [1, 2, 2]);
            assert!(words.of(&vocabulary, "ac").0.is_empty());
            let long = format!("a{}", "b".repeat(60));
            assert_eq!(words.of(&vocabulary, &long).0.len(), 61);
        }
    }
}
