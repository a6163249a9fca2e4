//! What links where.

use lorewell_engine::{EngineError, LinkMeaning, OutgoingLink, Piece};

use super::{ALL, World, backlinks, targets};

/// `line: what is written -> what it leads to`
fn outgoing(link: &OutgoingLink) -> String {
    let meaning = match &link.meaning {
        LinkMeaning::Note { note, others } if others.is_empty() => note.path.clone(),
        LinkMeaning::Note { note, others } => format!("{} or {}", note.path, others.join(", ")),
        LinkMeaning::SameNote => "itself".to_string(),
        LinkMeaning::File => "a file".to_string(),
        LinkMeaning::Missing => "nothing".to_string(),
    };
    let part = match link.part_exists {
        Some(true) => ", there",
        Some(false) => ", not there",
        None => "",
    };
    let written = link.written.clone().unwrap_or_default();
    format!("{}: {written} -> {meaning}{part}", link.line.unwrap_or(0))
}

const LINKED: &str = "
=== Kiln.md ===
---
up: \"[[Workshop]]\"
---
# Kiln
See [[Glaze#Ash glaze|the ash one]], [[Glaze#Nope]] and [[Glaze#^tea]].
![[photo.jpg]] [[Lost]] and [[lost|again]], [[#kiln]], [[Ledger]].

## Firing
Slow. ^slow
=== Glaze.md ===
# Glaze
## Ash glaze
Fires well. Use it in the *big* [[Kiln|kiln]] only! Not elsewhere.

- one
- two, see ![[Kiln#Firing]]
  and [[Kiln#^slow]]. Then stop.

| what | where |
| --- | --- |
| tea bowl ^tea | [[Oven\\|kiln]] |

Tea bowl. ^tea
=== Workshop.md ===
---
aliases: [Shed]
has:
  - \"[[Kiln]]\"
---
Nothing [here](Kiln.md).
=== A/Ledger.md ===
x
=== B/Ledger.md ===
y
=== Lone.md ===
[[Lone]] [[Ledger]]
";

#[test]
fn the_links_of_a_note_are_told_both_ways() {
    let world = World::new(LINKED);
    let links = world.links("kiln");
    let lines: Vec<String> = links.outgoing.items.iter().map(outgoing).collect();
    assert_eq!(
        lines,
        [
            "2: [[Workshop]] -> Workshop.md",
            "5: [[Glaze#Ash glaze|the ash one]] -> Glaze.md, there",
            "5: [[Glaze#Nope]] -> Glaze.md, not there",
            "5: [[Glaze#^tea]] -> Glaze.md, there",
            "6: ![[photo.jpg]] -> a file",
            "6: [[Lost]] -> nothing",
            "6: [[lost|again]] -> nothing",
            "6: [[#kiln]] -> itself, there",
            "6: [[Ledger]] -> A/Ledger.md or B/Ledger.md",
        ]
    );
    assert_eq!(
        backlinks(&links),
        [
            "Glaze.md:3 Use it in the big kiln only!",
            "Glaze.md:6 two, see Kiln#Firing and Kiln#^slow.",
            "Glaze.md:6 two, see Kiln#Firing and Kiln#^slow.",
            "Workshop.md:4 has: Kiln",
            "Workshop.md:6 Nothing here.",
        ]
    );
    assert_eq!(targets(&links.unresolved), ["Lost [] 2x from Kiln.md:6"]);
    assert_eq!(
        targets(&links.ambiguous),
        ["Ledger [A/Ledger.md, B/Ledger.md] 1x from Kiln.md:6"]
    );
    // What the ranges hold is what is said.
    let text = world.home.vault.read("Glaze.md");
    let range = &links.backlinks.items[0].byte_range;
    let slice = &text[range.start as usize..range.end as usize];
    assert_eq!(slice, "Use it in the *big* [[Kiln|kiln]] only!");
}

#[test]
fn lists_are_told_piece_by_piece_and_a_changed_note_without_lines() {
    let world = World::new(LINKED);
    let host = world.host();
    let view = host.view().unwrap();
    let piece = Piece {
        offset: 1,
        limit: 2,
    };
    let links = view.links_of("Kiln.md", piece).unwrap();
    assert_eq!((links.outgoing.items.len(), links.outgoing.total), (2, 9));
    assert_eq!(links.backlinks.items[0].line_range, Some((6, 7)));
    assert_eq!(links.unresolved.items, []);
    assert_eq!(links.unresolved.total, 1);
    world.home.vault.write("Workshop.md", "gone");
    let links = view.links_of("Kiln.md", ALL).unwrap();
    let property = &links.backlinks.items[3];
    assert_eq!(
        (property.sentence.as_str(), property.line_range),
        ("Kiln", None)
    );
    let missing = view.links_of("Klin", ALL).unwrap_err();
    assert!(matches!(missing, EngineError::NoSuchNote { .. }));
    let ledger = view.links_of("Ledger", ALL).unwrap();
    assert_eq!(ledger.others, ["B/Ledger.md"]);
    assert_eq!(world.related("Ledger").others, ["B/Ledger.md"]);
    let named = view.paths_of_note_named("Ledger").unwrap();
    assert_eq!(named, ("A/Ledger.md".into(), vec!["B/Ledger.md".into()]));
}

#[test]
fn what_is_loose_in_a_vault_is_told() {
    let world = World::new(LINKED);
    let host = world.host();
    let overview = host.view().unwrap().link_overview(ALL).unwrap();
    assert_eq!(
        targets(&overview.unresolved),
        ["Lost [] 2x from Kiln.md:6", "Oven [] 1x from Glaze.md:11"]
    );
    assert_eq!(
        targets(&overview.ambiguous),
        ["Ledger [A/Ledger.md, B/Ledger.md] 2x from Kiln.md:6 Lone.md:1"]
    );
    let orphans: Vec<&str> = overview
        .orphans
        .items
        .iter()
        .map(|n| n.path.as_str())
        .collect();
    assert_eq!(orphans, ["B/Ledger.md"]);
}
