//! What was embedded before: nothing is embedded twice.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use lorewell_vectors::{Key, KeyIndex, KnownVectors, RowSet, VectorReader};
use rusqlite::{Connection, OptionalExtension};

use crate::state::row_set;
use crate::{IndexError, Layout, schema};

/// Where a vector may be known from. The index's own rows come first, dead ones included, so that
/// an edit that is undone costs nothing; then the other places, in their order.
pub(crate) struct Sources<'a> {
    fingerprint: &'a str,
    own: Arc<KeyIndex>,
    refused: HashSet<Key>,
    elsewhere: Vec<&'a dyn KnownVectors>,
}

/// What is known of a text.
pub(crate) enum Found {
    /// The index has a row of it.
    Own,
    /// Another place has its vector.
    Vector(Vec<f32>),
    /// The model did not take it.
    Refused,
}

impl<'a> Sources<'a> {
    pub(crate) fn new(
        fingerprint: &'a str,
        own: Arc<KeyIndex>,
        refused: HashSet<Key>,
        elsewhere: Vec<&'a dyn KnownVectors>,
    ) -> Sources<'a> {
        Sources {
            fingerprint,
            own,
            refused,
            elsewhere,
        }
    }

    pub(crate) fn find(&self, key: &Key) -> Option<Found> {
        if self.own.get(key).is_some() {
            return Some(Found::Own);
        }
        if self.refused.contains(key) {
            return Some(Found::Refused);
        }
        self.elsewhere
            .iter()
            .find_map(|place| place.vector(self.fingerprint, key))
            .map(Found::Vector)
    }
}

/// The texts that a model did not take.
pub(crate) fn refused(connection: &Connection, model: i64) -> rusqlite::Result<HashSet<Key>> {
    connection
        .prepare_cached("SELECT key FROM refused WHERE model = ?1")?
        .query_map([model], |row| row.get(0))?
        .collect()
}

/// The other indexes below one folder, as a place of known vectors: a second vault with the same
/// text. They are only read, and only what is part of their newest generation, so that a text that
/// one of them has excluded is not found there.
///
/// They are opened when the first vector is asked for, and stay as they were then.
pub struct Siblings {
    root: PathBuf,
    own: PathBuf,
    fingerprint: String,
    opened: OnceLock<Vec<Sibling>>,
}

struct Sibling {
    reader: VectorReader,
    live: RowSet,
    keys: KeyIndex,
}

impl Siblings {
    /// The indexes in folders of `root`, but for that of `own`, with vectors of `fingerprint`.
    pub fn new(root: &Path, own: &Layout, fingerprint: &str) -> Siblings {
        Siblings {
            root: root.to_path_buf(),
            own: own.folder().to_path_buf(),
            fingerprint: fingerprint.to_string(),
            opened: OnceLock::new(),
        }
    }

    fn open(&self) -> Vec<Sibling> {
        let Ok(entries) = std::fs::read_dir(&self.root) else {
            return Vec::new();
        };
        let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        folders.retain(|folder| *folder != self.own);
        folders.sort_unstable();
        let layouts = folders.into_iter().map(Layout::new);
        layouts
            .filter(Layout::exists)
            .filter_map(|layout| Sibling::open(&layout, &self.fingerprint).ok().flatten())
            .collect()
    }
}

impl KnownVectors for Siblings {
    fn vector(&self, fingerprint: &str, key: &Key) -> Option<Vec<f32>> {
        if fingerprint != self.fingerprint {
            return None;
        }
        let opened = self.opened.get_or_init(|| self.open());
        opened.iter().find_map(|sibling| sibling.vector(key))
    }
}

impl Sibling {
    fn open(layout: &Layout, fingerprint: &str) -> Result<Option<Sibling>, IndexError> {
        let connection = schema::open_for_reading(layout)?;
        let found = connection
            .query_row(
                "SELECT folder, dimension, rows, live FROM models WHERE fingerprint = ?1",
                [fingerprint],
                |row| {
                    Ok((
                        row.get::<_, String>(0)?,
                        row.get::<_, i64>(1)? as usize,
                        row.get::<_, u64>(2)?,
                        row.get::<_, Vec<u8>>(3)?,
                    ))
                },
            )
            .optional()
            .map_err(|source| IndexError::sqlite(layout.folder(), source))?;
        let Some((folder, dimension, rows, live)) = found else {
            return Ok(None);
        };
        if rows == 0 {
            return Ok(None);
        }
        let reader = VectorReader::open(&layout.vectors(&folder), dimension, rows)
            .map_err(|source| IndexError::vectors(layout.folder(), source))?;
        Ok(Some(Sibling {
            live: row_set(layout, &live)?,
            keys: KeyIndex::of(&reader),
            reader,
        }))
    }

    fn vector(&self, key: &Key) -> Option<Vec<f32>> {
        let row = self.keys.get(key)?;
        let usable = self.live.contains(row) && self.reader.is_intact(row);
        usable.then(|| self.reader.vector(row))
    }
}
