//! Wiping the traces of excluded notes out of the files of an index.
//!
//! A note that goes leaves its words in a segment, its rows in a vector file and its text in free
//! pages of the catalogue, until those are written anew by themselves. After an exclusion that is
//! done at once. Readers that have the old files open keep them until they close them.

use std::time::Duration;

use rusqlite::Connection;

use crate::failpoint::failpoint;
use crate::state::OpenSegment;
use crate::writer::{Writer, begin, insert_segment};
use crate::{IndexError, catalogue, compact, schema};

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

    /// Publishes segments and vectors without anything dead.
    fn rewrite_files(&mut self) -> Result<(), IndexError> {
        let is_dirty = |open: &OpenSegment| open.dead.count() > 0;
        let joined = self.write_live_passages()?;
        let compacted = self.write_live_rows(|_| true)?;
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
        compact::name(&transaction, &mut self.state.model, &compacted).map_err(fail)?;
        for other in &mut self.state.others {
            compact::name(&transaction, other, &compacted).map_err(fail)?;
        }
        // The key of a text that is gone could tell that it was there.
        transaction
            .execute_batch(
                "DELETE FROM refused WHERE NOT EXISTS
                 (SELECT 1 FROM waiting w WHERE w.model = refused.model AND w.key = refused.key)",
            )
            .map_err(fail)?;
        // No answer changes, so the generation stays.
        transaction.commit().map_err(fail)?;
        sync(&self.connection, "NORMAL").map_err(fail)?;
        self.state.segments.retain(|open| !is_dirty(open));
        self.state.segments.extend(joined);
        self.take_over(compacted);
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

    /// Writes the catalogue anew, without free pages.
    pub(crate) fn rewrite_catalogue(&self) -> Result<(), IndexError> {
        self.connection
            .execute_batch("VACUUM")
            .map_err(|e| self.failed(e))
    }

    /// Empties the catalogue's log; false where a reader still needs it, which is not waited for.
    pub(crate) fn empty_log(&self) -> Result<bool, IndexError> {
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
