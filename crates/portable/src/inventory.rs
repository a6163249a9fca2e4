//! What lies in a vault's store: whole segments, and files that are passed over, each with the
//! reason.

use std::fmt;
use std::path::Path;

use crate::format::is_hex;
use crate::place::entries;
use crate::segment::{Segment, Unusable};
use crate::{DeviceId, Store};

/// Everything in a store, read through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inventory {
    /// The segments that are whole and sound.
    pub segments: Vec<CarriedSegment>,
    /// What is passed over.
    pub skipped: Vec<Skipped>,
}

/// A segment that is whole and sound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CarriedSegment {
    /// The device that wrote it.
    pub device: DeviceId,
    /// The model's name.
    pub model: String,
    /// What decides its vectors.
    pub fingerprint: String,
    /// How many vectors it has.
    pub rows: u32,
    /// How long the file is.
    pub bytes: u64,
}

/// A file or folder that is passed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Its path from the vault's root, with `/`.
    pub path: String,
    /// Why.
    pub fault: Fault,
}

/// Why a file is passed over. Its text is the end of a sentence that begins with the path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It ends before its end: a sync program is not done with it, or gave up.
    Short,
    /// Its bytes are not the ones that were written.
    Damaged,
    /// A newer program wrote it.
    NewerFormat(u32),
    /// It belongs to another fingerprint than its folder.
    Misplaced,
    /// A sync program made a second version of a file.
    ConflictCopy,
    /// It is still being written, or was left so.
    Unfinished,
    /// A cloud program keeps its content elsewhere.
    NotLocal,
    /// It is no file of this program.
    Foreign,
    /// It is a link, a folder or a device.
    NotAFile,
    /// It is a link or a file where a folder should be.
    NotAFolder,
    /// It went while it was looked at.
    Gone,
    /// The system refused.
    Unreadable(String),
}

impl Fault {
    /// A stable word.
    pub fn code(&self) -> &'static str {
        match self {
            Fault::Short => "short",
            Fault::Damaged => "damaged",
            Fault::NewerFormat(_) => "newer_format",
            Fault::Misplaced => "misplaced",
            Fault::ConflictCopy => "conflict_copy",
            Fault::Unfinished => "unfinished",
            Fault::NotLocal => "not_local",
            Fault::Foreign => "foreign",
            Fault::NotAFile => "not_a_file",
            Fault::NotAFolder => "not_a_folder",
            Fault::Gone => "gone",
            Fault::Unreadable(_) => "unreadable",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Short => f.write_str("ends too early; a sync program may still be writing it"),
            Fault::Damaged => {
                f.write_str("is damaged: its checksum does not fit; it can be deleted")
            }
            Fault::NewerFormat(version) => {
                write!(
                    f,
                    "has the newer format {version}; a newer lorewell reads it"
                )
            }
            Fault::Misplaced => {
                f.write_str("lies in the folder of another model; it can be deleted")
            }
            Fault::ConflictCopy => {
                f.write_str("is a copy that a sync program made; it can be deleted")
            }
            Fault::Unfinished => f.write_str("is not finished; it can be deleted if it stays"),
            Fault::NotLocal => f.write_str("is in the cloud and not on this device"),
            Fault::Foreign => f.write_str("is not a file of lorewell"),
            Fault::NotAFile => f.write_str("is a link or a folder, and is not followed"),
            Fault::NotAFolder => f.write_str("is not a folder, and is not followed"),
            Fault::Gone => f.write_str("went while it was looked at"),
            Fault::Unreadable(message) => write!(f, "cannot be read: {message}"),
        }
    }
}

impl Store {
    /// Reads everything through. A vault without a store has an empty inventory.
    pub fn inventory(&self) -> Inventory {
        let mut inventory = Inventory::default();
        if let Some((path, fault)) = self.blocked() {
            inventory.skip(self, &path, fault);
            return inventory;
        }
        for entry in entries(&self.folder()) {
            let name = entry.file_name().to_string_lossy().into_owned();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && is_hex(&name, 32) => {
                    inventory.look_into(self, &entry.path());
                }
                Ok(kind) if kind.is_symlink() => {
                    inventory.skip(self, &entry.path(), Fault::NotAFolder);
                }
                _ => inventory.skip(self, &entry.path(), Fault::Foreign),
            }
        }
        inventory
    }
}

impl Inventory {
    fn look_into(&mut self, store: &Store, folder: &Path) {
        for entry in entries(folder) {
            match Segment::open(&entry.path()) {
                Ok(segment) => self.segments.push(CarriedSegment {
                    bytes: segment.bytes(),
                    device: segment.header.device,
                    rows: segment.header.rows,
                    model: segment.header.model,
                    fingerprint: segment.header.fingerprint,
                }),
                Err(Unusable {
                    fault: Fault::Gone, ..
                }) => {}
                Err(Unusable { fault, .. }) => self.skip(store, &entry.path(), fault),
            }
        }
    }

    fn skip(&mut self, store: &Store, path: &Path, fault: Fault) {
        self.skipped.push(Skipped {
            path: store.shown(path),
            fault,
        });
    }
}
