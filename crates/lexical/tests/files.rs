//! Segment files: what they hold, and that damage is an error and never a panic.

use std::fs;
use std::path::Path;

use lorewell_lexical::{
    Field, Live, QueryTerm, Segment, SegmentBuilder, SegmentError, Wanted, merge, neighbours,
    search,
};
use proptest::prelude::*;

/// Many passages with a vocabulary that spans dictionary groups and skip entries; larger than one
/// checksummed block.
fn image(passages: u32) -> Vec<u8> {
    let mut builder = SegmentBuilder::new();
    for passage in 0..passages {
        let body = format!(
            "common even{} rare{passage} word{} 文字",
            passage % 2,
            passage % 40
        );
        let title = Field {
            weight: 3,
            text: "common title",
        };
        builder.add(
            passage * 2,
            u64::from(passage),
            &[
                title,
                Field {
                    weight: 1,
                    text: &body,
                },
            ],
        );
    }
    builder.finish()
}

fn terms() -> Vec<QueryTerm> {
    ["common", "even1", "rare7", "word3"]
        .map(|term| QueryTerm {
            term: term.to_owned(),
            weight: 1.0,
        })
        .to_vec()
}

/// Everything that reads a segment; the first error ends it.
fn read_all(segment: &Segment) -> Result<(), SegmentError> {
    let live = [Live {
        segment,
        dead: None,
    }];
    search(&live, &terms(), 10, Some(&|passage| passage % 3 == 0))?;
    segment.terms_with_prefix("rare", usize::MAX)?;
    segment.contains_term("title")?;
    segment.doc_of(4)?;
    let wanted = Wanted {
        passages: 40,
        together: 1,
        common: 1_000,
        neighbours: 50,
    };
    neighbours(&live, "title", wanted, |together, _, _| together as f32)?;
    merge(&live)?;
    segment.verify()
}

#[test]
fn a_file_keeps_passages_and_terms() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("one.seg");
    fs::write(&path, image(1_000)).unwrap();
    let segment = Segment::open(&path).unwrap();
    read_all(&segment).unwrap();

    assert_eq!(
        (segment.len(), segment.is_empty(), segment.size()),
        (1_000, false, fs::metadata(&path).unwrap().len())
    );
    for doc in [0, 1, 500, 999] {
        assert_eq!(segment.passage(doc).unwrap(), doc * 2);
        assert_eq!(segment.doc_of(doc * 2).unwrap(), Some(doc));
        assert_eq!(segment.doc_of(doc * 2 + 1).unwrap(), None);
    }
    assert!(segment.passage(1_000).is_err());
    assert!(segment.contains_term("rare999").unwrap());
    for absent in ["rare1000", "", "a", "zzz", "文", "comm"] {
        assert_eq!(
            segment.contains_term(absent).unwrap(),
            absent == "文",
            "{absent}"
        );
    }
    let entries = segment.terms_with_prefix("word1", 100).unwrap();
    let found: Vec<(&str, u32)> = entries
        .iter()
        .map(|entry| (entry.term.as_str(), entry.passages))
        .collect();
    assert_eq!(found[..3], [("word1", 25), ("word10", 25), ("word11", 25)]);
    assert_eq!(found.len(), 11);
    assert_eq!(segment.terms_with_prefix("rare", 7).unwrap().len(), 7);
    assert_eq!(
        segment.terms_with_prefix("", usize::MAX).unwrap().len() as u64,
        segment.terms()
    );
    assert_eq!(segment.terms_with_prefix("zzz", 7).unwrap(), []);
}

