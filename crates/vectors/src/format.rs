//! The layout of `rows.bin`, `keys.bin` and `codes.bin`. All numbers are little endian.
//!
//! Both files begin with a header page of 4,096 bytes, so that rows are page-aligned:
//!
//! | bytes | content |
//! | --- | --- |
//! | 0..8 | `LWVROWS\n` or `LWVKEYS\n` |
//! | 8..12 | format version, u32 (1) |
//! | 12..16 | dimension, u32 |
//! | 16..20 | CRC-32 (IEEE) of bytes 0..16 |
//! | 20..4096 | zero |
//!
//! `rows.bin` then holds `dimension` bytes (i8) a row. `keys.bin` holds 24 bytes a row:
//!
//! | bytes | content |
//! | --- | --- |
//! | 0..16 | key |
//! | 16..20 | scale, f32: `scale × row` is the vector, of unit length |
//! | 20..24 | CRC-32 of key, scale and row bytes |
//!
//! Row `n` of one file belongs to row `n` of the other. Neither file says how many rows are valid.
//!
//! A folder of many rows has a third file, `codes.bin` (`LWVCODE\n`, the same header), derived from
//! `rows.bin`: for each row `ceil(dimension / 64)` words (u64), where bit `n % 64` of word `n / 64`
//! says whether number `n` of the row is below zero. Where it is absent or has too few rows, every
//! row is compared.

use std::path::{Path, PathBuf};

use crate::{Key, VectorError};

/// The longest vector: up to here the sum of products of an i8 row with a 12-bit question fits an
/// i32 (8,192 × 128 × 2,047 < 2³¹).
pub const MAX_DIMENSION: usize = 8192;

/// Bytes of a header page.
pub(crate) const HEADER_BYTES: u64 = 4096;

/// Bytes of a row in `keys.bin`.
pub(crate) const KEY_BYTES: usize = 24;

/// The format that this program writes, and the newest that it reads.
pub(crate) const VERSION: u32 = 1;

/// The part of the header page that is not padding.
const HEADER_USED: usize = 20;

/// Which of the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// `rows.bin`.
    Rows,
    /// `keys.bin`.
    Keys,
    /// `codes.bin`.
    Codes,
}

/// One row's entry in `keys.bin`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeyEntry {
    pub(crate) key: Key,
    pub(crate) scale: f32,
    pub(crate) checksum: u32,
}

impl Part {
    /// Where the file lies.
    pub(crate) fn path(self, dir: &Path) -> PathBuf {
        dir.join(match self {
            Self::Rows => "rows.bin",
            Self::Keys => "keys.bin",
            Self::Codes => "codes.bin",
        })
    }

    /// Bytes that a row takes in it.
    pub(crate) fn row_bytes(self, dimension: usize) -> usize {
        match self {
            Self::Rows => dimension,
            Self::Keys => KEY_BYTES,
            Self::Codes => code_words(dimension) * 8,
        }
    }

    /// The file's length with `rows` rows. `rows` and `dimension` must have passed
    /// [`check_limits`].
    pub(crate) fn file_bytes(self, dimension: usize, rows: u64) -> u64 {
        HEADER_BYTES + rows * self.row_bytes(dimension) as u64
    }

    fn magic(self) -> &'static [u8; 8] {
        match self {
            Self::Rows => b"LWVROWS\n",
            Self::Keys => b"LWVKEYS\n",
            Self::Codes => b"LWVCODE\n",
        }
    }

    /// The header page of a new file.
    pub(crate) fn header(self, dimension: usize) -> Vec<u8> {
        let mut page = Vec::with_capacity(HEADER_BYTES as usize);
        page.extend_from_slice(self.magic());
        page.extend_from_slice(&VERSION.to_le_bytes());
        page.extend_from_slice(&(dimension as u32).to_le_bytes());
        let checksum = crc32fast::hash(&page);
        page.extend_from_slice(&checksum.to_le_bytes());
        page.resize(HEADER_BYTES as usize, 0);
        page
    }

    /// Checks the first bytes of a file. `path` is only for the error.
    pub(crate) fn check_header(
        self,
        page: &[u8],
        dimension: usize,
        path: &Path,
    ) -> Result<(), VectorError> {
        let header = || VectorError::Header {
            path: path.to_owned(),
        };
        let used = page.get(..HEADER_USED).ok_or_else(header)?;
        if &used[..8] != self.magic() {
            return Err(header());
        }
        let found = u32_at(used, 8);
        if found > VERSION {
            return Err(VectorError::NewerVersion {
                path: path.to_owned(),
                found,
                known: VERSION,
            });
        }
        if found != VERSION || u32_at(used, 16) != crc32fast::hash(&used[..16]) {
            return Err(header());
        }
        let found = u32_at(used, 12) as usize;
        if found != dimension {
            return Err(VectorError::Dimension {
                path: path.to_owned(),
                found,
                expected: dimension,
            });
        }
        Ok(())
    }
}

impl KeyEntry {
    /// An entry with the checksum that belongs to it.
    pub(crate) fn new(key: Key, scale: f32, row: &[u8]) -> Self {
        let mut entry = Self {
            key,
            scale,
            checksum: 0,
        };
        entry.checksum = entry.checksum_over(row);
        entry
    }

    /// Reads an entry of [`KEY_BYTES`] bytes; a shorter slice gives none.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; KEY_BYTES] = bytes.try_into().ok()?;
        Some(Self {
            key: bytes[..16].try_into().ok()?,
            scale: f32::from_bits(u32_at(bytes, 16)),
            checksum: u32_at(bytes, 20),
        })
    }

    pub(crate) fn write(&self, into: &mut Vec<u8>) {
        into.extend_from_slice(&self.key);
        into.extend_from_slice(&self.scale.to_le_bytes());
        into.extend_from_slice(&self.checksum.to_le_bytes());
    }

    /// Whether entry and row are as they were written.
    pub(crate) fn is_intact(&self, row: &[u8]) -> bool {
        self.checksum == self.checksum_over(row)
    }

    fn checksum_over(&self, row: &[u8]) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&self.key);
        hasher.update(&self.scale.to_le_bytes());
        hasher.update(row);
        hasher.finalize()
    }
}

/// Words of a row in `codes.bin`.
pub(crate) fn code_words(dimension: usize) -> usize {
    dimension.div_ceil(64)
}

/// Refuses what no file can hold, so that no later size overflows.
pub(crate) fn check_limits(dir: &Path, dimension: usize, rows: u64) -> Result<(), VectorError> {
    if dimension == 0 || dimension > MAX_DIMENSION {
        return Err(VectorError::UnsupportedDimension { dimension });
    }
    if rows > u64::from(u32::MAX) {
        return Err(VectorError::TooManyRows {
            path: Part::Rows.path(dir),
            rows,
        });
    }
    Ok(())
}

/// The u32 at a place that is known to be inside.
fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes[at..at + 4]
        .iter()
        .rev()
        .fold(0, |value, byte| value << 8 | u32::from(*byte))
}
