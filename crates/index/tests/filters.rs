//! Which notes a scope holds, and what the catalogue keeps of evidence and dates.

use std::collections::BTreeSet;

use lorewell_embed::{Embedder, StaticModel};
use lorewell_index::{
    EvidenceRules, IndexSettings, Layout, Lock, LockAttempt, PropertyMatch, Quiet, Scope, Snapshot,
    Writer,
};
use lorewell_testkit::TempHome;
use lorewell_text::whole_period;
use lorewell_vault::{Rules, Vault};

const NOTES: &str = "
=== Projects/Kiln.md ===
---
Status: In progress
created: 2024-05-03
topics: [Clay, Fire]
tags: [ceramics/firing]
---
Fired slowly. See [[Glazes]].
=== Projects/Wheel.md ===
---
status: done
created: 2024-06-01
tags: [ceramics]
rating: 4
---
It turns.
=== Clippings/Glazes.md ===
---
title: All the glazes
aliases: [Celadon]
created: 2023-12-31
---
Iron makes celadon.
=== Journal/2024-05-04.md ===
Opened the kiln, wrote to [[Celadon]] and [[Projects/Wheel]].
";

struct Shelf {
    home: TempHome,
    layout: Layout,
}

impl Shelf {
    fn new(notes: &str) -> Shelf {
        let home = TempHome::new(notes);
        let layout = Layout::new(home.index_dir());
        let shelf = Shelf { home, layout };
        shelf.update(&[]);
        shelf
    }

    /// Brings the index up to date; returns how many notes were taken in.
    fn update(&self, evidence: &[&str]) -> usize {
        let vault = Vault::open(self.home.vault.root()).expect("a vault");
        let listing = vault.list(&Rules::default()).expect("a listing");
        let LockAttempt::Taken(lock) = Lock::attempt(&self.layout).expect("a lock") else {
            panic!("locked")
        };
        let model = StaticModel::built_in();
        let mut writer = Writer::open(&self.layout, lock, model).expect("a writer");
        let settings = IndexSettings {
            evidence: EvidenceRules::new(evidence).expect("rules"),
            ..IndexSettings::default()
        };
        let report = writer.update(&vault, &listing, &settings, model, &Quiet);
        report.expect("an update").taken_in
    }

    fn snapshot(&self) -> Snapshot {
        let fingerprint = StaticModel::built_in().fingerprint().as_str();
        Snapshot::open(&self.layout, fingerprint).expect("a snapshot")
    }

    /// Names of the notes in a scope, in order.
    fn notes(&self, scope: &Scope) -> String {
        let snapshot = self.snapshot();
        let found = snapshot.notes_in(scope).expect("notes").expect("a filter");
        let mut names: Vec<String> = found
            .iter()
            .map(|note| snapshot.note(*note).expect("read").expect("there"))
            .map(|note| note.path.name().to_string())
            .collect();
        names.sort();
        names.join(", ")
    }

    fn evidence(&self, path: &str) -> String {
        let note = self.snapshot().note_at(path).expect("read").expect(path);
        format!("{}: {}", note.evidence.class, note.evidence.rule)
    }
}

/// A scope from words: `folder X`, `tag X`, `property X`, `since X`, `until X`, `evidence X`,
/// `to X`, parted by semicolons.
fn scope(words: &str) -> Scope {
    let mut scope = Scope::default();
    for filter in words.split("; ") {
        let (kind, what) = filter.split_once(' ').expect("kind and value");
        let period = || whole_period(what, None).expect("a date");
        match kind {
            "folder" => scope.folders.push(what.to_string()),
            "tag" => scope.tags.push(what.to_string()),
            "property" => scope.properties.extend(PropertyMatch::parse(what)),
            "since" => scope.since = Some(period().first),
            "until" => scope.until = Some(period().last),
            "evidence" => scope.evidence.push(what.parse().expect("a class")),
            "to" => scope.links_to.push(what.to_string()),
            other => panic!("{other}"),
        }
    }
    scope
}

