//! A set of rows as a bitmap: which rows are alive, or which a filter allows.

use crate::VectorError;

/// A set of rows. Rows past its end are not in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RowSet {
    /// Bit `row % 64` of word `row / 64`; bits past `rows` are zero.
    words: Vec<u64>,
    rows: u32,
}

impl RowSet {
    /// An empty set over rows `0..rows`.
    pub fn new(rows: u32) -> Self {
        let mut set = Self::default();
        set.grow(rows);
        set
    }

    /// A set that holds each of `0..rows`.
    pub fn full(rows: u32) -> Self {
        let mut set = Self::new(rows);
        set.words.fill(u64::MAX);
        if let Some(last) = set.words.last_mut() {
            *last >>= (64 - rows % 64) % 64;
        }
        set
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote.
    ///
    /// # Errors
    /// [`VectorError::RowSet`] when the bytes are anything else.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, VectorError> {
        let damaged = |reason| VectorError::RowSet { reason };
        let (head, tail) = bytes
            .split_first_chunk::<4>()
            .ok_or_else(|| damaged("shorter than its row count"))?;
        let rows = u32::from_le_bytes(*head);
        let (chunks, rest) = tail.as_chunks::<8>();
        if !rest.is_empty() || chunks.len() != word_count(rows) {
            return Err(damaged("length and row count disagree"));
        }
        let words: Vec<u64> = chunks
            .iter()
            .map(|word| u64::from_le_bytes(*word))
            .collect();
        let used = rows % 64;
        if used != 0 && words.last().is_some_and(|last| last >> used != 0) {
            return Err(damaged("it holds rows past its end"));
        }
        Ok(Self { words, rows })
    }

    /// The row count (u32), then the bitmap in words of 64 bits, all little endian.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(4 + self.words.len() * 8);
        bytes.extend_from_slice(&self.rows.to_le_bytes());
        for word in &self.words {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// How many rows it speaks of, in the set or not.
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// How many rows are in the set.
    pub fn count(&self) -> u32 {
        self.words.iter().map(|word| word.count_ones()).sum()
    }

    /// Whether a row is in the set.
    pub fn contains(&self, row: u32) -> bool {
        self.word(row as usize / 64) >> (row % 64) & 1 == 1
    }

    /// Puts a row in, growing to reach it. `u32::MAX` is no row and is passed over.
    pub fn insert(&mut self, row: u32) {
        self.grow(row.saturating_add(1));
        if row < self.rows {
            self.words[row as usize / 64] |= 1 << (row % 64);
        }
    }

    /// Takes a row out.
    pub fn remove(&mut self, row: u32) {
        if row < self.rows {
            self.words[row as usize / 64] &= !(1 << (row % 64));
        }
    }

    /// Speaks of `0..rows` from now on; the new ones are not in the set. It never shrinks.
    pub fn grow(&mut self, rows: u32) {
        if rows > self.rows {
            self.rows = rows;
            self.words.resize(word_count(rows), 0);
        }
    }

    /// Keeps only rows that are in the other set too.
    pub fn intersect(&mut self, other: &Self) {
        for (index, word) in self.words.iter_mut().enumerate() {
            *word &= other.word(index);
        }
    }

    /// The rows in the set, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.words
            .iter()
            .enumerate()
            .flat_map(|(index, &word)| set_bits(word).map(move |bit| index as u32 * 64 + bit))
    }

    /// Replaces rows `64 × index ..`; bits past the end are passed over.
    pub(crate) fn put_word(&mut self, index: usize, word: u64) {
        let ends_here = index + 1 == self.words.len() && !self.rows.is_multiple_of(64);
        let past = if ends_here {
            u64::MAX << (self.rows % 64)
        } else {
            0
        };
        if let Some(place) = self.words.get_mut(index) {
            *place = word & !past;
        }
    }

    /// Rows `64 × index ..` as a word.
    pub(crate) fn word(&self, index: usize) -> u64 {
        self.words.get(index).copied().unwrap_or(0)
    }
}

impl FromIterator<u32> for RowSet {
    fn from_iter<I: IntoIterator<Item = u32>>(rows: I) -> Self {
        let mut set = Self::default();
        rows.into_iter().for_each(|row| set.insert(row));
        set
    }
}

/// The places of the ones of a word, ascending.
pub(crate) fn set_bits(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = word.trailing_zeros();
        (bit < 64).then(|| {
            word &= word - 1;
            bit
        })
    })
}

fn word_count(rows: u32) -> usize {
    (rows as usize).div_ceil(64)
}
