//! A read-only memory map of a file.

use std::fs::File;

/// Maps a whole file, which must not be empty.
///
/// A process that cuts the file while it is mapped makes a later read end this process (a bus
/// error). Lorewell never changes a prepared model: it writes another file and renames it.
pub(crate) fn map(file: &File) -> std::io::Result<memmap2::Mmap> {
    // SAFETY: a prepared file is only ever replaced as a whole (see above), so the mapped bytes do
    // not change under the shared slice.
    unsafe { memmap2::MmapOptions::new().map(file) }
}

/// Bytes as floats, if they begin where a float may; what is left over is passed by.
pub(crate) fn floats(bytes: &[u8]) -> Option<&[f32]> {
    // SAFETY: every pattern of bits is a float, and `align_to` sees to the alignment. (Files are
    // little endian; a big endian machine is refused where models are opened.)
    let (before, floats, _) = unsafe { bytes.align_to::<f32>() };
    before.is_empty().then_some(floats)
}
