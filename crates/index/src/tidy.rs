//! Keeping an index small: what is dead is written anew without it when there is much of it, and
//! files that no generation needs any more are removed.

use std::path::{Path, PathBuf};

use crate::IndexError;
use crate::failpoint::failpoint;
use crate::writer::Writer;

/// The catalogue is written anew when it has so many free pages (of 8 KiB) and they are so large a
/// share (one of [`FREE_SHARE`]) of all.
const MANY_FREE_PAGES: u64 = 512;
const FREE_SHARE: u64 = 4;

/// A write-ahead log of more bytes is emptied rather than only read back.
const LARGE_LOG: u64 = 16 * 1024 * 1024;

impl Writer {
    /// Joins segments where that pays, writes anew what holds much that is dead, and lets the
    /// write-ahead log flow back.
    pub(crate) fn tidy(&mut self) -> Result<(), IndexError> {
        self.merge_segments()?;
        self.compact_vectors()?;
        if self.has_many_free_pages()? {
            self.rewrite_catalogue()?;
        }
        failpoint("before-checkpoint")?;
        let log = self.layout.log().metadata().map_or(0, |m| m.len());
        // Readers may hold the log back; the next tidy tries again.
        match log > LARGE_LOG {
            true => drop(self.empty_log()),
            false => drop(
                self.connection
                    .query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())),
            ),
        }
        Ok(())
    }

    fn has_many_free_pages(&self) -> Result<bool, IndexError> {
        let number = |pragma: &str| {
            let read = |row: &rusqlite::Row<'_>| row.get::<_, u64>(0);
            let answer = self.connection.pragma_query_value(None, pragma, read);
            answer.map_err(|e| self.failed(e))
        };
        let (free, all) = (number("freelist_count")?, number("page_count")?);
        Ok(free >= MANY_FREE_PAGES && free * FREE_SHARE >= all)
    }

    /// Deletes files that no generation names, or that were given up two generations ago.
    pub(crate) fn remove_orphans(&self) -> Result<(), IndexError> {
        let generation = self.generation()? as i64;
        let read = || {
            let mut statement = self
                .connection
                .prepare("SELECT file FROM retired WHERE generation + 1 >= ?1")?;
            let rows = statement.query_map([generation], |row| row.get::<_, String>(0))?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        };
        let resting = read().map_err(|e| self.failed(e))?;
        self.remove_unnamed(&resting)?;
        self.connection
            .execute(
                "DELETE FROM retired WHERE generation + 1 < ?1",
                [generation],
            )
            .map_err(|e| self.failed(e))?;
        Ok(())
    }

    /// Deletes what this generation does not name, but for the segments in `resting`. Whether
    /// all of it is gone: some systems keep files that a reader has open.
    pub(crate) fn remove_unnamed(&self, resting: &[String]) -> Result<bool, IndexError> {
        let live = self.state.segments.iter().map(|s| format!("{}.lex", s.id));
        let named: Vec<String> = live.chain(resting.iter().cloned()).collect();
        let segments_gone = self.remove_others(&self.layout.segments(), &named)?;
        Ok(self.remove_unnamed_vectors()? && segments_gone)
    }

    /// Deletes the vectors of models that the catalogue does not know, and old places of others.
    pub(crate) fn remove_unnamed_vectors(&self) -> Result<bool, IndexError> {
        let read = || {
            let mut statement = self.connection.prepare("SELECT folder FROM models")?;
            let rows = statement.query_map([], |row| row.get::<_, String>(0))?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        };
        let named = read().map_err(|e| self.failed(e))?;
        self.remove_others(&self.layout.all_vectors(), &named)
    }

    /// Deletes everything in a folder but what is named. Whether that went well: Windows keeps files
    /// that a reader has mapped, and the next writer tries again.
    fn remove_others(&self, folder: &Path, named: &[String]) -> Result<bool, IndexError> {
        let Ok(entries) = std::fs::read_dir(folder) else {
            return Ok(true);
        };
        let is_named = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            named.iter().any(|known| *known == name)
        };
        let mut doomed: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        doomed.retain(|path| !is_named(path));
        if doomed.is_empty() {
            return Ok(true);
        }
        self.sync_log()?;
        let remove = |path: &PathBuf| match path.is_dir() {
            true => std::fs::remove_dir_all(path),
            false => std::fs::remove_file(path),
        };
        let left = doomed.iter().filter(|path| remove(path).is_err()).count();
        Ok(left == 0)
    }

    /// Waits until the disk has every commit. A commit alone does not wait, so that a power cut may
    /// undo the last ones; what an undone commit had given up must still be there then.
    fn sync_log(&self) -> Result<(), IndexError> {
        let path = self.layout.log();
        let file = std::fs::OpenOptions::new()
            .read(true)
            .write(true)
            .open(&path);
        match file.and_then(|file| file.sync_all()) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(IndexError::io(&path, error))
            }
            _ => Ok(()),
        }
    }
}
