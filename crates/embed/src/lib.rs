//! Embedders: what turns a question or a passage into a vector.
//!
//! [`Embedder`] is the contract that every model keeps; [`StaticModel`] is the English model that
//! is built into the binary, so that the dense lane works from the first second and offline. This
//! crate knows neither how vectors are stored nor how they are ranked.

mod accumulate;
mod coverage;
mod fingerprint;
mod static_model;
mod vocabulary;
mod weights;
mod word_tokens;
mod words;

#[cfg(test)]
mod tokenization_tests;

pub use fingerprint::{Fingerprint, FingerprintParts};
pub use static_model::StaticModel;

/// A model that places questions and passages in one space, where near means alike.
pub trait Embedder: Send + Sync {
    /// The model's short name, as an answer shows it: `static-en-256`.
    fn model(&self) -> &str;

    /// Everything that decides what a vector holds. Vectors of two fingerprints never mix.
    fn fingerprint(&self) -> &Fingerprint;

    /// How many numbers a vector has.
    fn dimension(&self) -> usize;

    /// What it costs to embed a passage.
    fn cost(&self) -> Cost;

    /// What its lane counts in the fusion, where the words of the text lane count 1 and the user
    /// did not say otherwise.
    fn weight(&self) -> f32 {
        0.5
    }

    /// Why it cannot answer now, where that is known without asking it. For people, as the end of a
    /// sentence that begins with its name.
    fn trouble(&self) -> Option<String> {
        None
    }

    /// In which numbers and by which instructions it is computed in this process, for people;
    /// nothing where there is no choice.
    fn computed_by(&self) -> Option<String> {
        None
    }

    /// How many texts were cut since the process began, because they are longer than it takes.
    fn cut(&self) -> u64 {
        0
    }

    /// The vector of a question.
    fn embed_question(&self, text: &str) -> Embedded;

    /// One result for each passage, in the same order. Which passages stand together in a call
    /// never changes a vector; passages of one note beside each other only make it faster.
    fn embed_passages(&self, inputs: &[PassageInput<'_>]) -> Vec<Embedded>;

    /// Where texts are sent for it, for people; nothing where they stay in this process.
    fn network_target(&self) -> Option<String> {
        None
    }
}

/// A model that reads question and passage together and says how well the one answers the other.
pub trait Reranker: Send + Sync {
    /// The model's short name, as an answer shows it.
    fn model(&self) -> &str;

    /// Why it cannot judge now, where that is known without asking it. For people, as the end of a
    /// sentence that begins with its name.
    fn trouble(&self) -> Option<String> {
        None
    }

    /// How well each passage answers the question, 0 to 1, in the order of the passages; nothing
    /// where the model knows too little of the words of either. Texts that are too long are cut by
    /// the model, so that both fit.
    ///
    /// # Errors
    /// Why it cannot tell now, for people, as the end of a sentence that begins with its name.
    fn relevance(&self, question: &str, passages: &[&str]) -> Result<Vec<Option<f32>>, String>;
}

/// What it costs to embed a passage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cost {
    /// Less than to look far for a vector that was made before: it is embedded with the words.
    Cheap,
    /// So much that the words do not wait for it: its vector follows later, and is looked for
    /// wherever it may have been made before.
    Dear,
}

/// What of a passage is embedded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PassageInput<'a> {
    /// The title that the note gives itself; empty if it gives none. Never its file name, which is
    /// no content.
    pub title: &'a str,
    /// The headings above the passage, outermost first.
    pub headings: &'a [String],
    /// Other names of the note.
    pub aliases: &'a [String],
    /// The note's tags, with or without `#`.
    pub tags: &'a [String],
    /// The passage's words, without hidden pieces.
    pub prose: &'a str,
}

impl PassageInput<'_> {
    /// The version of the rules of [`text`](Self::text), for the fingerprints of models that embed
    /// it. Raised whenever the same passage would give another text.
    pub const TEXT_RULES: &'static str = "1:title+headings+aliases+tags+prose";

    /// All of it as one text: a line for each part, the prose last.
    #[must_use]
    pub fn text(&self) -> String {
        let lists = [self.headings, self.aliases, self.tags]
            .into_iter()
            .flatten();
        let parts = [self.title].into_iter().chain(lists.map(String::as_str));
        let mut text = String::new();
        for part in parts.chain([self.prose]).filter(|part| !part.is_empty()) {
            text.push_str(part);
            text.push('\n');
        }
        text
    }
}

/// What became of a text.
#[derive(Debug, Clone, PartialEq)]
pub enum Embedded {
    /// A vector of unit length, of the model's dimension.
    Vector(Vec<f32>),
    /// The model knows too little of the text for its vector to mean anything.
    OutsideVocabulary {
        /// The share of the text that the model knows, 0 to 1.
        coverage: f32,
    },
    /// Nothing to embed: no letter and no digit.
    Empty,
    /// The model will not take this text, today or later: it is not asked again until the text or
    /// the model changes.
    Refused {
        /// Why, for people.
        reason: String,
    },
    /// The model cannot answer now (it is not running, the disk is full): it is asked again later.
    Failed {
        /// Why, for people.
        reason: String,
    },
}
