//! The bytes of a segment: a read-only memory map, or a vector. The one module with unsafe code.
#![expect(
    unsafe_code,
    reason = "mapping a file is unsafe, because another process could change it"
)]

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::path::Path;

/// Immutable bytes, mapped or owned.
pub(crate) enum Bytes {
    Mapped(memmap2::Mmap),
    Owned(Vec<u8>),
}

impl Bytes {
    /// Maps a file. An empty file, which cannot be mapped everywhere, is an empty vector.
    pub(crate) fn map(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        if file.metadata()?.len() == 0 {
            return Ok(Self::Owned(Vec::new()));
        }
        // SAFETY: segment files are written once under a name of their own, and afterwards only
        // ever removed, which leaves the map intact. All reading goes through bounds-checked slices
        // of plain bytes, so that even a file that somebody overwrites can only yield wrong
        // numbers. A file that somebody truncates while it is mapped can end the process (SIGBUS);
        // no memory map can prevent that.
        Ok(Self::Mapped(unsafe { memmap2::Mmap::map(&file)? }))
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Mapped(map) => map,
            Self::Owned(bytes) => bytes,
        }
    }
}
