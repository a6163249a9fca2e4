//! Vectors that travel with the vault: what the index holds is carried to `.lorewell/vectors/`,
//! and what other devices carried there need not be embedded again.
//!
//! Nothing here is needed to answer, so that no trouble here is an error of a question: it is kept
//! for `status`.

mod memory;

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use lorewell_index::{IndexError, KnownVectors, Lock, LockAttempt, ModelState, Snapshot};
use lorewell_portable::{Dead, DeviceId, Inventory, Key, Library, Live, Own, PortableError, Store};

use crate::{EngineError, Host};

pub(crate) use memory::Memory;

/// Fewer new vectors than this may rest before they are carried.
const FEW: u64 = 64;

/// How a vault's vectors travel.
#[derive(Clone, Debug)]
pub struct PortableVectors {
    /// The file with this device's name, outside of the vault; made when it is needed.
    pub device_file: PathBuf,
    /// Whether this device carries its vectors into the vault. If not, it takes back what it
    /// carried before.
    pub carry: bool,
    /// A few new vectors, and those of a build that goes on, wait until so much time passed since
    /// others were carried: sync programs send each file.
    pub rest: Duration,
}

/// When vectors are carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// A few may rest.
    Due,
    /// Now, however few they are.
    Now,
    /// Now, but only what must go from files that are there already.
    Excluding,
}

/// Where the vectors that travel stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortableStatus {
    /// Whether this device carries its vectors into the vault.
    pub carry: bool,
    /// The folder in the vault.
    pub folder: PathBuf,
    /// This device's name; nothing before it carried anything.
    pub device: Option<String>,
    /// Everything that lies there.
    pub inventory: Inventory,
    /// How many vectors of this index no file has yet.
    pub waiting: u64,
    /// Why this device could not bring its files up to date, if so.
    pub trouble: Option<String>,
}

/// Carried vectors as a place that may have one. They are looked at when the first is asked for.
struct CarriedVectors {
    store: Store,
    fingerprint: String,
    dimension: usize,
    library: OnceLock<Library>,
}

impl KnownVectors for CarriedVectors {
    fn vector(&self, fingerprint: &str, key: &Key) -> Option<Vec<f32>> {
        if fingerprint != self.fingerprint {
            return None;
        }
        let open = || self.store.library(&self.fingerprint, self.dimension);
        self.library.get_or_init(open).get(key)
    }
}

impl Host {
    /// Vectors that may be taken instead of embedding: of all devices where this one carries, and
    /// also where it is about to take back what it carried.
    pub(crate) fn carried_vectors(&self) -> Option<Arc<dyn KnownVectors>> {
        let settings = self.settings.portable.as_ref()?;
        let store = Store::in_vault(self.root());
        let wanted = store.is_there() && (settings.carry || self.own_device_in(&store).is_some());
        wanted.then(|| {
            Arc::new(CarriedVectors {
                store,
                fingerprint: self.embedder.fingerprint().as_str().to_string(),
                dimension: self.embedder.dimension(),
                library: OnceLock::new(),
            }) as Arc<dyn KnownVectors>
        })
    }

    /// Brings this device's files in line with the index, or takes them back.
    pub(crate) fn tend_portable(&self, when: When) {
        let Some(settings) = &self.settings.portable else {
            return;
        };
        let store = Store::in_vault(self.root());
        let there = store.is_there();
        // A bare folder looks like a drive that is not mounted.
        let is_bare = || {
            let first = std::fs::read_dir(self.root()).map(|mut entries| entries.next());
            !matches!(first, Ok(Some(_)))
        };
        if !there && (!settings.carry || when == When::Excluding || is_bare()) {
            return;
        }
        let Ok(snapshot) = self.wanted_snapshot() else {
            return;
        };
        if settings.carry {
            self.carry(settings, &store, &snapshot, when);
        } else if is_whole(&snapshot)
            && let Some(device) = self.own_device_in(&store)
            && let Ok(LockAttempt::Taken(_lock)) = Lock::attempt(&self.layout)
        {
            let trouble = store.withdraw(device).err();
            Memory::forget(&self.layout, trouble.map(|error| error.to_string()));
        }
    }

