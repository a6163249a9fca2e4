//! Two devices, one store: what is carried is found, what is wrong is passed over and said, and
//! nobody touches the files of another.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod failures;
mod place;
mod scripts;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use lorewell_portable::{Carried, Dead, Fault, Inventory};

use crate::place::{DIMENSION, Index, Place, files_below, index, key, live, own};

#[test]
fn what_one_device_carries_another_finds() {
    let place = Place::new();
    let index = index(0..300);
    assert_eq!(place.carry(place.a, &index, Dead::DropMany).added, 300);
    let library = place.store().library("m;1", DIMENSION);
    for (key, row) in &index {
        let vector = library.get(key).unwrap();
        let squares: f32 = vector.iter().map(|value| value * value).sum();
        assert!((squares - 1.0).abs() < 1e-5);
        // The bytes come back from the vector as an index would make them anew.
        let again: Vec<u8> = vector
            .iter()
            .map(|value| ((value / vector[0] * 127.0).round() as i8).cast_unsigned())
            .collect();
        assert_eq!(again, *row);
    }
    assert_eq!(library.get(&key(300)), None);
    assert!(place.store().library("m;2", DIMENSION).is_empty());
    assert!(place.store().library("m;1", DIMENSION + 1).is_empty());
    // The other device has nothing to write, and the first has nothing more.
    assert_eq!(
        place.carry(place.b, &index, Dead::DropAll),
        Carried::default()
    );
    assert_eq!(
        place.carry(place.a, &index, Dead::DropAll),
        Carried::default()
    );
    let listed = place.inventory();
    assert_eq!(listed.skipped, []);
    let [segment] = &listed.segments[..] else {
        panic!("{listed:?}")
    };
    assert_eq!((segment.device, segment.rows), (place.a, 300));
    assert_eq!(
        segment.bytes,
        fs::metadata(&place.files()[0]).unwrap().len()
    );
}

#[test]
fn a_name_is_the_hash_of_the_content() {
    let place = Place::new();
    place.carry(place.a, &index(0..9), Dead::DropMany);
    let file = &place.files()[0];
    let bytes = fs::read(file).unwrap();
    let hash = blake3::hash(&bytes[..bytes.len() - 32]);
    assert_eq!(*hash.as_bytes(), bytes[bytes.len() - 32..]);
    let name = file.file_name().unwrap().to_str().unwrap();
    assert_eq!(name, format!("{}.seg", hash.to_hex()));
    let folder = file.parent().unwrap().file_name().unwrap().to_str();
    assert_eq!(folder.unwrap(), &blake3::hash(b"m;1").to_hex()[..32]);
}

#[test]
fn a_cut_or_changed_file_is_passed_over_whatever_the_place() {
    let place = Place::new();
    let whole = index(0..5);
    place.carry(place.a, &whole, Dead::DropMany);
    let file = place.files().remove(0);
    let bytes = fs::read(&file).unwrap();
    for length in 0..bytes.len() {
        fs::write(&file, &bytes[..length]).unwrap();
        assert_eq!(place.faults(), ["short"], "{length} bytes");
        assert!(place.store().library("m;1", DIMENSION).is_empty());
    }
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 0x40;
        fs::write(&file, &changed).unwrap();
        let expected: &[&str] = match at {
            0..8 => &["foreign"],
            8..12 => &["newer_format"],
            // A length of the names that leads past the end.
            20..24 => &["short", "damaged"],
            _ => &["damaged"],
        };
        let faults = place.faults();
        assert!(
            faults.len() == 1 && expected.contains(&faults[0]),
            "{at}: {faults:?}"
        );
        assert!(place.store().library("m;1", DIMENSION).is_empty());
    }
    fs::write(&file, [&bytes[..], b"more"].concat()).unwrap();
    assert_eq!(place.faults(), ["damaged"]);
    // Its own damaged file is written anew by the device, and only by it.
    assert_eq!(place.carry(place.b, &whole, Dead::DropMany).removed, 0);
    let carried = place.carry(place.a, &whole, Dead::DropMany);
    assert_eq!((carried.added, carried.removed), (0, 1));
    assert_eq!(place.faults(), [""; 0]);
    assert_eq!(place.inventory().segments[0].device, place.b);
}

