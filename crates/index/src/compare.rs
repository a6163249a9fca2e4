//! What differs between the folder and the catalogue, by file stamps alone.
//!
//! Stamps (size, times, inode) only save work: a file whose stamp differs is read, and its
//! content hash decides whether it changed.

use std::collections::HashMap;

use lorewell_text::NotePath;
use lorewell_vault::{FileEntry, Listing};
use rusqlite::Connection;

/// The work that lies between the catalogue and the folder.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Files to read: new, or with another stamp than before.
    pub(crate) read: Vec<Candidate>,
    /// Catalogued notes whose file is gone.
    pub(crate) removed: Vec<(u32, NotePath)>,
    /// Skipped files that are gone.
    pub(crate) forgotten: Vec<String>,
}

/// A file to read, and the note it was before.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) entry: FileEntry,
    pub(crate) known: Option<Known>,
}

/// What the catalogue knows of a path.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) note: u32,
    pub(crate) content_hash: [u8; 32],
    /// It was read under other settings: what the catalogue holds of it is out of date even
    /// where its content is the same.
    pub(crate) outdated: bool,
}

/// The changed time of notes that were read under other settings. No file has it.
pub(crate) const OUTDATED: i64 = -2;

impl Changes {
    /// How many notes the index has not taken in yet.
    pub fn pending(&self) -> usize {
        self.read.len() + self.removed.len()
    }

    /// Whether the index has nothing to do.
    pub fn is_empty(&self) -> bool {
        self.pending() == 0 && self.forgotten.is_empty()
    }

    /// Whether the note at a path is new or changed.
    pub fn names(&self, path: &str) -> bool {
        self.read
            .iter()
            .any(|candidate| candidate.entry.path.as_str() == path)
    }

    /// Compares a listing with the catalogue.
    pub(crate) fn find(connection: &Connection, listing: &Listing) -> rusqlite::Result<Changes> {
        let mut stamps = read_stamps(connection)?;
        let mut skipped = read_skipped(connection)?;
        let mut changes = Changes::default();
        for entry in &listing.notes {
            let path = entry.path.as_str();
            let row = stamps.remove(path);
            let skip = skipped.remove(path);
            if entry.placeholder {
                continue;
            }
            let stamp = Stamp::of(entry);
            let unchanged = row.as_ref().map(|r| r.stamp) == Some(stamp)
                || (row.is_none() && skip == Some(stamp));
            if !unchanged {
                let known = row.map(StampedNote::known);
                changes.read.push(Candidate {
                    entry: entry.clone(),
                    known,
                });
            }
        }
        let hidden = |path: &str| {
            listing.unreadable.iter().any(|u| {
                path == u.path
                    || u.path.is_empty()
                    || path
                        .strip_prefix(&u.path)
                        .is_some_and(|r| r.starts_with('/'))
            })
        };
        changes.removed = stamps
            .into_iter()
            .filter(|(path, _)| !hidden(path))
            .map(|(path, row)| (row.note, NotePath::new(path)))
            .collect();
        changes.removed.sort_unstable_by(|a, b| a.1.cmp(&b.1));
        changes.forgotten = skipped.into_keys().filter(|path| !hidden(path)).collect();
        changes.forgotten.sort_unstable();
        Ok(changes)
    }
}

/// What is compared before a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    size: u64,
    modified_ns: i64,
    changed_ns: i64,
    inode: u64,
}

impl Stamp {
    fn of(entry: &FileEntry) -> Stamp {
        Stamp {
            size: entry.size,
            modified_ns: entry.modified_ns,
            changed_ns: entry.changed_ns,
            inode: entry.inode,
        }
    }
}

impl StampedNote {
    fn known(self) -> Known {
        let outdated = self.stamp.changed_ns == OUTDATED;
        Known {
            note: self.note,
            content_hash: self.content_hash,
            outdated,
        }
    }
}

struct StampedNote {
    note: u32,
    stamp: Stamp,
    content_hash: [u8; 32],
}

fn read_stamps(connection: &Connection) -> rusqlite::Result<HashMap<String, StampedNote>> {
    let mut statement = connection.prepare_cached(
        "SELECT path, size, modified_ns, changed_ns, inode, id, content_hash FROM notes",
    )?;
    let rows = statement.query_map([], |row| {
        let (path, stamp) = read_stamp(row)?;
        Ok((
            path,
            StampedNote {
                note: row.get(5)?,
                stamp,
                content_hash: row.get(6)?,
            },
        ))
    })?;
    rows.collect()
}

fn read_skipped(connection: &Connection) -> rusqlite::Result<HashMap<String, Stamp>> {
    let mut statement = connection
        .prepare_cached("SELECT path, size, modified_ns, changed_ns, inode FROM skipped")?;
    let rows = statement.query_map([], read_stamp)?;
    rows.collect()
}

fn read_stamp(row: &rusqlite::Row<'_>) -> rusqlite::Result<(String, Stamp)> {
    let stamp = Stamp {
        size: row.get(1)?,
        modified_ns: row.get(2)?,
        changed_ns: row.get(3)?,
        inode: row.get::<_, i64>(4)? as u64,
    };
    Ok((row.get(0)?, stamp))
}
