//! Machines that share a vault, with a model that counts what it is asked: nothing is embedded
//! twice, whatever the sync does on the way.

use std::fs;
use std::path::{Path, PathBuf};

use lorewell_engine::{Patience, Quiet, Request, StatusRequest};
use lorewell_testkit::TempVault;

use crate::dear::Dear;
use crate::portable::{Device, NOTES, files};
use crate::world::StopAfter;

/// Vectors of a model in a device's own files and in those of others.
fn vectors(device: &Device, model: &'static Dear) -> (u32, u32) {
    let host = device.host().with_embedder(model);
    let status = host.status(&StatusRequest::default()).unwrap();
    device.rows_in(status.portable.unwrap())
}

/// Builds and embeds all, with a model that counts; the passages that it was asked for.
fn settled(device: &Device, model: &'static Dear) -> Vec<String> {
    let host = device.host().with_embedder(model);
    host.refresh(Patience::Wait, &Quiet).unwrap();
    while host.behind().unwrap() > 0 {
        host.refresh(Patience::Wait, &Quiet).unwrap();
    }
    let embedding = host.embed_waiting(&Quiet).unwrap();
    assert_eq!((embedding.waiting, embedding.reason), (0, None));
    model.asked()
}

/// The first notes that a device finds for some questions, and how near each is in meaning.
fn answers(device: &Device, model: &'static Dear) -> Vec<String> {
    let host = device.host().with_embedder(model);
    let view = host.view().unwrap();
    let ask = |question: &&str| {
        let answer = view.search(&Request::new(*question)).unwrap();
        let shown = answer.passages.iter().map(|passage| {
            let (path, text) = (passage.note.path.as_str(), &passage.passage.text);
            format!("{path} {:.4} {text} {:?}", passage.score, passage.signals)
        });
        format!("{question}: {:?}", shown.collect::<Vec<_>>())
    };
    let questions = [
        "how is the kiln fired",
        "reduction glaze",
        "when is the boat surveyed in May",
        "letter from Ludmila",
        "harbour fee",
        "cone six",
    ];
    questions.iter().map(ask).collect()
}

/// Answers are those of an index that was built from nothing, without any carried vector.
fn assert_like_rebuilt(device: &Device, model: &'static Dear) {
    let holder = tempfile::tempdir().unwrap();
    let mut plain = Device::new(holder.path().to_path_buf(), &device.root);
    plain.settings = device.settings.clone();
    plain.settings.portable = None;
    settled(&plain, model);
    assert_eq!(answers(device, model), answers(&plain, model));
}

#[test]
fn a_second_machine_embeds_only_questions() {
    let vault = TempVault::new(NOTES);
    let (a, b) = (
        Device::new(vault.beside("a"), vault.root()),
        Device::new(vault.beside("b"), vault.root()),
    );
    let model = Dear::new("1");
    assert_eq!(settled(&a, model).len(), 4);
    assert_eq!(settled(&b, model), [""; 0]);
    assert_eq!(answers(&a, model), answers(&b, model));
    assert_like_rebuilt(&b, model);
    // Edits on both sides: each text is embedded once, by whoever meets it first.
    model.asked();
    vault.write("New.md", "The harbour fee is due in October.\n");
    assert_eq!(settled(&b, model).len(), 1);
    assert_eq!(settled(&a, model), [""; 0]);
    vault.write("Boat.md", "The boat is surveyed in June.\n");
    vault.rename("Kiln.md", "Workshop/Kiln.md");
    assert_eq!(settled(&a, model).len(), 1);
    assert_eq!(settled(&b, model), [""; 0]);
    assert_like_rebuilt(&a, model);
    // Another revision of the model shares nothing with it.
    let newer = Dear::new("2");
    assert_eq!(settled(&b, newer).len(), 5);
    assert_eq!(settled(&a, newer), [""; 0]);
    // A device that lost its index and has the vault embeds nothing.
    fs::remove_dir_all(&a.index).unwrap();
    assert_eq!(settled(&a, newer), [""; 0]);
    assert_like_rebuilt(&a, newer);
}

#[test]
fn two_machines_without_the_setting_share_nothing_and_write_nothing() {
    let vault = TempVault::new(NOTES);
    let model = Dear::new("plain");
    let notes = files(vault.root());
    let devices = ["a", "b"].map(|name| {
        let mut device = Device::new(vault.beside(name), vault.root());
        device.portable().carry = false;
        assert_eq!(settled(&device, model).len(), 4);
        device
    });
    vault.write("Boat.md", "The boat is surveyed in June.\n");
    for device in &devices {
        assert_eq!(settled(device, model).len(), 1);
    }
    assert_eq!(files(vault.root()), notes);
    assert_eq!(answers(&devices[0], model), answers(&devices[1], model));
    assert_like_rebuilt(&devices[0], model);
}

