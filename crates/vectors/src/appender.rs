//! One file that is appended to: opened at its valid rows, what lies behind them cut off.

use std::{
    fs::{File, OpenOptions},
    io::{Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use crate::{
    VectorError,
    format::{HEADER_BYTES, Part},
};

/// Bytes kept in memory before they are handed to the operating system.
const BUFFER_BYTES: usize = 1 << 20;

/// One file and what is not yet written to it.
#[derive(Debug)]
pub(crate) struct Appender {
    pub(crate) path: PathBuf,
    pub(crate) file: File,
    pub(crate) buffer: Vec<u8>,
    /// Holds nothing worth keeping: empty, damaged or of another model, with no row published.
    start_anew: bool,
}

impl Appender {
    /// Opens one file and checks it, but changes nothing beyond making an empty one.
    ///
    /// # Errors
    /// When it is no such file, is of a newer format or holds fewer than `rows` rows.
    pub(crate) fn open(
        part: Part,
        dir: &Path,
        dimension: usize,
        rows: u64,
    ) -> Result<Self, VectorError> {
        let path = part.path(dir);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(rows == 0)
            .truncate(false)
            .open(&path)
            .map_err(VectorError::io("open", &path))?;
        let needed = part.file_bytes(dimension, rows);
        let found = file
            .metadata()
            .map_err(VectorError::io("read", &path))?
            .len();
        let start_anew = match check_file_header(part, &mut file, dimension, &path) {
            Ok(()) if found < needed && rows > 0 => {
                return Err(VectorError::TooShort {
                    path,
                    rows,
                    needed,
                    found,
                });
            }
            Ok(()) => found < needed,
            Err(VectorError::Header { .. } | VectorError::Dimension { .. }) if rows == 0 => true,
            Err(error) => return Err(error),
        };
        Ok(Self {
            path,
            file,
            buffer: Vec::new(),
            start_anew,
        })
    }

    /// Makes the file end with its last valid row, there to be appended to.
    pub(crate) fn settle(
        &mut self,
        part: Part,
        dimension: usize,
        rows: u64,
    ) -> Result<(), VectorError> {
        if self.start_anew {
            start_file(part, &mut self.file, dimension, &self.path)?;
        }
        let needed = part.file_bytes(dimension, rows);
        cut(&self.file, needed, &self.path)?;
        self.file
            .seek(SeekFrom::Start(needed))
            .map_err(VectorError::io("seek in", &self.path))?;
        Ok(())
    }

    /// Hands over what is kept in memory once it is much.
    pub(crate) fn flush_if_full(&mut self) -> Result<(), VectorError> {
        if self.buffer.len() >= BUFFER_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    pub(crate) fn flush(&mut self) -> Result<(), VectorError> {
        self.file
            .write_all(&self.buffer)
            .map_err(VectorError::io("write", &self.path))?;
        self.buffer.clear();
        Ok(())
    }

    pub(crate) fn sync(&self) -> Result<(), VectorError> {
        self.file
            .sync_all()
            .map_err(VectorError::io("sync", &self.path))
    }
}

/// Reads the header page and checks it; a file that ends within it has a damaged one.
fn check_file_header(
    part: Part,
    file: &mut File,
    dimension: usize,
    path: &Path,
) -> Result<(), VectorError> {
    let mut page = Vec::with_capacity(HEADER_BYTES as usize);
    file.take(HEADER_BYTES)
        .read_to_end(&mut page)
        .map_err(VectorError::io("read", path))?;
    part.check_header(&page, dimension, path)
}

/// Empties the file and writes its header.
fn start_file(
    part: Part,
    file: &mut File,
    dimension: usize,
    path: &Path,
) -> Result<(), VectorError> {
    file.set_len(0)
        .and_then(|()| file.rewind())
        .and_then(|()| file.write_all(&part.header(dimension)))
        .and_then(|()| file.sync_all())
        .map_err(VectorError::io("write", path))
}

/// Cuts off what lies behind the valid rows. Windows refuses while a reader maps the file; the rest
/// may stay then, since nobody reads it and later rows are written over it.
fn cut(file: &File, len: u64, path: &Path) -> Result<(), VectorError> {
    match file.set_len(len) {
        Err(_) if cfg!(windows) => Ok(()),
        result => result.map_err(VectorError::io("cut", path)),
    }
}
