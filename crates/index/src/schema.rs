//! The catalogue's tables, and opening the file that holds them.

use std::path::Path;
use std::time::Duration;

use lorewell_text::percent_encoded_path;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::error::has_no_room;
use crate::{IndexError, Layout};

/// The format of everything in an index folder. Counts up with every change that an older or
/// newer program could not read.
pub(crate) const FORMAT: u32 = 7;

const TABLES: &str = "
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE notes (
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE,
  size INTEGER NOT NULL, modified_ns INTEGER NOT NULL, changed_ns INTEGER NOT NULL, inode INTEGER NOT NULL,
  content_hash BLOB NOT NULL,
  encoding TEXT NOT NULL,
  title TEXT NOT NULL,
  date TEXT NOT NULL, date_source TEXT NOT NULL,
  evidence TEXT NOT NULL, evidence_rule TEXT NOT NULL,
  first_passage INTEGER NOT NULL, passages INTEGER NOT NULL,
  aliases TEXT NOT NULL, tags TEXT NOT NULL, properties TEXT NOT NULL);

-- The passages of a note bear consecutive numbers from its first_passage on.
CREATE TABLE passages (
  id INTEGER PRIMARY KEY,
  note INTEGER NOT NULL, ordinal INTEGER NOT NULL,
  byte_start INTEGER NOT NULL, byte_end INTEGER NOT NULL,
  line_first INTEGER NOT NULL, line_last INTEGER NOT NULL,
  heading_path TEXT NOT NULL,
  hidden TEXT NOT NULL,
  text TEXT NOT NULL,
  table_header TEXT NOT NULL,
  sum INTEGER NOT NULL);

CREATE INDEX notes_by_date ON notes (date);

CREATE TABLE names (key TEXT NOT NULL, note INTEGER NOT NULL, kind INTEGER NOT NULL, name TEXT NOT NULL,
  PRIMARY KEY (key, note, kind)) WITHOUT ROWID;
CREATE INDEX names_of_note ON names (note);

CREATE TABLE tags (key TEXT NOT NULL, note INTEGER NOT NULL, PRIMARY KEY (key, note)) WITHOUT ROWID;
CREATE INDEX tags_of_note ON tags (note);

CREATE TABLE links (
  note INTEGER NOT NULL, ordinal INTEGER NOT NULL,
  target_key TEXT NOT NULL, target TEXT NOT NULL, headings TEXT NOT NULL, block TEXT, label TEXT,
  kind INTEGER NOT NULL, embed INTEGER NOT NULL, byte_start INTEGER NOT NULL, byte_end INTEGER NOT NULL,
  PRIMARY KEY (note, ordinal)) WITHOUT ROWID;
CREATE INDEX links_to ON links (target_key);

CREATE TABLE warnings (note INTEGER NOT NULL, line INTEGER NOT NULL, message TEXT NOT NULL);
CREATE INDEX warnings_of_note ON warnings (note);