#[test]
fn a_row_that_changes_under_a_reader_is_not_taken() {
    let place = Place::new();
    place.carry(place.a, &index(0..50), Dead::DropMany);
    let file = place.files().remove(0);
    let library = place.store().library("m;1", DIMENSION);
    let mut bytes = fs::read(&file).unwrap();
    let last_row = bytes.len() - 32 - DIMENSION;
    bytes[last_row + 1] ^= 1;
    fs::write(&file, &bytes).unwrap();
    assert_eq!(library.get(&key(49)), None);
    assert!(library.get(&key(48)).is_some());
    fs::write(&file, &bytes[..last_row]).unwrap();
    assert_eq!(library.get(&key(49)), None);
    assert!(library.get(&key(0)).is_some());
}

#[test]
fn what_sync_programs_and_people_leave_is_survived_and_said() {
    let place = Place::new();
    let (first, second) = (index(0..20), index(20..40));
    place.carry(place.a, &first, Dead::DropMany);
    let of_a = place.files().remove(0);
    let both: Index = first.clone().into_iter().chain(second).collect();
    place.carry(place.b, &both, Dead::DropMany);
    let folder = of_a.parent().unwrap();
    let hash = of_a.file_stem().unwrap().to_str().unwrap().to_owned();
    let bytes = fs::read(&of_a).unwrap();
    let odd = [
        (
            format!("{hash} (Anna's conflicted copy 2026-11-30).seg"),
            "conflict_copy",
        ),
        (
            format!("{hash}.sync-conflict-20261130-081500-ABC.seg"),
            "conflict_copy",
        ),
        (format!(".syncthing.{hash}.seg.tmp"), "unfinished"),
        (format!("{}.seg", "0".repeat(64)), "damaged"),
        (format!(".{hash}.seg.icloud"), "not_local"),
        ("notes.txt".to_string(), "foreign"),
    ];
    for (name, _) in &odd {
        fs::write(folder.join(name), &bytes).unwrap();
    }
    fs::create_dir(folder.join(format!("{}.seg", "1".repeat(64)))).unwrap();
    fs::write(place.store().folder().join("readme"), "x").unwrap();
    let elsewhere = place.store().folder().join("a".repeat(32));
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join(of_a.file_name().unwrap()), &bytes).unwrap();

    let mut expected: Vec<&str> = odd.iter().map(|(_, code)| *code).collect();
    expected.extend(["not_a_file", "foreign", "misplaced"]);
    let mut found = place.faults();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
    let skipped = place.inventory().skipped;
    assert!(
        skipped
            .iter()
            .all(|s| s.path.starts_with(".lorewell/vectors/"))
    );
    assert!(skipped.iter().all(|s| !s.fault.to_string().is_empty()));
    let library = place.store().library("m;1", DIMENSION);
    assert!(both.keys().all(|key| library.get(key).is_some()));

    // The other device leaves all of it; the device whose copies they are takes them away.
    let before = files_below(&place.vault());
    place.carry(place.b, &both, Dead::DropAll);
    assert_eq!(files_below(&place.vault()), before);
    place.carry(place.a, &both, Dead::DropAll);
    let mut left = place.faults();
    left.sort_unstable();
    assert_eq!(
        left,
        [
            "foreign",
            "foreign",
            "not_a_file",
            "not_local",
            "unfinished"
        ]
    );
    let library = place.store().library("m;1", DIMENSION);
    assert!(both.keys().all(|key| library.get(key).is_some()));
}

#[test]
fn many_saves_make_few_files() {
    let place = Place::new();
    let mut all = Index::new();
    for number in 0..200 {
        all.extend(index([number]));
        place.carry(place.a, &all, Dead::DropMany);
        assert!(place.files().len() <= 8, "{}", place.files().len());
    }
    let library = place.store().library("m;1", DIMENSION);
    assert!(all.keys().all(|key| library.get(key).is_some()));
    let rows: u32 = place.inventory().segments.iter().map(|s| s.rows).sum();
    assert_eq!(rows, 200, "no row twice");
}

