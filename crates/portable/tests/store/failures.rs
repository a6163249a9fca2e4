//! Writing that ends at any named place: killed there, refused, or with a disk that is full. What
//! is there stays whole, nothing of another device is touched, and the next time makes it good.

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use lorewell_failpoint::{self as failpoint, Fault};
use lorewell_portable::{Dead, DeviceId, Fault as Wrong, PortableError};

use crate::place::{DIMENSION, Index, Place, index, key, live, own};

/// Names and fingerprints of models; the second is an older revision of the first.
const MODELS: [(&str, &str); 3] = [("m", "m;1"), ("m", "m;0"), ("n", "n;1")];

const FAULTS: [Fault; 3] = [Fault::Cut, Fault::DiskFull, Fault::Crash];

/// Files as they are, byte by byte.
type Files = BTreeMap<PathBuf, Vec<u8>>;

/// Two devices with files of two models and of an older revision; one more small file of the first
/// device, and they are joined; a broken file and a draft of it lie about. Also the files of the
/// other device.
fn about_to_join() -> (Place, Files) {
    let place = Place::new();
    let store = place.store();
    for (model, fingerprint) in MODELS {
        let (own, rows) = (own(place.b, model, fingerprint), index(1_000..1_020));
        store.carry(&own, &live(&rows), Dead::Keep).unwrap();
    }
    let theirs = place.files();
    let theirs = theirs
        .into_iter()
        .map(|path| (path.clone(), fs::read(path).unwrap()));
    let theirs: Files = theirs.collect();
    for part in 0..7 {
        place.carry(place.a, &index(0..(part + 1) * 10), Dead::Keep);
    }
    for (model, fingerprint) in &MODELS[1..] {
        let (own, rows) = (own(place.a, model, fingerprint), index(0..30));
        store.carry(&own, &live(&rows), Dead::Keep).unwrap();
    }
    let own = |file: &PathBuf| !theirs.contains_key(file);
    let file = place.files().into_iter().find(own).unwrap();
    let bytes = fs::read(&file).unwrap();
    fs::write(
        file.with_file_name(format!("{}.seg", "0".repeat(64))),
        bytes,
    )
    .unwrap();
    let draft = format!(".~{}-{}.tmp", place.a, "1".repeat(64));
    fs::write(file.with_file_name(draft), "half").unwrap();
    (place, theirs)
}

fn assert_untouched(theirs: &Files, at: &str) {
    for (path, bytes) in theirs {
        assert!(
            fs::read(path).ok().as_ref() == Some(bytes),
            "{at}: {}",
            path.display()
        );
    }
}

/// Which of the rows that the index holds a device would find.
fn found(place: &Place, index: &Index) -> Vec<u32> {
    let library = place.store().library("m;1", DIMENSION);
    let numbers = (0..2_000).filter(|number| index.contains_key(&key(*number)));
    numbers
        .filter(|number| library.get(&key(*number)).is_some())
        .collect()
}

/// What ends at an armed place: an error, or nothing at all where it unwinds.
fn outcome<T>(work: impl FnOnce() -> Result<T, PortableError>) -> Option<Result<T, PortableError>> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

