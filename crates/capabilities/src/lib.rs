//! The one table of what Lorewell can do.
//!
//! Each ability is one type with its name, documentation, input, output and access class.
//! Surfaces iterate [`table`] and add presentation, never meaning: the same request gives the
//! same bytes everywhere. Names in the JSON are a contract that programs rely on.

mod aids;
mod answer_json;
mod capability;
mod context;
mod cursor;
mod desk;
mod failure;
mod filter;
mod input;
mod links;
mod read;
mod rebuild;
mod received;
mod related;
mod search;
mod sizes;
mod status;
mod verify;

pub use aids::AidInput;
pub use answer_json::{
    Explained, IndexJson, LaneJson, PassageJson, SearchOutput, SignalJson, WantedJson, rounded,
};
pub use capability::{Access, Capability, Entry, table};
pub use context::{
    BriefSourceJson, ContextInput, ContextOutput, ContextPack, ContextSourceJson, SourceJson,
};
pub use desk::{Desk, Listener};
pub use failure::{ErrorJson, Failure};
pub use filter::FilterInput;
pub use links::{BacklinkJson, Links, LinksInput, LinksOutput, OutgoingJson, TargetJson};
pub use read::{Read, ReadInput, ReadOutput};
pub use rebuild::{Rebuild, RebuildInput, RebuildOutput};
pub use received::{Received, received};
pub use related::{Related, RelatedInput, RelatedJson, RelatedOutput, RelatedSignalJson};
pub use search::{Search, SearchInput};
pub use status::{
    FileJson, ModelJson, PortableJson, Status, StatusInput, StatusOutput, WantedModelJson,
    WatcherJson,
};
pub use verify::{
    ClaimJson, DifferenceJson, PlaceJson, QuoteInput, SourceInput, SummaryJson, Verify,
    VerifyInput, VerifyOutput,
};
