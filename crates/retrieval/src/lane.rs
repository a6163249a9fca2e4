//! Lanes: independent ways to find passages, each with a list and a state.

use std::fmt;
use std::str::FromStr;

use rustc_hash::FxHashMap;

use crate::lanes::Seed;

/// The lanes that are built. Their names are the contract's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lane {
    /// BM25F over words.
    Text,
    /// Notes that the question names.
    Title,
    /// Nearness of meaning, by vectors.
    Dense,
    /// Words that go together with the question's in this vault.
    Vocab,
    /// Notes that link to a hit, or that a hit links to.
    Link,
    /// Notes that share rare tags with a hit.
    Tag,
    /// Newer notes first.
    Recent,
}

impl Lane {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Lane; 7] = [
        Lane::Text,
        Lane::Title,
        Lane::Dense,
        Lane::Vocab,
        Lane::Link,
        Lane::Tag,
        Lane::Recent,
    ];

    /// Those that run unless a request or a setting says otherwise: the ones that make answers
    /// better on the development sets (docs/evaluation.md).
    pub const DEFAULT: [Lane; 4] = [Lane::Text, Lane::Title, Lane::Dense, Lane::Vocab];

    /// The name in answers and settings.
    pub fn name(self) -> &'static str {
        match self {
            Lane::Text => "text",
            Lane::Title => "title",
            Lane::Dense => "dense",
            Lane::Vocab => "vocab",
            Lane::Link => "link",
            Lane::Tag => "tag",
            Lane::Recent => "recent",
        }
    }
}

impl fmt::Display for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Lane {
    type Err = ();

    fn from_str(name: &str) -> Result<Lane, ()> {
        Lane::ALL
            .into_iter()
            .find(|lane| lane.name() == name)
            .ok_or(())
    }
}

/// How a lane fared in one search.
#[derive(Clone, Debug, PartialEq)]
pub enum LaneState {
    /// It ran over everything.
    Ok,
    /// It ran over a part of the passages.
    Partial {
        /// The share of passages that it could see, 0 to 1.
        coverage: f32,
        /// Why not all.
        reason: String,
    },
    /// It chose to say nothing, because what it knows does not fit the question.
    Abstained {
        /// Why.
        reason: String,
    },
    /// It could not run.
    Unavailable {
        /// Why.
        reason: String,
    },
    /// It was not asked.
    Off,
}

/// A lane in an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct LaneReport {
    /// Which.
    pub lane: Lane,
    /// How it fared.
    pub state: LaneState,
    /// The model that it used, if it uses one.
    pub model: Option<String>,
    /// The model that was to be used, where another answered in its place.
    pub wanted: Option<WantedModel>,
}

/// A model in whose place another answered.
#[derive(Clone, Debug, PartialEq)]
pub struct WantedModel {
    /// Its name.
    pub model: String,
    /// The share of passages that it has settled by now, 0 to 1; nothing if it cannot be asked at
    /// all.
    pub coverage: Option<f32>,
}

/// What a lane found.
#[derive(Clone, Debug)]
pub(crate) struct LaneResult {
    pub(crate) report: LaneReport,
    /// Best first. A passage occurs once.
    pub(crate) hits: Vec<LaneHit>,
    /// What more there is to say of a hit, by passage.
    pub(crate) reasons: FxHashMap<u32, Reason>,
}

/// A passage that a lane found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LaneHit {
    pub(crate) passage: u32,
    /// The lane's own score, comparable only within the lane and the question.
    pub(crate) score: f32,
    /// How sure the lane is of this hit, as a factor on its weight; 1 in most lanes.
    pub(crate) strength: f32,
    /// In the text lane, the share of the question's content that it has, 0 to 1.
    pub(crate) share: f32,
}

/// What more there is to say of a hit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reason {
    /// Words that were added to the question and that it has.
    Added(Vec<String>),
    /// The notes between, by number.
    Via(Vec<u32>),
    /// Tags that it shares with other hits.
    Tags(Vec<String>),
}

impl LaneResult {
    pub(crate) fn new(lane: Lane, state: LaneState, hits: Vec<LaneHit>) -> LaneResult {
        LaneResult {
            report: LaneReport {
                lane,
                state,
                model: None,
                wanted: None,
            },
            hits,
            reasons: FxHashMap::default(),
        }
    }

    /// Sorts the hits by score; equal ones stay in the order of the first round.
    pub(crate) fn in_order_of(&mut self, seeds: &[Seed]) {
        let places: FxHashMap<u32, usize> = seeds.iter().map(|s| s.passage).zip(0..).collect();
        let place = |hit: &LaneHit| places.get(&hit.passage);
        self.hits
            .sort_by(|a, b| b.score.total_cmp(&a.score).then(place(a).cmp(&place(b))));
    }
}

impl LaneHit {
    pub(crate) fn new(passage: u32, score: f32) -> LaneHit {
        LaneHit {
            passage,
            score,
            strength: 1.0,
            share: 0.0,
        }
    }
}
