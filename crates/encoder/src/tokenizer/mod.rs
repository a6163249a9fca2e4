//! Texts to tokens, by a model's own `tokenizer.json`: WordPiece (BERT) and Unigram (XLM-RoBERTa),
//! with the normal forms that belong to them. Anything else is refused.

mod bert;
mod charsmap;
mod normal;
mod read;
mod unigram;
mod wordpiece;

#[cfg(test)]
mod oracle_tests;

pub(crate) use read::Tokenizer;

/// A question and a passage as tokens, `[CLS] question [SEP] passage [SEP]`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Pair {
    /// With special tokens around and between.
    pub(crate) ids: Vec<u32>,
    /// Where the passage begins.
    pub(crate) second: usize,
    /// There were more than the model takes.
    pub(crate) truncated: bool,
    /// The lesser share of letters that the tokens of question and passage cover, as of [`Tokens`].
    pub(crate) coverage: f32,
}

/// A text as tokens.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tokens {
    /// With special tokens around them.
    pub(crate) ids: Vec<u32>,
    /// There were more than the model takes.
    pub(crate) truncated: bool,
    /// The share of the text's letters that stand in tokens of more than one of them, 0 to 1.
    pub(crate) coverage: f32,
}
