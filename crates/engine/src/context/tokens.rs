//! Counting tokens: exactly, by a tokenizer that is handed in, or by estimate.

use std::fmt;
use std::path::PathBuf;

/// Counts as some language model does.
pub trait Tokens: fmt::Debug + Send + Sync {
    /// What counts, for people: the name of a tokenizer.
    fn name(&self) -> String;

    /// How many tokens a text is.
    ///
    /// # Errors
    /// The tokenizer cannot be read, or cannot take the text. Nothing is counted otherwise then.
    fn count(&self, text: &str) -> Result<usize, TokensError>;
}

/// Tokens cannot be counted as was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the tokenizer {} cannot be used: {what}", .path.display())]
pub struct TokensError {
    /// The tokenizer's file.
    pub path: PathBuf,
    /// Why not.
    pub what: String,
}

/// How tokens were counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Counting {
    /// By [`estimate`].
    Estimated,
    /// By this tokenizer.
    Exact(String),
}

/// Tokens by estimate: four characters of ASCII are one, two of other alphabets, one of Chinese,
/// Japanese, Korean and the like, and an emoji is two. That is a character's length in UTF-8
/// (1 to 4 bytes) as 1, 2, 4 or 8 quarters of a token, rounded up over the text. Models of today
/// need about as many for English and seldom more for the others.
pub fn estimate(text: &str) -> usize {
    let quarters = |c: char| 1 << (c.len_utf8() - 1);
    text.chars().map(quarters).sum::<usize>().div_ceil(4)
}

#[cfg(test)]
mod tests {
    use super::estimate;

    #[test]
    fn four_characters_a_token() {
        for (text, tokens) in [
            ("", 0),
            ("a", 1),
            ("four", 1),
            ("fours", 2),
            ("шлем", 2),
            ("釉薬", 2),
            ("한국어", 3),
            ("🏺", 2),
            ("a釉", 2),
        ] {
            assert_eq!(estimate(text), tokens, "{text}");
        }
    }
}
