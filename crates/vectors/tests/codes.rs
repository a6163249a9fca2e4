//! What codes promise: they follow the rows through every stop, and cost nothing but time where
//! they are not there.

use std::fs;
use std::path::Path;

use lorewell_vectors::{Key, RowSet, Scored, VectorReader, VectorWriter};

const DIMENSION: usize = 16;

/// So many rows have codes.
const MANY: u32 = 100_000;

/// The vector of a row: many directions, the same in each run.
fn vector(row: u32) -> Vec<f32> {
    let mut state = u64::from(row).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    (0..DIMENSION)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 40) as f32 / (1u64 << 24) as f32 - 0.5
        })
        .collect()
}

fn key(row: u32) -> Key {
    let mut key = [0; 16];
    key[..4].copy_from_slice(&row.to_be_bytes());
    key
}

/// Publishes rows `from..to` in a folder.
fn append(dir: &Path, from: u32, to: u32) {
    let mut writer =
        VectorWriter::open(dir, DIMENSION, u64::from(from)).expect("a folder of vectors");
    for row in from..to {
        writer.append(key(row), &vector(row));
    }
    writer.sync().expect("a folder of vectors");
}

fn reader(dir: &Path, rows: u32) -> VectorReader {
    VectorReader::open(dir, DIMENSION, u64::from(rows)).expect("a folder of vectors")
}

fn many() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder of vectors");
    append(dir.path(), 0, MANY);
    dir
}

#[test]
fn few_rows_have_no_codes_and_are_all_compared() {
    let dir = tempfile::tempdir().expect("a folder of vectors");
    append(dir.path(), 0, 500);
    let reader = reader(dir.path(), 500);
    assert!(!reader.has_codes());
    let question = vector(9_999);
    assert_eq!(
        reader.nearest(&question, 50, None),
        reader.scan(&question, 50, None)
    );
}

#[test]
fn many_rows_are_found_by_their_codes_with_exact_scores() {
    let dir = many();
    let reader = reader(dir.path(), MANY);
    assert!(reader.has_codes());
    let mut found = 0;
    for question in (0..20).map(|row| vector(MANY + row)) {
        let exact = reader.scan(&question, 50, None);
        let nearest = reader.nearest(&question, 50, None);
        assert_eq!(nearest.len(), 50);
        assert!(
            nearest
                .windows(2)
                .all(|pair| pair[0].score >= pair[1].score)
        );
        for hit in &nearest {
            assert_eq!(hit.score, reader.cosine(hit.row, &question));
        }
        assert_eq!(nearest[0], exact[0]);
        found += nearest.iter().filter(|hit| exact.contains(hit)).count();
    }
    // Sixteen signs tell less than the hundreds of a real model: docs/evals/scan.md has those.
    assert!(found > 900, "{found} of 1,000");
}

#[test]
fn a_filter_holds_in_both_stages() {
    let dir = tempfile::tempdir().unwrap();
    append(dir.path(), 0, 2 * MANY + 37);
    let reader = reader(dir.path(), 2 * MANY + 37);
    let odd: RowSet = (0..2 * MANY + 37).filter(|row| row % 2 == 1).collect();
    let few: RowSet = (0..300).map(|row| row * 7).collect();
    let question = vector(3 * MANY);
    let nearest = reader.nearest(&question, 50, Some(&odd));
    assert_eq!(nearest.len(), 50);
    assert!(nearest.iter().all(|hit| hit.row % 2 == 1));
    assert_eq!(
        reader.nearest(&question, 50, Some(&few)),
        reader.scan(&question, 50, Some(&few))
    );
}

#[test]
fn questions_without_direction_are_near_to_nothing() {
    let dir = many();
    let reader = reader(dir.path(), MANY);
    let zero = vec![0.0; DIMENSION];
    assert_eq!(reader.nearest(&zero, 5, None), Vec::<Scored>::new());
    assert_eq!(
        reader.nearest(&[f32::NAN; DIMENSION], 5, None),
        Vec::<Scored>::new()
    );
    assert_eq!(reader.nearest(&[1.0], 5, None), Vec::<Scored>::new());
}

#[test]
fn codes_grow_with_the_rows() {
    let dir = many();
    append(dir.path(), MANY, MANY + 70);
    let reader = reader(dir.path(), MANY + 70);
    assert!(reader.has_codes());
    assert_eq!(reader.damaged_codes(), Vec::<u32>::new());
    // Who still reads the state before sees it whole.
    let before = VectorReader::open(dir.path(), DIMENSION, u64::from(MANY)).unwrap();
    assert!(before.has_codes());
}

#[test]
fn rows_that_were_never_published_leave_no_codes_behind() {
    let dir = many();
    append(dir.path(), MANY, MANY + 70);
    // A crash before the row count was published; then other rows come.
    let mut writer = VectorWriter::open(dir.path(), DIMENSION, u64::from(MANY)).unwrap();
    for row in 0..90 {
        writer.append(key(MANY + row), &vector(5 * MANY + row));
    }
    writer.sync().unwrap();
    assert_eq!(
        reader(dir.path(), MANY + 90).damaged_codes(),
        Vec::<u32>::new()
    );
    // All of it was for nothing: the folder begins again, with too few rows for codes.
    let mut writer = VectorWriter::open(dir.path(), DIMENSION, 0).unwrap();
    for row in 0..200 {
        writer.append(key(row), &vector(7 * MANY + row));
    }
    writer.sync().unwrap();
    let reader = reader(dir.path(), 200);
    assert_eq!(reader.damaged_codes(), Vec::<u32>::new());
}

#[test]
fn codes_that_are_gone_or_cut_are_not_missed_and_come_back() {
    let dir = many();
    let file = dir.path().join("codes.bin");
    let whole = fs::read(&file).unwrap();
    let question = vector(3 * MANY);
    for kept in [None, Some(0), Some(100), Some(whole.len() - 8)] {
        match kept {
            None => fs::remove_file(&file).unwrap(),
            Some(len) => fs::write(&file, &whole[..len]).unwrap(),
        }
        let reader = reader(dir.path(), MANY);
        assert!(!reader.has_codes(), "{kept:?}");
        assert_eq!(
            reader.nearest(&question, 50, None),
            reader.scan(&question, 50, None)
        );
        drop(reader);
        append(dir.path(), MANY, MANY);
        assert_eq!(fs::read(&file).unwrap(), whole, "{kept:?}");
    }
}

#[test]
fn damage_within_codes_is_found() {
    let dir = many();
    let file = dir.path().join("codes.bin");
    let mut bytes = fs::read(&file).unwrap();
    // One word a row behind a page of header.
    bytes[4096 + 8 * 77] ^= 1;
    fs::write(&file, bytes).unwrap();
    assert_eq!(reader(dir.path(), MANY).damaged_codes(), [77]);
}
