//! A writer that dies at any named place leaves a whole generation behind, and the next writer
//! goes on from it.

use lorewell_engine::{IndexError, Quiet, RuleSettings};
use lorewell_index::failpoint::{self, Fault};

use crate::world::World;

/// What takes the note on rent out of [`about_to_merge`].
pub(crate) fn without_secrets() -> RuleSettings {
    RuleSettings {
        tags: vec!["secret".to_string()],
        ..RuleSettings::default()
    }
}

/// Three segments, so that the next update joins them; a note to remove, one to change, one to
/// exclude.
pub(crate) fn about_to_merge() -> World {
    let world = World::built(
        "=== Kiln.md ===\nThe kiln fires at cone 6.\n=== Glaze.md ===\nCeladon glaze.\n=== Rent.md ===\n#secret quetzalrent\n",
    );
    for name in ["Second", "Third"] {
        let text = format!("# {name}\nThe {name} note on firing.\n");
        world.home.vault.write(&format!("{name}.md"), text);
        world.refresh();
    }
    world
}

#[test]
fn death_at_any_place_of_an_update_loses_nothing() {
    let elsewhere = ["discard", "compact", "late", "models"];
    let places = failpoint::POINTS
        .iter()
        .filter(|point| !elsewhere.iter().any(|part| point.contains(part)));
    for point in places {
        let mut world = about_to_merge();
        assert_eq!(world.index_files(".lex").len(), 3);
        let before = world.picture();
        world.exclude(without_secrets());
        world.home.vault.remove("Glaze.md");
        world
            .home
            .vault
            .write("Kiln.md", "The kiln fires at cone 10 now.\n");
        world.home.vault.write("Fourth.md", "A new note.\n");

        failpoint::arm(point, 0, Fault::Cut);
        let error = world.try_refresh().unwrap_err();
        assert!(!failpoint::is_armed(), "{point} was not reached");
        assert_eq!(error.to_string(), format!("{point}: cut short by a test"));

        let after = world.picture();
        // What goes and what comes become visible at once, after all of it was written.
        let committed = [
            "after-whole-commit",
            "after-merge-write",
            "before-merge-commit",
            "after-merge-commit",
            "before-checkpoint",
        ]
        .contains(point);
        assert_eq!(after.notes.contains_key("Glaze.md"), !committed, "{point}");
        assert!(before.notes.contains_key("Rent.md"));
        assert!(
            !after.notes.contains_key("Rent.md"),
            "{point}: an excluded note"
        );

        assert_eq!(world.refresh().pending, 0);
        world.picture().assert_same(&world.rebuilt_picture());
        assert_eq!(world.files_holding("quetzalrent"), [""; 0], "{point}");
        leaves_no_orphans(&world, point);
    }
}

/// Whatever fails, wherever: who asks next is answered from a whole generation, and the next
/// update goes on from it.
#[test]
fn a_full_disk_at_any_place_of_an_update_loses_nothing() {
    let mut expected = None;
    for fault in [Fault::DiskFull, Fault::Cut] {
        let mut reached = 0;
        loop {
            let world = about_to_merge();
            world.home.vault.remove("Glaze.md");
            let kiln = "The kiln fires at cone 10 now.\n";
            world.home.vault.write("Kiln.md", kiln);
            world.home.vault.write("Fourth.md", "A new note.\n");
            failpoint::arm_any(reached, fault);
            let outcome = world.try_refresh();
            if failpoint::is_armed() {
                // It went by every place.
                assert_eq!(outcome.unwrap().pending, 0);
                break;
            }
            world.snapshot().verify().unwrap();
            assert!(!world.found("firing").is_empty());
            if let (Ok(freshness), true) = (&outcome, fault == Fault::DiskFull) {
                let reason = freshness.reason.as_deref().unwrap_or("no room left");
                assert!(reason.starts_with("no room left"), "{reason}");
            }
            assert_eq!(world.refresh().pending, 0, "place {reached}");
            let picture = world.picture();
            picture.assert_same(expected.get_or_insert_with(|| world.rebuilt_picture()));
            reached += 1;
        }
        assert!(reached >= 8, "{reached} places");
    }
}

/// Some generations later, only files that the catalogue names are left, and the last that was
/// given up.
fn leaves_no_orphans(world: &World, point: &str) {
    world.host().rebuild(&Quiet).unwrap();
    for name in ["One.md", "Two.md"] {
        world.home.vault.write(name, format!("{name}\n"));
        world.refresh();
    }
    world.home.vault.remove("Two.md");
    world.refresh();
    let live = world.snapshot().segments().len();
    let files = world.index_files(".lex").len();
    assert!(
        files <= live + 1,
        "{point}: {files} files, {live} of them live"
    );
    world.picture().assert_same(&world.rebuilt_picture());
}

#[test]
fn death_while_a_damaged_index_is_thrown_away_leaves_nothing_of_it() {
    for point in ["discard-after-catalogue", "discard-after-segments"] {
        for rebuild in [true, false] {
            let world = about_to_merge();
            std::fs::write(
                world.home.index_dir().join("catalogue.sqlite"),
                "no database",
            )
            .unwrap();
            failpoint::arm(point, 0, Fault::Cut);
            world.host().rebuild(&Quiet).unwrap_err();
            assert!(!failpoint::is_armed(), "{point} was not reached");
            let state = world.host().view().map(drop).unwrap_err();
            assert!(matches!(
                state,
                lorewell_engine::EngineError::Index(IndexError::Absent(_))
            ));
            if rebuild {
                world.host().rebuild(&Quiet).unwrap();
            } else {
                world.refresh();
            }
            world.picture().assert_same(&world.rebuilt_picture());
            assert_eq!(world.index_files(".lex").len(), 1);
        }
    }
}
