//! Copies: passages whose words are the same are shown once, the others named.

use lorewell_text::{fold, fold_white_space};

/// What passages with the same words have in common.
///
/// Case, diacritics and white space do not count. Passages of fewer than 40 characters are never
/// copies of each other: short lines repeat for good reasons.
pub(crate) fn fingerprint(text: &str) -> Option<[u8; 32]> {
    let folded = fold(&fold_white_space(text));
    if folded.chars().count() < 40 {
        return None;
    }
    Some(hash(folded.as_bytes()))
}

fn hash(bytes: &[u8]) -> [u8; 32] {
    *blake3::hash(bytes).as_bytes()
}
