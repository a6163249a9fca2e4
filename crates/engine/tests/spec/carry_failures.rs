//! Carrying that ends at any named place: no question fails for it, the status tells it, and the
//! next look makes it good.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use lorewell_engine::{CarriedSegment, Patience, Quiet, RuleSettings, Rules};
use lorewell_portable::failpoint::{self, Fault, POINTS};
use lorewell_testkit::TempVault;

use crate::picture::Picture;
use crate::portable::{Device, NOTES};

/// A device that looks for the first time, or one with files that an excluded note must leave, in a
/// vault where another has carried a note of its own; also what that one carried.
fn about_to_carry(vault: &TempVault, point: &str) -> (Device, Vec<CarriedSegment>) {
    let mut theirs = Vec::new();
    let mut device = Device::new(vault.beside("a"), vault.root());
    let is_first = point.starts_with("device") || point == "carry-folder-made";
    if !is_first {
        device.refresh();
        let other = Device::new(vault.beside("b"), vault.root());
        vault.write("Theirs.md", "The mast is stepped in June.\n");
        other.refresh();
        theirs = other.status().inventory.segments;
        theirs.retain(|segment| segment.rows == 1);
        assert_eq!(theirs.len(), 1);
        let folders = vec!["Private".to_string()];
        let rules = RuleSettings {
            folders,
            ..RuleSettings::default()
        };
        device.settings.index.rules = Rules::new(rules).unwrap();
    }
    (device, theirs)
}

/// What an index says that never heard of carrying.
fn without_carrying(vault: &TempVault, device: &Device) -> Picture {
    let mut plain = Device::new(vault.beside("plain"), vault.root());
    plain.settings = device.settings.clone();
    plain.settings.portable = None;
    plain.refresh();
    Picture::of(&plain.host())
}

#[test]
fn carrying_that_ends_anywhere_is_told_and_made_good() {
    let mut expected = BTreeMap::new();
    for point in POINTS {
        for fault in [Fault::Cut, Fault::DiskFull, Fault::Crash] {
            let vault = TempVault::new(NOTES);
            let (device, theirs) = about_to_carry(&vault, point);

            failpoint::arm(point, 0, fault);
            let look = || device.host().refresh(Patience::Wait, &Quiet).map(drop);
            let ended = catch_unwind(AssertUnwindSafe(look));
            let at = format!("{point}, {fault:?}");
            assert!(!failpoint::is_armed(), "{at} was not reached");
            if fault != Fault::Crash {
                ended.unwrap().unwrap();
                assert!(device.status().trouble.is_some(), "{at} is not told");
            }

            device.refresh();
            let status = device.status();
            assert_eq!((status.waiting, &status.trouble), (0, &None), "{at}");
            assert_eq!(status.inventory.skipped, [], "{at}");
            for segment in &theirs {
                assert!(status.inventory.segments.contains(segment), "{at}");
            }
            let plain = expected
                .entry(theirs.is_empty())
                .or_insert_with(|| without_carrying(&vault, &device));
            Picture::of(&device.host()).assert_same(plain);
            // Not even the vector of an excluded note stays in a file of this device.
            let rows = device.rows_in(status);
            let wanted = u32::try_from(device.notes_of_index()).unwrap();
            assert!(
                rows.0 <= wanted && rows.0 + rows.1 >= wanted,
                "{at}: {rows:?}"
            );
        }
    }
}
