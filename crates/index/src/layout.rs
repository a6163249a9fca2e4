//! Where the files of an index lie.

use std::path::{Path, PathBuf};

use crate::IndexError;
use crate::failpoint::failpoint;

/// The folder of one vault's index and the names in it.
///
/// ```text
/// catalogue.sqlite    the commit point: catalogue, passages, live segments, valid vector rows
/// segments/17.lex     lexical segments, immutable
/// segments/17.damaged what is wrong with one, once a reader came upon it; its next writer makes
///                     the words again
/// vectors/<id>/       int8 rows of one model fingerprint, append-only
/// writer.lock         held by the process that writes
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    folder: PathBuf,
}

impl Layout {
    /// The layout of an index in `folder`, which need not exist yet.
    pub fn new(folder: impl Into<PathBuf>) -> Layout {
        Layout {
            folder: folder.into(),
        }
    }

    /// The index folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether there is an index to open.
    pub fn exists(&self) -> bool {
        self.catalogue().exists()
    }

    pub(crate) fn catalogue(&self) -> PathBuf {
        self.folder.join("catalogue.sqlite")
    }

    /// SQLite's write-ahead log of the catalogue.
    pub(crate) fn log(&self) -> PathBuf {
        self.folder.join("catalogue.sqlite-wal")
    }

    pub(crate) fn segments(&self) -> PathBuf {
        self.folder.join("segments")
    }

    pub(crate) fn segment(&self, id: i64) -> PathBuf {
        self.segments().join(format!("{id}.lex"))
    }

    /// Is there once a reader has found the segment damaged.
    pub(crate) fn mark_of_damage(&self, segment: i64) -> PathBuf {
        self.segments().join(format!("{segment}.damaged"))
    }

    /// Has the next who opens the index do without a segment whose body was found damaged, and its
    /// next writer find the words again in the notes. Without effect where the folder may not be
    /// written: then each comes upon the fault anew.
    pub(crate) fn mark_as_damaged(&self, segment: i64, error: &IndexError) {
        if let IndexError::Damaged { what, .. } = error {
            let _ = std::fs::write(self.mark_of_damage(segment), what);
        }
    }

    pub(crate) fn all_vectors(&self) -> PathBuf {
        self.folder.join("vectors")
    }

    pub(crate) fn vectors(&self, fingerprint_id: &str) -> PathBuf {
        self.all_vectors().join(fingerprint_id)
    }

    pub(crate) fn lock(&self) -> PathBuf {
        self.folder.join("writer.lock")
    }

    /// Removes the codes of all vectors: derived, and made anew by the next writer.
    ///
    /// # Errors
    /// They cannot be removed.
    pub fn forget_codes(&self) -> Result<(), IndexError> {
        let Ok(folders) = std::fs::read_dir(self.all_vectors()) else {
            return Ok(());
        };
        for folder in folders.flatten() {
            lorewell_vectors::forget_codes(&folder.path())
                .map_err(|error| IndexError::vectors(&self.folder, error))?;
        }
        Ok(())
    }

    /// Removes every file of the index but the lock, which the caller must hold.
    pub fn discard(&self) -> Result<(), IndexError> {
        let gone = |path: PathBuf, result: std::io::Result<()>| match result {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(IndexError::io(&path, error))
            }
            _ => Ok(()),
        };
        for name in [
            "catalogue.sqlite",
            "catalogue.sqlite-wal",
            "catalogue.sqlite-shm",
            "catalogue.sqlite-journal",
        ] {
            let path = self.folder.join(name);
            let result = std::fs::remove_file(&path);
            gone(path, result)?;
        }
        failpoint("discard-after-catalogue")?;
        let (segments, vectors) = (self.segments(), self.all_vectors());
        let result = std::fs::remove_dir_all(&segments);
        gone(segments, result)?;
        failpoint("discard-after-segments")?;
        let result = std::fs::remove_dir_all(&vectors);
        gone(vectors, result)
    }

    /// Bytes of all files of the index, and of its three parts.
    pub fn sizes(&self) -> Sizes {
        let catalogue = ["catalogue.sqlite", "catalogue.sqlite-wal"]
            .iter()
            .filter_map(|name| std::fs::metadata(self.folder.join(name)).ok())
            .map(|m| m.len())
            .sum();
        Sizes {
            catalogue,
            segments: folder_size(&self.segments()),
            vectors: folder_size(&self.all_vectors()),
        }
    }
}

/// How much room an index takes, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// The SQLite file and its write-ahead log.
    pub catalogue: u64,
    /// The lexical segments.
    pub segments: u64,
    /// The vector files of all models.
    pub vectors: u64,
}

fn folder_size(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return 0;
    };
    entries
        .flatten()
        .filter_map(|entry| entry.metadata().ok().map(|m| (entry.path(), m)))
        .map(|(path, m)| {
            if m.is_dir() {
                folder_size(&path)
            } else {
                m.len()
            }
        })
        .sum()
}
