//! What can go wrong with a search.

use lorewell_index::IndexError;
use lorewell_lexical::SegmentError;

/// Why a search failed. A question, whatever it holds, is never the reason.
#[derive(Debug, thiserror::Error)]
pub enum RetrievalError {
    /// The index could not be read.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// A lexical segment is damaged.
    #[error("a lexical segment of the index is damaged: {0}")]
    Segment(#[from] SegmentError),
}
