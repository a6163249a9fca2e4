//! One question to one answer: lanes run over a generation of the index, fusion joins their
//! lists, and every passage of the answer can say why it is there.
//!
//! Nothing here changes an index or reads a note's file.

mod aids;
mod answer;
mod copies;
mod error;
mod exact;
mod fusion;
mod lane;
mod lanes;
mod listing;
mod literal;
mod must;
mod page;
mod phrases;
mod places;
mod present;
mod related;
mod request;
mod score;
mod second_look;
mod side_by_side;
mod standing;
mod walk;

pub use answer::{Answer, AnswerPassage, Confidence, Signal};
pub use error::RetrievalError;
pub use fusion::{Contribution, Fused, Fusion, FusionInput, KeptPlace, Voice, fuse};
pub use lane::{Lane, LaneReport, LaneState, WantedModel};
pub use lorewell_lexical::TermScore;
pub use related::{
    Finding, Ranked, Related, RelatedNote, RelatedPart, RelatedReason, RelatedRequest,
    RelatedSignal, RelatedWeights, rank, related,
};
pub use request::{LaneWeights, Likeness, NearNotes, Request, SearchSettings, Standing};
pub use score::Reading;
pub use walk::{search, search_with};
