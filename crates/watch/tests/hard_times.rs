//! A watcher whose index cannot be written for a while, and one beside another device.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

#[allow(dead_code, reason = "each test program needs a part of it")]
mod watched;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lorewell_engine::{EngineSettings, Host, Patience, PortableVectors, Quiet, StatusRequest};
use lorewell_testkit::{TempVault, is_superuser, on_a_small_disk, start_as_ordinary_user};
use lorewell_watch::{Cause, Options};

use crate::watched::{Watching, settings};

const NOTES: &str = "=== Kiln.md ===\nCone six, slow.\n=== Glaze.md ===\nA celadon glaze.\n";

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// What is pending for a reason, until an update takes it in by itself.
fn is_told_and_made_good(watched: &Watching, reason: &str, good: impl FnOnce()) {
    let pending = watched.update_where(|comparison| comparison.freshness.pending > 0);
    let told = pending.freshness.reason.unwrap();
    assert!(told.contains(reason), "{told}");
    assert_eq!(watched.found("celadon glaze"), ["Glaze.md"]);
    good();
    let taken = watched.update_where(|comparison| comparison.freshness.pending == 0);
    assert_eq!(taken.cause, Cause::Retry);
}

#[test]
fn an_index_that_may_not_be_written_is_told_and_tried_again() {
    if is_superuser() {
        return start_as_ordinary_user(
            "an_index_that_may_not_be_written_is_told_and_tried_again",
            &[],
        );
    }
    let watched = Watching::new(NOTES, Options::default());
    let index = watched.vault.beside("index");
    mode(&index.join("writer.lock"), 0o400);
    watched.vault.write("Rent.md", "Paid on the first.\n");
    is_told_and_made_good(&watched, "no permission", || {
        mode(&index.join("writer.lock"), 0o600);
    });
    assert_eq!(watched.found("paid on the first"), ["Rent.md"]);
    watched.end();
}

#[test]
fn a_note_that_stays_unreadable_does_not_put_off_what_can_be_mended() {
    if is_superuser() {
        let name = "a_note_that_stays_unreadable_does_not_put_off_what_can_be_mended";
        return start_as_ordinary_user(name, &[]);
    }
    let watched = Watching::new(NOTES, Options::default());
    let (kiln, lock) = (
        watched.vault.path("Kiln.md"),
        watched.vault.beside("index").join("writer.lock"),
    );
    watched.vault.write("Kiln.md", "Cone ten.\n");
    watched.caught_up();
    mode(&kiln, 0o000);
    watched.update_where(|comparison| comparison.freshness.unreadable.changed() == 1);
    // As many failures would put the next try off for longer than any test waits.
    for round in 0..9 {
        watched
            .vault
            .write("Rent.md", format!("Paid {round} times.\n"));
        watched.caught_up();
    }
    mode(&lock, 0o400);
    watched.vault.write("Rent.md", "Paid on the first.\n");
    let told = watched.update_where(|comparison| comparison.freshness.pending == 2);
    assert!(told.freshness.reason.unwrap().contains("no permission"));
    mode(&lock, 0o600);
    let taken = watched.update_where(|comparison| comparison.freshness.pending == 1);
    assert_eq!(taken.cause, Cause::Retry);
    assert_eq!(watched.found("paid on the first"), ["Rent.md"]);
    watched.end();
}

#[test]
fn a_full_disk_is_told_and_tried_again() {
    on_a_small_disk("a_full_disk_is_told_and_tried_again", |disk| {
        let vault = TempVault::new(NOTES);
        let index = disk.join("index");
        let watched = Watching::with(vault, &index, Options::default(), settings());
        let filler = disk.join("filler");
        let _ = fs::write(&filler, vec![0; 16 << 20]);
        let words: Vec<String> = (0..45_000).map(|n| format!("word{n} kiln")).collect();
        watched.vault.write("Large.md", words.join(".\n\n"));
        is_told_and_made_good(&watched, "no room left", || {
            fs::remove_file(&filler).unwrap();
        });
        assert_eq!(watched.found("word44999 kiln"), ["Large.md"]);
        watched.end();
    });
}

fn carrying(home: PathBuf) -> EngineSettings {
    let portable = PortableVectors {
        device_file: home,
        carry: true,
        rest: Duration::ZERO,
    };
    EngineSettings {
        portable: Some(portable),
        ..settings()
    }
}

/// Asserts that every vector of the index lies in the vault, twice at most, and nothing else.
fn is_carried(host: &Host) {
    let status = host.status(&StatusRequest::default()).unwrap();
    let embedded = status.models[0].embedded;
    let portable = status.portable.unwrap();
    let segments = portable.inventory.segments.iter();
    let rows: u64 = segments.map(|segment| u64::from(segment.rows)).sum();
    assert_eq!((portable.waiting, portable.trouble), (0, None));
    assert!(
        (embedded..=2 * embedded).contains(&rows),
        "{rows} of {embedded}"
    );
    assert_eq!(portable.inventory.skipped, []);
}

#[test]
fn two_devices_carry_into_one_vault_while_a_watcher_runs() {
    let vault = TempVault::new(NOTES);
    let other = {
        let settings = carrying(vault.beside("other device"));
        Host::open(
            "Notes",
            vault.root(),
            &vault.beside("other index"),
            settings,
        )
        .unwrap()
    };
    let (index, settings) = (vault.beside("index"), carrying(vault.beside("device")));
    let watched = Watching::with(vault, &index, Options::default(), settings);
    is_carried(&watched.host);
    for round in 0..6 {
        // Each comes to one of them first, and both carry.
        watched.vault.write(
            &format!("{round}.md"),
            format!("The kiln of day {round}.\n"),
        );
        other.refresh(Patience::Wait, &Quiet).unwrap();
        let found = format!("kiln of day {round}");
        while watched.found(&found).is_empty() {
            let taken = watched.update_where(|_| true);
            // Files that are carried wake nobody.
            match &taken.cause {
                Cause::Events(path) => assert!(!path.starts_with(".lorewell/"), "{path}"),
                Cause::Retry => {}
                other => panic!("{other:?}"),
            }
        }
    }
    watched.caught_up();
    other.refresh(Patience::Wait, &Quiet).unwrap();
    is_carried(&watched.host);
    is_carried(&other);
    watched.end();
}
