//! Bringing a device's own files in line with what its index holds.

use std::path::{Path, PathBuf};

use crate::failpoint::failpoint;
use crate::format::{ENTRY_BYTES, Header};
use crate::own::{OwnFiles, Rows};
use crate::place::entries;
use crate::segment::Segment;
use crate::write::{remove, remove_drafts, write_segment};
use crate::{DeviceId, Key, MAX_DIMENSION, PortableError, Store};

/// A file is at most about so long: sync programs carry one as a whole.
const FILE_BYTES: usize = 32 * 1024 * 1024;

/// Whose files, and of which model.
#[derive(Clone, Copy, Debug)]
pub struct Own<'a> {
    /// This device.
    pub device: DeviceId,
    /// The model's name.
    pub model: &'a str,
    /// What decides its vectors.
    pub fingerprint: &'a str,
    /// How many numbers a vector has.
    pub dimension: usize,
}

/// The rows that an index holds and wants to keep.
#[derive(Clone, Debug, Default)]
pub struct Live<'a> {
    /// Ascending by key, each once.
    rows: Vec<(Key, &'a [u8])>,
}

/// What becomes of rows in the device's own files that the index does not hold (any more).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dead {
    /// They stay: the index is not whole yet and may still want them.
    Keep,
    /// They go when there are many, or when their file is joined with others anyway.
    DropMany,
    /// They go now, whatever it costs: a note was excluded.
    DropAll,
}

/// What carrying came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Carried {
    /// Rows that were in no file before.
    pub added: usize,
    /// Rows that went.
    pub dropped: usize,
    /// Files that were written.
    pub written: usize,
    /// Files that were removed.
    pub removed: usize,
}

