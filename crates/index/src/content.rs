//! Notes by their content: which note holds it now, whatever its path was.

use crate::{IndexError, Snapshot, StoredNote};

impl Snapshot {
    /// The notes with this BLAKE3 hash of their bytes, by path.
    ///
    /// # Errors
    /// The catalogue cannot be read.
    pub fn notes_with_content(&self, hash: &[u8; 32]) -> Result<Vec<StoredNote>, IndexError> {
        let ids: Vec<u32> = self.query(
            "SELECT id FROM notes WHERE content_hash = ?1 ORDER BY path",
            [hash],
            |row| row.get(0),
        )?;
        let notes = ids.into_iter().map(|id| self.note(id));
        notes.filter_map(Result::transpose).collect()
    }
}
