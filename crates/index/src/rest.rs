//! A snapshot at rest: it keeps what it has open and holds no read transaction, so that a warm
//! process need not open the index for each question and no writer is held up meanwhile.

use std::fs;
use std::time::SystemTime;

use rusqlite::Connection;

use crate::{Layout, Snapshot, catalogue};

/// How a catalogue was at some instant. If nothing of it differs, nothing was committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    /// Counts commits of other connections, as this connection sees them.
    data_version: i64,
    generation: u64,
    /// The file itself: it may have been replaced by another.
    file: Option<(u64, u64, u64, SystemTime)>,
}

impl Mark {
    /// Begins the transaction's reading, if it has not begun.
    pub(crate) fn of(layout: &Layout, connection: &Connection) -> rusqlite::Result<Mark> {
        Ok(Mark {
            generation: catalogue::generation(connection)?,
            data_version: connection.pragma_query_value(None, "data_version", |row| row.get(0))?,
            file: file(layout),
        })
    }
}

/// Nothing where a file cannot be told from another.
#[cfg(unix)]
fn file(layout: &Layout) -> Option<(u64, u64, u64, SystemTime)> {
    use std::os::unix::fs::MetadataExt;
    let facts = fs::metadata(layout.catalogue()).ok()?;
    Some((
        facts.dev(),
        facts.ino(),
        facts.len(),
        facts.modified().ok()?,
    ))
}

#[cfg(not(unix))]
fn file(_: &Layout) -> Option<(u64, u64, u64, SystemTime)> {
    None
}

impl Snapshot {
    /// Lets go of the read transaction. Until [`Snapshot::wake`] it must not be asked anything.
    /// Whether it can rest; else it is of no more use.
    pub fn rest(&self) -> bool {
        self.mark.file.is_some() && self.connection.execute_batch("COMMIT").is_ok()
    }

    /// Takes a read transaction again. Whether it still shows the newest generation; else it is of
    /// no more use, and a new one must be opened.
    pub fn wake(&self) -> bool {
        let awake = self.connection.execute_batch("BEGIN").is_ok();
        awake && Mark::of(&self.layout, &self.connection).is_ok_and(|mark| mark == self.mark)
    }
}