-- Files with the name of a note that were read and not taken in. The paths of excluded ones are
-- sealed.
CREATE TABLE skipped (
  path TEXT PRIMARY KEY,
  size INTEGER NOT NULL, modified_ns INTEGER NOT NULL, changed_ns INTEGER NOT NULL, inode INTEGER NOT NULL,
  code TEXT NOT NULL, reason TEXT NOT NULL, failed INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE segments (id INTEGER PRIMARY KEY, passages INTEGER NOT NULL, dead BLOB NOT NULL);

CREATE TABLE models (
  id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE, folder TEXT NOT NULL, model TEXT NOT NULL,
  dimension INTEGER NOT NULL, rows INTEGER NOT NULL, live BLOB NOT NULL,
  embedded INTEGER NOT NULL, outside INTEGER NOT NULL, waiting INTEGER NOT NULL);

CREATE TABLE vectors (model INTEGER NOT NULL, passage INTEGER NOT NULL, row INTEGER,
  PRIMARY KEY (model, passage)) WITHOUT ROWID;
CREATE INDEX vectors_by_row ON vectors (model, row) WHERE row IS NOT NULL;

-- Passages whose vector is still to come. The key is not known where the model came after the note.
CREATE TABLE waiting (model INTEGER NOT NULL, passage INTEGER NOT NULL, key BLOB,
  PRIMARY KEY (model, passage)) WITHOUT ROWID;
CREATE INDEX waiting_by_key ON waiting (model, key) WHERE key IS NOT NULL;

-- Texts that a model will not take. Passages with such a key go on waiting, and nobody asks.
CREATE TABLE refused (model INTEGER NOT NULL, key BLOB NOT NULL, reason TEXT NOT NULL,
  PRIMARY KEY (model, key)) WITHOUT ROWID;

CREATE TABLE retired (file TEXT PRIMARY KEY, generation INTEGER NOT NULL) WITHOUT ROWID;
";

/// The notes whose class of evidence stands behind the person's own words; an index has just these.
pub(crate) const LESSER: &str = "evidence IN ('clipping', 'generated', 'template')";

/// Finds the notes that were read under other settings (their changed time is
/// [`OUTDATED`](crate::compare::OUTDATED)) without a look at the others.
const OUTDATED_NOTES: &str =
    "CREATE INDEX IF NOT EXISTS outdated_notes ON notes (id) WHERE changed_ns = -2";

/// Opens the catalogue for writing, and makes it if it is not there.
pub(crate) fn open_for_writing(layout: &Layout) -> Result<Connection, IndexError> {
    let folder = layout.folder();
    let fail = |source| IndexError::sqlite(folder, source);
    let fresh = !layout.exists();
    let connection =
        Connection::open(layout.catalogue()).map_err(|source| opening(layout, source))?;
    configure(&connection).map_err(fail)?;
    // Passages are long; this counts only while the file is made.
    connection
        .pragma_update(None, "page_size", 8192)
        .map_err(fail)?;
    connection
        .pragma_update(None, "journal_mode", "WAL")
        .map_err(fail)?;
    connection
        .pragma_update(None, "synchronous", "NORMAL")
        .map_err(fail)?;
    connection
        .pragma_update(None, "secure_delete", "FAST")
        .map_err(fail)?;
    connection
        .pragma_update(None, "cache_size", -64 * 1024)
        .map_err(fail)?;
    if fresh || version(&connection).map_err(fail)? == 0 {
        create(&connection).map_err(fail)?;
    }
    check_format(folder, &connection)?;
    connection.execute_batch(OUTDATED_NOTES).map_err(fail)?;
    Ok(connection)
}

/// Opens the catalogue for reading; [`IndexError::Absent`] if there is none.
pub(crate) fn open_for_reading(layout: &Layout) -> Result<Connection, IndexError> {
    let folder = layout.folder();
    let there = layout.catalogue().try_exists();
    if !there.map_err(|source| IndexError::io(folder, source))? {
        return Err(IndexError::Absent(folder.to_path_buf()));
    }
    let fail = |source| IndexError::sqlite(folder, source);
    let connection = match open_read_only(layout) {
        Err(error) if was_never_made(&error) => {
            return Err(IndexError::Absent(folder.to_path_buf()));
        }
        opened => opened.map_err(|source| opening(layout, source))?,
    };
    let found = version(&connection).map_err(fail)?;
    if found == 0 {
        return Err(IndexError::Absent(folder.to_path_buf()));
    }
    check_format(folder, &connection)?;
    Ok(connection)
}

/// A rollback journal is there to be played back, which only a writer can do. The one change that
/// is written with such a journal is the first, by which the file takes its write-ahead log: its
/// writer was killed within it, before there was any table.
fn was_never_made(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error(), Some(cause)
        if cause.extended_code == rusqlite::ffi::SQLITE_READONLY_ROLLBACK)
}

