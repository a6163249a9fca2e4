//! What differs between the folder and the catalogue, by file stamps alone.
//!
//! Stamps (size, times, inode) only save work: a file whose stamp differs is read, and its
//! content hash decides whether it changed.

use lorewell_text::NotePath;
use lorewell_vault::{FileEntry, Listing};
use rusqlite::{Connection, Row};
use rustc_hash::FxHashMap;

/// The work that lies between the catalogue and the folder.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Files to read: new, or with another stamp than before.
    pub(crate) read: Vec<Candidate>,
    /// Catalogued notes whose file is gone.
    pub(crate) removed: Vec<(u32, NotePath)>,
    /// Skipped files that are gone.
    pub(crate) forgotten: Vec<String>,
    /// Notes that cannot be read now.
    pub(crate) unreadable: Unreadable,
}

/// Notes of the index that cannot be read now, so that their last content stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unreadable {
    /// Those that differ from a file that was found unreadable, or is not on this machine.
    pub changed: usize,
    /// Those in folders that cannot be looked into; whether they differ is not known.
    pub unseen: usize,
}

/// A file to read, and the note it was before.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) entry: FileEntry,
    pub(crate) known: Option<Known>,
}

impl Candidate {
    /// Whether the catalogue has it as read in another way.
    pub(crate) fn is_outdated(&self) -> bool {
        self.known.as_ref().is_some_and(|known| known.outdated)
    }
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
/// The changed time of files that must be looked at again in any case. No file has it.
pub(crate) const UNSTAMPED: i64 = -1;

impl Changes {
    /// How many notes the index has not taken in yet.
    pub fn pending(&self) -> usize {
        self.read.len() + self.removed.len()
    }

    /// Notes of the index that cannot be read now. They are not pending.
    pub fn unreadable(&self) -> Unreadable {
        self.unreadable
    }

    /// Whether the index has nothing to do.
    pub fn is_empty(&self) -> bool {
        self.pending() == 0 && self.forgotten.is_empty()
    }

    /// Drops the files whose content is the one that the catalogue has, although their stamp is
    /// another or was too young to be trusted. `hash` reads a file; only files with a catalogued
    /// note are read.
    pub fn settle(&mut self, hash: impl Fn(&NotePath) -> Option<[u8; 32]>) {
        self.read.retain(|candidate| match &candidate.known {
            Some(known) if !known.outdated => {
                hash(&candidate.entry.path) != Some(known.content_hash)
            }
            _ => true,
        });
    }

    /// Leaves files that no note of the index comes from out of the count: what was not read may
    /// be something that must not be counted.
    pub fn keep_known(&mut self) {
        self.read.retain(|candidate| candidate.known.is_some());
    }

    /// Whether the note at a path is new or changed.
    pub fn names(&self, path: &str) -> bool {
        self.read
            .iter()
            .any(|candidate| candidate.entry.path.as_str() == path)
    }

    /// Compares a listing with the catalogue. Rows are looked up in the listing as they come, for
    /// this runs before every answer.
    pub(crate) fn find(connection: &Connection, listing: &Listing) -> rusqlite::Result<Changes> {
        let mut changes = Changes::default();
        let listed = listing.notes.iter().enumerate();
        let places: FxHashMap<&str, usize> = listed.map(|(i, e)| (e.path.as_str(), i)).collect();
        let mut files: Vec<File> = vec![File::default(); listing.notes.len()];
        let mut notes = connection.prepare_cached(
            "SELECT path, size, modified_ns, changed_ns, inode, id, content_hash FROM notes",
        )?;
        let mut rows = notes.query([])?;
        while let Some(row) = rows.next()? {
            let path = row.get_ref(0)?.as_str()?;
            match places.get(path) {
                Some(place) if is_unchanged(row, &listing.notes[*place])? => {
                    files[*place].is_done = true;
                }
                Some(place) => files[*place].known = Some(Known::read(row)?),
                None if listing.may_exist(path) => changes.unreadable.unseen += 1,
                None => changes.removed.push((row.get(5)?, NotePath::new(path))),
            }
        }
        let mut skipped = connection
            .prepare_cached("SELECT path, size, modified_ns, changed_ns, inode FROM skipped")?;
        let mut rows = skipped.query([])?;
        while let Some(row) = rows.next()? {
            let path = row.get_ref(0)?.as_str()?;
            match places.get(path) {
                // A note that could not be read the last time is in both tables.
                Some(place) => {
                    files[*place].is_done |= is_unchanged(row, &listing.notes[*place])?;
                }
                None if listing.may_exist(path) => {}
                None => changes.forgotten.push(path.to_string()),
            }
        }
        let is_unreadable = |(entry, file): &(&FileEntry, &File)| {
            file.known.is_some() && (file.is_done || entry.placeholder)
        };
        changes.unreadable.changed = listing
            .notes
            .iter()
            .zip(&files)
            .filter(is_unreadable)
            .count();
        let pairs = listing.notes.iter().zip(files);
        let to_read = pairs.filter(|(entry, file)| !file.is_done && !entry.placeholder);
        changes.read = to_read
            .map(|(entry, file)| Candidate {
                entry: entry.clone(),
                known: file.known,
            })
            .collect();
        changes.removed.sort_unstable_by(|a, b| a.1.cmp(&b.1));
        changes.forgotten.sort_unstable();
        Ok(changes)
    }
}

/// What the catalogue has of a listed file.
#[derive(Clone, Default)]
struct File {
    is_done: bool,
    known: Option<Known>,
}

/// Whether a row bears the stamp of a file: what is compared before the file is opened.
fn is_unchanged(row: &Row<'_>, entry: &FileEntry) -> rusqlite::Result<bool> {
    Ok(row.get::<_, u64>(1)? == entry.size
        && row.get::<_, i64>(2)? == entry.modified_ns
        && row.get::<_, i64>(3)? == entry.changed_ns
        && row.get::<_, i64>(4)? == entry.inode as i64)
}

impl Known {
    fn read(row: &Row<'_>) -> rusqlite::Result<Known> {
        Ok(Known {
            note: row.get(5)?,
            content_hash: row.get(6)?,
            outdated: row.get::<_, i64>(3)? == OUTDATED,
        })
    }
}
