//! A read-only memory map of the first bytes of a file.
#![expect(unsafe_code, reason = "a memory map is unsafe by nature")]

use std::fs::File;

/// Maps the first `len` bytes (at least one).
///
/// The file must be at least that long. A process that cuts the file below `len` while it is mapped
/// makes a later read end this process (a bus error): Lorewell's writer only ever cuts behind the
/// published rows, which is all that a reader maps.
pub(crate) fn map(file: &File, len: usize) -> std::io::Result<memmap2::Mmap> {
    // SAFETY: published rows are never written again nor cut off (see above), so the mapped bytes
    // do not change under the shared slice.
    unsafe { memmap2::MmapOptions::new().len(len).map(file) }
}
