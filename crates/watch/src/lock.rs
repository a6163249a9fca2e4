//! One watcher per index: an operating-system lock that a dead process cannot hold. It is not the
//! writer's lock, which a watcher takes for each update only, so that others can write in between.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::thread;
use std::time::Duration;

use lorewell_engine::{WATCHER_LOCK, Watcher, WatcherWay};

use crate::Way;

/// Who asks whether anybody watches holds the lock for an instant; so often it is asked for again.
const ATTEMPTS: usize = 4;
/// After so long.
const PAUSE: Duration = Duration::from_millis(15);

/// The watcher's lock, held until dropped or until the process ends, however it ends.
#[derive(Debug)]
pub struct WatchLock {
    file: File,
}

/// The outcome of asking for the lock.
#[derive(Debug)]
pub enum WatchLockAttempt {
    /// It is ours.
    Taken(WatchLock),
    /// Another process watches; its id, if it could be read. The id is for messages only.
    HeldBy(Option<u32>),
}

impl WatchLock {
    /// Asks for the lock of the index in `folder`, which need not exist yet, and comes back at
    /// once.
    ///
    /// # Errors
    /// The folder or the file in it cannot be made or opened.
    pub fn attempt(folder: &Path) -> io::Result<WatchLockAttempt> {
        private_folder(folder)?;
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(folder.join(WATCHER_LOCK))?;
        for attempt in 1..=ATTEMPTS {
            match file.try_lock() {
                Ok(()) => {
                    let mut lock = WatchLock { file };
                    lock.write(None);
                    return Ok(WatchLockAttempt::Taken(lock));
                }
                Err(TryLockError::WouldBlock) if attempt < ATTEMPTS => thread::sleep(PAUSE),
                Err(TryLockError::WouldBlock) => break,
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        let mut text = String::new();
        let read = file.read_to_string(&mut text);
        let holder = read.map_or(None, |_| Watcher::told(&text).process);
        Ok(WatchLockAttempt::HeldBy(holder))
    }

    /// Lets others know how changes come to be known.
    pub fn tell(&mut self, way: &Way) {
        self.write(Some(match way {
            Way::Events { .. } => WatcherWay::Events,
            Way::Poll { every, reason } => WatcherWay::Polling {
                every: *every,
                reason: reason.clone().unwrap_or_default(),
            },
        }));
    }

    /// A help for people; failure does not matter.
    fn write(&mut self, way: Option<WatcherWay>) {
        let process = Some(std::process::id());
        let text = Watcher { process, way }.text();
        let _ = self
            .file
            .set_len(0)
            .and_then(|()| self.file.seek(SeekFrom::Start(0)))
            .and_then(|_| self.file.write_all(text.as_bytes()));
    }
}

impl Drop for WatchLock {
    /// Said aloud, for a process that was started meanwhile may still have the file open.
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

/// An index is as private as the notes: only the owner may enter its folder.
fn private_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    std::fs::create_dir_all(folder)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}
