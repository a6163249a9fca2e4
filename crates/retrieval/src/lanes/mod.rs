//! The lanes, one file each. A lane sees the question and the generation, and nothing of the
//! other lanes.

pub(crate) mod dense;
pub(crate) mod text;
pub(crate) mod title;

use lorewell_index::{IndexError, Scope, Snapshot};
use lorewell_lexical::Bitmap;
use lorewell_vectors::RowSet;

/// The passages that may be in the answer, where not all may.
pub(crate) struct Allowed {
    pub(crate) passages: Bitmap,
    pub(crate) rows: RowSet,
    pub(crate) notes: std::collections::HashSet<u32>,
}

impl Allowed {
    /// `None` where every passage may.
    pub(crate) fn of(snapshot: &Snapshot, scope: &Scope) -> Result<Option<Allowed>, IndexError> {
        let Some(notes) = snapshot.notes_in(scope)? else {
            return Ok(None);
        };
        let (passages, rows) = snapshot.passages_of_notes(&notes)?;
        Ok(Some(Allowed {
            passages,
            rows,
            notes,
        }))
    }
}
