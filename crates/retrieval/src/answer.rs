//! An answer, as plain data.

use lorewell_index::{StoredNote, StoredPassage};
use lorewell_lexical::TermScore;

use crate::fusion::Fused;
use crate::lane::LaneReport;

/// An answer, as plain data.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Best first.
    pub passages: Vec<AnswerPassage>,
    /// Whether the notes answer the question at all.
    pub confidence: Confidence,
    /// Every lane, in the order of [`crate::Lane::ALL`].
    pub lanes: Vec<LaneReport>,
    /// What did not run, or ran on a part: for people.
    pub degraded: Vec<String>,
    /// Something to know about the question.
    pub notice: Option<String>,
    /// Whether there are more passages behind these.
    pub more: bool,
}

/// A passage of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerPassage {
    /// From 1, counted over all pages.
    pub rank: usize,
    /// Its note.
    pub note: StoredNote,
    /// The passage itself.
    pub passage: StoredPassage,
    /// How good it is, 0 to 1; see the module `score` for the rule.
    pub score: f32,
    /// Why it was found.
    pub signals: Vec<Signal>,
    /// What kind of evidence it is.
    pub evidence: Evidence,
    /// Paths of other notes with a passage of the same words.
    pub copies: Vec<String>,
    /// What each term of the question adds to its lexical score.
    pub terms: Vec<TermScore>,
    /// Where its place comes from: each lane's part, and the sum.
    pub fused: Fused,
}

/// Why a passage was found.
#[derive(Clone, Debug, PartialEq)]
pub enum Signal {
    /// It has words of the question.
    Text {
        /// Its rank in the lexical lane.
        rank: usize,
    },
    /// The question names its note.
    Title,
    /// It is near in meaning.
    Dense {
        /// Its rank in the dense lane.
        rank: usize,
    },
}

/// Whether the notes answer a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// Nothing in these notes answers it; the nearest passages are shown all the same.
    None,
    /// Perhaps.
    Weak,
    /// Yes.
    Strong,
}

/// What kind of evidence a note is, and the rule that says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The class.
    pub class: &'static str,
    /// The rule.
    pub rule: String,
}
