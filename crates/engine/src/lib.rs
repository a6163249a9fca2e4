//! The façade: a [`Host`] keeps one vault's index up to date, a [`View`] answers from one
//! generation of it.
//!
//! Results are plain data in the user's words. This crate knows no JSON, no terminal, no
//! environment variables and no home folder: whoever opens a host hands these in.

mod context;
mod deputy;
mod embedding;
mod embedding_turn;
mod error;
mod host;
mod link_desk;
mod links;
mod note_parts;
mod note_text;
mod place;
mod plugin_vectors;
mod portable;
mod refresh;
mod related;
mod sentence;
mod shelf;
mod status;
mod verify;
mod view;
mod watcher;

pub use context::{
    Context, ContextRequest, ContextSource, Counting, Tokens, TokensError, estimate,
};
pub use embedding::Embedding;
pub use error::EngineError;
pub use host::{EngineSettings, Host, ModelsByName};
pub use links::{
    Backlink, LinkMeaning, LinkOverview, LinkPlace, Listed, NoteLinks, NoteRef, OutgoingLink,
    PLACES_SHOWN, Piece, SharedTarget,
};
pub use note_parts::{NoteLink, NoteParts};
pub use note_text::{NoteText, ReadRequest};
pub use portable::{PortableStatus, PortableVectors};
pub use refresh::{Freshness, Patience};
pub use related::{RelatedEntry, RelatedNotes, RelatedQuestion};
pub use status::{EmbeddingStatus, FileState, LeftOutFile, ModelStatus, Status, StatusRequest};
pub use verify::{
    CitedPlace, CitedQuote, CitedSource, Elsewhere, FoundPlace, MAX_CLAIMS, Verdict, Verification,
    VerifiedClaim, VerifyRequest,
};
pub use view::View;
pub use watcher::{WATCHER_LOCK, Watcher, WatcherWay};

pub use lorewell_embed::{
    Cost, Embedded, Embedder, Fingerprint, FingerprintParts, PassageInput, Reranker, StaticModel,
};
pub use lorewell_index::{
    Changes, Evidence, EvidenceClass, EvidenceRule, EvidenceRuleError, EvidenceRules, FieldWeights,
    IndexError, IndexSettings, KnownVectors, Observer, PropertyMatch, Quiet, Scope, Sizes, Stage,
    StoredNote, StoredPassage, Totals, Unread, UnreadNote, UnreadNotes, UpdateReport, Warning,
};
pub use lorewell_markdown::Settings as PassageSettings;
pub use lorewell_portable::{
    CarriedSegment, DeviceId, Fault as CarriedFault, Inventory, Skipped as SkippedCarried,
};
pub use lorewell_quotes::{Change, Difference, Kind as ClaimKind, Part as DifferencePart, Wording};
pub use lorewell_retrieval::{
    Answer, AnswerPassage, Confidence, Contribution, Fused, Fusion, FusionInput, Lane, LaneReport,
    LaneState, LaneWeights, Likeness, Reading, RelatedPart, RelatedReason, RelatedSignal, Request,
    SearchSettings, Signal, Standing, TermScore, Voice, WantedModel, fuse,
};
pub use lorewell_vault::{FenceSettings, RuleError, RuleSettings, Rules, VaultError};
