//! Who watches a vault, and how: what a watcher writes into its lock file for others to read.
//!
//! The file has a line with the number of the process, and one with the way: `events`, or
//! `polling SECONDS REASON`. Whether anybody watches is told by the lock, never by the text.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::Duration;

/// The name of the watcher's lock file in the folder of an index.
pub const WATCHER_LOCK: &str = "watcher.lock";

/// A process that watches a vault.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watcher {
    /// Its number, where it can be read. For messages only.
    pub process: Option<u32>,
    /// How it learns of changes; nothing before it has begun.
    pub way: Option<WatcherWay>,
}

/// How a watcher learns of changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatcherWay {
    /// The file system tells it.
    Events,
    /// It looks at the folder again and again.
    Polling {
        /// How often.
        every: Duration,
        /// Why, for people; empty where it was asked for.
        reason: String,
    },
}

impl Watcher {
    /// Who watches the vault of the index in a folder; nothing if nobody does.
    pub fn of(folder: &Path) -> Option<Watcher> {
        let file = File::open(folder.join(WATCHER_LOCK)).ok()?;
        match file.try_lock_shared() {
            Ok(()) => {
                // Failure ends with the file.
                let _ = file.unlock();
                None
            }
            Err(TryLockError::WouldBlock) => {
                let text = std::fs::read_to_string(folder.join(WATCHER_LOCK));
                Some(Watcher::told(&text.unwrap_or_default()))
            }
            Err(TryLockError::Error(_)) => None,
        }
    }

    /// What a lock file says.
    pub fn told(text: &str) -> Watcher {
        let mut lines = text.lines();
        let process = lines.next().and_then(|line| line.trim().parse().ok());
        let way = lines.next().and_then(|line| {
            if line == "events" {
                return Some(WatcherWay::Events);
            }
            let rest = line.strip_prefix("polling ")?;
            let (seconds, reason) = rest.split_once(' ').unwrap_or((rest, ""));
            Some(WatcherWay::Polling {
                every: Duration::from_secs(seconds.parse().ok()?),
                reason: reason.to_string(),
            })
        });
        Watcher { process, way }
    }

    /// The text of its lock file.
    pub fn text(&self) -> String {
        let process = self.process.map_or(String::new(), |id| id.to_string());
        let way = match &self.way {
            None => String::new(),
            Some(WatcherWay::Events) => "events".to_string(),
            Some(WatcherWay::Polling { every, reason }) => {
                let reason = reason.replace(['\n', '\r'], " ");
                format!("polling {} {reason}", every.as_secs())
            }
        };
        format!("{process}\n{way}\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let every = Duration::from_secs(10);
        let ways = [
            None,
            Some(WatcherWay::Events),
            Some(WatcherWay::Polling {
                every,
                reason: "no more watches".to_string(),
            }),
            Some(WatcherWay::Polling {
                every,
                reason: String::new(),
            }),
        ];
        for way in ways {
            let process = Some(17);
            let watcher = Watcher { process, way };
            assert_eq!(Watcher::told(&watcher.text()), watcher);
        }
        for odd in ["", "x", "17", "17\npolling x", "\u{0}"] {
            assert_eq!(Watcher::told(odd).way, None, "{odd:?}");
        }
        assert_eq!(Watcher::of(Path::new("/nowhere")), None);
    }
}
