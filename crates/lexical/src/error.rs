//! What can be wrong with a segment file.

use std::io;
use std::path::PathBuf;

/// Why a segment could not be opened or read. A segment is derived data: the remedy is always to
/// build it again.
#[derive(Debug, thiserror::Error)]
pub enum SegmentError {
    /// The file could not be opened or mapped.
    #[error("cannot open the lexical segment {path}: {source}")]
    Io {
        /// The segment's file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The file does not start with the magic bytes.
    #[error("{path} is not a lexical segment")]
    NotASegment {
        /// The segment's file.
        path: PathBuf,
    },
    /// The file has a format version that this program does not read.
    #[error(
        "the lexical segment {path} has format version {found}, and this program reads {supported}; use `lorewell rebuild`, or the program that wrote it"
    )]
    Version {
        /// The segment's file.
        path: PathBuf,
        /// The version in the file.
        found: u32,
        /// The version that this program reads.
        supported: u32,
    },
    /// The file is shorter or longer than its header says.
    #[error("the lexical segment {path} has {found} bytes instead of {expected}")]
    Length {
        /// The segment's file.
        path: PathBuf,
        /// Bytes that it should have.
        expected: u64,
        /// Bytes that it has.
        found: u64,
    },
    /// A checksum does not match, or the content contradicts itself.
    #[error("the lexical segment {path} is damaged ({what})")]
    Damaged {
        /// The segment's file.
        path: PathBuf,
        /// The part that is damaged.
        what: String,
    },
}
