//! An answer, as plain data.

use lorewell_index::{Evidence, StoredNote, StoredPassage};
use lorewell_lexical::TermScore;

use crate::fusion::{Fused, Voice};
use crate::lane::{Lane, LaneReport};
use crate::score::Reading;

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
    /// The model that judged the first passages again, if one did.
    pub reranked_by: Option<String>,
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
    /// What the score follows from.
    pub reading: Reading,
    /// Why it was found.
    pub signals: Vec<Signal>,
    /// What kind of evidence it is.
    pub evidence: Evidence,
    /// Paths of other notes with a passage of the same words.
    pub copies: Vec<String>,
    /// Paths of notes that say that they replace this one.
    pub superseded_by: Vec<String>,
    /// What each term of the question adds to its lexical score.
    pub terms: Vec<TermScore>,
    /// Where its place comes from: each lane's part, and the sum.
    pub fused: Fused,
}

/// Why a passage was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Signal {
    /// By which lane.
    pub lane: Lane,
    /// For whose words.
    pub voice: Voice,
    /// Its rank in that lane, from 1.
    pub rank: usize,
    /// In the vocabulary lane: words that were added to the question and that it has.
    pub added: Vec<String>,
    /// In the link lane: paths of the notes between.
    pub via: Vec<String>,
    /// In the tag lane: tags that it shares with other hits.
    pub tags: Vec<String>,
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
