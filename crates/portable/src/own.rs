//! A device's files in one folder, and what of them is written anew.

use std::path::{Path, PathBuf};

use rustc_hash::FxHashSet;

use crate::carry::{Dead, Live};
use crate::merge::to_join;
use crate::place::entries;
use crate::segment::Segment;
use crate::{DeviceId, Key};

/// Fewer dead rows than this are not worth writing a file anew.
const FEW_DEAD: usize = 1_000;

/// Rows by key.
pub(crate) type Rows = Vec<(Key, Vec<u8>)>;

/// What a folder holds, from one device's point of view.
#[derive(Default)]
pub(crate) struct OwnFiles {
    /// Its whole segments, the longest first, so that a joined one comes before its parts.
    pub(crate) segments: Vec<Segment>,
    /// Files that say they are its own and are of no use.
    pub(crate) broken: Vec<PathBuf>,
    /// Keys of its segments.
    pub(crate) held: FxHashSet<Key>,
    /// Keys of whole segments of other devices.
    pub(crate) of_others: FxHashSet<Key>,
    /// For each segment: whether those before it have all of it.
    repeated: Vec<bool>,
}

impl OwnFiles {
    /// Looks at all files of a folder.
    pub(crate) fn look(folder: &Path, device: DeviceId) -> OwnFiles {
        let mut files = OwnFiles::default();
        for entry in entries(folder) {
            let path = entry.path();
            match Segment::open(&path) {
                Ok(segment) if segment.header.device == device => files.segments.push(segment),
                Ok(segment) => files.of_others.extend(segment.keys),
                Err(unusable) => {
                    if unusable
                        .header
                        .is_some_and(|header| header.device == device)
                    {
                        files.broken.push(path);
                    }
                }
            }
        }
        files
            .segments
            .sort_by_key(|segment| std::cmp::Reverse(segment.keys.len()));
        for segment in &files.segments {
            let before = files.held.len();
            files.held.extend(segment.keys.iter().copied());
            files.repeated.push(files.held.len() == before);
        }
        files
    }

    /// Which segments are written anew when `new` rows come: those with too much that is dead, and
    /// small ones that are joined. `rows_of_file` is how many rows a file holds at most.
    pub(crate) fn to_rewrite(
        &self,
        live: &Live<'_>,
        dead: Dead,
        new: usize,
        rows_of_file: usize,
    ) -> Vec<bool> {
        let dead_rows = self.held.iter().filter(|key| !live.has(key)).count();
        let drops = match dead {
            Dead::Keep => false,
            Dead::DropMany => dead_rows >= FEW_DEAD && dead_rows * 4 > self.held.len(),
            Dead::DropAll => dead_rows > 0,
        };
        let mut anew: Vec<bool> = self
            .segments
            .iter()
            .map(|segment| drops && segment.keys.iter().any(|key| !live.has(key)))
            .collect();
        let mut pending = new;
        let mut sizes = Vec::with_capacity(anew.len());
        for (place, segment) in self.segments.iter().enumerate() {
            let is_counted = anew[place] && !self.repeated[place];
            if is_counted {
                pending += segment.keys.iter().filter(|key| live.has(key)).count();
            }
            // What goes anyway takes no part in joining.
            let goes = anew[place] || self.repeated[place];
            sizes.push(if goes { usize::MAX } else { segment.keys.len() });
        }
        let joined = to_join(&sizes, pending, rows_of_file / 2);
        anew.iter_mut()
            .zip(joined)
            .for_each(|(anew, joined)| *anew |= joined);
        anew
    }

    /// Adds the rows of the segments that are written anew to `rows`. Returns the files that may go
    /// once these are written, and how many rows are dropped.
    pub(crate) fn gather(
        self,
        anew: &[bool],
        live: &Live<'_>,
        dead: Dead,
        rows: &mut Rows,
    ) -> (Vec<PathBuf>, usize) {
        let mut replaced = self.broken;
        let mut dropped = 0;
        let mut taken: FxHashSet<Key> = rows.iter().map(|(key, _)| *key).collect();
        let all = self.segments.into_iter().zip(anew).zip(self.repeated);
        for ((segment, &anew), repeated) in all {
            if anew && !repeated {
                for (row, key) in segment.keys.iter().enumerate() {
                    if dead != Dead::Keep && !live.has(key) {
                        dropped += 1;
                    } else if taken.insert(*key) {
                        rows.extend(segment.row(row).map(|bytes| (*key, bytes)));
                    }
                }
            }
            if anew || repeated {
                replaced.push(segment.path);
            }
        }
        (replaced, dropped)
    }
}
