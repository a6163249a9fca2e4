//! The index of one vault: notes in, one generation out.
//!
//! SQLite is the only commit point. Lexical segments and vector rows are files that are written
//! and synced before the transaction that publishes them, and never change afterwards; what a
//! crash leaves behind is removed by the next writer. [`Writer`] brings an index up to date with
//! a folder, [`Snapshot`] reads one generation of it, whole, whatever a writer does meanwhile.
//!
//! Nothing here ranks or knows what a question is.

mod accept;
mod batch;
mod candidates;
mod carried;
mod catalogue;
mod compact;
mod compare;
mod content;
mod date;
mod error;
mod evidence;
#[cfg(feature = "failpoints")]
pub mod failpoint;
#[cfg(not(feature = "failpoints"))]
mod failpoint;
mod heal;
mod known;
mod later;
mod layout;
mod links;
mod lock;
mod lookups;
mod merge;
mod model;
mod model_row;
mod neighbours;
mod passage_sum;
mod places;
mod prepare;
mod property;
mod purge;
mod record;
mod rest;
mod schema;
mod scope;
mod sealed;
mod settings;
mod snapshot;
mod state;
mod stored;
mod superseded;
mod tidy;
mod unread;
mod update;
mod verify;
mod whole;
mod writer;

pub use accept::known_filters;
pub use compare::{Changes, Differs};
pub use date::Date;
pub use error::IndexError;
pub use evidence::{
    Evidence, EvidenceClass, EvidenceRule, EvidenceRuleError, EvidenceRules, NoteFacts,
};
pub use known::Siblings;
pub use later::{Late, Taken, Waiting};
pub use layout::{Layout, Sizes};
pub use links::{LinkTarget, StoredLink};
pub use lock::{Lock, LockAttempt};
pub use neighbours::{Edge, NoteTag};
pub use places::NoteLabel;
pub use prepare::leaves_out;
pub use property::PropertyMatch;
pub use scope::Scope;
pub use settings::{FieldWeights, IndexSettings};
pub use snapshot::{NameKind, NoteName, Snapshot};
pub use stored::{ModelState, SkippedFile, StoredNote, StoredPassage, Totals, Warning};
pub use unread::{Unread, UnreadNote, UnreadNotes};
pub use update::{Observer, Quiet, Stage, UpdateReport};
pub use writer::Writer;

pub use lorewell_vectors::KnownVectors;
