//! The header of a segment file, and the numbers that it is made of.
//!
//! | bytes | what |
//! | --- | --- |
//! | 0..8 | magic `LWLEXSEG` |
//! | 8..12 | format version, `u32` |
//! | 12..16 | zero |
//! | 16..24 | passages, `u64` (below 2^30) |
//! | 24..32 | terms, `u64` |
//! | 32..40 | postings, `u64` |
//! | 40..48 | sum of the decoded passage lengths, `u64` |
//! | 48..56 | bytes of the postings section, `u64` |
//! | 56..64 | bytes of the dictionary section, `u64` |
//! | 64..72 | bytes of the forward section, `u64` |
//! | 72..96 | zero |
//! | 96..128 | BLAKE3 of bytes 0..96 and the table of checksums |

use std::ops::Range;

/// The first bytes of every segment file.
pub(crate) const MAGIC: [u8; 8] = *b"LWLEXSEG";
/// The format that this program reads and writes.
pub(crate) const VERSION: u32 = 2;
/// Bytes of the header.
pub(crate) const HEADER: usize = 128;
/// Bytes of the header that its checksum covers.
pub(crate) const HEADER_SUMMED: usize = 96;
/// Bytes of one checksummed block.
pub(crate) const BLOCK: usize = 64 * 1024;
/// Terms of one dictionary group.
pub(crate) const GROUP: usize = 16;
/// Bytes of an entry of the group table.
pub(crate) const GROUP_ENTRY: usize = 16;
/// Most passages of one segment: skip offsets of 32 bits hold for fewer.
pub(crate) const MAX_PASSAGES: u64 = 1 << 30;

/// The numbers of the header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) passages: u64,
    pub(crate) terms: u64,
    pub(crate) postings: u64,
    pub(crate) total_length: u64,
    pub(crate) postings_bytes: u64,
    pub(crate) dictionary_bytes: u64,
    pub(crate) forward_bytes: u64,
}

/// Where the sections lie in the file.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) lengths: Range<usize>,
    pub(crate) passages: Range<usize>,
    pub(crate) ties: Range<usize>,
    pub(crate) postings: Range<usize>,
    pub(crate) dictionary: Range<usize>,
    pub(crate) groups: Range<usize>,
    pub(crate) forward: Range<usize>,
    pub(crate) forward_ends: Range<usize>,
    pub(crate) frequencies: Range<usize>,
    pub(crate) hashes: Range<usize>,
    pub(crate) checksums: Range<usize>,
}

impl Header {
    /// The bytes that the header's checksum covers.
    pub(crate) fn encode(&self) -> [u8; HEADER_SUMMED] {
        let mut bytes = [0; HEADER_SUMMED];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        for (at, number) in [
            self.passages,
            self.terms,
            self.postings,
            self.total_length,
            self.postings_bytes,
            self.dictionary_bytes,
            self.forward_bytes,
        ]
        .into_iter()
        .enumerate()
        {
            bytes[16 + at * 8..24 + at * 8].copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }

    /// Reads the numbers; magic and version are the caller's to check.
    pub(crate) fn decode(bytes: &[u8; HEADER_SUMMED]) -> Self {
        let number = |at: usize| read_u64(bytes, 16 + at * 8).unwrap_or(0);
        Self {
            passages: number(0),
            terms: number(1),
            postings: number(2),
            total_length: number(3),
            postings_bytes: number(4),
            dictionary_bytes: number(5),
            forward_bytes: number(6),
        }
    }

    /// Where everything lies; `None` if the numbers are too large for this machine.
    pub(crate) fn layout(&self) -> Option<Layout> {
        if self.passages >= MAX_PASSAGES {
            return None;
        }
        let groups = self.terms.div_ceil(GROUP as u64);
        let mut end = HEADER;
        let mut section = |count: u64, size: usize| {
            let start = end;
            end = start.checked_add(usize::try_from(count).ok()?.checked_mul(size)?)?;
            Some(start..end)
        };
        let lengths = section(self.passages, 1)?;
        let passages = section(self.passages, 4)?;
        let ties = section(self.passages, 8)?;
        let postings = section(self.postings_bytes, 1)?;
        let dictionary = section(self.dictionary_bytes, 1)?;
        let groups = section(groups, GROUP_ENTRY)?;
        let forward = section(self.forward_bytes, 1)?;
        let forward_ends = section(self.passages, 8)?;
        let frequencies = section(self.terms, 4)?;
        let hashes = section(self.terms, 8)?;
        let blocks = (hashes.end - HEADER).div_ceil(BLOCK);
        let checksums = section(blocks as u64, 8)?;
        Some(Layout {
            lengths,
            passages,
            ties,
            postings,
            dictionary,
            groups,
            forward,
            forward_ends,
            frequencies,
            hashes,
            checksums,
        })
    }
}

/// The checksum of a block: the first 8 bytes of its BLAKE3.
pub(crate) fn checksum(block: &[u8]) -> u64 {
    read_u64(blake3::hash(block).as_bytes(), 0).unwrap_or(0)
}

/// The checksum of the header and the table of block checksums.
pub(crate) fn header_checksum(header: &[u8], checksums: &[u8]) -> [u8; 32] {
    *blake3::Hasher::new()
        .update(header)
        .update(checksums)
        .finalize()
        .as_bytes()
}

/// Appends a number, 7 bits a byte, lowest first.
pub(crate) fn write_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Reads a number that [`write_varint`] wrote, and moves `at` behind it; `None` at the end of the
/// bytes, or if it is longer than 64 bits.
#[inline]
pub(crate) fn read_varint(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// The `u32` at a byte offset.
#[inline]
pub(crate) fn read_u32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// The `u64` at a byte offset.
#[inline]
pub(crate) fn read_u64(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}
