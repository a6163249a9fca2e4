//! Readers keep the generation that they hold; a rebuild swaps at once; what is dead does not pile
//! up.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use lorewell_embed::{Embedded, Embedder, StaticModel};
use lorewell_engine::{Observer, Patience, Quiet, RuleSettings, Stage};
use lorewell_index::Snapshot;
use lorewell_index::failpoint::{self, Fault};

use crate::world::{StopAfter, World};

const NOTES: &str = "
=== Kiln.md ===
# Firing
The kiln fires at cone 6. See [[Glaze]].
=== Glaze.md ===
Celadon and ash. #private
=== Rent.md ===
Paid on the first.
";

/// Everything that a snapshot says, looked up anew.
fn told(snapshot: &Snapshot) -> BTreeMap<String, Vec<String>> {
    snapshot.verify().unwrap();
    let mut told = BTreeMap::new();
    for label in snapshot.labels().unwrap() {
        let note = snapshot.note_at(&label.path).unwrap().unwrap();
        let passages = snapshot.passages_of(note.id).unwrap().into_iter();
        let texts = passages.map(|id| snapshot.passage(id).unwrap().unwrap().text);
        told.insert(label.path, texts.collect());
    }
    let Embedded::Vector(question) = StaticModel::built_in().embed_question("firing the kiln")
    else {
        panic!("these are words that it knows");
    };
    let (reader, live) = snapshot.vectors().unwrap();
    let hits = reader.scan(&question, 5, Some(live));
    let hits = hits.iter().map(|hit| {
        let passages = snapshot.passages_of_row(hit.row).unwrap();
        format!("{passages:?} {}", hit.score)
    });
    told.insert("near".to_string(), hits.collect());
    let terms = snapshot.segments().into_iter().map(|live| {
        let found = lorewell_lexical::document_frequency(&[live], "kiln").unwrap();
        found.to_string()
    });
    told.insert("words".to_string(), terms.collect());
    told
}

/// Many passages, each of them other words in each version.
fn long_text(version: usize) -> String {
    let part = |n: usize| format!("# Part {n}\nWords of version {version} in part {n}, firing.\n");
    (0..700).map(part).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_reader_keeps_its_generation_through_everything() {
    let mut world = World::built(NOTES);
    let held = world.snapshot();
    let before = told(&held);
    for round in 0..50 {
        let name = format!("Note {}.md", round % 7);
        world
            .home
            .vault
            .write(&name, format!("Round {round} of firing.\n"));
        world.refresh();
        if round % 10 == 0 {
            assert_eq!(told(&held), before);
        }
    }
    world.host().rebuild(&Quiet).unwrap();
    assert_eq!(told(&held), before);
    for version in 0..3 {
        world.home.vault.write("Long.md", long_text(version));
        world.refresh();
    }
    assert_eq!(told(&held), before);
    world.exclude(RuleSettings {
        tags: vec!["private".to_string()],
        ..RuleSettings::default()
    });
    world.refresh();
    assert_eq!(told(&held), before);
    assert!(held.is_outdated());
    drop(held);
    world.refresh();
    world.picture().assert_same(&world.rebuilt_picture());
    assert_eq!(world.index_files("rows.bin").len(), 1);
}

/// Looks at the index at many steps of a writer.
struct Onlooker<'w> {
    world: &'w World,
    notes: AtomicUsize,
    /// Generations and how many passages they had.
    seen: Mutex<Vec<(u64, u64)>>,
}

impl Observer for Onlooker<'_> {
    fn stage(&self, _: Stage) {
        self.look();
    }

    fn note_done(&self, _: &str) {
        if self.notes.fetch_add(1, Ordering::SeqCst).is_multiple_of(50) {
            self.look();
        }
    }
}

impl Onlooker<'_> {
    fn look(&self) {
        let snapshot = self.world.snapshot();
        let totals = snapshot.totals();
        let seen = (totals.generation, totals.passages);
        self.seen.lock().unwrap().push(seen);
    }
}