#[test]
fn what_a_crash_left_behind_goes() {
    let place = Place::new();
    let mut all = Index::new();
    let mut parts = Vec::new();
    for number in 0..7 {
        all.extend(index([number]));
        place.carry(place.a, &all, Dead::DropMany);
        parts = place.files();
    }
    let kept: Vec<_> = parts.iter().map(|part| fs::read(part).unwrap()).collect();
    all.extend(index([7]));
    place.carry(place.a, &all, Dead::DropMany);
    assert_eq!(place.files().len(), 1);
    // As if it had stopped before the parts were removed, and in the middle of a file.
    for (part, bytes) in parts.iter().zip(kept) {
        fs::write(part, bytes).unwrap();
    }
    let draft = parts[0].with_file_name(format!(".~{}-{}.tmp", place.a, "0".repeat(64)));
    fs::write(&draft, "half").unwrap();
    let of_other = parts[0].with_file_name(format!(".~{}-{}.tmp", place.b, "0".repeat(64)));
    fs::write(&of_other, "half").unwrap();
    assert_eq!(place.carry(place.a, &all, Dead::Keep).removed, 7);
    assert_eq!(place.faults(), ["unfinished"]);
    assert_eq!(place.files().len(), 2);
    assert!(of_other.exists() && !draft.exists());
}

#[test]
fn dead_rows_stay_until_they_are_many_and_go_at_once_when_they_must() {
    let place = Place::new();
    place.carry(place.a, &index(0..2_000), Dead::DropMany);
    let few_gone = index(100..2_000);
    assert_eq!(
        place.carry(place.a, &few_gone, Dead::DropMany),
        Carried::default()
    );
    assert!(
        place
            .store()
            .library("m;1", DIMENSION)
            .get(&key(5))
            .is_some()
    );
    let many_gone = index(1_200..2_000);
    assert_eq!(
        place.carry(place.a, &many_gone, Dead::Keep),
        Carried::default()
    );
    assert_eq!(
        place.carry(place.a, &many_gone, Dead::DropMany).dropped,
        1_200
    );
    let one_gone = index(1_201..2_000);
    let carried = place.carry(place.a, &one_gone, Dead::DropAll);
    assert_eq!(
        (carried.dropped, carried.written, carried.removed),
        (1, 1, 1)
    );
    let library = place.store().library("m;1", DIMENSION);
    assert_eq!(library.get(&key(1_200)), None);
    assert!(one_gone.keys().all(|key| library.get(key).is_some()));
    // Nothing is left, not even a folder.
    place.carry(place.a, &Index::new(), Dead::DropAll);
    assert!(!place.vault().join(".lorewell").exists());
}

#[test]
fn what_must_go_goes_though_nothing_can_be_written() {
    let place = Place::new();
    place.carry(place.a, &index(0..9), Dead::DropMany);
    let old = place.files().remove(0);
    let elsewhere = Place::new();
    elsewhere.carry(place.a, &index(1..9), Dead::DropMany);
    let hash = elsewhere.files()[0].file_stem().unwrap().to_owned();
    // A folder in the way of the file that would be written.
    let draft = format!(".~{}-{}.tmp", place.a, hash.to_str().unwrap());
    fs::create_dir(old.with_file_name(draft)).unwrap();
    let own = own(place.a, "m", "m;1");
    let refused = place
        .store()
        .carry(&own, &live(&index(1..9)), Dead::DropAll);
    assert!(refused.is_err(), "{refused:?}");
    assert!(!old.exists());
}

#[test]
fn files_of_other_models() {
    let place = Place::new();
    let store = place.store();
    let all = index(0..10);
    let carry = |model, fingerprint, index: &Index, dead| {
        let own = own(place.a, model, fingerprint);
        store.carry(&own, &live(index), dead).unwrap()
    };
    carry("m", "m;1", &all, Dead::DropMany);
    carry("n", "n;1", &all, Dead::DropMany);
    let of_b = own(place.b, "m", "m;1");
    store
        .carry(&of_b, &live(&index(5..15)), Dead::DropMany)
        .unwrap();
    let has = |fingerprint, number| {
        let library = store.library(fingerprint, DIMENSION);
        library.get(&key(number)).is_some()
    };
    // A newer revision replaces the older of this device as soon as the index is whole.
    carry("m", "m;2", &index(0..3), Dead::Keep);
    assert!(has("m;1", 0) && has("n;1", 0));
    carry("m", "m;2", &all, Dead::DropMany);
    assert!(!has("m;1", 0) && has("m;1", 12) && has("n;1", 0) && has("m;2", 9));
    // Another model stays for a switch back, without what is excluded.
    carry("m", "m;2", &index(1..10), Dead::DropAll);
    assert!(!has("n;1", 0) && has("n;1", 1) && has("m;1", 12) && !has("m;2", 0));
}