#[test]
fn what_is_wrong_with_a_file_is_said_with_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let good = image(50);
    let mut newer = good.clone();
    newer[8] = 9;
    let mut flipped = good.clone();
    flipped[20] ^= 0x40;
    let longer = [good.clone(), vec![0]].concat();
    for (name, bytes, message) in [
        (
            "foreign.seg",
            b"# A note\n".to_vec(),
            "is not a lexical segment",
        ),
        ("empty.seg", Vec::new(), "0 bytes instead of 128"),
        (
            "header.seg",
            good[..100].to_vec(),
            "100 bytes instead of 128",
        ),
        (
            "short.seg",
            good[..good.len() - 1].to_vec(),
            "bytes instead of",
        ),
        ("long.seg", longer, "bytes instead of"),
        (
            "newer.seg",
            newer,
            "format version 9, and this program reads 2",
        ),
        ("flipped.seg", flipped, "damaged (header)"),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        let error = Segment::open(&path).err().unwrap().to_string();
        assert!(
            error.contains(message) && error.contains(name),
            "{name}: {error}"
        );
    }
    let missing = Segment::open(Path::new("/nowhere/at/all.seg"))
        .err()
        .unwrap();
    assert!(
        matches!(&missing, SegmentError::Io { .. })
            && missing.to_string().contains("/nowhere/at/all.seg")
    );
}

/// A damaged block is found by the search that needs it, and not by one that does not.
#[test]
fn only_the_blocks_that_are_used_are_checked() {
    let mut bytes = image(20_000);
    // Behind the header and 13 bytes a passage lie the postings.
    let postings = 128 + 20_000 * 13;
    bytes[postings + 100_000] ^= 1;
    let segment = Segment::from_bytes(bytes).unwrap();
    let live = [Live {
        segment: &segment,
        dead: None,
    }];
    let outcomes: Vec<bool> = (0..20_000)
        .step_by(500)
        .map(|number| QueryTerm {
            term: format!("rare{number}"),
            weight: 1.0,
        })
        .map(|term| search(&live, &[term], 3, None).is_ok())
        .collect();
    assert!(
        outcomes.contains(&true),
        "a search that does not need the block works"
    );
    let error = segment.verify().unwrap_err();
    assert!(matches!(&error, SegmentError::Damaged { .. }), "{error}");
    assert!(matches!(merge(&live), Err(SegmentError::Damaged { .. })));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_flipped_bit_or_a_cut_is_always_found(
        at in any::<prop::sample::Index>(),
        bit in 0..8_u32,
        cut in any::<bool>(),
    ) {
        let mut bytes = image(60);
        let at = at.index(bytes.len());
        if cut {
            bytes.truncate(at);
        } else {
            bytes[at] ^= 1_u8 << bit;
        }
        // Bytes 12..16 and 72..96 of the header are zero in this format, but the checksum covers
        // them too.
        prop_assert!(Segment::from_bytes(bytes).and_then(|segment| read_all(&segment)).is_err());
    }

    #[test]
    fn arbitrary_files_are_errors(
        mut bytes in prop::collection::vec(any::<u8>(), 0..400),
        magic in any::<bool>(),
    ) {
        if magic {
            let head = image(0);
            let shared = head.len().min(16).min(bytes.len());
            bytes[..shared].copy_from_slice(&head[..shared]);
        }
        prop_assert!(Segment::from_bytes(bytes).is_err());
    }

    /// Content that contradicts itself behind checksums that are right: any answer or error, but no
    /// panic.
    #[test]
    fn a_file_that_lies_never_panics(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = image(60);
        let body = 128..bytes.len() - 8;
        for (at, value) in changes {
            bytes[body.start + at.index(body.len())] = value;
        }
        let sum: [u8; 8] = blake3::hash(&bytes[body.clone()]).as_bytes()[..8].try_into().unwrap();
        bytes[body.end..].copy_from_slice(&sum);
        let header = blake3::Hasher::new().update(&bytes[..96]).update(&sum).finalize();
        bytes[96..128].copy_from_slice(header.as_bytes());
        let segment = Segment::from_bytes(bytes).unwrap();
        segment.verify().unwrap();
        let _ = read_all(&segment);
        for term in terms() {
            let _ = search(&[Live { segment: &segment, dead: None }], &[term], 100, None);
        }
    }
}