#[test]
fn notes_that_are_cut_in_another_way_are_seen_at_once() {
    let mut world = World::built(NOTES);
    // More than one batch, so that there is something between.
    for n in 0..4_100 {
        let text = "A first line about the kiln.\n\nA second line about glazes.\n";
        world.home.vault.write(&format!("many/{n}.md"), text);
    }
    world.settle();
    let old = world.snapshot().totals().clone();
    world.settings.index.passages.passage_chars = 40;
    let onlooker = Onlooker {
        world: &world,
        notes: AtomicUsize::new(0),
        seen: Mutex::default(),
    };
    world.host().refresh(Patience::Wait, &onlooker).unwrap();
    let new = world.snapshot().totals().clone();
    assert!(new.passages > old.passages + 4_000);
    let seen = onlooker.seen.into_inner().unwrap();
    // Joining segments afterwards makes generations of its own.
    let is_old = |seen: &&(u64, u64)| **seen == (old.generation, old.passages);
    let is_new = |seen: &&(u64, u64)| seen.0 > old.generation && seen.1 == new.passages;
    let other = seen.iter().find(|seen| !is_old(seen) && !is_new(seen));
    assert_eq!(other, None, "{old:?} {new:?}");
    let old_ones = seen.iter().filter(is_old).count();
    assert!(old_ones > 80, "the old generation answered meanwhile");
    world.snapshot().verify().unwrap();
}

#[test]
fn a_rebuild_that_is_cut_short_leaves_the_old_generation() {
    let world = World::new(NOTES);
    for n in 0..60 {
        world
            .home
            .vault
            .write(&format!("{n}.md"), "Another kiln.\n");
    }
    world.settle();
    let before = world.picture();
    let files = world.index_files(".lex");
    world.host().rebuild(&StopAfter::new(2)).unwrap();
    let held = world.snapshot();
    assert!(held.totals().unfinished);
    let mut after = world.picture();
    after.counts.2 = false;
    after.assert_same(&before);
    assert_eq!(world.index_files(".lex"), files);
    drop(held);
    assert_eq!(world.refresh().pending, 0);
    world.picture().assert_same(&before);

    for point in ["before-whole-commit", "after-commit", "after-segment-write"] {
        failpoint::arm(point, 0, Fault::Cut);
        world.host().rebuild(&Quiet).unwrap_err();
        assert!(!failpoint::is_armed(), "{point} was not reached");
        let mut after = world.picture();
        after.counts.2 = false;
        after.assert_same(&before);
        world.refresh();
        world.picture().assert_same(&before);
    }
    failpoint::arm("after-whole-commit", 0, Fault::Cut);
    world.host().rebuild(&Quiet).unwrap_err();
    world.picture().assert_same(&before);
    assert_eq!(world.refresh().pending, 0);
}

#[test]
fn edits_leave_no_more_behind_than_a_part() {
    let world = World::built(NOTES);
    for version in 0..12 {
        world.home.vault.write("Long.md", long_text(version));
        world.refresh();
    }
    let sizes = world.layout().sizes();
    world.picture().assert_same(&world.rebuilt_picture());
    let place = tempfile::tempdir().unwrap();
    let host = world.host_in(place.path());
    host.refresh(Patience::Wait, &Quiet).unwrap();
    let anew = lorewell_index::Layout::new(place.path()).sizes();
    assert!(sizes.vectors < 2 * anew.vectors, "{sizes:?} {anew:?}");
    // Segments that were given up rest for two generations.
    assert!(sizes.segments < 4 * anew.segments, "{sizes:?} {anew:?}");
    assert!(world.snapshot().vectors().unwrap().1.count() > 600);

    // A text that comes back finds its row, dead or not.
    world.home.vault.write("Long.md", long_text(11));
    world.refresh();
    world.picture().assert_same(&world.rebuilt_picture());
}

#[test]
fn death_while_vectors_are_compacted_loses_nothing() {
    for point in [
        "after-compact-write",
        "before-compact-commit",
        "after-compact-commit",
    ] {
        let world = World::built(NOTES);
        world.home.vault.write("Long.md", long_text(0));
        world.refresh();
        world.home.vault.write("Long.md", long_text(1));
        failpoint::arm(point, 0, Fault::Cut);
        world.try_refresh().unwrap_err();
        assert!(!failpoint::is_armed(), "{point} was not reached");
        world.picture().assert_same(&world.rebuilt_picture());
        for version in 2..5 {
            world.home.vault.write("Long.md", long_text(version));
            world.refresh();
        }
        world.picture().assert_same(&world.rebuilt_picture());
        let folders = world.index_files("rows.bin").len();
        assert!(folders <= 2, "{point}: {folders} folders of vectors");
    }
}