#[test]
fn a_device_takes_back_its_own_files() {
    let place = Place::new();
    let store = place.store();
    place.carry(place.a, &index(0..10), Dead::DropMany);
    place.carry(place.b, &index(0..20), Dead::DropMany);
    fs::write(place.vault().join(".lorewell/config.toml"), "").unwrap();
    let half = place.files().remove(0);
    let bytes = fs::read(&half).unwrap();
    fs::write(
        half.with_file_name(format!("{}.seg", "2".repeat(64))),
        &bytes[..200],
    )
    .unwrap();
    assert!(store.has_files_of(place.a) && store.has_files_of(place.b));
    assert!(store.withdraw(place.a).unwrap() >= 1);
    assert!(!store.has_files_of(place.a) && store.has_files_of(place.b));
    store.withdraw(place.b).unwrap();
    assert!(!store.is_there());
    assert!(place.vault().join(".lorewell/config.toml").exists());
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    use std::os::unix::fs::symlink;

    let place = Place::new();
    let outside = place.holder.path().join("outside");
    fs::create_dir_all(outside.join("vectors")).unwrap();
    symlink(&outside, place.vault().join(".lorewell")).unwrap();
    let own = own(place.a, "m", "m;1");
    let all = index(0..5);
    let refused = place.store().carry(&own, &live(&all), Dead::DropAll);
    assert!(refused.unwrap_err().to_string().contains(".lorewell"));
    assert_eq!(files_below(&outside), [""; 0].map(PathBuf::from));
    assert_eq!(place.faults(), ["not_a_folder"]);
    assert!(!place.store().is_there());

    // A link in place of a fingerprint's folder, and of a file.
    fs::remove_file(place.vault().join(".lorewell")).unwrap();
    place.carry(place.a, &all, Dead::DropMany);
    let file = place.files().remove(0);
    let aside = outside.join(file.file_name().unwrap());
    fs::rename(&file, &aside).unwrap();
    symlink(&aside, &file).unwrap();
    assert_eq!(place.faults(), ["not_a_file"]);
    assert!(place.store().library("m;1", DIMENSION).is_empty());
    let folder = file.parent().unwrap();
    fs::remove_dir_all(folder).unwrap();
    symlink(&outside, folder).unwrap();
    assert_eq!(place.faults(), ["not_a_folder"]);
    let refused = place.store().carry(&own, &live(&all), Dead::DropAll);
    assert!(refused.is_err());
    assert!(place.store().library("m;1", DIMENSION).is_empty());
    assert_eq!(files_below(&outside), [aside]);
}

#[test]
fn the_vault_itself_is_never_made() {
    let place = Place::new();
    fs::remove_dir(place.vault()).unwrap();
    let own = own(place.a, "m", "m;1");
    let refused = place
        .store()
        .carry(&own, &live(&index(0..5)), Dead::DropMany);
    assert!(refused.is_err());
    assert!(!place.vault().exists());
    assert_eq!(place.inventory(), Inventory::default());
}

#[test]
fn the_stamp_differs_when_files_do() {
    let place = Place::new();
    let store = place.store();
    let empty = store.stamp();
    place.carry(place.a, &index(0..5), Dead::DropMany);
    let one = store.stamp();
    assert_ne!(empty, one);
    assert_eq!(store.stamp(), one);
    let file = place.files().remove(0);
    fs::write(&file, "short").unwrap();
    assert_ne!(store.stamp(), one);
    fs::remove_file(&file).unwrap();
    assert_eq!(
        store.waiting(&own(place.b, "m", "m;1"), &live(&index(3..6))),
        3
    );
}

#[test]
fn faults_have_words_and_codes_of_their_own() {
    let faults = [
        Fault::Short,
        Fault::Damaged,
        Fault::NewerFormat(2),
        Fault::Misplaced,
        Fault::ConflictCopy,
        Fault::Unfinished,
        Fault::NotLocal,
        Fault::Foreign,
        Fault::NotAFile,
        Fault::NotAFolder,
        Fault::Gone,
        Fault::Unreadable("no".to_string()),
    ];
    let codes: BTreeSet<_> = faults.iter().map(Fault::code).collect();
    let words: BTreeSet<_> = faults.iter().map(ToString::to_string).collect();
    assert_eq!((codes.len(), words.len()), (faults.len(), faults.len()));
}
