//! The layout of a carried segment. All numbers are little endian.
//!
//! | bytes | content |
//! | --- | --- |
//! | 0..8 | `LWVCARR\n` |
//! | 8..12 | format version, u32 (1) |
//! | 12..16 | dimension, u32 |
//! | 16..20 | how many rows, u32 |
//! | 20..22 | bytes of the model's name, u16 |
//! | 22..24 | bytes of the fingerprint, u16 |
//! | 24..40 | the device that wrote it |
//! | 40..44 | CRC-32 (IEEE) of bytes 0..40, the name and the fingerprint |
//! | 44.. | the model's name, then the fingerprint, in UTF-8 |
//! | then | 16 bytes a row: keys, ascending, each once |
//! | then | 4 bytes a row: CRC-32 of key and row |
//! | then | `dimension` bytes (i8) a row; only the direction of a row counts |
//! | last 32 | BLAKE3 of all before it |
//!
//! The file's name is the last 32 bytes in hexadecimal digits, and `.seg`.

use crate::{DeviceId, Fault, Key};

/// The longest vector that can be carried.
pub const MAX_DIMENSION: usize = 8192;

/// The format that this program writes, and the newest that it reads.
pub(crate) const VERSION: u32 = 1;

/// Bytes of a header without the names.
pub(crate) const FIXED_BYTES: usize = 44;

/// Bytes of the checksum at the end.
pub(crate) const CHECKSUM_BYTES: usize = 32;

/// Bytes of a row besides its vector: key and CRC-32.
pub(crate) const ENTRY_BYTES: usize = 20;

const MAGIC: &[u8; 8] = b"LWVCARR\n";

/// How the name of a carried segment ends.
pub(crate) const EXTENSION: &str = ".seg";

/// What a file says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) device: DeviceId,
    pub(crate) model: String,
    pub(crate) fingerprint: String,
    pub(crate) dimension: usize,
    pub(crate) rows: u32,
}

/// The first part of a header: enough to know how long the whole is.
pub(crate) struct Fixed {
    bytes: [u8; FIXED_BYTES],
}

impl Header {
    /// The header in bytes. The names must be shorter than 64 KiB.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(FIXED_BYTES + self.model.len() + self.fingerprint.len());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&(self.dimension as u32).to_le_bytes());
        bytes.extend_from_slice(&self.rows.to_le_bytes());
        bytes.extend_from_slice(&(self.model.len() as u16).to_le_bytes());
        bytes.extend_from_slice(&(self.fingerprint.len() as u16).to_le_bytes());
        bytes.extend_from_slice(&self.device.0);
        let names = [self.model.as_bytes(), self.fingerprint.as_bytes()].concat();
        let checksum = header_checksum(&bytes, &names);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        bytes.extend_from_slice(&names);
        bytes
    }

    /// Bytes of a whole file with this header.
    pub(crate) fn file_bytes(&self) -> u64 {
        let names = self.model.len() + self.fingerprint.len();
        let row = (ENTRY_BYTES + self.dimension) as u64;
        (FIXED_BYTES + names + CHECKSUM_BYTES) as u64 + u64::from(self.rows) * row
    }
}

impl Fixed {
    /// Checks what can be checked without the names.
    pub(crate) fn read(bytes: [u8; FIXED_BYTES]) -> Result<Fixed, Fault> {
        let fixed = Fixed { bytes };
        if &bytes[..8] != MAGIC {
            return Err(Fault::Foreign);
        }
        match fixed.number(8) {
            VERSION => Ok(fixed),
            version if version > VERSION => Err(Fault::NewerFormat(version)),
            _ => Err(Fault::Damaged),
        }
    }

    /// Bytes of model name and fingerprint together.
    pub(crate) fn names_bytes(&self) -> usize {
        self.short(20) + self.short(22)
    }

    /// The header, if the names belong to it.
    pub(crate) fn with_names(&self, names: &[u8]) -> Result<Header, Fault> {
        if self.number(40) != header_checksum(&self.bytes[..40], names) {
            return Err(Fault::Damaged);
        }
        let (model, fingerprint) = names
            .split_at_checked(self.short(20))
            .ok_or(Fault::Damaged)?;
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).map_err(|_| Fault::Damaged);
        let dimension = self.number(12) as usize;
        if !(1..=MAX_DIMENSION).contains(&dimension) {
            return Err(Fault::Damaged);
        }
        let mut device = [0; 16];
        device.copy_from_slice(&self.bytes[24..40]);
        Ok(Header {
            device: DeviceId(device),
            model: text(model)?,
            fingerprint: text(fingerprint)?,
            dimension,
            rows: self.number(16),
        })
    }

    fn number(&self, at: usize) -> u32 {
        let mut bytes = [0; 4];
        bytes.copy_from_slice(&self.bytes[at..at + 4]);
        u32::from_le_bytes(bytes)
    }

    fn short(&self, at: usize) -> usize {
        usize::from(u16::from_le_bytes([self.bytes[at], self.bytes[at + 1]]))
    }
}

/// The checksum of one row with its key.
pub(crate) fn row_checksum(key: &Key, row: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(key);
    hasher.update(row);
    hasher.finalize()
}

/// The folder of a fingerprint: 32 hexadecimal digits of its hash.
pub(crate) fn folder_of(fingerprint: &str) -> String {
    blake3::hash(fingerprint.as_bytes()).to_hex()[..32].to_owned()
}

/// Whether a text is so many hexadecimal digits, in lower case.
pub(crate) fn is_hex(text: &str, digits: usize) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    text.len() == digits && text.bytes().all(is_digit)
}

fn header_checksum(fixed: &[u8], names: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(fixed);
    hasher.update(names);
    hasher.finalize()
}
