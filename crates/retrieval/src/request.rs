//! What is asked, and how the answer is made.

use std::ops::Range;

use lorewell_index::{EvidenceClass, Scope};
use lorewell_text::Day;

use crate::Fusion;
use crate::lane::{Lane, LaneState};

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
    /// Other ways to put the question; each is fused as a list of its own.
    pub also: Vec<String>,
    /// Words that a passage must have, each item whole, in any order.
    pub must: Vec<String>,
    /// What passages should be like; each is fused as a list of its own.
    pub like: Vec<Likeness>,
    /// Notes that are near in meaning by vectors that another program made. They stand in for the
    /// dense lane where the model has nothing to say.
    pub near: Option<NearNotes>,
    /// The day on which it is asked, for `yesterday`; none: such words mean nothing.
    pub today: Option<Day>,
    /// How the answer is made.
    pub settings: SearchSettings,
}

/// A text that passages should be like.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Likeness {
    /// The text.
    pub text: String,
    /// The note that it is taken from, by path, and the bytes that it takes there: passages of
    /// this place are known to the asker and left out of its lists.
    pub place: Option<(String, Range<u64>)>,
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
    /// What the value of a passage is multiplied by for its class of evidence, where the question
    /// does not ask for classes.
    pub standing: Standing,
    /// Whether the first passages are ordered anew by what they have of the question as a whole.
    pub second_look: bool,
    /// What a passage gains in that order that has all words side by side which stand so in the
    /// question.
    pub side_by_side: f32,
    /// Whether places are kept for what has most of the question's words and what is nearest in
    /// meaning.
    pub keep_places: bool,
    /// What a reranker's judgement counts in the order of the first passages beside all else, 0 to
    /// 1, where there is one.
    pub rerank: f32,
}

/// Notes that are near in meaning by vectors that another program made.
#[derive(Clone, Debug, PartialEq)]
pub struct NearNotes {
    /// Whose vectors they are, and of which model, for people.
    pub model: String,
    /// Over how much they could look, and to what the notes are near.
    pub state: LaneState,
    /// Their numbers with the cosine, nearest first.
    pub notes: Vec<(u32, f32)>,
}

/// What each class of evidence counts, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    /// Texts of others.
    pub clipping: f32,
    /// Texts of programs, and backups.
    pub generated: f32,
    /// Forms that notes are made from.
    pub template: f32,
}

impl Standing {
    /// Every class counts the same.
    pub const EQUAL: Standing = Standing {
        clipping: 1.0,
        generated: 1.0,
        template: 1.0,
    };

    pub(crate) fn of(&self, class: EvidenceClass) -> f32 {
        match class {
            EvidenceClass::Clipping => self.clipping,
            EvidenceClass::Generated => self.generated,
            EvidenceClass::Template => self.template,
            _ => 1.0,
        }
    }
}

impl Default for Standing {
    fn default() -> Standing {
        Standing {
            clipping: 0.9,
            generated: 0.8,
            template: 0.5,
        }
    }
}

/// What each lane's vote counts in fusion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaneWeights {
    /// Words.
    pub text: f32,
    /// Names.
    pub title: f32,
    /// Meaning; `None` for what the embedding model says that it counts.
    pub dense: Option<f32>,
    /// Words of this vault.
    pub vocab: f32,
    /// Links.
    pub link: f32,
    /// Tags.
    pub tag: f32,
    /// Newer notes.
    pub recent: f32,
}

impl LaneWeights {
    /// What a lane counts where the embedding model's counts `model`.
    pub(crate) fn of(&self, lane: Lane, model: f32) -> f32 {
        match lane {
            Lane::Text => self.text,
            Lane::Title => self.title,
            Lane::Dense => self.dense.unwrap_or(model),
            Lane::Vocab => self.vocab,
            Lane::Link => self.link,
            Lane::Tag => self.tag,
            Lane::Recent => self.recent,
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
                dense: None,
                vocab: 0.2,
                link: 0.1,
                tag: 0.1,
                recent: 0.5,
            },
            limit: 6,
            lanes: Lane::DEFAULT.to_vec(),
            max_per_note: 2,
            depth: 100,
            standing: Standing::default(),
            second_look: true,
            side_by_side: 0.1,
            keep_places: true,
            rerank: 0.2,
        }
    }
}

impl Request {
    /// Whether a reranker judges its passages, where there is one: a question that is looked for
    /// word by word, or that is none, is not judged.
    pub fn is_judged(&self) -> bool {
        let settings = &self.settings;
        let has_words = self.question.chars().any(char::is_alphanumeric);
        has_words && !self.exact && settings.second_look && settings.rerank > 0.0
    }

    /// A question with the usual frame.
    pub fn new(question: impl Into<String>) -> Request {
        Request {
            question: question.into(),
            limit: 6,
            offset: 0,
            scope: Scope::default(),
            lanes: Lane::DEFAULT.to_vec(),
            exact: false,
            also: Vec::new(),
            must: Vec::new(),
            like: Vec::new(),
            near: None,
            today: None,
            settings: SearchSettings::default(),
        }
    }
}
