//! Files that no generation needs any more.

use crate::IndexError;
use crate::failpoint::failpoint;
use crate::writer::Writer;

impl Writer {
    /// Joins segments where that pays, and lets the write-ahead log flow back.
    pub(crate) fn tidy(&mut self) -> Result<(), IndexError> {
        self.merge_segments()?;
        failpoint("before-checkpoint")?;
        // Readers may hold the log back; the next tidy tries again.
        let _ = self
            .connection
            .query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
        Ok(())
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
        let live: Vec<String> = self
            .state
            .segments
            .iter()
            .map(|s| format!("{}.lex", s.id))
            .collect();
        let Ok(entries) = std::fs::read_dir(self.layout.segments()) else {
            return Ok(());
        };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if !live.contains(&name) && !resting.contains(&name) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
        self.connection
            .execute(
                "DELETE FROM retired WHERE generation + 1 < ?1",
                [generation],
            )
            .map_err(|e| self.failed(e))?;
        Ok(())
    }
}
