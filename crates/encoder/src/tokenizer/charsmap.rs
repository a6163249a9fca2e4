//! The normal form that a SentencePiece model brings along: a double-array trie of character
//! sequences, and what each becomes (Kudo and Richardson 2018, section 3.2).
//!
//! Format, in base64: the length of the trie in bytes (u32, little endian), its units (u32), then
//! the replacements, each ended by a zero byte. A unit of the trie holds a label, whether a value
//! follows, and the offset of its children, as in Darts-clone.

use unicode_segmentation::UnicodeSegmentation;

/// Clusters of as many bytes or more are taken apart at once, as SentencePiece's port does.
const LONG: usize = 6;

/// A normal form.
#[derive(Debug)]
pub(super) struct Charsmap {
    units: Vec<u32>,
    replacements: String,
}

impl Charsmap {
    /// Reads the form that `tokenizer.json` has it in.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let broken = || "Precompiled with a damaged charsmap".to_string();
        let bytes = from_base64(text).ok_or_else(broken)?;
        let (length, rest) = bytes.split_first_chunk::<4>().ok_or_else(broken)?;
        let length = u32::from_le_bytes(*length) as usize;
        let (units, replacements) = rest.split_at_checked(length).ok_or_else(broken)?;
        let units = units.as_chunks::<4>().0;
        Ok(Self {
            units: units.iter().map(|unit| u32::from_le_bytes(*unit)).collect(),
            replacements: String::from_utf8(replacements.to_vec()).map_err(|_| broken())?,
        })
    }

    /// The text in this form.
    pub(super) fn apply(&self, text: &str) -> String {
        let mut result = String::with_capacity(text.len());
        for cluster in text.graphemes(true) {
            if cluster.len() < LONG
                && let Some(replacement) = self.find(cluster)
            {
                result.push_str(replacement);
                continue;
            }
            for c in cluster.chars() {
                match self.find(c.encode_utf8(&mut [0; 4])) {
                    Some(replacement) => result.push_str(replacement),
                    None => result.push(c),
                }
            }
        }
        result
    }

    /// What the shortest known beginning of a sequence becomes.
    fn find(&self, sequence: &str) -> Option<&str> {
        let mut at = offset(*self.units.first()?);
        for byte in sequence.bytes().take_while(|byte| *byte != 0) {
            at ^= usize::from(byte);
            let unit = *self.units.get(at)?;
            // The label; the top bit marks a value.
            if unit & (1 << 31 | 0xFF) != u32::from(byte) {
                return None;
            }
            at ^= offset(unit);
            if unit >> 8 & 1 == 1 {
                let value = self.units.get(at)? & !(1 << 31);
                let rest = self.replacements.get(value as usize..)?;
                return rest.split('\0').next();
            }
        }
        None
    }
}

/// Where a unit's children lie, to be combined with the unit's own place.
fn offset(unit: u32) -> usize {
    ((unit >> 10) << ((unit & (1 << 9)) >> 6)) as usize
}

/// Base64 (RFC 4648, section 4), with or without padding.
fn from_base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut word, mut bits) = (0u32, 0);
    for c in text.trim_end_matches('=').bytes() {
        let value = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        word = word << 6 | u32::from(value);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((word >> bits) as u8);
        }
    }
    Some(bytes)
}
