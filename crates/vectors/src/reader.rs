//! Readers of a folder of vectors: the exact scan.

use std::{fs::File, io::ErrorKind, path::Path};

use memmap2::Mmap;

use crate::{
    Key, RowSet, Scored, VectorError,
    codes::code_of_row,
    format::{HEADER_BYTES, KEY_BYTES, KeyEntry, Part, check_limits},
    kernel::Kernel,
    map::map,
    quantize::Question,
    row_set::set_bits,
    top_k::TopK,
};

/// Rows of a block: one word of a [`RowSet`].
const BLOCK: usize = 64;

/// With fewer rows of a block allowed, each is multiplied alone.
const SPARSE: u32 = 24;

/// Reads the first rows of a folder, as of the moment when it was opened. A writer that appends
/// meanwhile changes nothing for it.
#[derive(Debug)]
pub struct VectorReader {
    dimension: usize,
    rows: u32,
    rows_map: Mmap,
    keys_map: Mmap,
    codes_map: Option<Mmap>,
    kernel: Kernel,
}

impl VectorReader {
    /// Maps the first `valid_rows` rows.
    ///
    /// # Errors
    /// When the files are absent, are not vector files of this dimension, are of a newer format or
    /// hold fewer than `valid_rows` rows. Damage within rows is found by
    /// [`damaged_rows`](Self::damaged_rows).
    pub fn open(dir: &Path, dimension: usize, valid_rows: u64) -> Result<Self, VectorError> {
        check_limits(dir, dimension, valid_rows)?;
        Ok(Self {
            dimension,
            rows: valid_rows as u32,
            rows_map: open_part(Part::Rows, dir, dimension, valid_rows)?,
            keys_map: open_part(Part::Keys, dir, dimension, valid_rows)?,
            codes_map: open_codes(dir, dimension, valid_rows)?,
            kernel: Kernel::best(),
        })
    }

    /// How many rows it sees.
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// How many numbers a vector has.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The `k` rows nearest to the question, nearest first: every row is compared (or, with `allow`,
    /// every row in it). Equal scores are ordered by key. The question's length does not matter; one
    /// of another dimension, a zero one and one that is not finite are near to nothing.
    pub fn scan(&self, question: &[f32], k: usize, allow: Option<&RowSet>) -> Vec<Scored> {
        let Some(question) = self.prepare(question) else {
            return Vec::new();
        };
        let key_of = |row| self.key(row).unwrap_or_default();
        let mut top = TopK::new(k, self.rows as usize, key_of);
        let blocks = self.row_bytes().chunks(BLOCK * self.dimension);
        let entries = self.entry_bytes().chunks(BLOCK * KEY_BYTES);
        for (index, (rows, entries)) in blocks.zip(entries).enumerate() {
            let present = u64::MAX >> (BLOCK - entries.len() / KEY_BYTES);
            let wanted = present & allow.map_or(u64::MAX, |set| set.word(index));
            if wanted == 0 {
                continue;
            }
            let mut dots = [0; BLOCK];
            self.multiply(&question, rows, wanted, &mut dots);
            let mut scores = [f32::NAN; BLOCK];
            for ((score, dot), entry) in scores.iter_mut().zip(dots).zip(entries.as_chunks().0) {
                *score = cosine(dot, scale_of(entry), question.scale);
            }
            for bit in set_bits(wanted & reaching(&scores, top.threshold())) {
                top.offer((index * BLOCK) as u32 + bit, scores[bit as usize]);
            }
        }
        top.into_sorted()
    }

    /// The cosine of one row with a question; 0 where [`scan`](Self::scan) would find nothing and
    /// for a row past the end.
    pub fn cosine(&self, row: u32, question: &[f32]) -> f32 {
        let prepared = self.prepare(question);
        let (Some(question), Some(bytes), Some(entry)) = (prepared, self.row(row), self.entry(row))
        else {
            return 0.0;
        };
        let mut dots = [0];
        self.kernel.dots(&question.values, bytes, &mut dots);
        cosine(dots[0], entry.scale, question.scale)
    }

    /// The vector of a row, of unit length up to rounding; empty for a row past the end.
    pub fn vector(&self, row: u32) -> Vec<f32> {
        let (Some(bytes), Some(entry)) = (self.row(row), self.entry(row)) else {
            return Vec::new();
        };
        bytes
            .iter()
            .map(|byte| f32::from(byte.cast_signed()) * entry.scale)
            .collect()
    }

    /// A row as it is stored, in bytes of an i8 each: its direction is the vector's.
    pub fn bytes(&self, row: u32) -> Option<&[u8]> {
        self.row(row)
    }

    /// The key of a row.
    pub fn key(&self, row: u32) -> Option<Key> {
        self.entry(row).map(|entry| entry.key)
    }

    /// Whether a row is what was written, by its checksum; false past the end.
    pub fn is_intact(&self, row: u32) -> bool {
        match (self.row(row), self.entry(row)) {
            (Some(bytes), Some(entry)) => entry.is_intact(bytes),
            _ => false,
        }
    }

