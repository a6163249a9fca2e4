//! What can go wrong with vector files, said so that a person knows which file and what to do.

use std::{io, path::PathBuf};

/// Why vectors could not be opened, read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VectorError {
    /// The operating system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried: `open`, `write`, `sync`…
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The file is something else, or its header is damaged.
    #[error("{} is not a vector file or its header is damaged", path.display())]
    Header {
        /// The file.
        path: PathBuf,
    },
    /// A newer Lorewell wrote the file.
    #[error("{} has format version {found}, this program reads up to {known}; use a newer program or `lorewell rebuild`", path.display())]
    NewerVersion {
        /// The file.
        path: PathBuf,
        /// The version in its header.
        found: u32,
        /// The newest version that this program reads.
        known: u32,
    },
    /// The file holds vectors of another length.
    #[error("{} holds vectors of dimension {found}, wanted {expected}: it belongs to another model", path.display())]
    Dimension {
        /// The file.
        path: PathBuf,
        /// The dimension in its header.
        found: usize,
        /// The dimension asked for.
        expected: usize,
    },
    /// The file ends before the last published row.
    #[error("{} is {found} bytes long but {rows} rows need {needed}; it was cut off", path.display())]
    TooShort {
        /// The file.
        path: PathBuf,
        /// The published rows.
        rows: u64,
        /// The bytes that they need.
        needed: u64,
        /// The bytes that are there.
        found: u64,
    },
    /// No file can hold vectors of this dimension.
    #[error("vectors of dimension {dimension} are not supported: 1 to {max} are", max = crate::MAX_DIMENSION)]
    UnsupportedDimension {
        /// The dimension asked for.
        dimension: usize,
    },
    /// More rows than a row number can count.
    #[error("{} cannot hold {rows} rows: the limit is {}", path.display(), u32::MAX)]
    TooManyRows {
        /// The file.
        path: PathBuf,
        /// The rows asked for.
        rows: u64,
    },
    /// A vector handed to `append` cannot be stored.
    #[error("a vector appended to {} is unusable: {reason}", path.display())]
    UnusableVector {
        /// The file.
        path: PathBuf,
        /// Wrong length, or a number that is not finite.
        reason: String,
    },
    /// An earlier append or sync failed, so that what follows cannot be trusted.
    #[error("{} had a failed write earlier; open the writer again", path.display())]
    Poisoned {
        /// The file.
        path: PathBuf,
    },
    /// The bytes are not a row set.
    #[error("damaged row set: {reason}")]
    RowSet {
        /// What is wrong with it.
        reason: &'static str,
    },
}

impl VectorError {
    /// Wraps a system error of an action on a path.
    pub(crate) fn io(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io {
            action,
            path,
            source,
        }
    }
}
