//! Reading a note or a part of it, and that what the index says of a place in a file is so.

use std::path::Path;

use lorewell_engine::{EngineError, NoteText, ReadRequest};
use proptest::prelude::*;

use crate::world::World;

const NOTE: &str = "---
aliases: [Oven]
---
# Firing
Intro.

## Second firing
Slow, with 釉料. ^slow

### Cooling
- one ^first
- two

## Glaze
End.
";

fn read(world: &World, request: &ReadRequest) -> Result<NoteText, EngineError> {
    world.host().view().unwrap().read(request)
}

fn whole(note: &str) -> ReadRequest {
    ReadRequest {
        note: note.to_string(),
        max_chars: usize::MAX,
        ..ReadRequest::default()
    }
}

#[test]
fn parts_of_a_note_by_every_name() {
    let world = World::built(&format!("=== Projects/Kiln.md ===\n{NOTE}"));
    let heading = |path: &[&str]| ReadRequest {
        heading: path.iter().map(|h| (*h).to_string()).collect(),
        ..whole("Kiln")
    };
    let lines = |first, last| ReadRequest {
        lines: Some((first, last)),
        ..whole("Kiln")
    };
    let block = |id: &str| ReadRequest {
        block: Some(id.to_string()),
        ..whole("Kiln")
    };
    let second = "## Second firing\nSlow, with 釉料. ^slow\n\n### Cooling\n- one ^first\n- two\n\n";
    let cooling = "### Cooling\n- one ^first\n- two\n\n";
    let cases = [
        (whole("Projects/Kiln.md"), NOTE, (1, 15)),
        (whole("kiln"), NOTE, (1, 15)),
        (whole("Oven"), NOTE, (1, 15)),
        (whole("[[Oven|the oven]]"), NOTE, (1, 15)),
        (heading(&["second firing"]), second, (7, 13)),
        (
            heading(&["Firing", "Second firing", "Cooling"]),
            cooling,
            (10, 13),
        ),
        (heading(&["Firing", "Cooling"]), cooling, (10, 13)),
        (whole("[[Kiln#Cooling]]"), cooling, (10, 13)),
        (whole("Kiln#Second firing#Cooling"), cooling, (10, 13)),
        (heading(&["Glaze"]), "## Glaze\nEnd.\n", (14, 15)),
        // As answers write a place.
        (
            whole("Projects/Kiln.md › Firing › Cooling"),
            cooling,
            (10, 13),
        ),
        (
            whole("Projects/Kiln.md > Glaze"),
            "## Glaze\nEnd.\n",
            (14, 15),
        ),
        (whole("Projects/Kiln.md:4-5"), "# Firing\nIntro.\n", (4, 5)),
        (whole("Kiln:15"), "End.\n", (15, 15)),
        (
            whole("obsidian://open?vault=Notes&file=Projects%2FKiln.md"),
            NOTE,
            (1, 15),
        ),
        (lines(4, 5), "# Firing\nIntro.\n", (4, 5)),
        (lines(15, 99), "End.\n", (15, 15)),
        (
            ReadRequest {
                lines: Some((12, 15)),
                ..heading(&["Cooling"])
            },
            "- two\n\n",
            (12, 13),
        ),
    ];
    for (request, text, line_range) in cases {
        let found = read(&world, &request).unwrap();
        assert_eq!(
            (found.text.as_str(), found.line_range),
            (text, line_range),
            "{request:?}"
        );
        let range = found.byte_range.start as usize..found.byte_range.end as usize;
        assert_eq!(&NOTE[range], text);
        assert_eq!((found.next, found.changed_since_indexed), (None, false));
    }
    for request in [block("slow"), block("SLOW"), whole("Kiln#^slow")] {
        let text = read(&world, &request).unwrap().text;
        assert!(text.starts_with("Slow, with 釉料."), "{text}");
    }
    assert_eq!(
        read(&world, &block("first")).unwrap().text.lines().count(),
        1
    );
}

#[test]
fn what_is_not_there_is_told_with_what_is() {
    let world = World::built(&format!(
        "=== Kiln.md ===\n{NOTE}=== Glaze.md ===\nCeladon.\n"
    ));
    let told = |request: ReadRequest| {
        let error = read(&world, &request).unwrap_err();
        (error.to_string(), error.code(), error.hint())
    };
    let expect = |message: &str, code, hint: &str| (message.to_string(), code, hint.to_string());
    assert_eq!(
        told(whole("Glazes")),
        expect(
            "no note of this vault is called “Glazes”",
            "no_such_note",
            "Did you mean “Glaze”?"
        )
    );
    assert_eq!(
        told(whole("Kiln#Third")),
        expect(
            "“Kiln.md” has no heading “Third”",
            "no_such_part",
            "It has “Firing”, “Second firing”, “Cooling”, “Glaze”."
        )
    );
    let beyond = ReadRequest {
        lines: Some((99, 100)),
        ..whole("Kiln")
    };
    assert_eq!(
        told(beyond).0,
        "“Kiln.md” has no lines 99 to 100; it has 16"
    );
    let block = ReadRequest {
        block: Some("none".into()),
        ..whole("Kiln")
    };
    assert_eq!(told(block).0, "“Kiln.md” has no block ^none");
    world
        .home
        .vault
        .write("Late notes/New.md", "Not looked at yet.");
    for name in [
        "Late notes/New",
        "Late notes/New.md:1",
        "[[Late notes/New]]",
    ] {
        assert_eq!(
            told(whole(name)).2,
            "It is in the folder and not in the index; `lorewell status --why-not 'Late notes/New.md'` says why."
        );
    }
    world.home.vault.remove("Kiln.md");
    assert_eq!(told(whole("Kiln")).1, "not_found");
}

