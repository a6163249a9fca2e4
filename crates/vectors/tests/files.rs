//! What a folder of vectors promises: append, read back, survive crashes and damage.

use std::{fs, path::Path};

use lorewell_vectors::{Key, RowSet, VectorError, VectorReader, VectorWriter};
use proptest::prelude::*;

const DIMENSION: usize = 8;

fn key(number: u8) -> Key {
    [number; 16]
}

/// A folder with the given vectors, published.
fn folder(vectors: &[Vec<f32>]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let mut writer = VectorWriter::open(dir.path(), DIMENSION, 0).expect("a folder");
    for (number, vector) in vectors.iter().enumerate() {
        assert_eq!(writer.append(key(number as u8), vector), number as u32);
    }
    writer.sync().expect("a folder");
    dir
}

fn axis(place: usize) -> Vec<f32> {
    (0..DIMENSION)
        .map(|at| if at == place { 1.0 } else { 0.0 })
        .collect()
}

fn vectors(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Vec<f32>>> {
    proptest::collection::vec(proptest::collection::vec(-1f32..1.0, DIMENSION), count)
}

fn true_cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| -> f64 {
        a.iter()
            .zip(b)
            .map(|(x, y)| f64::from(*x) * f64::from(*y))
            .sum()
    };
    let lengths = (dot(a, a) * dot(b, b)).sqrt();
    if lengths == 0.0 {
        0.0
    } else {
        dot(a, b) / lengths
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_scan_is_every_cosine_sorted_and_filtered(
        stored in vectors(0..150),
        question in proptest::collection::vec(-1f32..1.0, DIMENSION),
        k in 0usize..40,
        allow in proptest::option::of(proptest::collection::vec(any::<bool>(), 0..150)),
    ) {
        let dir = folder(&stored);
        let reader = VectorReader::open(dir.path(), DIMENSION, stored.len() as u64).unwrap();
        let allow: Option<RowSet> = allow.map(|bits| {
            (0u32..).zip(bits).filter(|(_, bit)| *bit).map(|(row, _)| row).collect()
        });
        let mut expected: Vec<(u32, f32)> = (0..stored.len() as u32)
            .filter(|row| allow.as_ref().is_none_or(|set| set.contains(*row)))
            .map(|row| (row, reader.cosine(row, &question)))
            .collect();
        expected.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        expected.truncate(k);
        let found: Vec<(u32, f32)> = reader
            .scan(&question, k, allow.as_ref())
            .iter()
            .map(|scored| (scored.row, scored.score))
            .collect();
        prop_assert_eq!(found, expected);
        for (row, vector) in stored.iter().enumerate() {
            let row = row as u32;
            let near = f64::from(reader.cosine(row, &question));
            prop_assert!((near - true_cosine(vector, &question)).abs() < 0.02);
            prop_assert!(true_cosine(vector, vector) == 0.0
                || true_cosine(&reader.vector(row), vector) > 0.999);
            prop_assert_eq!(reader.key(row), Some(key(row as u8)));
        }
    }

    #[test]
    fn damage_is_an_error_or_is_found_but_never_a_panic(
        stored in vectors(1..6),
        file in prop_oneof![Just("rows.bin"), Just("keys.bin")],
        flip in any::<Option<(prop::sample::Index, u8)>>(),
        cut in any::<Option<prop::sample::Index>>(),
        in_header in any::<bool>(),
    ) {
        let dir = folder(&stored);
        let path = dir.path().join(file);
        let whole = fs::read(&path).unwrap();
        let mut bytes = whole.clone();
        if let Some((place, mask)) = flip {
            let place = if in_header { place.index(24) } else { 4096 + place.index(bytes.len() - 4096) };
            bytes[place] ^= mask;
        }
        if let Some(place) = cut {
            bytes.truncate(place.index(bytes.len()));
        }
        fs::write(&path, &bytes).unwrap();
        let rows = stored.len() as u64;
        match VectorReader::open(dir.path(), DIMENSION, rows) {
            Err(error) => {
                prop_assert!(bytes != whole);
                prop_assert!(error.to_string().contains(file), "{}", error);
            }
            Ok(reader) => {
                prop_assert_eq!(bytes.len(), whole.len());
                let harmed = bytes[4096..] != whole[4096..];
                prop_assert_eq!(!reader.damaged_rows().is_empty(), harmed);
                for scored in reader.scan(&axis(0), 10, None) {
                    prop_assert!(scored.score.abs() <= 1.0);
                }
            }
        }
        if let Err(error) = VectorWriter::open(dir.path(), DIMENSION, rows) {
            prop_assert!(error.to_string().contains(file), "{}", error);
        }
    }

    #[test]
    fn a_row_set_survives_its_bytes_and_refuses_others(
        rows in proptest::collection::btree_set(0u32..300, 0..40),
        removed in proptest::collection::vec(0u32..400, 0..10),
        noise in proptest::collection::vec(any::<u8>(), 0..80),
    ) {
        let mut set: RowSet = rows.iter().copied().collect();
        let mut expected = rows.clone();
        for row in &removed {
            set.remove(*row);
            expected.remove(row);
        }
        prop_assert!(set.iter().eq(expected.iter().copied()));
        prop_assert_eq!(set.count() as usize, expected.len());
        prop_assert!((0..400).all(|row| set.contains(row) == expected.contains(&row)));
        let bytes = set.to_bytes();
        prop_assert_eq!(RowSet::from_bytes(&bytes).unwrap(), set.clone());
        prop_assert!(RowSet::from_bytes(&bytes[..bytes.len() - 1]).is_err());
        if let Ok(read) = RowSet::from_bytes(&noise) {
            prop_assert_eq!(read.to_bytes(), noise);
        }
        set.grow(1000);
        prop_assert_eq!(set.count() as usize, expected.len());
        let mut both = RowSet::full(130);
        both.intersect(&set);
        prop_assert!(both.iter().eq(expected.iter().copied().filter(|row| *row < 130)));
    }
}

#[test]
fn a_full_set_holds_its_rows_and_no_more() {
    for rows in [0, 1, 63, 64, 65, 200] {
        let set = RowSet::full(rows);
        assert_eq!((set.count(), set.rows()), (rows, rows));
        assert!(set.iter().eq(0..rows));
    }
    let mut set = RowSet::new(3);
    set.insert(u32::MAX);
    assert_eq!(set.count(), 0, "a row number that no file can have");
}

#[test]
fn rows_behind_the_published_ones_are_gone_after_reopening() {
    let dir = folder(&[axis(0), axis(1), axis(2)]);
    let mut writer = VectorWriter::open(dir.path(), DIMENSION, 1).unwrap();
    assert_eq!(writer.rows(), 1);
    assert_eq!(writer.keys().get(&key(0)), Some(0));
    assert_eq!(writer.keys().get(&key(2)), None);
    assert_eq!(writer.append(key(9), &axis(3)), 1);
    writer.sync().unwrap();
    assert_eq!(writer.keys().get(&key(9)), Some(1));
    let reader = VectorReader::open(dir.path(), DIMENSION, 2).unwrap();
    assert_eq!(reader.key(1), Some(key(9)));
    assert_eq!(reader.vector(1), axis(3));
    assert!(reader.damaged_rows().is_empty());
    assert!(matches!(
        VectorReader::open(dir.path(), DIMENSION, 3),
        Err(VectorError::TooShort { rows: 3, .. })
    ));
}

#[test]
fn a_reader_sees_what_was_published_while_the_writer_goes_on() {
    let dir = folder(&[axis(0)]);
    let before = VectorReader::open(dir.path(), DIMENSION, 1).unwrap();
    let mut writer = VectorWriter::open(dir.path(), DIMENSION, 1).unwrap();
    for number in 1..200 {
        writer.append(key(number), &axis(0));
    }
    writer.sync().unwrap();
    assert_eq!(before.scan(&axis(0), 500, None).len(), 1);
    assert_eq!(before.key(1), None);
    assert!(before.vector(1).is_empty());
    let after = VectorReader::open(dir.path(), DIMENSION, 200).unwrap();
    assert_eq!(after.scan(&axis(0), 500, None).len(), 200);
}

#[test]
fn equal_scores_are_ordered_by_key_whatever_the_row_order() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = VectorWriter::open(dir.path(), DIMENSION, 0).unwrap();
    for number in (0..200).rev() {
        writer.append(key(number), &axis(1));
    }
    writer.sync().unwrap();
    let reader = VectorReader::open(dir.path(), DIMENSION, 200).unwrap();
    let best = reader.scan(&axis(1), 3, None);
    let keys: Vec<_> = best
        .iter()
        .filter_map(|scored| reader.key(scored.row))
        .collect();
    assert_eq!(keys, [key(0), key(1), key(2)]);
    assert!(best.iter().all(|scored| (scored.score - 1.0).abs() < 1e-6));
}

