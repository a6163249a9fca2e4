//! What an answer holds, over small vaults: identity, meaning, copies, pages, damage.

use std::collections::BTreeSet;

mod bench;

use bench::{Bench, notes};
use lorewell_index::Scope;
use lorewell_retrieval::{Confidence, Fusion, Lane, LaneState, Request};

const KILN: &str = "
=== Kiln.md ===
The kiln stands in the shed.
=== Archive/Old kiln notes.md ===
# Kiln

Kiln, kiln and kiln: every word of this note is about the kiln, and the kiln again.
=== Glazes.md ===
---
aliases: [Tenmoku recipe]
---
Iron, eight per cent of the dry weight. Fire it fast.
=== Books/Dune.md ===
---
title: Dune
aliases: [Arrakis book]
tags: [novel]
---
=== Empty ideas.md ===
=== Garden.md ===
Beans along the south wall, sown in May.
";

#[test]
fn a_question_that_names_a_note_finds_it_first() {
    let bench = Bench::new(KILN);
    for (question, note) in [
        ("Kiln", "Kiln.md"),
        ("kiln?", "Kiln.md"),
        ("Kiln.md", "Kiln.md"),
        ("[[Kiln]]", "Kiln.md"),
        ("what is the [[Kiln]]?", "Kiln.md"),
        ("Empty ideas", "Empty ideas.md"),
        ("what is the kiln", "Kiln.md"),
        ("tenmoku recipe", "Glazes.md"),
        ("Tenmoku recipy", "Glazes.md"),
        ("Arrakis book", "Books/Dune.md"),
        ("which novel is tagged", "Books/Dune.md"),
        ("Old kiln notes", "Archive/Old kiln notes.md"),
        ("Archive/Old kiln notes.md", "Archive/Old kiln notes.md"),
    ] {
        assert_eq!(
            notes(&bench.ask(&Request::new(question))).first().copied(),
            Some(note),
            "{question}"
        );
    }
    let near = bench.ask(&Request::new("Tenmoku recipy"));
    assert_ne!(
        near.confidence,
        Confidence::None,
        "a slip of the pen is no reason for nothing"
    );
}

#[test]
fn meaning_finds_what_words_do_not_and_says_so() {
    let bench = Bench::new(KILN);
    let answer = bench.ask(&Request::new("vegetables planted in spring"));
    let first = &answer.passages[0];
    assert_eq!(first.note.path.as_str(), "Garden.md");
    assert!(
        first.signals.iter().all(|s| s.lane == Lane::Dense),
        "{:?}",
        first.signals
    );
    let chinese = bench.ask(&Request::new("陶瓷窑在哪里"));
    let dense = chinese
        .lanes
        .iter()
        .find(|l| l.lane == Lane::Dense)
        .expect("every lane is named");
    assert!(matches!(dense.state, LaneState::Abstained { .. }));
    assert_eq!(chinese.confidence, Confidence::None);
}

#[test]
fn filters_without_a_question_list_notes_newest_first() {
    let bench = Bench::new(
        "
=== A.md ===
---
created: 2024-05-01
---
# One
Clay from the pit, long enough to be a passage of its own.

# Two
Wheel and clay, long enough to be a passage of its own.
=== B/2025-01-01.md ===
=== B/C.md ===
---
created: 2024-05-01
---
Wheel.
",
    );
    let everything = Scope {
        folders: vec!["/".to_string()],
        ..Scope::default()
    };
    let within = |question: &str, limit, offset| Request {
        scope: everything.clone(),
        limit,
        offset,
        ..Request::new(question)
    };
    let all = bench.ask(&within("", 9, 0));
    assert_eq!(notes(&all), ["B/2025-01-01.md", "A.md", "B/C.md"]);
    assert_eq!((all.confidence, all.more), (Confidence::Weak, false));
    assert!(all.lanes.iter().all(|lane| lane.state == LaneState::Off));
    assert_eq!(
        all.notice.as_deref(),
        Some("No question: the notes in scope, newest first.")
    );
    let first = bench.ask(&within(" ", 2, 0));
    let second = bench.ask(&within("", 2, 2));
    assert_eq!((first.more, second.more), (true, false));
    assert_eq!(
        (notes(&second), second.passages[0].rank),
        (vec!["B/C.md"], 3)
    );
    // `must` alone: the first passage that has the word.
    let must = bench.ask(&Request {
        must: vec!["wheel".to_string()],
        ..Request::new("")
    });
    assert_eq!(notes(&must), ["A.md", "B/C.md"]);
    assert_eq!(must.passages[0].passage.heading_path, ["Two"]);
    let nothing = bench.ask(&Request {
        scope: Scope {
            tags: vec!["x".to_string()],
            ..Scope::default()
        },
        ..Request::new("")
    });
    assert_eq!(nothing.confidence, Confidence::None);
    assert_eq!(nothing.notice.as_deref(), Some("No note has the tag “x”."));
    assert_eq!(bench.ask(&Request::new("")).confidence, Confidence::None);
}

