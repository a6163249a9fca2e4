//! What is asked, and how the answer is made.

use lorewell_index::Scope;

use crate::Fusion;
use crate::lane::Lane;

/// A question and its frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The question. Every character is literal.
    pub question: String,
    /// How many passages at most.
    pub limit: usize,
    /// How many passages to pass over: those of earlier pages.
    pub offset: usize,
    /// Which notes are asked.
    pub scope: Scope,
    /// Which lanes run.
    pub lanes: Vec<Lane>,
    /// Only passages that hold the question as it stands, words in order.
    pub exact: bool,
    /// How the answer is made.
    pub settings: SearchSettings,
}

/// Settings of retrieval.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchSettings {
    /// How lists are joined.
    pub fusion: Fusion,
    /// What each lane's vote counts.
    pub weights: LaneWeights,
    /// How many passages an answer holds unless the request says.
    pub limit: usize,
    /// Which lanes run unless the request says.
    pub lanes: Vec<Lane>,
    /// How many passages of one note an answer holds at most.
    pub max_per_note: usize,
    /// How many passages a lane hands over at most.
    pub depth: usize,
}

/// What each lane's vote counts in fusion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaneWeights {
    /// Words.
    pub text: f32,
    /// Names.
    pub title: f32,
    /// Meaning; the weight belongs to the model.
    pub dense: f32,
}

impl LaneWeights {
    pub(crate) fn of(&self, lane: Lane) -> f32 {
        match lane {
            Lane::Text => self.text,
            Lane::Title => self.title,
            Lane::Dense => self.dense,
        }
    }
}

impl Default for SearchSettings {
    fn default() -> SearchSettings {
        SearchSettings {
            fusion: Fusion::Convex,
            weights: LaneWeights {
                text: 1.0,
                title: 0.5,
                dense: 0.33,
            },
            limit: 6,
            lanes: Lane::ALL.to_vec(),
            max_per_note: 2,
            depth: 100,
        }
    }
}

impl Request {
    /// A question with the usual frame.
    pub fn new(question: impl Into<String>) -> Request {
        Request {
            question: question.into(),
            limit: 6,
            offset: 0,
            scope: Scope::default(),
            lanes: Lane::ALL.to_vec(),
            exact: false,
            settings: SearchSettings::default(),
        }
    }
}
