//! Where something stands, and what notes are called: short looks into the catalogue.

use rusqlite::OptionalExtension;

use crate::snapshot::read_passage;
use crate::{IndexError, Snapshot, StoredPassage};

/// A note as lists show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteLabel {
    /// The note's number.
    pub id: u32,
    /// Its path in the vault.
    pub path: String,
    /// The `title` property, else the file name.
    pub title: String,
}

impl Snapshot {
    /// Every note, by path.
    ///
    /// # Errors
    /// Only if the index cannot be read; so for all that follow.
    pub fn labels(&self) -> Result<Vec<NoteLabel>, IndexError> {
        let sql = "SELECT id, path, title FROM notes ORDER BY path";
        self.query(sql, [], |row| {
            Ok(NoteLabel {
                id: row.get(0)?,
                path: row.get(1)?,
                title: row.get(2)?,
            })
        })
    }

    /// The first passage of a note that holds a byte of its file; none for bytes that are in no
    /// passage, such as those of the properties.
    pub fn passage_at(&self, note: u32, byte: u64) -> Result<Option<StoredPassage>, IndexError> {
        let read = || {
            self.connection
                .prepare_cached(
                    "SELECT p.* FROM notes n
                     JOIN passages p ON p.id >= n.first_passage AND p.id < n.first_passage + n.passages
                     WHERE n.id = ?1 AND p.byte_start <= ?2 AND p.byte_end > ?2
                     ORDER BY p.ordinal LIMIT 1",
                )?
                .query_row((note, byte as i64), read_passage)
                .optional()
        };
        let found = read().map_err(|e| self.failed(e))?;
        Ok(self.if_sound(found))
    }
}
