//! Wiping the traces of excluded notes out of the files of an index.
//!
//! A note that goes leaves its words in a segment, its rows in a vector file and its text in free
//! pages of the catalogue, until those are written anew by themselves. After an exclusion that is
//! done at once. Readers that have the old files open keep them until they close them.

use std::time::Duration;

use lorewell_vectors::{RowSet, VectorReader, VectorWriter};
use rusqlite::{Connection, params};

use crate::failpoint::failpoint;
use crate::state::OpenSegment;
use crate::writer::{Writer, begin, insert_segment, sync_folder};
use crate::{IndexError, catalogue, schema};

/// A vector folder without dead rows, and where each row went.
struct Compacted {
    folder: String,
    vectors: VectorWriter,
    /// Old and new number of each row, ascending.
    moved: Vec<(u32, u32)>,
}

/// What is still to be done, as the catalogue notes it under [`MARK`].
const EVERYTHING: &str = "everything";
/// Only the log still holds something: a reader needed it.
const LOG: &str = "log";
const MARK: &str = "purge";

impl Writer {
    /// Wipes, if an exclusion asked for it. The mark stays until all is done, so that the next
    /// writer goes on where this one failed.
    pub(crate) fn purge(&mut self) -> Result<(), IndexError> {
        let mark = catalogue::meta(&self.connection, MARK).map_err(|e| self.failed(e))?;
        match mark.as_deref() {
            None => return Ok(()),
            Some(LOG) => {}
            Some(_) => {
                self.rewrite_files()?;
                failpoint("after-purge-commit")?;
                let files_gone = self.remove_unnamed(&[])?;
                self.rewrite_catalogue()?;
                failpoint("after-vacuum")?;
                if files_gone {
                    catalogue::set_meta(&self.connection, MARK, LOG).map_err(|e| self.failed(e))?;
                }
            }
        }
        if self.empty_log()? {
            self.connection
                .execute(
                    "DELETE FROM meta WHERE key = ?1 AND value = ?2",
                    [MARK, LOG],
                )
                .map_err(|e| self.failed(e))?;
        }
        Ok(())
    }

    /// Publishes segments and vectors without anything dead, and forgets other models.
    fn rewrite_files(&mut self) -> Result<(), IndexError> {
        self.forget_other_models()?;
        let is_dirty = |open: &OpenSegment| open.dead.count() > 0;
        let joined = self.write_live_passages()?;
        let compacted = self.write_live_rows()?;
        failpoint("after-purge-write")?;
        let folder = self.layout.folder().to_path_buf();
        let fail = |source| IndexError::sqlite(&folder, source);
        // The old files go next: the disk must have what names the new ones.
        let sync =
            |connection: &Connection, how| connection.pragma_update(None, "synchronous", how);
        sync(&self.connection, "FULL").map_err(fail)?;
        let transaction = begin(&mut self.connection).map_err(fail)?;
        for open in self.state.segments.iter().filter(|open| is_dirty(open)) {
            transaction
                .execute("DELETE FROM segments WHERE id = ?1", [open.id])
                .map_err(fail)?;
        }
        transaction
            .execute("DELETE FROM retired", [])
            .map_err(fail)?;
        if let Some(joined) = &joined {
            insert_segment(&transaction, joined).map_err(fail)?;
        }
        if let Some(compacted) = &compacted {
            let (folder, rows) = (&compacted.folder, compacted.moved.len() as u32);
            move_rows(&transaction, self.state.model_id(), &compacted.moved).map_err(fail)?;
            self.state
                .move_vectors(&transaction, folder, rows)
                .map_err(fail)?;
        }
        // No answer changes, so the generation stays.
        transaction.commit().map_err(fail)?;
        sync(&self.connection, "NORMAL").map_err(fail)?;
        self.state.segments.retain(|open| !is_dirty(open));
        self.state.segments.extend(joined);
        if let Some(compacted) = compacted {
            self.vectors = compacted.vectors;
        }
        Ok(())
    }

