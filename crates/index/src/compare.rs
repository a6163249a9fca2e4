//! What differs between the folder and the catalogue, by file stamps alone.
//!
//! Stamps (size, times, inode) only save work: a file whose stamp differs is read, and its
//! content hash decides whether it changed.

use std::cell::OnceCell;

use lorewell_text::NotePath;
use lorewell_vault::{FileEntry, Listing, ReadError};
use rusqlite::{Connection, Row};
use rustc_hash::FxHashMap;

use crate::sealed::{self, is_sealed};
use crate::unread::{Unread, UnreadNote, UnreadNotes};

/// The work that lies between the catalogue and the folder.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Files to read: new, or with another stamp than before.
    pub(crate) read: Vec<Candidate>,
    /// Catalogued notes whose file is gone.
    pub(crate) removed: Vec<(u32, NotePath)>,
    /// Skipped files that are gone.
    pub(crate) forgotten: Vec<String>,
    /// Notes of the index that cannot be read now.
    pub(crate) unread: UnreadNotes,
}

/// How a note differs from what the index holds of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Differs {
    /// The index has no note of this path.
    New,
    /// It has another content, or was read in another way.
    Changed,
    /// Its file is gone.
    Gone,
    /// It has another content, which cannot be read now.
    Unread(Unread),
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
    /// How many notes the index has not taken in yet and could.
    pub fn pending(&self) -> usize {
        self.read.len() + self.removed.len()
    }

    /// Notes of the index that cannot be read now. They are not pending.
    pub fn unread(&self) -> UnreadNotes {
        self.unread.clone()
    }

    /// Every note that differs from what the index holds, in the order of paths: those that are
    /// pending, and those of which it is known that they differ and that cannot be read now.
    pub fn differing(&self) -> Vec<(&str, Differs)> {
        let read = self.read.iter().map(|candidate| {
            let path = candidate.entry.path.as_str();
            match candidate.known {
                Some(_) => (path, Differs::Changed),
                None => (path, Differs::New),
            }
        });
        let gone = self.removed.iter();
        let gone = gone.map(|(_, path)| (path.as_str(), Differs::Gone));
        let unread = self.unread.iter();
        let unread = unread.filter(|note| note.differs == Some(true));
        let unread = unread.map(|note| (note.path.as_str(), Differs::Unread(note.why)));
        let mut all: Vec<_> = read.chain(gone).chain(unread).collect();
        all.sort_unstable_by_key(|(path, _)| *path);
        all
    }

    /// Whether the index has nothing to do.
    pub fn is_empty(&self) -> bool {
        self.pending() == 0 && self.forgotten.is_empty()
    }

    /// Drops the files whose content is the one that the catalogue has, although their stamp is
    /// another or was too young to be trusted. `hash` reads a file; only files with a catalogued
    /// note are read. Those that cannot be read now are not pending any more.
    pub fn settle(&mut self, hash: impl Fn(&NotePath) -> Result<[u8; 32], ReadError>) {
        let mut unread: Vec<UnreadNote> = self.unread.iter().cloned().collect();
        self.read.retain(|candidate| {
            let Some(known) = candidate.known.as_ref().filter(|known| !known.outdated) else {
                return true;
            };
            let path = &candidate.entry.path;
            match hash(path) {
                Ok(hash) => hash != known.content_hash,
                Err(error) => match why_unread(&error) {
                    Some(why) => {
                        unread.push(UnreadNote::of(path.as_str(), why, Some(true)));
                        false
                    }
                    None => true,
                },
            }
        });
        self.unread = UnreadNotes::new(unread);
    }

    /// Leaves new files out of the count that are left out themselves: they may not be named.
    pub fn drop_new(&mut self, is_left_out: impl Fn(&NotePath) -> bool) {
        self.read
            .retain(|candidate| candidate.known.is_some() || !is_left_out(&candidate.entry.path));
    }

    /// Leaves files that no note of the index comes from out of the count: what was not read may
    /// be something that must not be counted.
    pub fn keep_known(&mut self) {
        self.read.retain(|candidate| candidate.known.is_some());
    }

    /// Compares a listing with the catalogue. Rows are looked up in the listing as they come, for
    /// this runs before every answer.
    pub(crate) fn find(connection: &Connection, listing: &Listing) -> rusqlite::Result<Changes> {
        let mut changes = Changes::default();
        let listed = listing.notes.iter().enumerate();
        let places: FxHashMap<&str, usize> = listed.map(|(i, e)| (e.path.as_str(), i)).collect();
        let mut files: Vec<File> = vec![File::default(); listing.notes.len()];
        let mut unread = Vec::new();
        let mut notes = connection.prepare_cached(
            "SELECT path, size, modified_ns, changed_ns, inode, id, content_hash FROM notes",
        )?;
        let mut rows = notes.query([])?;
        while let Some(row) = rows.next()? {
            let path = row.get_ref(0)?.as_str()?;
            match places.get(path) {
                Some(place) if is_unchanged(row, &listing.notes[*place])? => {
                    files[*place].is_done = true;
                    if listing.notes[*place].placeholder {
                        unread.push(UnreadNote::of(path, Unread::NotLocal, Some(false)));
                    }
                }
                Some(place) => files[*place].known = Some(Known::read(row)?),
                None if listing.may_exist(path) => {
                    unread.push(UnreadNote::of(path, Unread::Unreadable, None));
                }
                None => changes.removed.push((row.get(5)?, NotePath::new(path))),
            }
        }
        let mut done = Vec::new();
        let mut skipped = connection
            .prepare_cached("SELECT path, size, modified_ns, changed_ns, inode FROM skipped")?;
        let mut rows = skipped.query([])?;
        let sealed = OnceCell::new();
        while let Some(row) = rows.next()? {
            let path = row.get_ref(0)?.as_str()?;
            let place = match is_sealed(path) {
                true => sealed
                    .get_or_init(|| sealed::places(listing, |place| !files[place].is_done))
                    .get(path),
                false => places.get(path),
            };
            match place {
                // A note that could not be read the last time is in both tables.
                Some(place) if is_unchanged(row, &listing.notes[*place])? => done.push(*place),
                Some(_) => {}
                // It may lie where nothing can be seen.
                None if is_sealed(path) && !listing.unreadable.is_empty() => {}
                None if listing.may_exist(path) => {}
                None => changes.forgotten.push(path.to_string()),
            }
        }
        for place in done {
            files[place].is_done = true;
        }
        for (entry, file) in listing.notes.iter().zip(&files) {
            let why = match (&file.known, entry.placeholder, file.is_done) {
                (None, ..) | (_, false, false) => continue,
                (_, true, _) => Unread::NotLocal,
                (_, false, true) => Unread::Unreadable,
            };
            unread.push(UnreadNote::of(entry.path.as_str(), why, Some(true)));
        }
        changes.unread = UnreadNotes::new(unread);
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

/// Why a note cannot be read, if an error says so of it: not where it is gone or changes, nor where
/// it is left out.
fn why_unread(error: &ReadError) -> Option<Unread> {
    match error {
        ReadError::Placeholder { .. } => Some(Unread::NotLocal),
        ReadError::NoPermission { .. } | ReadError::Io { .. } => Some(Unread::Unreadable),
        _ => None,
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
