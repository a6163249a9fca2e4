//! A vault that two devices share, and what their indexes hold.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use lorewell_portable::{Carried, Dead, DeviceId, Inventory, Key, Live, Own, Store};
use tempfile::TempDir;

pub(crate) const DIMENSION: usize = 6;

/// A vault's folder and two devices beside it.
pub(crate) struct Place {
    pub(crate) holder: TempDir,
    pub(crate) a: DeviceId,
    pub(crate) b: DeviceId,
}

/// What an index holds.
pub(crate) type Index = BTreeMap<Key, Vec<u8>>;

impl Place {
    pub(crate) fn new() -> Place {
        let holder = tempfile::tempdir().unwrap();
        fs::create_dir(holder.path().join("vault")).unwrap();
        let device = |name: &str| DeviceId::read_or_make(&holder.path().join(name)).unwrap();
        let (a, b) = (device("a"), device("b"));
        Place { holder, a, b }
    }

    pub(crate) fn vault(&self) -> PathBuf {
        self.holder.path().join("vault")
    }

    pub(crate) fn store(&self) -> Store {
        Store::in_vault(&self.vault())
    }

    pub(crate) fn carry(&self, device: DeviceId, index: &Index, dead: Dead) -> Carried {
        self.store()
            .carry(&own(device, "m", "m;1"), &live(index), dead)
            .unwrap()
    }

    /// All segments, wherever they lie.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        files_below(&self.store().folder())
    }

    pub(crate) fn inventory(&self) -> Inventory {
        self.store().inventory()
    }

    pub(crate) fn faults(&self) -> Vec<&'static str> {
        let skipped = self.inventory().skipped;
        skipped.iter().map(|skipped| skipped.fault.code()).collect()
    }
}

pub(crate) fn own<'a>(device: DeviceId, model: &'a str, fingerprint: &'a str) -> Own<'a> {
    Own {
        device,
        model,
        fingerprint,
        dimension: DIMENSION,
    }
}

pub(crate) fn live(index: &Index) -> Live<'_> {
    Live::new(index.iter().map(|(key, row)| (*key, &row[..])).collect())
}

pub(crate) fn key(number: u32) -> Key {
    let mut key = [7; 16];
    key[4..8].copy_from_slice(&number.to_le_bytes());
    key
}

/// Rows that are all different, with the greatest value that a row may have.
pub(crate) fn index(numbers: impl IntoIterator<Item = u32>) -> Index {
    let row = |number: u32| {
        let low = number.to_le_bytes();
        vec![127, low[0] & 0x7F, low[1] & 0x7F, 0x81, 0, 5]
    };
    numbers.into_iter().map(|n| (key(n), row(n))).collect()
}

pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type().unwrap().is_dir() {
            true => files.extend(files_below(&entry.path())),
            false => files.push(entry.path()),
        }
    }
    files.sort();
    files
}