impl<'a> Live<'a> {
    /// Takes rows in any order; of rows with one key the first counts.
    pub fn new(mut rows: Vec<(Key, &'a [u8])>) -> Live<'a> {
        rows.sort_by_key(|(key, _)| *key);
        rows.dedup_by_key(|(key, _)| *key);
        Live { rows }
    }

    pub(crate) fn has(&self, key: &Key) -> bool {
        self.rows.binary_search_by_key(key, |(key, _)| *key).is_ok()
    }
}

impl Store {
    /// How many rows of `live` no whole file has yet.
    pub fn waiting(&self, own: &Own<'_>, live: &Live<'_>) -> usize {
        let folder = self.folder_of(own.fingerprint);
        let files = folder.map(|folder| OwnFiles::look(&folder, own.device));
        new_rows(&files.unwrap_or_default(), live).count()
    }

    /// Writes the rows in `live` (each of `own.dimension` bytes) that no whole file has yet, joins
    /// small files, and drops dead rows as `dead` says. Files of other devices are never touched;
    /// a file of this device goes only when what is kept of it stands in another, or when it holds
    /// what must go.
    ///
    /// Files of this device for other models lose their dead rows with [`Dead::DropAll`]; those of
    /// another revision of the same model go as soon as the index is whole.
    ///
    /// # Errors
    /// Something cannot be written or removed. What was done until then is sound.
    pub fn carry(
        &self,
        own: &Own<'_>,
        live: &Live<'_>,
        dead: Dead,
    ) -> Result<Carried, PortableError> {
        if !(1..=MAX_DIMENSION).contains(&own.dimension) {
            return Err(PortableError::UnsupportedDimension(own.dimension));
        }
        if own.model.len().max(own.fingerprint.len()) > usize::from(u16::MAX) {
            return Err(PortableError::LongName);
        }
        if let Some((path, _)) = self.blocked() {
            return Err(PortableError::NotAFolder(path));
        }
        let mut carried = Carried::default();
        let pass = |point| failpoint(point).map_err(PortableError::io("write", &self.folder()));
        self.carry_model(own, live, dead, &mut carried)?;
        pass("carry-before-other-models")?;
        if dead != Dead::Keep {
            self.carry_other_models(own, live, dead, &mut carried)?;
        }
        pass("carry-before-empty-folders")?;
        self.remove_empty_folders();
        pass("carry-done")?;
        Ok(carried)
    }

    /// Removes all files of a device; how many there were.
    ///
    /// # Errors
    /// One cannot be removed.
    pub fn withdraw(&self, device: DeviceId) -> Result<usize, PortableError> {
        let mut removed = 0;
        for folder in self.folders() {
            remove_drafts(&folder, device);
            for path in files_of(&folder, device) {
                remove(&path)?;
                removed += 1;
            }
        }
        self.remove_empty_folders();
        Ok(removed)
    }

    /// Whether there are files of a device.
    pub fn has_files_of(&self, device: DeviceId) -> bool {
        let of_device = |folder: &PathBuf| !files_of(folder, device).is_empty();
        self.folders().iter().any(of_device)
    }

    fn carry_model(
        &self,
        own: &Own<'_>,
        live: &Live<'_>,
        dead: Dead,
        carried: &mut Carried,
    ) -> Result<(), PortableError> {
        let there = self.folder_of(own.fingerprint);
        let files = match &there {
            Some(folder) => {
                remove_drafts(folder, own.device);
                let passed = failpoint("carry-drafts-removed");
                passed.map_err(PortableError::io("write", folder))?;
                OwnFiles::look(folder, own.device)
            }
            None => OwnFiles::default(),
        };
        let new = new_rows(&files, live);
        let mut rows: Rows = new.map(|(key, row)| (*key, row.to_vec())).collect();
        carried.added += rows.len();
        let rows_of_file = (FILE_BYTES / (own.dimension + ENTRY_BYTES)).max(1);
        let anew = files.to_rewrite(live, dead, rows.len(), rows_of_file);
        let (replaced, dropped) = files.gather(&anew, live, dead, &mut rows);
        carried.dropped += dropped;
        let folder = match there {
            None if rows.is_empty() => return Ok(()),
            None => self.make_folder_of(own.fingerprint)?,
            Some(folder) => folder,
        };
        let header = Header {
            device: own.device,
            model: own.model.to_owned(),
            fingerprint: own.fingerprint.to_owned(),
            dimension: own.dimension,
            rows: 0,
        };
        rows.sort_unstable_by_key(|(key, _)| *key);
        let parts: Vec<_> = rows.chunks(rows_of_file).collect();
        replace(&folder, &header, &parts, &replaced, dead, carried)
    }

    /// This device's files for other models.
    fn carry_other_models(
        &self,
        own: &Own<'_>,
        live: &Live<'_>,
        dead: Dead,
        carried: &mut Carried,
    ) -> Result<(), PortableError> {
        let current = self.folder_of(own.fingerprint);
        let others = self.folders().into_iter();
        for folder in others.filter(|folder| Some(folder) != current.as_ref()) {
            remove_drafts(&folder, own.device);
            let files = OwnFiles::look(&folder, own.device);
            for path in files.broken {
                remove(&path)?;
                carried.removed += 1;
            }
            for segment in files.segments {
                let is_older = segment.header.model == own.model;
                let is_kept = |key: &Key| !is_older && live.has(key);
                let has_dead = || segment.keys.iter().any(|key| !live.has(key));
                let goes = is_older || (dead == Dead::DropAll && has_dead());
                if !goes {
                    continue;
                }
                let kept = (0..).zip(&segment.keys).filter(|(_, key)| is_kept(key));
                let rows: Rows = kept
                    .filter_map(|(row, key)| Some((*key, segment.row(row)?)))
                    .collect();
                carried.dropped += segment.keys.len() - rows.len();
                let parts: &[&[_]] = if rows.is_empty() { &[] } else { &[&rows] };
                let Segment { path, header, .. } = segment;
                replace(&folder, &header, parts, &[path], dead, carried)?;
            }
        }
        Ok(())
    }
}

/// Rows that no whole file has.
fn new_rows<'l>(files: &OwnFiles, live: &'l Live<'_>) -> impl Iterator<Item = &'l (Key, &'l [u8])> {
    let is_new =
        |(key, _): &&(Key, &[u8])| !files.held.contains(key) && !files.of_others.contains(key);
    live.rows.iter().filter(is_new)
}

/// Writes a file for each part, and removes files whose rows stand there now. What must go goes
/// even if nothing can be written: the index has what is kept.
fn replace(
    folder: &Path,
    header: &Header,
    parts: &[&[(Key, Vec<u8>)]],
    replaced: &[PathBuf],
    dead: Dead,
    carried: &mut Carried,
) -> Result<(), PortableError> {
    let mut written = Vec::new();
    let outcome = parts.iter().try_for_each(|rows| {
        let header = Header {
            rows: rows.len() as u32,
            ..header.clone()
        };
        written.push(write_segment(folder, &header, rows)?);
        Ok(())
    });
    carried.written += written.len();
    if outcome.is_err() && dead != Dead::DropAll {
        return outcome;
    }
    for path in replaced.iter().filter(|path| !written.contains(path)) {
        remove(path)?;
        carried.removed += 1;
    }
    outcome
}

/// The files in a folder that say they are of a device.
fn files_of(folder: &Path, device: DeviceId) -> Vec<PathBuf> {
    let all = entries(folder).into_iter().map(|entry| entry.path());
    all.filter(|path| Segment::device_of(path) == Some(device))
        .collect()
}