/// In a folder that may not be written, or on a full disk, SQLite cannot make the files by which
/// readers and a writer find each other. If no log is there, nobody writes, and the file is whole
/// as it is; on a full disk the log may be one that a reader made, without anything in it.
fn open_read_only(layout: &Layout) -> rusqlite::Result<Connection> {
    let path = layout.catalogue();
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = |path: &Path, flags| -> rusqlite::Result<Connection> {
        let connection = Connection::open_with_flags(path, flags)?;
        configure(&connection)?;
        connection.pragma_update(None, "mmap_size", 256 * 1024 * 1024)?;
        version(&connection)?;
        Ok(connection)
    };
    let result = open(&path, flags);
    let cannot_share = matches!(&result, Err(error) if matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::CannotOpen | ErrorCode::SystemIoFailure)
    ));
    let log = match std::fs::metadata(path.with_extension("sqlite-wal")) {
        Ok(log) => log.len() > 0 || !has_no_room(layout.folder()),
        Err(_) => false,
    };
    if !cannot_share || log || std::fs::File::open(&path).is_err() {
        return result;
    }
    let file = percent_encoded_path(path.as_os_str().as_encoded_bytes());
    let uri = format!("file:{file}?immutable=1");
    open(Path::new(&uri), flags | OpenFlags::SQLITE_OPEN_URI)
}

/// The format version of the catalogue in a folder, read without any other check.
fn version(connection: &Connection) -> rusqlite::Result<u32> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Another process that holds the catalogue is waited for, though not for ever.
pub(crate) fn wait_when_busy(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(Duration::from_secs(10))
}

fn configure(connection: &Connection) -> rusqlite::Result<()> {
    wait_when_busy(connection)?;
    connection.set_prepared_statement_cache_capacity(64);
    connection.pragma_update(None, "temp_store", "MEMORY")
}

fn create(connection: &Connection) -> rusqlite::Result<()> {
    let transaction = connection.unchecked_transaction()?;
    transaction.execute_batch(TABLES)?;
    transaction.execute_batch(&format!(
        "CREATE INDEX lesser_notes ON notes (first_passage) WHERE {LESSER}"
    ))?;
    transaction.pragma_update(None, "user_version", FORMAT)?;
    transaction.commit()
}

fn check_format(folder: &Path, connection: &Connection) -> Result<(), IndexError> {
    let found = version(connection).map_err(|source| IndexError::sqlite(folder, source))?;
    let path = folder.to_path_buf();
    match found.cmp(&FORMAT) {
        std::cmp::Ordering::Equal => Ok(()),
        std::cmp::Ordering::Greater => Err(IndexError::Newer {
            path,
            found,
            known: FORMAT,
        }),
        std::cmp::Ordering::Less => Err(IndexError::Older {
            path,
            found,
            known: FORMAT,
        }),
    }
}

fn opening(layout: &Layout, source: rusqlite::Error) -> IndexError {
    if source.sqlite_error_code() == Some(ErrorCode::CannotOpen) {
        // SQLite does not tell why; the file system does.
        if let Err(cause) = std::fs::File::open(layout.catalogue()) {
            return IndexError::io(&layout.catalogue(), cause);
        }
    }
    IndexError::sqlite(layout.folder(), source)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What lies in the folder when the first writer is killed while the file takes its log: a
    /// file whose rollback journal was synced.
    fn killed_while_it_was_made() -> (tempfile::TempDir, Layout) {
        let folder = tempfile::tempdir().unwrap();
        let (made, left) = (folder.path().join("made"), folder.path().join("left"));
        std::fs::create_dir(&made).unwrap();
        std::fs::create_dir(&left).unwrap();
        let layout = Layout::new(left);
        let alive = Connection::open(made.join("catalogue.sqlite")).unwrap();
        alive
            .execute_batch("CREATE TABLE t (x); PRAGMA cache_size = 1; BEGIN; DROP TABLE t;")
            .unwrap();
        // More than the cache holds: the journal is synced and pages go to the file.
        alive
            .execute_batch("CREATE TABLE u (x); INSERT INTO u SELECT zeroblob(9000) FROM
                (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50) SELECT i FROM n)")
            .unwrap();
        for name in ["catalogue.sqlite", "catalogue.sqlite-journal"] {
            std::fs::copy(made.join(name), layout.folder().join(name)).unwrap();
        }
        (folder, layout)
    }

    #[test]
    fn a_writer_killed_while_it_made_the_file_leaves_no_index() {
        let (_folder, layout) = killed_while_it_was_made();
        let opened = open_for_reading(&layout);
        assert!(
            matches!(opened, Err(IndexError::Absent(_))),
            "{:?}",
            opened.err()
        );
        open_for_writing(&layout).unwrap();
        open_for_reading(&layout).unwrap();
    }
}
