//! What a watcher makes of what happens to a folder. Nothing here sleeps: each test waits for a
//! report, with a deadline that only a watcher that missed something reaches.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

#[allow(dead_code, reason = "each test program needs a part of it")]
mod watched;

use std::fs;
use std::time::{Duration, Instant};

use lorewell_engine::Host;
use lorewell_testkit::TempVault;
use lorewell_watch::{By, Cause, Options, Report, Stop, WatchLock, WatchLockAttempt, Way, watch};

use crate::watched::{DEADLINE, Watching, settings};

const NOTES: &str = "
=== Kiln.md ===
Cone six, slow.
=== Glazes/Celadon.md ===
A celadon glaze.
=== Glazes/Deep/Tenmoku.md ===
A tenmoku glaze.
=== Private/Diary.md ===
Nobody reads this.
";

fn open(vault: &TempVault) -> Host {
    Host::open("Notes", vault.root(), &vault.beside("index"), settings()).unwrap()
}

fn watching() -> Watching {
    Watching::new(NOTES, Options::default())
}

#[test]
fn a_note_is_followed_through_its_life() {
    let watched = watching();
    let vault = &watched.vault;
    assert_eq!(watched.found("celadon glaze"), ["Glazes/Celadon.md"]);

    vault.write("New.md", "A new shelf.");
    assert_eq!(watched.caught_up().found("new shelf"), ["New.md"]);

    vault.write("New.md", "A new shelf of cordierite.");
    assert_eq!(watched.caught_up().found("cordierite"), ["New.md"]);

    // Editors save through a temporary file, each time with another inode.
    for word in ["mullite", "kaolin"] {
        vault.write(".New.md.tmp", format!("A new shelf of {word}."));
        vault.rename(".New.md.tmp", "New.md");
        assert_eq!(watched.caught_up().found(word), ["New.md"], "{word}");
    }
    assert_eq!(watched.found("mullite"), [""; 0]);

    vault.rename("New.md", "Glazes/Old.md");
    assert_eq!(watched.caught_up().found("kaolin"), ["Glazes/Old.md"]);

    vault.remove("Glazes/Old.md");
    assert_eq!(watched.caught_up().found("kaolin"), [""; 0]);
    watched.end();
}

#[test]
fn folders_are_followed_where_they_go() {
    let watched = watching();
    let vault = &watched.vault;
    vault.rename("Glazes", "Shop/Recipes");
    watched.caught_up();
    assert_eq!(watched.found("tenmoku"), ["Shop/Recipes/Deep/Tenmoku.md"]);

    // In its new place it is still watched, and so is what is made in it.
    vault.write("Shop/Recipes/Deep/Tenmoku.md", "A tenmoku with rutile.");
    assert_eq!(
        watched.caught_up().found("rutile"),
        ["Shop/Recipes/Deep/Tenmoku.md"]
    );
    vault.write("Shop/Recipes/Deep/down/under/Ash.md", "An ash glaze.");
    assert_eq!(
        watched.caught_up().found("ash glaze"),
        ["Shop/Recipes/Deep/down/under/Ash.md"]
    );
    vault.write("Shop/Recipes/Deep/down/under/Ash.md", "A wood ash glaze.");
    assert_eq!(watched.caught_up().found("wood ash").len(), 1);

    // Moved twice before anybody could look.
    vault.rename("Shop/Recipes", "One");
    vault.rename("One", "Two");
    vault.write("Two/Deep/Tenmoku.md", "A tenmoku with bone ash.");
    assert_eq!(
        watched.caught_up().found("bone ash"),
        ["Two/Deep/Tenmoku.md"]
    );
    vault.write("Two/Deep/Tenmoku.md", "A tenmoku with talc.");
    assert_eq!(watched.caught_up().found("talc"), ["Two/Deep/Tenmoku.md"]);

    vault.remove("Two");
    assert_eq!(watched.caught_up().found("glaze"), [""; 0]);
    vault.write("Two/Deep/Back.md", "Back again.");
    assert_eq!(
        watched.caught_up().found("back again"),
        ["Two/Deep/Back.md"]
    );
    watched.end();
}

