//! What can go wrong when a device writes its files.

use std::io;
use std::path::{Path, PathBuf};

/// Why a device's files could not be brought up to date.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PortableError {
    /// The operating system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried: `write`, `remove`, `read`…
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A link or a file is where a folder of the vault should be.
    #[error("{} is not a folder of the vault; nothing is written through it", .0.display())]
    NotAFolder(PathBuf),
    /// The file with the device's name holds something else.
    #[error("{} does not hold the name of a device; delete it, and a new one is made", .0.display())]
    NoDevice(PathBuf),
    /// No file can hold vectors of this dimension.
    #[error("vectors of dimension {0} cannot be carried: 1 to {max} can", max = crate::MAX_DIMENSION)]
    UnsupportedDimension(usize),
    /// The model's name or fingerprint is longer than a file can say.
    #[error(
        "the name or the fingerprint of a model is longer than {} bytes",
        u16::MAX
    )]
    LongName,
}

impl PortableError {
    /// Wraps a system error of an action on a path.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io {
            action,
            path,
            source,
        }
    }
}
