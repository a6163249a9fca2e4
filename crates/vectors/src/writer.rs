//! The one writer of a folder of vectors.

use std::{
    collections::HashMap,
    fs::File,
    io::{Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    sync::Arc,
};

use rustc_hash::FxBuildHasher;

use crate::{
    Key, VectorError, VectorReader,
    appender::Appender,
    codes::{CODES_FROM, CodesWriter},
    format::{HEADER_BYTES, KEY_BYTES, KeyEntry, Part, check_limits},
    quantize::QuantizedRow,
};

/// Appends rows. There may be only one writer of a folder at a time; the caller holds the lock.
///
/// Nothing that was appended counts before [`sync`](Self::sync) has returned `Ok` and the caller has
/// published the new row count. A trouble in [`append`](Self::append) is told by the next `sync`.
#[derive(Debug)]
pub struct VectorWriter {
    dimension: usize,
    rows: u32,
    rows_file: Appender,
    keys_file: Appender,
    /// Codes, if the folder has them.
    codes: Option<CodesWriter>,
    dir: PathBuf,
    keys: Arc<KeyIndex>,
    /// What went wrong in an append.
    trouble: Option<VectorError>,
    poisoned: bool,
}

/// Which row holds what was embedded under a key.
#[derive(Debug, Default, Clone)]
pub struct KeyIndex {
    rows: HashMap<Key, u32, FxBuildHasher>,
}

impl VectorWriter {
    /// Opens the folder at its first `valid_rows` rows and cuts off what lies behind them. Makes
    /// folder and files when they are absent and `valid_rows` is 0.
    ///
    /// # Errors
    /// When the files are not vector files of this dimension, are of a newer format or hold fewer
    /// than `valid_rows` rows; when the operating system refuses. With `valid_rows` 0 there is
    /// nothing to lose: files that are damaged or of another dimension are made anew.
    pub fn open(dir: &Path, dimension: usize, valid_rows: u64) -> Result<Self, VectorError> {
        check_limits(dir, dimension, valid_rows)?;
        std::fs::create_dir_all(dir).map_err(VectorError::io("create", dir))?;
        let mut rows_file = Appender::open(Part::Rows, dir, dimension, valid_rows)?;
        let mut keys_file = Appender::open(Part::Keys, dir, dimension, valid_rows)?;
        // Nothing is changed before both files have passed.
        rows_file.settle(Part::Rows, dimension, valid_rows)?;
        keys_file.settle(Part::Keys, dimension, valid_rows)?;
        let codes = CodesWriter::open(dir, dimension, valid_rows)?;
        sync_folder(dir)?;
        let keys = KeyIndex::read(&mut keys_file, valid_rows)?;
        Ok(Self {
            dimension,
            rows: valid_rows as u32,
            rows_file,
            keys_file,
            codes,
            dir: dir.to_path_buf(),
            keys: Arc::new(keys),
            trouble: None,
            poisoned: false,
        })
    }

    /// Appends a vector (of any length but zero; only its direction is kept) and returns its row.
    ///
    /// A vector of another dimension or with a number that is not finite is stored as zeros, and the
    /// next [`sync`](Self::sync) fails. A zero vector is stored and is like nothing.
    pub fn append(&mut self, key: Key, vector: &[f32]) -> u32 {
        let row = self.rows;
        let Some(next) = row.checked_add(1) else {
            self.note(VectorError::TooManyRows {
                path: self.rows_file.path.clone(),
                rows: u64::from(row) + 1,
            });
            return row;
        };
        let quantized = if let Some(reason) = self.fault_of(vector) {
            self.note(VectorError::UnusableVector {
                path: self.rows_file.path.clone(),
                reason,
            });
            QuantizedRow::new(&vec![0.0; self.dimension])
        } else {
            QuantizedRow::new(vector)
        };
        KeyEntry::new(key, quantized.scale, &quantized.bytes).write(&mut self.keys_file.buffer);
        self.rows_file.buffer.extend_from_slice(&quantized.bytes);
        self.rows = next;
        Arc::make_mut(&mut self.keys).rows.insert(key, row);
        let handed = self.rows_file.flush_if_full();
        if let Err(error) = handed.and_then(|()| self.keys_file.flush_if_full()) {
            self.note(error);
        }
        row
    }

    /// How many rows there are, with those not yet synced.
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// Which keys have a row, dead ones included. Of rows with one key the last counts. A clone of
    /// it stays as it is while more is appended.
    pub fn keys(&self) -> &Arc<KeyIndex> {
        &self.keys
    }

    /// Writes everything and waits until the disk has it. Only then may the row count be published.
    ///
    /// # Errors
    /// When this or an earlier write failed, or an appended vector was unusable. The writer is of no
    /// use then: drop it and open it again at the last published row count.
    pub fn sync(&mut self) -> Result<(), VectorError> {
        if let Some(error) = self.trouble.take() {
            return Err(error);
        }
        if self.poisoned {
            return Err(VectorError::Poisoned {
                path: self.rows_file.path.clone(),
            });
        }
        let result = self
            .flush()
            .and_then(|()| self.rows_file.sync())
            .and_then(|()| self.keys_file.sync())
            .and_then(|()| self.keep_codes());
        self.poisoned = result.is_err();
        result
    }

    /// Makes the codes of new rows, where there are many rows.
    fn keep_codes(&mut self) -> Result<(), VectorError> {
        if self.codes.is_none() && self.rows >= CODES_FROM {
            self.codes = Some(CodesWriter::create(&self.dir, self.dimension)?);
            sync_folder(&self.dir)?;
        }
        match &mut self.codes {
            Some(codes) => codes.catch_up(&self.rows_file, self.dimension, self.rows),
            None => Ok(()),
        }
    }

    fn flush(&mut self) -> Result<(), VectorError> {
        self.rows_file.flush()?;
        self.keys_file.flush()
    }

    /// Keeps the first trouble.
    fn note(&mut self, error: VectorError) {
        if !self.poisoned {
            self.trouble = Some(error);
            self.poisoned = true;
        }
    }

    fn fault_of(&self, vector: &[f32]) -> Option<String> {
        if vector.len() != self.dimension {
            let (found, wanted) = (vector.len(), self.dimension);
            return Some(format!("it has {found} numbers, not {wanted}"));
        }
        let place = vector.iter().position(|value| !value.is_finite())?;
        Some(format!("number {place} is {}", vector[place]))
    }
}

impl KeyIndex {
    /// The row of a key.
    pub fn get(&self, key: &Key) -> Option<u32> {
        self.rows.get(key).copied()
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The keys of all rows that a reader sees.
    pub fn of(reader: &VectorReader) -> Self {
        let rows = (0..reader.rows()).filter_map(|row| Some((reader.key(row)?, row)));
        Self {
            rows: rows.collect(),
        }
    }

    /// Reads the keys of the first rows and leaves the file behind them.
    fn read(appender: &mut Appender, rows: u64) -> Result<Self, VectorError> {
        let mut index = Self::default();
        index.rows.reserve(rows as usize);
        let fail = || VectorError::io("read", &appender.path);
        let mut file = &appender.file;
        file.seek(SeekFrom::Start(HEADER_BYTES)).map_err(fail())?;
        let mut buffer = vec![0; KEY_BYTES * 4096];
        let mut row = 0;
        while row < rows {
            let count = (rows - row).min(4096) as usize;
            let bytes = &mut buffer[..count * KEY_BYTES];
            file.read_exact(bytes).map_err(fail())?;
            for entry in bytes.chunks_exact(KEY_BYTES).filter_map(KeyEntry::read) {
                index.rows.insert(entry.key, row as u32);
                row += 1;
            }
        }
        Ok(index)
    }
}

/// Makes new names in the folder last; only Unix can and needs it.
fn sync_folder(dir: &Path) -> Result<(), VectorError> {
    if cfg!(unix) {
        File::open(dir)
            .and_then(|folder| folder.sync_all())
            .map_err(VectorError::io("sync", dir))?;
    }
    Ok(())
}
