//! Any sequence of carrying and of what sync programs do in between.

use std::collections::BTreeSet;
use std::fs;

use lorewell_portable::{Dead, Inventory};
use proptest::prelude::*;

use crate::place::{DIMENSION, Place, index};

/// One step of two devices that share a folder.
#[derive(Clone, Debug)]
enum Step {
    /// A device's index holds these now, and it carries.
    Carry(bool, BTreeSet<u32>, u8),
    /// The file at this place is cut to a part of it.
    Cut(usize, u8),
    /// It is copied as a sync program would.
    Copy(usize),
    /// It is removed.
    Remove(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let keys = proptest::collection::btree_set(0_u32..40, 0..30);
    let step = prop_oneof![
        6 => (any::<bool>(), keys, 0_u8..3).prop_map(|(a, keys, dead)| Step::Carry(a, keys, dead)),
        1 => (0_usize..20, any::<u8>()).prop_map(|(at, part)| Step::Cut(at, part)),
        1 => (0_usize..20).prop_map(Step::Copy),
        1 => (0_usize..20).prop_map(Step::Remove),
    ];
    proptest::collection::vec(step, 1..25)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever happened before: after a device carried, all that it wants is found, by its right
    /// vector; with `DropAll` its own files hold nothing else; and the files of the other are as
    /// they were.
    #[test]
    fn carrying_is_complete_and_touches_nothing_of_others(steps in steps()) {
        let place = Place::new();
        for step in steps {
            let files = place.files();
            let file = |at: usize| files.get(at % files.len().max(1)).cloned();
            match step {
                Step::Carry(is_a, keys, dead) => {
                    let (device, other) = if is_a { (place.a, place.b) } else { (place.b, place.a) };
                    let dead = [Dead::Keep, Dead::DropMany, Dead::DropAll][usize::from(dead)];
                    let of_other = |listed: Inventory| -> Vec<_> {
                        listed.segments.into_iter().filter(|s| s.device == other).collect()
                    };
                    let before = of_other(place.inventory());
                    let index = index(keys);
                    place.carry(device, &index, dead);
                    prop_assert_eq!(of_other(place.inventory()), before);
                    let library = place.store().library("m;1", DIMENSION);
                    for (key, row) in &index {
                        let vector = library.get(key).unwrap();
                        let second = f32::from(row[1].cast_signed()) / 127.0;
                        prop_assert!((vector[1] / vector[0] - second).abs() < 1e-5);
                    }
                    if dead == Dead::DropAll {
                        let own: u32 = place.inventory().segments.iter()
                            .filter(|s| s.device == device).map(|s| s.rows).sum();
                        prop_assert!(own as usize <= index.len());
                    }
                }
                Step::Cut(at, part) => if let Some(file) = file(at) {
                    let bytes = fs::read(&file).unwrap();
                    fs::write(&file, &bytes[..bytes.len() * usize::from(part) / 256]).unwrap();
                },
                Step::Copy(at) => if let Some(file) = file(at) {
                    let stem = file.file_stem().unwrap().to_str().unwrap();
                    let copy = file.with_file_name(format!("{stem} (conflicted copy).seg"));
                    fs::copy(&file, copy).unwrap();
                },
                Step::Remove(at) => if let Some(file) = file(at) {
                    fs::remove_file(file).unwrap();
                },
            }
        }
    }
}
