//! An index on a disk that runs full: it stays as it is, the answer says so, and room makes it
//! good.
#![cfg(target_os = "linux")]

use std::path::Path;

use lorewell_engine::{Patience, Quiet};
use lorewell_testkit::on_a_small_disk;

use crate::picture::Picture;
use crate::portable::{Device, files};
use crate::world::World;

#[test]
fn a_full_disk_loses_nothing() {
    on_a_small_disk("disk::a_full_disk_loses_nothing", index_on);
}

/// A vault on a disk that runs full: vectors that cannot be carried wait, and nothing half stays.
#[test]
fn a_vault_on_a_full_disk_carries_when_there_is_room() {
    on_a_small_disk(
        "disk::a_vault_on_a_full_disk_carries_when_there_is_room",
        |disk| {
            let root = disk.join("vault");
            std::fs::create_dir(&root).unwrap();
            let home = tempfile::tempdir().unwrap();
            let device = Device::new(home.path().to_path_buf(), &root);
            for number in 0..400 {
                let text =
                    format!("The kiln of day {number} is slow, and its glaze is {number}.\n");
                std::fs::write(root.join(format!("{number}.md")), text).unwrap();
            }
            let filler = disk.join("filler");
            let _ = std::fs::write(&filler, vec![0; 16 << 20]);
            device.refresh();
            let status = device.status();
            let trouble = status.trouble.unwrap();
            assert!(trouble.contains("space"), "{trouble}");
            assert_eq!((status.waiting, device.notes_of_index()), (400, 400));
            assert_eq!(
                files(&root.join(".lorewell")),
                Vec::<std::path::PathBuf>::new()
            );
            std::fs::remove_file(&filler).unwrap();
            device.refresh();
            assert_eq!(
                (device.vectors(), device.status().trouble),
                ((400, 0), None)
            );
        },
    );
}

fn many_words(words: usize) -> String {
    let text: Vec<String> = (0..words).map(|n| format!("word{n} kiln")).collect();
    text.join(".\n\n")
}

fn index_on(disk: &Path) {
    let world = World::new("=== Kiln.md ===\nCone 6.\n=== Rent.md ===\nPaid.\n");
    let host = world.host_in(&disk.join("index"));
    let refresh = || host.refresh(Patience::Read, &Quiet);
    refresh().unwrap();
    let before = Picture::of(&host);
    let no_room = format!("no room left on the disk that holds {}", disk.display());
    let filler = disk.join("filler");
    let fill = || std::fs::write(&filler, vec![0; 6 << 20]);
    let mut times_full = 0;
    // Words that differ, so that every part of the index grows; more of them each time, so that
    // the room ends in another part.
    for words in [1_000, 15_000, 25_000, 35_000, 45_000, 60_000] {
        world.home.vault.write("Large.md", many_words(words));
        // An error here fills the rest of the disk, which is as good.
        let _ = fill();
        let freshness = refresh().unwrap();
        Picture::of(&host);
        if freshness.pending > 0 {
            times_full += 1;
            let reason = freshness.reason.unwrap();
            assert!(reason.starts_with(&no_room), "{reason}");
        }
        std::fs::remove_file(&filler).unwrap();
        refresh().unwrap();
        let notes = Picture::of(&host).notes.len();
        assert_eq!(notes, 3, "with room for {words} words");
        world.home.vault.remove("Large.md");
        refresh().unwrap();
        Picture::of(&host).assert_same(&before);
    }
    assert!((1..6).contains(&times_full), "{times_full} times full");
    let _ = fill();
    let rest = disk.join("rest");
    let _ = std::fs::write(&rest, vec![0; 8 << 20]);
    // Without any room the index that is there answers, and says what it lacks.
    world.home.vault.write("Late.md", many_words(45_000));
    let freshness = refresh().unwrap();
    assert_eq!(freshness.pending, 1);
    let reason = freshness.reason.unwrap();
    assert!(reason.starts_with(&no_room), "{reason}");
    assert_eq!(Picture::of(&host).answers, before.answers);
    let error = world
        .host_in(&disk.join("other"))
        .refresh(Patience::Read, &Quiet)
        .unwrap_err();
    assert!(error.to_string().starts_with(&no_room), "{error}");
    assert_eq!(error.code(), "disk_full");
    assert!(error.hint().starts_with("Make room"));
    for file in [&filler, &rest] {
        std::fs::remove_file(file).unwrap();
    }
    assert_eq!(refresh().unwrap().pending, 0);
    assert_eq!(Picture::of(&host).notes.len(), 3);
    world.home.vault.remove("Late.md");
    refresh().unwrap();
    Picture::of(&host).assert_same(&before);
}