#[test]
fn every_page_fits_the_one_before() {
    let mut notes = String::new();
    for n in 0..260 {
        notes += &format!(
            "=== N{n:03}.md ===\nOne celadon bowl, number {n} of the long row on the shelf.\n"
        );
    }
    let bench = Bench::new(&notes);
    for fusion in [Fusion::Convex, Fusion::Rrf { k: 60.0 }] {
        let mut seen = BTreeSet::new();
        let (mut offset, mut confidences) = (0, BTreeSet::new());
        loop {
            let mut request = Request {
                limit: 50,
                offset,
                ..Request::new("celadon bowl")
            };
            request.settings.fusion = fusion;
            let answer = bench.ask(&request);
            confidences.insert(answer.confidence);
            for (place, passage) in answer.passages.iter().enumerate() {
                assert_eq!(passage.rank, offset + place + 1);
                assert!(
                    seen.insert(passage.note.path.clone()),
                    "{} twice",
                    passage.note.path
                );
            }
            offset += answer.passages.len();
            if !answer.more {
                break;
            }
        }
        assert_eq!(seen.len(), 260, "{fusion:?}");
        assert_eq!(
            confidences.len(),
            1,
            "confidence belongs to the answer, not to the page"
        );
    }
    let exact = Request {
        limit: 50,
        exact: true,
        ..Request::new("Celadon  bowl, number 7 of")
    };
    let answer = bench.ask(&exact);
    assert_eq!(answer.passages.len(), 1);
    assert!(!answer.more);
}

#[test]
fn a_note_has_two_places_and_a_copy_none() {
    let sections: String = (0..6)
        .map(|n| format!("## Part {n}\n\nThe raku firing of week {n} went well enough.\n\n"))
        .collect();
    let copied = "The raku firing is the quick one: out of the kiln with tongs, into the sawdust.";
    let notes = format!(
        "=== Diary.md ===\n{sections}\n=== A.md ===\n{copied}\n=== Archive/A copy.md ===\n{copied}\n"
    );
    let bench = Bench::new(&notes);
    let answer = bench.ask(&Request::new("raku firing"));
    let of = |path: &str| {
        answer
            .passages
            .iter()
            .filter(|p| p.note.path.as_str() == path)
            .count()
    };
    assert_eq!(
        (of("Diary.md"), of("A.md"), of("Archive/A copy.md")),
        (2, 1, 0)
    );
    let kept = answer
        .passages
        .iter()
        .find(|p| p.note.path.as_str() == "A.md")
        .expect("A.md");
    assert_eq!(kept.copies, ["Archive/A copy.md"]);
    let exact = bench.ask(&Request {
        limit: 50,
        exact: true,
        ..Request::new("raku firing of week")
    });
    assert_eq!(
        exact.passages.len(),
        6,
        "a phrase is shown wherever it stands"
    );
}

#[test]
fn only_what_is_asked_is_searched() {
    let bench = Bench::new(KILN);
    let scope = Scope {
        folders: vec!["archive".to_string()],
        ..Scope::default()
    };
    let answer = bench.ask(&Request {
        scope,
        ..Request::new("kiln in the shed")
    });
    assert!(
        answer
            .passages
            .iter()
            .all(|p| p.note.path.folder() == "Archive")
    );
    assert!(!answer.passages.is_empty());
    let scope = Scope {
        folders: vec!["Nowhere".to_string()],
        ..Scope::default()
    };
    let answer = bench.ask(&Request {
        scope,
        ..Request::new("kiln")
    });
    assert!(answer.passages.is_empty() && answer.notice.is_some());
    let only_text = bench.ask(&Request {
        lanes: vec![Lane::Text],
        ..Request::new("kiln")
    });
    for report in &only_text.lanes {
        assert_eq!(
            report.state == LaneState::Off,
            report.lane != Lane::Text,
            "{}",
            report.lane
        );
    }
}

#[test]
fn damaged_vectors_are_said_and_words_go_on() {
    let bench = Bench::new(KILN);
    let vectors = bench.home.index_dir().join("vectors");
    let folder = std::fs::read_dir(vectors)
        .expect("vectors")
        .next()
        .expect("a model")
        .expect("its folder")
        .path();
    let rows = folder.join("rows.bin");
    let mut bytes = std::fs::read(&rows).expect("rows");
    let start = bytes.len() - 256;
    bytes[start..]
        .iter_mut()
        .for_each(|byte| *byte = byte.wrapping_add(77));
    std::fs::write(&rows, bytes).expect("damage");
    let answer = bench.ask(&Request::new("where does the kiln stand"));
    let dense = answer
        .lanes
        .iter()
        .find(|l| l.lane == Lane::Dense)
        .expect("every lane is named");
    assert!(
        matches!(dense.state, LaneState::Unavailable { .. }),
        "{:?}",
        dense.state
    );
    assert_eq!(answer.passages[0].note.path.as_str(), "Kiln.md");
}