#[test]
fn a_note_that_changed_is_read_as_it_is_and_says_so() {
    let world = World::built("=== Kiln.md ===\nOld.\n");
    world.home.vault.write("Kiln.md", "New.\n");
    let found = read(&world, &whole("Kiln")).unwrap();
    assert_eq!(
        (found.text.as_str(), found.changed_since_indexed),
        ("New.\n", true)
    );
}

#[test]
fn every_encoding_and_line_end_reads_and_is_found() {
    let utf16 = |text: &str| {
        let units = std::iter::once(0xFEFF).chain(text.encode_utf16());
        units.flat_map(u16::to_le_bytes).collect::<Vec<u8>>()
    };
    let cases: [(&str, Vec<u8>, &str); 4] = [
        (
            "CRLF.md",
            b"# Kiln\r\nCone 6.\r\n".to_vec(),
            "# Kiln\r\nCone 6.\r\n",
        ),
        (
            "BOM.md",
            b"\xEF\xBB\xBF# Kiln\nCone 6.\n".to_vec(),
            "\u{FEFF}# Kiln\nCone 6.\n",
        ),
        (
            "UTF16.md",
            utf16("# Kiln\nCone 6, 釉料.\n"),
            "# Kiln\nCone 6, 釉料.\n",
        ),
        (
            "Latin.md",
            b"# Kiln\nOfen f\xFCr den Rohbrand, Gl\xFChbrand und K\xFChlung.\n".to_vec(),
            "# Kiln\nOfen für den Rohbrand, Glühbrand und Kühlung.\n",
        ),
    ];
    let world = World::new("");
    for (path, bytes, _) in &cases {
        world.home.vault.write(path, bytes);
    }
    world.settle();
    for (path, _, text) in &cases {
        let found = read(&world, &whole(path)).unwrap();
        assert_eq!(
            found.text.trim_start_matches('\u{FEFF}'),
            text.trim_start_matches('\u{FEFF}')
        );
        let section = read(&world, &whole(&format!("{path}#Kiln"))).unwrap();
        assert_eq!(section.line_range, (1, 2), "{path}");
        let snapshot = world.snapshot();
        let note = snapshot.note_at(path).unwrap().unwrap();
        for number in snapshot.passages_of(note.id).unwrap() {
            let passage = snapshot.passage(number).unwrap().unwrap();
            let range = passage.byte_range.start as usize..passage.byte_range.end as usize;
            assert_eq!(found.text.get(range), Some(passage.text.as_str()), "{path}");
        }
    }
    assert_eq!(world.found("kiln").len(), 4);
}

#[test]
fn every_passage_of_the_sample_vault_is_the_slice_of_its_file() {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sample-vault");
    let place = tempfile::tempdir().unwrap();
    let host =
        lorewell_engine::Host::open("Sample", &sample, place.path(), Default::default()).unwrap();
    host.refresh(lorewell_engine::Patience::Wait, &lorewell_engine::Quiet)
        .unwrap();
    let snapshot = crate::world::open_snapshot(&lorewell_index::Layout::new(place.path()));
    snapshot.verify().unwrap();
    let notes: std::collections::BTreeSet<u32> = snapshot
        .names()
        .unwrap()
        .iter()
        .map(|name| name.note)
        .collect();
    let mut passages = 0;
    for note in notes {
        let note = snapshot.note(note).unwrap().unwrap();
        let bytes = std::fs::read(sample.join(note.path.as_str())).unwrap();
        assert_eq!(*blake3::hash(&bytes).as_bytes(), note.content_hash);
        let numbers = snapshot.passages_of(note.id).unwrap();
        assert_eq!(numbers.len(), note.passages as usize);
        for (ordinal, number) in numbers.into_iter().enumerate() {
            let p = snapshot.passage(number).unwrap().unwrap();
            assert_eq!((p.note, p.ordinal as usize), (note.id, ordinal));
            if note.encoding != "utf-8" {
                continue;
            }
            let slice = &bytes[p.byte_range.start as usize..p.byte_range.end as usize];
            assert_eq!(slice, p.text.as_bytes(), "{}", note.path.as_str());
            let before = bytes[..p.byte_range.start as usize]
                .iter()
                .filter(|b| **b == b'\n')
                .count();
            assert_eq!(
                before + 1,
                p.line_range.0 as usize,
                "{}",
                note.path.as_str()
            );
            passages += 1;
        }
    }
    assert!(passages > 50, "{passages} passages");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pages_put_together_are_the_whole(page in 1usize..40, headed in any::<bool>()) {
        let world = World::built(&format!("=== Kiln.md ===\n{NOTE}"));
        let note = if headed { "Kiln#Second firing" } else { "Kiln" };
        let all = read(&world, &whole(note)).unwrap();
        let mut pages = String::new();
        let mut offset = Some(0);
        while let Some(from) = offset {
            let found = read(&world, &ReadRequest { offset: from, max_chars: page, ..whole(note) }).unwrap();
            prop_assert!(found.text.chars().count() <= page);
            prop_assert_eq!(found.byte_range.start, all.byte_range.start + from);
            pages += &found.text;
            offset = found.next;
        }
        prop_assert_eq!(pages, all.text);
    }
}