#[test]
fn carrying_that_ends_anywhere_loses_nothing_and_is_made_good() {
    for dead in [Dead::Keep, Dead::DropMany, Dead::DropAll] {
        for fault in FAULTS {
            let mut reached = 0;
            loop {
                let (place, theirs) = about_to_join();
                // Some rows of before are gone, some are new.
                let wanted = index((0..40).chain(1_000..1_020).chain(50..85));
                let before = found(&place, &wanted);
                let store = place.store();
                let carry = || store.carry(&own(place.a, "m", "m;1"), &live(&wanted), dead);
                failpoint::arm_any(reached, fault);
                let ended = outcome(carry);
                if failpoint::is_armed() {
                    ended.unwrap().unwrap();
                    break;
                }
                assert!(
                    !matches!(ended, Some(Ok(_))),
                    "place {reached} told nothing"
                );
                let at = format!("{dead:?} {fault:?}, place {reached}");
                assert_untouched(&theirs, &at);
                if dead != Dead::DropAll {
                    let after = found(&place, &wanted);
                    assert!(before.iter().all(|number| after.contains(number)), "{at}");
                }
                let wrong = |code: &str| ["unfinished", "damaged"].contains(&code);
                assert!(
                    place.faults().into_iter().all(wrong),
                    "{at}: {:?}",
                    place.faults()
                );

                carry().unwrap();
                assert_eq!(found(&place, &wanted).len(), wanted.len(), "{at}");
                assert_untouched(&theirs, &at);
                let unfinished = place.inventory().skipped;
                let unfinished = unfinished.iter().filter(|s| s.fault == Wrong::Unfinished);
                assert_eq!(unfinished.count(), 0, "{at}: a draft stays");
                if dead == Dead::DropAll {
                    assert_drops_all(&place, &wanted, &at);
                }
                reached += 1;
            }
            assert!(reached >= 9, "{reached} places");
        }
    }
}

/// No file of the first device has a row that the index does not hold.
fn assert_drops_all(place: &Place, wanted: &Index, at: &str) {
    let own: u32 = {
        let inventory = place.inventory();
        let own = inventory.segments.iter().filter(|s| s.device == place.a);
        own.filter(|s| s.fingerprint == "m;1").map(|s| s.rows).sum()
    };
    assert!(own as usize <= wanted.len(), "{at}");
    let library = place.store().library("m;1", DIMENSION);
    let gone = (40..50).find(|number| library.get(&key(*number)).is_some());
    assert_eq!(gone, None, "{at}");
}

#[test]
fn the_first_carrying_that_ends_anywhere_is_made_good() {
    for fault in FAULTS {
        let mut reached = 0;
        loop {
            let place = Place::new();
            let wanted = index(0..50);
            let store = place.store();
            let carry = || store.carry(&own(place.a, "m", "m;1"), &live(&wanted), Dead::DropMany);
            failpoint::arm_any(reached, fault);
            let ended = outcome(carry);
            if failpoint::is_armed() {
                ended.unwrap().unwrap();
                break;
            }
            carry().unwrap();
            assert_eq!(place.files().len(), 1, "{fault:?}, place {reached}");
            assert_eq!(found(&place, &wanted).len(), 50);
            reached += 1;
        }
        assert!(reached >= 9, "{reached} places");
    }
}

#[test]
fn withdrawing_that_ends_anywhere_goes_on_the_next_time() {
    for fault in FAULTS {
        let mut reached = 0;
        loop {
            let (place, theirs) = about_to_join();
            failpoint::arm_any(reached, fault);
            let ended = outcome(|| place.store().withdraw(place.a));
            if failpoint::is_armed() {
                assert!(ended.unwrap().unwrap() >= 9);
                break;
            }
            let at = format!("{fault:?}, place {reached}");
            assert_untouched(&theirs, &at);
            place.store().withdraw(place.a).unwrap();
            assert!(!place.store().has_files_of(place.a));
            assert_untouched(&theirs, &at);
            reached += 1;
        }
        assert!(reached >= 9, "{reached} places");
    }
}

#[test]
fn a_device_is_named_once_however_its_naming_ends() {
    for point in ["device-draft-made", "device-draft-synced", "device-named"] {
        for fault in FAULTS {
            let place = Place::new();
            let file = place.holder.path().join("c");
            failpoint::arm(point, 0, fault);
            let ended = outcome(|| DeviceId::read_or_make(&file));
            assert!(!failpoint::is_armed(), "{point} was not reached");
            assert!(!matches!(ended, Some(Ok(_))));
            let told = DeviceId::read(&file).unwrap();
            let name = DeviceId::read_or_make(&file).unwrap();
            assert!(told.is_none_or(|told| told == name), "{point}: named twice");
            assert_eq!(DeviceId::read_or_make(&file).unwrap(), name);
        }
    }
}