    fn carry(&self, settings: &PortableVectors, store: &Store, snapshot: &Snapshot, when: When) {
        let known = Memory::read(&self.layout);
        let Some(seen) = self.memory_of(store, snapshot) else {
            return;
        };
        let rested = known.age(SystemTime::now()) >= settings.rest;
        let is_done = known.stands_as(&seen) && (known.trouble.is_none() || !rested);
        let may_rest = !rested && known.differs_little(&seen, FEW) && known.trouble.is_none();
        if is_done || (may_rest && when == When::Due) {
            return;
        }
        // Whoever holds it will see to it.
        let Ok(LockAttempt::Taken(_lock)) = Lock::attempt(&self.layout) else {
            return;
        };
        let dead = known.dead(&seen);
        let outcome = self.carry_rows(settings, store, snapshot, dead);
        let seen = Memory {
            owed: known.owes(&seen) && (outcome.is_err() || dead != Dead::DropAll),
            stamp: store.stamp(),
            trouble: outcome.err().map(|error| error.to_string()),
            ..seen
        };
        seen.write(&self.layout);
    }

    fn carry_rows(
        &self,
        settings: &PortableVectors,
        store: &Store,
        snapshot: &Snapshot,
        dead: Dead,
    ) -> Result<(), PortableError> {
        let device = DeviceId::read_or_make(&settings.device_file)?;
        store.carry(&self.own(device), &live(snapshot), dead)?;
        Ok(())
    }

    /// What the index and the store are now.
    fn memory_of(&self, store: &Store, snapshot: &Snapshot) -> Option<Memory> {
        let totals = snapshot.totals();
        let rules = self.rules_in_force().fingerprint();
        Some(Memory {
            fingerprint: self.embedder.fingerprint().id(),
            generation: totals.generation,
            updated_at: totals.updated_at.clone(),
            whole: is_whole(snapshot),
            rows: snapshot
                .vectors()
                .map_or(0, |(reader, _)| u64::from(reader.rows())),
            exclusion: snapshot.last_exclusion().ok()?,
            rules: rules.iter().map(|byte| format!("{byte:02x}")).collect(),
            stamp: store.stamp(),
            ..Memory::default()
        })
    }

    /// This device, if it has files in the store.
    fn own_device_in(&self, store: &Store) -> Option<DeviceId> {
        let settings = self.settings.portable.as_ref()?;
        let device = DeviceId::read(&settings.device_file).ok().flatten()?;
        store.has_files_of(device).then_some(device)
    }

    fn own(&self, device: DeviceId) -> Own<'_> {
        Own {
            device,
            model: self.embedder.model(),
            fingerprint: self.embedder.fingerprint().as_str(),
            dimension: self.embedder.dimension(),
        }
    }

    /// Where portable vectors stand; nothing where this device does not carry and there are none.
    ///
    /// # Errors
    /// The index cannot be read.
    pub(crate) fn portable_status(&self) -> Result<Option<PortableStatus>, EngineError> {
        let Some(settings) = &self.settings.portable else {
            return Ok(None);
        };
        let store = Store::in_vault(self.root());
        let inventory = store.inventory();
        let is_empty = inventory.segments.is_empty() && inventory.skipped.is_empty();
        if !settings.carry && is_empty {
            return Ok(None);
        }
        let device = DeviceId::read(&settings.device_file);
        let known = Memory::read(&self.layout);
        let snapshot = match self.wanted_snapshot() {
            Ok(snapshot) => Some(snapshot),
            Err(IndexError::Absent(_)) => None,
            Err(error) => return Err(error.into()),
        };
        let waiting = match (&device, snapshot.as_ref().filter(|_| settings.carry)) {
            (Ok(Some(device)), Some(snapshot)) => {
                store.waiting(&self.own(*device), &live(snapshot))
            }
            (Ok(None), Some(snapshot)) => snapshot
                .vectors()
                .map_or(0, |(_, rows)| rows.count() as usize),
            _ => 0,
        };
        let own_trouble = device.as_ref().err().map(ToString::to_string);
        Ok(Some(PortableStatus {
            carry: settings.carry,
            folder: store.folder(),
            device: device.ok().flatten().map(|device| device.to_string()),
            inventory,
            waiting: waiting as u64,
            trouble: own_trouble.or(known.trouble),
        }))
    }
}

/// Whether the index holds all that it will of the notes as they are.
fn is_whole(snapshot: &Snapshot) -> bool {
    let totals = snapshot.totals();
    let is_complete = snapshot.model().is_some_and(ModelState::is_complete);
    totals.generation > 0 && !totals.unfinished && (is_complete || totals.passages == 0)
}

/// The rows of a generation that passages use.
fn live(snapshot: &Snapshot) -> Live<'_> {
    let Some((reader, rows)) = snapshot.vectors() else {
        return Live::default();
    };
    let row = |row| Some((reader.key(row)?, reader.bytes(row)?));
    Live::new(rows.iter().filter_map(row).collect())
}