    /// Reads every row and returns those whose checksum does not fit: the disk or another program
    /// changed them.
    pub fn damaged_rows(&self) -> Vec<u32> {
        let rows = self.row_bytes().chunks_exact(self.dimension);
        let entries = self.entry_bytes().chunks_exact(KEY_BYTES);
        rows.zip(entries)
            .zip(0..)
            .filter(|((row, entry), _)| !KeyEntry::read(entry).is_some_and(|e| e.is_intact(row)))
            .map(|(_, number)| number)
            .collect()
    }

    /// Reads every row and returns those whose code does not fit: the disk or another program changed
    /// them. None where there are no codes.
    pub fn damaged_codes(&self) -> Vec<u32> {
        let rows = self.row_bytes().chunks_exact(self.dimension);
        let codes = self
            .code_bytes()
            .chunks_exact(Part::Codes.row_bytes(self.dimension));
        rows.zip(codes)
            .zip(0..)
            .filter(|((row, code), _)| {
                let expected = code_of_row(row);
                !expected
                    .iter()
                    .zip(code.as_chunks::<8>().0)
                    .all(|(word, bytes)| word.to_le_bytes() == *bytes)
            })
            .map(|(_, number)| number)
            .collect()
    }

    /// The question in integers, if it is one.
    fn prepare(&self, question: &[f32]) -> Option<Question> {
        (question.len() == self.dimension).then(|| Question::new(question))?
    }

    /// Dot products of the wanted rows of a block; other places may hold anything.
    fn multiply(&self, question: &Question, rows: &[u8], wanted: u64, dots: &mut [i32; BLOCK]) {
        if wanted.count_ones() >= SPARSE {
            self.kernel.dots(&question.values, rows, dots);
            return;
        }
        for bit in set_bits(wanted) {
            let at = bit as usize;
            if let Some(row) = rows.get(at * self.dimension..(at + 1) * self.dimension) {
                self.kernel.dots(&question.values, row, &mut dots[at..=at]);
            }
        }
    }

    fn row(&self, row: u32) -> Option<&[u8]> {
        let start = row as usize * self.dimension;
        self.row_bytes().get(start..start + self.dimension)
    }

    fn entry(&self, row: u32) -> Option<KeyEntry> {
        let start = row as usize * KEY_BYTES;
        KeyEntry::read(self.entry_bytes().get(start..start + KEY_BYTES)?)
    }

    fn row_bytes(&self) -> &[u8] {
        self.rows_map.get(HEADER_BYTES as usize..).unwrap_or(&[])
    }

    /// Empty where there are no codes.
    pub(crate) fn code_bytes(&self) -> &[u8] {
        let map = self.codes_map.as_deref().unwrap_or(&[]);
        map.get(HEADER_BYTES as usize..).unwrap_or(&[])
    }

    fn entry_bytes(&self) -> &[u8] {
        self.keys_map.get(HEADER_BYTES as usize..).unwrap_or(&[])
    }
}

/// Rounding may reach past 1, and a damaged scale anywhere.
fn cosine(dot: i32, row_scale: f32, question_scale: f32) -> f32 {
    (dot as f32 * row_scale * question_scale).clamp(-1.0, 1.0)
}

/// The scale within an entry of `keys.bin`.
fn scale_of(entry: &[u8; KEY_BYTES]) -> f32 {
    f32::from_le_bytes([entry[16], entry[17], entry[18], entry[19]])
}

/// Which scores are not below the threshold, as a word; one that is not a number is.
fn reaching(scores: &[f32; BLOCK], threshold: f32) -> u64 {
    let mut word = 0;
    for (bit, score) in scores.iter().enumerate() {
        word |= u64::from(*score >= threshold) << bit;
    }
    word
}

/// Codes only save time: none where the file is absent, is another or has too few rows.
fn open_codes(dir: &Path, dimension: usize, rows: u64) -> Result<Option<Mmap>, VectorError> {
    match open_part(Part::Codes, dir, dimension, rows) {
        Ok(map) => Ok(Some(map)),
        Err(VectorError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => Ok(None),
        Err(VectorError::TooShort { .. } | VectorError::Header { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

fn open_part(part: Part, dir: &Path, dimension: usize, rows: u64) -> Result<Mmap, VectorError> {
    let path = part.path(dir);
    let file = File::open(&path).map_err(VectorError::io("open", &path))?;
    let found = file
        .metadata()
        .map_err(VectorError::io("read", &path))?
        .len();
    if found < HEADER_BYTES {
        return Err(VectorError::Header { path });
    }
    let header = map(&file, HEADER_BYTES as usize).map_err(VectorError::io("map", &path))?;
    part.check_header(&header, dimension, &path)?;
    let needed = part.file_bytes(dimension, rows);
    if found < needed {
        return Err(VectorError::TooShort {
            path,
            rows,
            needed,
            found,
        });
    }
    let len = usize::try_from(needed).map_err(|_| VectorError::TooManyRows {
        path: path.clone(),
        rows,
    })?;
    map(&file, len).map_err(VectorError::io("map", &path))
}