#[test]
fn filters() {
    let shelf = Shelf::new(NOTES);
    for (words, notes) in [
        ("folder projects", "Kiln, Wheel"),
        ("folder Proj", ""),
        ("folder ; tag ; tag #; to ; tag ceramics/firing", "Kiln"),
        ("folder ; folder Clippings; tag  ", "Glazes"),
        (
            "folder Projects; folder Journal/",
            "2024-05-04, Kiln, Wheel",
        ),
        ("tag ceramics", "Kiln, Wheel"),
        ("tag #Ceramics/Firing", "Kiln"),
        ("tag ceramics; tag ceramics/firing", "Kiln"),
        ("property status=IN PROGRESS", "Kiln"),
        ("property status", "Kiln, Wheel"),
        ("property topics=fire", "Kiln"),
        ("property rating=4", "Wheel"),
        ("property created=2024", "Kiln, Wheel"),
        ("property created=2024; property status=done", "Wheel"),
        ("since 2024-05", "2024-05-04, Kiln, Wheel"),
        ("since 2024-05-04", "2024-05-04, Wheel"),
        ("until 2023", "Glazes"),
        ("since 2024-05; until 2024-05", "2024-05-04, Kiln"),
        ("evidence own", "Kiln, Wheel"),
        ("evidence daily; evidence clipping", "2024-05-04, Glazes"),
        ("to Clippings/Glazes.md", "2024-05-04, Kiln"),
        ("to Clippings/Glazes.md; to Projects/Wheel.md", "2024-05-04"),
        ("to Projects/Wheel.md; evidence own", ""),
        ("to Nowhere.md", ""),
        ("tag ceramics; until 2024-05; folder Projects", "Kiln"),
    ] {
        assert_eq!(shelf.notes(&scope(words)), notes, "{words}");
    }
    let snapshot = shelf.snapshot();
    assert_eq!(snapshot.notes_in(&Scope::default()).expect("read"), None);
}

#[test]
fn filters_of_two_kinds_narrow_each_other() {
    let shelf = Shelf::new(NOTES);
    let all = [
        "folder projects",
        "folder nowhere",
        "tag ceramics",
        "tag ceramics/firing",
        "property status",
        "property topics=clay",
        "since 2024-05",
        "until 2024-05-03",
        "evidence own",
        "evidence clipping",
        "to Clippings/Glazes.md",
        "to Projects/Wheel.md",
    ];
    let alone = |words| -> BTreeSet<String> {
        let names = shelf.notes(&scope(words));
        names
            .split(", ")
            .filter(|n| !n.is_empty())
            .map(str::to_string)
            .collect()
    };
    for one in all {
        for two in all {
            if one.split(' ').next() == two.split(' ').next() {
                continue;
            }
            let both: Vec<String> = alone(one).intersection(&alone(two)).cloned().collect();
            assert_eq!(
                shelf.notes(&scope(&format!("{one}; {two}"))),
                both.join(", "),
                "{one}; {two}"
            );
        }
    }
}

#[test]
fn an_empty_scope_says_which_filter_left_nothing() {
    let shelf = Shelf::new(NOTES);
    let snapshot = shelf.snapshot();
    let why = |words| snapshot.why_nothing_in(&scope(words)).expect("read");
    assert_eq!(why("folder Projects"), None);
    for (words, reason) in [
        (
            "tag ceramics; folder Nowhere",
            "No note is in the folder “Nowhere”.",
        ),
        (
            "folder A; folder B; folder C",
            "No note is in the folder “A”, “B” or “C”.",
        ),
        ("tag #x", "No note has the tag “x”."),
        (
            "tag cermaics",
            "No note has the tag “cermaics”; near: ceramics.",
        ),
        (
            "folder Projetcs",
            "No note is in the folder “Projetcs”; near: Projects.",
        ),
        (
            "property status=lost",
            "No note has the property “status=lost”.",
        ),
        ("since 2030", "No note is of 2030-01-01 or later."),
        (
            "since 1999; until 1999",
            "No note is from 1999-01-01 to 1999-12-31.",
        ),
        ("evidence draft", "No note is of the evidence “draft”."),
        ("to Nowhere.md", "No note links to “Nowhere.md”."),
        (
            "tag ceramics; evidence daily",
            "Each filter leaves notes, but together they leave none: no note has the tag \
             “ceramics” and is of the evidence “daily”.",
        ),
    ] {
        assert_eq!(why(words).as_deref(), Some(reason), "{words}");
    }
}

