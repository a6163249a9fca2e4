//! The façade: a [`Host`] keeps one vault's index up to date, a [`View`] answers from one
//! generation of it.
//!
//! Results are plain data in the user's words. This crate knows no JSON, no terminal, no
//! environment variables and no home folder: whoever opens a host hands these in.

mod error;
mod host;
mod note_text;
mod refresh;
mod status;
mod view;

pub use error::EngineError;
pub use host::{EngineSettings, Host};
pub use note_text::{NoteText, ReadRequest};
pub use refresh::{Freshness, Patience};
pub use status::{FileState, LeftOutFile, ModelStatus, Status, StatusRequest};
pub use view::View;

pub use lorewell_index::{
    Changes, FieldWeights, IndexError, IndexSettings, Observer, Quiet, Scope, Sizes, Stage,
    StoredNote, StoredPassage, Totals, UpdateReport, Warning,
};
pub use lorewell_markdown::Settings as PassageSettings;
pub use lorewell_retrieval::{
    Answer, AnswerPassage, Confidence, Contribution, Evidence, Fused, Fusion, Lane, LaneReport,
    LaneState, LaneWeights, Request, SearchSettings, Signal, TermScore,
};
pub use lorewell_vault::{RuleError, RuleSettings, Rules, VaultError};