#[test]
fn what_has_no_direction_is_near_to_nothing() {
    let dir = folder(&[axis(0), vec![0.0; DIMENSION]]);
    let reader = VectorReader::open(dir.path(), DIMENSION, 2).unwrap();
    assert_eq!(reader.cosine(1, &axis(0)), 0.0);
    let strange = [
        vec![0.0; DIMENSION],
        vec![f32::NAN; DIMENSION],
        vec![1.0; DIMENSION + 1],
        vec![1e-44; DIMENSION],
    ];
    for question in &strange {
        assert!(reader.scan(question, 5, None).is_empty(), "{question:?}");
        assert_eq!(reader.cosine(0, question), 0.0);
    }
    assert_eq!(reader.scan(&[f32::MAX; DIMENSION], 5, None).len(), 2);
}

#[test]
fn an_unusable_vector_is_told_at_the_next_sync_and_nothing_is_published() {
    let mut not_finite = axis(0);
    not_finite[3] = f32::INFINITY;
    for (bad, why) in [(vec![1.0; 3], "3 numbers"), (not_finite, "number 3 is inf")] {
        let dir = folder(&[axis(0)]);
        let mut writer = VectorWriter::open(dir.path(), DIMENSION, 1).unwrap();
        writer.append(key(1), &bad);
        writer.append(key(2), &axis(2));
        let error = writer.sync().unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
        assert!(matches!(writer.sync(), Err(VectorError::Poisoned { .. })));
        let writer = VectorWriter::open(dir.path(), DIMENSION, 1).unwrap();
        assert_eq!(writer.keys().len(), 1);
    }
}

