//! What a watcher tells while it works.

use std::path::PathBuf;
use std::time::Duration;

use lorewell_engine::Freshness;

use crate::Trouble;

/// How changes come to be known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// The file system says when something happens.
    Events {
        /// How many folders are watched; 0 where the system watches the whole of it at once.
        folders: usize,
    },
    /// The folder is looked at again and again.
    Poll {
        /// How often.
        every: Duration,
        /// Why there are no events, or why they are not enough; nothing where it was asked for.
        reason: Option<String>,
    },
}

/// Why the folder was compared with the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The watcher has just begun.
    Start,
    /// Events, of which the first was about this path, from the vault's root.
    Events(String),
    /// The slow timer.
    Check,
    /// It is polled.
    Poll,
    /// The last one failed, or left something pending.
    Retry,
    /// The folder was away and is back.
    Back,
}

/// One comparison of the folder with the index, and the update that it led to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// Why it was made.
    pub cause: Cause,
    /// How the index stands to the folder now, and what was taken in.
    pub freshness: Freshness,
    /// How long it took.
    pub took: Duration,
}

/// Something that happened to a watcher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// It watches in this way from now on. Told at the start and when the way changes.
    Watching(Way),
    /// The folder was compared with the index.
    Compared(Comparison),
    /// That failed; it is tried again.
    Failed {
        /// What went wrong.
        trouble: Trouble,
        /// After how long it is tried again, unless events come sooner.
        again_in: Duration,
    },
    /// The vault's folder is not there, or is bare as if its drive were not there. Nothing of the
    /// index is removed; the watcher waits until it is back.
    Away {
        /// The folder.
        root: PathBuf,
        /// It is there and there is nothing in it.
        bare: bool,
    },
    /// It is back.
    Back {
        /// The folder.
        root: PathBuf,
    },
}
