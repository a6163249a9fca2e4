//! When each agent asked last: kept in memory, and on disk once a minute at most.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};

use crate::expiry::shown_time;
use crate::{AgentsError, files};

const FILE: &str = "last_use.json";
/// So long a use may be known in memory alone.
const WAIT: SignedDuration = SignedDuration::from_secs(60);

/// The last uses of agents, in the register's folder. A file of its own: a use is no change of an
/// approval. What is not written yet is written when it is dropped; a killed process loses a
/// minute at most.
pub struct LastUses {
    folder: PathBuf,
    recent: Mutex<Recent>,
}

#[derive(Default)]
struct Recent {
    /// Agents' ids and when they asked last.
    uses: BTreeMap<String, Timestamp>,
    written: Option<Timestamp>,
    unwritten: bool,
}

impl LastUses {
    /// Those of the register in `folder`.
    pub fn at(folder: &Path) -> LastUses {
        LastUses {
            folder: folder.to_path_buf(),
            recent: Mutex::default(),
        }
    }

    /// When each agent asked last, by id, as far as it was written. A damaged file tells nothing:
    /// it decides nothing.
    pub fn read(&self) -> BTreeMap<String, Timestamp> {
        let bytes = files::read_private(&self.folder.join(FILE)).ok().flatten();
        let texts: BTreeMap<String, String> = bytes
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default();
        texts
            .into_iter()
            .filter_map(|(id, text)| Some((id, text.parse().ok()?)))
            .collect()
    }

    /// Notes a use.
    pub(crate) fn used(&self, id: &str, now: Timestamp) {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        recent.uses.insert(id.to_owned(), now);
        recent.unwritten = true;
        let is_due = |written: Timestamp| now.duration_since(written) >= WAIT;
        if recent.written.is_none_or(is_due) {
            // Also where it cannot be written: it is not tried at every request.
            recent.written = Some(now);
            recent.unwritten = self.write(&recent.uses).is_err();
        }
    }

    /// Joins what is known here with what other processes wrote.
    fn write(&self, uses: &BTreeMap<String, Timestamp>) -> Result<(), AgentsError> {
        let _lock = files::lock(&self.folder)?;
        let mut all = self.read();
        for (id, time) in uses {
            let known = all.entry(id.clone()).or_insert(*time);
            *known = (*known).max(*time);
        }
        let texts: BTreeMap<String, String> = all
            .into_iter()
            .map(|(id, time)| (id, shown_time(time)))
            .collect();
        let bytes = serde_json::to_vec(&texts).unwrap_or_default();
        files::write_whole(&self.folder.join(FILE), &bytes)
    }
}

impl Drop for LastUses {
    fn drop(&mut self) {
        let recent = self
            .recent
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        if recent.unwritten {
            let uses = std::mem::take(&mut recent.uses);
            // There is nobody left to tell.
            let _ = self.write(&uses);
        }
    }
}
