//! The checksum of a stored passage: SQLite has none of its own, and a passage that is cited must be
//! what the note says.

use rusqlite::types::ValueRef;
use rusqlite::{Result, Row};

/// A column's value.
pub(crate) enum Part<'a> {
    Number(i64),
    Text(&'a [u8]),
}

/// The first 8 bytes of a BLAKE3 hash over the columns before it, each text with its length.
pub(crate) fn passage_sum(parts: &[Part<'_>]) -> i64 {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        match part {
            Part::Number(number) => hasher.update(&number.to_le_bytes()),
            Part::Text(text) => {
                hasher.update(&(text.len() as u64).to_le_bytes());
                hasher.update(text)
            }
        };
    }
    let mut first = [0; 8];
    first.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    i64::from_le_bytes(first)
}

/// Whether a row with `columns` columns and then their checksum is as it was written.
pub(crate) fn is_sound(row: &Row<'_>, columns: usize) -> Result<bool> {
    let mut parts = Vec::with_capacity(columns);
    for column in 0..columns {
        parts.push(match row.get_ref(column)? {
            ValueRef::Integer(number) => Part::Number(number),
            ValueRef::Text(text) => Part::Text(text),
            _ => return Ok(false),
        });
    }
    let sum = match row.get_ref(columns)? {
        ValueRef::Integer(sum) => sum,
        _ => return Ok(false),
    };
    Ok(passage_sum(&parts) == sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_counts_and_so_does_where_one_ends() {
        let sum = |parts: &[Part<'_>]| passage_sum(parts);
        let [one, two] = [1, 2].map(Part::Number);
        let all = [
            sum(&[one]),
            sum(&[two]),
            sum(&[Part::Text(b"ab"), Part::Text(b"c")]),
            sum(&[Part::Text(b"a"), Part::Text(b"bc")]),
            sum(&[]),
        ];
        let mut distinct = all.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), all.len());
    }
}
