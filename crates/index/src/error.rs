//! What can go wrong with an index on disk.

use std::io;
use std::path::{Path, PathBuf};

use lorewell_lexical::SegmentError;
use lorewell_vault::VaultError;
use lorewell_vectors::VectorError;

/// Why an index could not be opened, read or written.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// There is no index yet.
    #[error("there is no index of this vault in {}", .0.display())]
    Absent(PathBuf),
    /// The index was written by a newer version of the program.
    #[error("the index in {} has format {found}; this version knows formats up to {known}", .path.display())]
    Newer {
        /// The index folder.
        path: PathBuf,
        /// The format found there.
        found: u32,
        /// The newest format that this program knows.
        known: u32,
    },
    /// The index was written by an older version; it must be rebuilt before it can be read.
    #[error("the index in {} has the old format {found}; this version writes format {known}", .path.display())]
    Older {
        /// The index folder.
        path: PathBuf,
        /// The format found there.
        found: u32,
        /// The format that this program writes.
        known: u32,
    },
    /// A file of the index is not what was written.
    #[error("the index in {} is damaged: {what}", .path.display())]
    Damaged {
        /// The index folder.
        path: PathBuf,
        /// Which file, and how.
        what: String,
    },
    /// The disk has no room left.
    #[error("no room left on the disk that holds {}", .0.display())]
    DiskFull(PathBuf),
    /// The folder or one of its files may not be read or written.
    #[error("no permission for {}", .0.display())]
    NoPermission(PathBuf),
    /// There is a file where a folder is needed.
    #[error("{} is a file, or lies in one; the index needs a folder", .0.display())]
    NotAFolder(PathBuf),
    /// Another process is writing this index.
    #[error("another process is building the index in {}", .0.display())]
    Busy(PathBuf),
    /// Reading or writing a file failed otherwise.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The catalogue failed in a way that is neither damage nor a lack of room.
    #[error("the catalogue in {}: {source}", .path.display())]
    Catalogue {
        /// The index folder.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// The folder of notes could not be read.
    #[error(transparent)]
    Vault(#[from] VaultError),
}

impl IndexError {
    /// Sorts an input or output error by its cause.
    pub(crate) fn io(path: &Path, source: io::Error) -> IndexError {
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                IndexError::DiskFull(path.to_path_buf())
            }
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                IndexError::NoPermission(path.to_path_buf())
            }
            io::ErrorKind::NotADirectory => IndexError::NotAFolder(path.to_path_buf()),
            _ => IndexError::Io {
                path: path.to_path_buf(),
                source,
            },
        }
    }

    /// The same for a folder that was to be made: what exists there already is none.
    pub(crate) fn folder(path: &Path, source: io::Error) -> IndexError {
        match source.kind() {
            io::ErrorKind::AlreadyExists => IndexError::NotAFolder(path.to_path_buf()),
            _ => IndexError::io(path, source),
        }
    }

    /// Sorts a SQLite error by its cause. `folder` is the index folder.
    pub(crate) fn sqlite(folder: &Path, source: rusqlite::Error) -> IndexError {
        use rusqlite::ErrorCode as Code;
        let path = folder.to_path_buf();
        match source.sqlite_error_code() {
            Some(Code::DiskFull) => IndexError::DiskFull(path),
            // Of a log or a map that cannot grow, SQLite says only that it cannot be written.
            Some(Code::SystemIoFailure) if has_no_room(folder) => IndexError::DiskFull(path),
            Some(Code::ReadOnly | Code::PermissionDenied) => IndexError::NoPermission(path),
            Some(Code::DatabaseBusy | Code::DatabaseLocked) => IndexError::Busy(path),
            Some(Code::DatabaseCorrupt | Code::NotADatabase) => IndexError::Damaged {
                path,
                what: format!("catalogue.sqlite: {source}"),
            },
            _ if is_shape_error(&source) => IndexError::Damaged {
                path,
                what: format!("catalogue.sqlite: {source}"),
            },
            _ => IndexError::Catalogue { path, source },
        }
    }

    /// An error of a segment file: lack of permission is told apart from damage.
    pub(crate) fn segment(folder: &Path, source: SegmentError) -> IndexError {
        match source {
            SegmentError::Io { path, source } if source.kind() != io::ErrorKind::NotFound => {
                IndexError::io(&path, source)
            }
            other => IndexError::Damaged {
                path: folder.to_path_buf(),
                what: other.to_string(),
            },
        }
    }

    /// An error of a vector file: lack of room and permission are told apart from damage. Only
    /// folders are made there; files may exist.
    pub(crate) fn vectors(folder: &Path, source: VectorError) -> IndexError {
        match source {
            VectorError::Io { path, source, .. } if source.kind() != io::ErrorKind::NotFound => {
                IndexError::folder(&path, source)
            }
            other => IndexError::Damaged {
                path: folder.to_path_buf(),
                what: other.to_string(),
            },
        }
    }
}

/// Whether nothing more fits on the file system of a folder.
#[cfg(unix)]
pub(crate) fn has_no_room(folder: &Path) -> bool {
    const LITTLE: u64 = 1 << 20;
    rustix::fs::statvfs(folder)
        .is_ok_and(|system| system.f_bavail.saturating_mul(system.f_frsize) < LITTLE)
}

#[cfg(not(unix))]
pub(crate) fn has_no_room(_folder: &Path) -> bool {
    false
}

/// Rows or columns that are not as the schema says: the file was changed from outside.
fn is_shape_error(error: &rusqlite::Error) -> bool {
    use rusqlite::Error as E;
    matches!(
        error,
        E::FromSqlConversionFailure(..) | E::InvalidColumnType(..) | E::IntegralValueOutOfRange(..)
    ) || matches!(error, E::SqliteFailure(f, Some(message))
        if f.code == rusqlite::ErrorCode::Unknown && message.contains("no such"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_in_the_way_of_a_folder_is_what_exists_a_file() {
        let path = Path::new("segments/3.lex");
        let exists = || io::Error::from(io::ErrorKind::AlreadyExists);
        assert!(matches!(
            IndexError::io(path, exists()),
            IndexError::Io { .. }
        ));
        assert!(matches!(
            IndexError::folder(path, exists()),
            IndexError::NotAFolder(_)
        ));
    }
}