    /// One segment with what is alive in those that hold something dead.
    fn write_live_passages(&self) -> Result<Option<OpenSegment>, IndexError> {
        let dirty = || self.state.segments.iter().filter(|s| s.dead.count() > 0);
        if dirty().all(|s| s.alive() == 0) {
            return Ok(None);
        }
        let live: Vec<_> = dirty().map(OpenSegment::live).collect();
        let image = lorewell_lexical::merge(&live)
            .map_err(|e| IndexError::segment(self.layout.folder(), e))?;
        self.write_segment(&image).map(Some)
    }

    /// A fresh folder with the live rows; nothing if no row is dead. A row keeps its bytes: they
    /// are quantized by their own greatest value, which stays the same.
    fn write_live_rows(&self) -> Result<Option<Compacted>, IndexError> {
        let live: &RowSet = self.state.live_rows();
        let rows = self.state.published_rows();
        if u64::from(live.count()) == rows && u64::from(self.vectors.rows()) == rows {
            return Ok(None);
        }
        let fail = |source| IndexError::vectors(self.layout.folder(), source);
        let dimension = self.state.dimension();
        let old = self.layout.vectors(self.state.vector_folder());
        let reader = VectorReader::open(&old, dimension, rows).map_err(fail)?;
        let folder = self.fresh_folder();
        let place = self.layout.vectors(&folder);
        let mut vectors = VectorWriter::open(&place, dimension, 0).map_err(fail)?;
        let mut moved = Vec::with_capacity(live.count() as usize);
        for row in live.iter() {
            let key = reader.key(row).unwrap_or_default();
            moved.push((row, vectors.append(key, &reader.vector(row))));
        }
        vectors.sync().map_err(fail)?;
        let all = self.layout.all_vectors();
        sync_folder(&all).map_err(|source| IndexError::io(&all, source))?;
        Ok(Some(Compacted {
            folder,
            vectors,
            moved,
        }))
    }

    /// A name that no folder of vectors has.
    fn fresh_folder(&self) -> String {
        let stem = self.state.vector_folder();
        let stem = stem.split('-').next().unwrap_or(stem);
        let mut number = 1_u32;
        loop {
            let name = format!("{stem}-{number}");
            if !self.layout.vectors(&name).exists() {
                return name;
            }
            number += 1;
        }
    }

    /// Writes the catalogue anew, without free pages.
    fn rewrite_catalogue(&self) -> Result<(), IndexError> {
        self.connection
            .execute_batch("VACUUM")
            .map_err(|e| self.failed(e))
    }

    /// Empties the catalogue's log; false where a reader still needs it, which is not waited for.
    fn empty_log(&self) -> Result<bool, IndexError> {
        let empty_log = || -> rusqlite::Result<bool> {
            self.connection.busy_timeout(Duration::ZERO)?;
            let busy: i64 =
                self.connection
                    .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
            Ok(busy == 0)
        };
        let emptied = empty_log();
        schema::wait_when_busy(&self.connection)
            .and(emptied)
            .map_err(|e| self.failed(e))
    }
}

/// Whether an exclusion left traces that are still to be wiped.
pub(crate) fn is_wanted(connection: &Connection) -> rusqlite::Result<bool> {
    Ok(catalogue::meta(connection, MARK)?.is_some())
}

/// Asks for a purge, in the transaction that takes excluded notes out.
pub(crate) fn want(connection: &Connection) -> rusqlite::Result<()> {
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.as_nanos());
    catalogue::set_meta(connection, LAST_EXCLUSION, &now.to_string())?;
    catalogue::set_meta(connection, MARK, EVERYTHING)
}

/// Under which the catalogue keeps when a note was last excluded from it. It only tells two
/// exclusions apart.
pub(crate) const LAST_EXCLUSION: &str = "last_exclusion";

/// Gives the rows of a model their new numbers. In ascending order no two meet, for no row moves
/// up.
fn move_rows(connection: &Connection, model: i64, moved: &[(u32, u32)]) -> rusqlite::Result<()> {
    let mut update =
        connection.prepare_cached("UPDATE vectors SET row = ?3 WHERE model = ?1 AND row = ?2")?;
    for (old, new) in moved.iter().filter(|(old, new)| old != new) {
        update.execute(params![model, old, new])?;
    }
    Ok(())
}
