//! One question to one answer: lanes run over a generation of the index, fusion joins their
//! lists, and every passage of the answer can say why it is there.
//!
//! Nothing here changes an index or reads a note's file.

mod answer;
mod copies;
mod error;
mod exact;
mod fusion;
mod lane;
mod lanes;
mod page;
mod request;
mod score;
mod walk;

pub use answer::{Answer, AnswerPassage, Confidence, Evidence, Signal};
pub use error::RetrievalError;
pub use fusion::{Contribution, Fused, Fusion, FusionInput, fuse};
pub use lane::{Lane, LaneReport, LaneState};
pub use lorewell_lexical::TermScore;
pub use request::{LaneWeights, Request, SearchSettings};
pub use walk::search;