#[test]
fn back_to_local_what_is_lacking_is_taken_first() {
    let vault = TempVault::new(NOTES);
    let model = Dear::new("back");
    let mut device = Device::new(vault.beside("a"), vault.root());
    settled(&device, model);
    fs::remove_dir_all(&device.index).unwrap();
    device.portable().carry = false;
    assert_eq!(settled(&device, model), [""; 0]);
    assert!(!vault.path(".lorewell").exists());
    device.portable().carry = true;
    assert_eq!(settled(&device, model), [""; 0]);
    assert_eq!(vectors(&device, model), (4, 0));
}

#[test]
fn a_build_that_was_stopped_keeps_what_the_vault_has() {
    let vault = TempVault::new(NOTES);
    let model = Dear::new("stopped");
    let device = Device::new(vault.beside("a"), vault.root());
    settled(&device, model);
    fs::remove_dir_all(&device.index).unwrap();
    // The words are there, no vector is looked for yet.
    let stopped = StopAfter::new(1);
    let host = device.host().with_embedder(model);
    host.refresh(Patience::Wait, &stopped).unwrap();
    drop(host);
    assert_eq!(vectors(&device, model), (4, 0));
    assert_eq!(settled(&device, model), [""; 0]);
}

/// Copies what `from` has and `to` lacks or has otherwise, as a sync program does.
fn sync(from: &Path, to: &Path) {
    for file in files(from) {
        let place = to.join(file.strip_prefix(from).unwrap());
        let bytes = fs::read(&file).unwrap();
        if fs::read(&place).ok().as_ref() != Some(&bytes) {
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(&place, bytes).unwrap();
        }
    }
}

#[test]
fn two_copies_that_are_synced_back_and_forth_lose_nothing() {
    let left = TempVault::new(NOTES);
    let right = TempVault::empty();
    let model = Dear::new("synced");
    let a = Device::new(left.beside("a"), left.root());
    let b = Device::new(right.beside("b"), right.root());
    assert_eq!(settled(&a, model).len(), 4);
    sync(left.root(), right.root());
    assert_eq!(settled(&b, model), [""; 0]);
    assert_eq!(vectors(&b, model), (0, 4));

    // Both edit at once.
    left.write("Left.md", "The mast is stepped in June.\n");
    right.write("Right.md", "The harbour fee is due in October.\n");
    assert_eq!((settled(&a, model).len(), settled(&b, model).len()), (1, 1));
    // The sync is cut off in the middle of a file, leaves a draft and a conflict copy.
    let is_new = |file: &PathBuf| {
        let inside = file.strip_prefix(right.root()).unwrap();
        file.extension().is_some_and(|e| e == "seg")
            && !left.path(inside.to_str().unwrap()).exists()
    };
    let new = files(right.root()).into_iter().find(is_new).unwrap();
    let bytes = fs::read(&new).unwrap();
    let inside = new.strip_prefix(right.root()).unwrap();
    let place = left.root().join(inside);
    fs::write(&place, &bytes[..bytes.len() / 2]).unwrap();
    let stem = place.file_stem().unwrap().to_str().unwrap();
    for name in [
        format!("{stem} (B's conflicted copy 2026-11-30).seg"),
        format!("{stem}.sync-conflict-20261130-081500-ABCDEFG.seg"),
        format!(".syncthing.{stem}.seg.tmp"),
    ] {
        fs::write(place.with_file_name(name), &bytes[..bytes.len() / 3]).unwrap();
    }
    left.write("Right.md", "The harbour fee is due in October.\n");
    // The half file is of no use, so that the note is embedded once more here, and no other.
    assert_eq!(settled(&a, model), ["The harbour fee is due in October."]);
    let skipped = a.status().inventory.skipped;
    let mut codes: Vec<_> = skipped.iter().map(|s| s.fault.code()).collect();
    codes.sort_unstable();
    assert_eq!(
        codes,
        ["conflict_copy", "conflict_copy", "short", "unfinished"]
    );
    assert_like_rebuilt(&a, model);
    model.asked();

    // Then it goes through, both ways.
    sync(right.root(), left.root());
    sync(left.root(), right.root());
    assert_eq!((settled(&a, model), settled(&b, model)), (vec![], vec![]));
    assert_eq!(answers(&a, model), answers(&b, model));
    assert_like_rebuilt(&b, model);
    let all: u32 = vectors(&a, model).0 + vectors(&a, model).1;
    assert_eq!(all, 7, "six texts, one of them by both");
    // A third device finds everything.
    model.asked();
    let c = Device::new(right.beside("c"), right.root());
    assert_eq!(settled(&c, model), [""; 0]);
    assert_like_rebuilt(&c, model);
}
