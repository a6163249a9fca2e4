//! Codes: the sign of each number of a row, a bit each. The first look of a two-stage scan reads
//! them in place of the rows, an eighth of the bytes. They are derived from the rows, so that nothing
//! is lost where they are absent; the writer makes them once there are many rows.

use std::{fs::File, path::Path};

use crate::{
    VectorError,
    appender::Appender,
    format::{HEADER_BYTES, Part, code_words},
    map::map,
};

/// With fewer rows there are no codes: comparing every row is as fast (docs/evals/scan.md).
pub(crate) const CODES_FROM: u32 = 100_000;

/// The code of a row or of a question, as `codes.bin` holds it.
pub(crate) fn code_of(signs: impl Iterator<Item = bool>, dimension: usize) -> Vec<u64> {
    let mut words = vec![0; code_words(dimension)];
    for (place, below_zero) in signs.enumerate() {
        words[place / 64] |= u64::from(below_zero) << (place % 64);
    }
    words
}

/// The code of a row of bytes.
pub(crate) fn code_of_row(row: &[u8]) -> Vec<u64> {
    code_of(row.iter().map(|byte| byte.cast_signed() < 0), row.len())
}

/// Removes the codes of a folder; the next writer makes them anew. Readers keep what they have open.
///
/// # Errors
/// The operating system refuses.
pub fn forget_codes(dir: &Path) -> Result<(), VectorError> {
    let path = Part::Codes.path(dir);
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(VectorError::io("remove", &path)(error))
        }
        _ => Ok(()),
    }
}

/// Appends codes of rows that were written.
#[derive(Debug)]
pub(crate) struct CodesWriter {
    appender: Appender,
    rows: u32,
}

impl CodesWriter {
    /// Opens the codes of a folder and cuts off what lies behind its valid rows; none where the
    /// folder has no codes.
    ///
    /// # Errors
    /// The operating system refuses, or a newer program wrote the file.
    pub(crate) fn open(
        dir: &Path,
        dimension: usize,
        valid_rows: u64,
    ) -> Result<Option<Self>, VectorError> {
        let path = Part::Codes.path(dir);
        match path.metadata() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(VectorError::io("read", &path)(error)),
            Ok(found) => {
                let bytes = found.len().saturating_sub(HEADER_BYTES);
                let rows = bytes / Part::Codes.row_bytes(dimension) as u64;
                Self::at(dir, dimension, rows.min(valid_rows)).map(Some)
            }
        }
    }

    /// Makes the codes of a folder that has none.
    ///
    /// # Errors
    /// The operating system refuses.
    pub(crate) fn create(dir: &Path, dimension: usize) -> Result<Self, VectorError> {
        Self::at(dir, dimension, 0)
    }

    /// Opens the file at so many rows; one that is damaged is made anew from none.
    fn at(dir: &Path, dimension: usize, rows: u64) -> Result<Self, VectorError> {
        let (mut appender, rows) = match Appender::open(Part::Codes, dir, dimension, rows) {
            Err(VectorError::Header { .. } | VectorError::Dimension { .. }) => {
                (Appender::open(Part::Codes, dir, dimension, 0)?, 0)
            }
            opened => (opened?, rows),
        };
        appender.settle(Part::Codes, dimension, rows)?;
        Ok(Self {
            appender,
            rows: rows as u32,
        })
    }

    /// Makes the codes of rows `..rows`, all of which are written to `rows_file`, and waits until
    /// the disk has them.
    ///
    /// # Errors
    /// The operating system refuses. The codes that were published before stay good.
    pub(crate) fn catch_up(
        &mut self,
        rows_file: &Appender,
        dimension: usize,
        rows: u32,
    ) -> Result<(), VectorError> {
        if rows <= self.rows {
            return Ok(());
        }
        let bytes = written_rows(rows_file, dimension, rows)?;
        for row in bytes.chunks_exact(dimension).skip(self.rows as usize) {
            for word in code_of_row(row) {
                self.appender.buffer.extend_from_slice(&word.to_le_bytes());
            }
            self.appender.flush_if_full()?;
        }
        self.appender.flush()?;
        self.appender.sync()?;
        self.rows = rows;
        Ok(())
    }
}

/// The bytes of rows `..rows`, as the file has them.
fn written_rows(
    rows_file: &Appender,
    dimension: usize,
    rows: u32,
) -> Result<impl std::ops::Deref<Target = [u8]>, VectorError> {
    let path = &rows_file.path;
    let len = Part::Rows.file_bytes(dimension, u64::from(rows));
    let file = File::open(path).map_err(VectorError::io("open", path))?;
    let len = usize::try_from(len).map_err(|_| VectorError::TooManyRows {
        path: path.clone(),
        rows: u64::from(rows),
    })?;
    let map = map(&file, len).map_err(VectorError::io("map", path))?;
    Ok(Rows(map))
}

/// A map without the header page.
struct Rows(memmap2::Mmap);

impl std::ops::Deref for Rows {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.get(HEADER_BYTES as usize..).unwrap_or(&[])
    }
}