#[test]
fn many_files_at_once_are_few_updates() {
    let watched = watching();
    for number in 0..300 {
        let path = format!("{}/{number}.md", number % 7);
        watched.vault.write(&path, format!("Tile number {number}."));
    }
    // A file may be seen before it is written whole, and is then taken in once more.
    let until = Instant::now() + DEADLINE;
    let mut comparisons = 0;
    while watched.host.behind().unwrap() > 0 {
        if let Report::Compared(_) = watched.report(until) {
            comparisons += 1;
        }
    }
    assert!(comparisons < 100, "{comparisons} for 300 files");
    let status = watched.host.view().unwrap();
    assert_eq!(status.totals().notes, 303);
    drop(status);
    watched.end();
}

/// Whatever happens to these files leads to no comparison: the next one was woken by the note.
#[test]
fn what_is_no_note_or_excluded_is_silent() {
    let folders = "=== .obsidian/workspace.json ===\n=== web/index.txt ===\n";
    let watched = Watching::new(&format!("{NOTES}{folders}"), Options::default());
    let vault = &watched.vault;
    for path in [
        "Private/Diary.md",
        "Private/deep/down/More.md",
        ".git/refs/heads/main",
        ".obsidian/workspace.json",
        ".trash/Kiln.md",
        "web/node_modules/x/readme.md",
        ".Kiln.md.swp",
        "4913",
        "~$Kiln.md",
        "Kiln.md~",
        "Glazes/picture.png",
    ] {
        vault.write(path, "not searched");
    }
    vault.remove("4913");
    vault.rename("Private/Diary.md", "Private/Moved.md");
    vault.remove("Private");
    vault.read("Kiln.md");
    vault.write("Marker.md", "The marker.");
    let comparison = watched.update_where(|_| true);
    assert_eq!(comparison.cause, Cause::Events("Marker.md".to_string()));
    assert_eq!(watched.caught_up().found("not searched"), [""; 0]);
    watched.end();
}

#[test]
fn settings_of_the_vault_act_at_once() {
    let watched = watching();
    let vault = &watched.vault;
    vault.write(
        ".obsidian/app.json",
        r#"{"userIgnoreFilters": ["Glazes/"]}"#,
    );
    watched.update_where(|c| c.freshness.report.as_ref().is_some_and(|r| r.removed == 2));
    assert_eq!(watched.found("glaze"), [""; 0]);
    vault.write(".obsidian/app.json", "{}");
    watched.update_where(|c| c.freshness.report.as_ref().is_some_and(|r| r.taken_in == 2));
    // What is searched again is watched again.
    vault.write("Glazes/Deep/Tenmoku.md", "A tenmoku with rutile.");
    assert_eq!(
        watched.caught_up().found("rutile"),
        ["Glazes/Deep/Tenmoku.md"]
    );
    watched.end();
}

#[cfg(unix)]
#[test]
fn links_are_not_walked_through() {
    use std::os::unix::fs::symlink;
    let vault = TempVault::new(NOTES);
    symlink(vault.root(), vault.path("Loop")).unwrap();
    symlink(vault.path("Glazes"), vault.path("Glazes/Deep/Up")).unwrap();
    let mut keeper = open(&vault);
    let root = keeper.root().to_path_buf();
    let (stop, mut reports) = (Stop::new(), Vec::new());
    let after = stop.clone();
    let mut tell = |report| {
        if matches!(report, Report::Compared(_)) {
            after.stop();
        }
        reports.push(report);
    };
    watch(&root, &mut keeper, &Options::default(), &stop, &mut tell).unwrap();
    // The root, Glazes and Glazes/Deep.
    let folders = if cfg!(target_os = "linux") { 3 } else { 0 };
    assert_eq!(reports[0], Report::Watching(Way::Events { folders }));
    let status = keeper.view().unwrap();
    assert_eq!(status.totals().notes, 3);
}