#[test]
fn few_notes_and_many_have_the_same_passages_and_rows() {
    let words = [
        "clay", "fire", "glaze", "wheel", "shelf", "brick", "cone", "ash",
    ];
    let text = |at: usize| format!("{} {} {at}", words[at % 8], words[at / 8 % 8]);
    let notes: String = (0..300)
        .map(|at| format!("=== {at}.md ===\n{}\n", text(at)))
        .collect();
    let shelf = Shelf::new(&notes);
    let snapshot = shelf.snapshot();
    let all = Scope {
        folders: vec!["/".to_string()],
        ..Scope::default()
    };
    let all = snapshot.notes_in(&all).expect("read").expect("a filter");
    assert_eq!(all.len(), 300);
    let (passages, rows) = snapshot.passages_of_notes(&all).expect("read");
    let (_, live) = snapshot.vectors().expect("vectors");
    assert_eq!(rows.count(), live.count());
    let mut singly = 0;
    for note in &all {
        let one = [*note].into_iter().collect();
        let (own, _) = snapshot.passages_of_notes(&one).expect("read");
        for passage in snapshot.passages_of(*note).expect("read") {
            assert!(own.contains(passage) && passages.contains(passage));
            singly += 1;
        }
    }
    assert_eq!(singly, snapshot.totals().passages);
}

#[test]
fn evidence_is_decided_anew_when_its_rules_change() {
    let shelf = Shelf::new(NOTES);
    assert_eq!(shelf.evidence("Projects/Kiln.md"), "own: default");
    assert_eq!(shelf.update(&[]), 0);

    assert_eq!(shelf.update(&["folder:Projects=draft"]), 4);
    assert_eq!(
        shelf.evidence("Projects/Kiln.md"),
        "draft: setting folder:Projects"
    );
    assert_eq!(shelf.update(&["folder:Projects=draft"]), 0);
    assert_eq!(shelf.notes(&scope("evidence draft")), "Kiln, Wheel");

    shelf
        .home
        .vault
        .write(".obsidian/templates.json", r#"{"folder": "/Projects/"}"#);
    assert_eq!(shelf.update(&[]), 4);
    assert_eq!(
        shelf.evidence("Projects/Kiln.md"),
        "template: templates folder Projects"
    );

    // What cannot be read names no folder.
    for broken in ["{", "[]", r#"{"folder": 5}"#, r#"{"folder": "/"}"#] {
        shelf.home.vault.write(".obsidian/templates.json", broken);
        shelf.update(&[]);
        assert_eq!(
            shelf.evidence("Projects/Kiln.md"),
            "own: default",
            "{broken}"
        );
    }
    shelf
        .home
        .vault
        .write(".obsidian/daily-notes.json", r#"{"folder": "Journal"}"#);
    shelf.update(&[]);
    assert_eq!(
        shelf.evidence("Journal/2024-05-04.md"),
        "daily: folder Journal"
    );
}

#[test]
fn a_moved_note_is_classed_and_dated_by_its_new_place() {
    let shelf = Shelf::new("=== Notes/a.md ===\nIron makes celadon.\n");
    shelf
        .home
        .vault
        .rename("Notes/a.md", "Clippings/2024-05-03 a.md");
    shelf.update(&[]);
    let note = shelf
        .snapshot()
        .note_at("Clippings/2024-05-03 a.md")
        .expect("read")
        .expect("there");
    assert_eq!(
        shelf.evidence(note.path.as_str()),
        "clipping: folder Clippings"
    );
    assert_eq!(
        (note.date.day.as_str(), note.date.source.as_str()),
        ("2024-05-03", "file name")
    );
}