#[test]
fn files_of_others_are_refused_with_their_path() {
    let open = |dir: &Path, dimension| VectorReader::open(dir, dimension, 1);
    let dir = folder(&[axis(0)]);
    assert!(matches!(
        open(dir.path(), DIMENSION + 1),
        Err(VectorError::Dimension {
            found: DIMENSION,
            ..
        })
    ));
    assert!(matches!(
        open(&dir.path().join("absent"), DIMENSION),
        Err(VectorError::Io { .. })
    ));
    assert!(matches!(
        open(dir.path(), 0),
        Err(VectorError::UnsupportedDimension { .. })
    ));
    assert!(matches!(
        VectorReader::open(dir.path(), DIMENSION, u64::MAX),
        Err(VectorError::TooManyRows { .. })
    ));
    for file in ["rows.bin", "keys.bin"] {
        let dir = folder(&[axis(0)]);
        let path = dir.path().join(file);
        let mut bytes = fs::read(&path).unwrap();
        bytes[8] = 2;
        fs::write(&path, &bytes).unwrap();
        for rows in [0, 1] {
            let error = VectorWriter::open(dir.path(), DIMENSION, rows).unwrap_err();
            assert!(
                matches!(error, VectorError::NewerVersion { found: 2, .. }),
                "{error}"
            );
        }
        assert_eq!(
            fs::read(&path).unwrap(),
            bytes,
            "a newer file is left alone"
        );
        assert!(matches!(
            open(dir.path(), DIMENSION),
            Err(VectorError::NewerVersion { .. })
        ));
        fs::write(&path, b"something else").unwrap();
        assert!(matches!(
            open(dir.path(), DIMENSION),
            Err(VectorError::Header { .. })
        ));
        assert!(VectorWriter::open(dir.path(), DIMENSION, 1).is_err());
        VectorWriter::open(dir.path(), DIMENSION, 0)
            .expect("with nothing published it starts anew");
        assert!(
            VectorReader::open(dir.path(), DIMENSION, 0)
                .unwrap()
                .scan(&axis(0), 3, None)
                .is_empty()
        );
    }
}