#[test]
fn a_folder_that_goes_away_costs_nothing_and_is_gone_on_with() {
    let options = Options {
        away: Duration::from_millis(5),
        ..Options::default()
    };
    let watched = Watching::new(NOTES, options);
    let (root, elsewhere) = (
        watched.vault.root().to_path_buf(),
        watched.vault.beside("away"),
    );
    let away = |bare| {
        watched.report_where(|report| match report {
            Report::Away { root, bare: b } if b == bare => Some(root),
            _ => None,
        })
    };
    let back = || watched.report_where(|r| matches!(r, Report::Back { .. }).then_some(()));

    fs::rename(&root, &elsewhere).unwrap();
    assert_eq!(away(false), watched.host.root());
    assert_eq!(watched.found("celadon glaze"), ["Glazes/Celadon.md"]);

    // A mount point without its drive.
    fs::create_dir(&root).unwrap();
    fs::remove_dir(&root).unwrap();
    fs::rename(&elsewhere, &root).unwrap();
    back();
    watched.update_where(|comparison| comparison.cause == Cause::Back);
    watched.vault.write("Kiln.md", "Cone ten.");
    assert_eq!(watched.caught_up().found("cone ten"), ["Kiln.md"]);

    // Bare: its notes are out of it, and it is still there.
    fs::rename(&root, &elsewhere).unwrap();
    fs::create_dir(&root).unwrap();
    let until = Instant::now() + DEADLINE;
    loop {
        // It may have been seen missing first.
        if let Report::Away { .. } = watched.report(until) {
            break;
        }
    }
    assert_eq!(watched.found("celadon glaze"), ["Glazes/Celadon.md"]);
    fs::remove_dir(&root).unwrap();
    fs::rename(&elsewhere, &root).unwrap();
    back();
    watched.vault.write("Kiln.md", "Cone eleven.");
    assert_eq!(watched.caught_up().found("cone eleven"), ["Kiln.md"]);
    watched.end();
}

#[test]
fn polling_finds_the_same() {
    let options = Options {
        by: By::Poll,
        poll: Duration::from_millis(10),
        ..Options::default()
    };
    let watched = Watching::new(NOTES, options);
    watched.vault.write("New.md", "A new shelf.");
    watched.vault.remove("Glazes");
    watched.update_where(|c| c.cause == Cause::Poll && c.freshness.report.is_some());
    let until = Instant::now() + DEADLINE;
    while watched.host.behind().unwrap() > 0 {
        watched.report(until);
    }
    assert_eq!(watched.found("new shelf"), ["New.md"]);
    assert_eq!(watched.found("glaze"), [""; 0]);
    watched.end();
}

/// Another process (here: another host) that takes changes in itself does no harm, and gets none.
#[test]
fn two_that_refresh_are_right_together() {
    let watched = watching();
    let other = open(&watched.vault);
    for number in 0..20 {
        let text = format!("Shard number {number}.");
        watched.vault.write(&format!("Shards/{number}.md"), text);
        let patience = lorewell_engine::Patience::Wait;
        let freshness = other.refresh(patience, &lorewell_engine::Quiet).unwrap();
        assert_eq!(freshness.pending, 0);
    }
    assert_eq!(watched.caught_up().found("shard number 19").len(), 1);
    let totals = watched.host.view().unwrap().totals().notes;
    assert_eq!(totals, 23);
    watched.end();
}

#[test]
fn a_vault_has_one_watcher() {
    let vault = TempVault::empty();
    let folder = vault.beside("new/index");
    let first = WatchLock::attempt(&folder).unwrap();
    let WatchLockAttempt::Taken(lock) = first else {
        panic!("{first:?}");
    };
    let second = WatchLock::attempt(&folder).unwrap();
    let us = std::process::id();
    assert!(
        matches!(second, WatchLockAttempt::HeldBy(Some(id)) if id == us),
        "{second:?}"
    );
    drop(lock);
    let third = WatchLock::attempt(&folder).unwrap();
    assert!(matches!(third, WatchLockAttempt::Taken(_)), "{third:?}");
}
