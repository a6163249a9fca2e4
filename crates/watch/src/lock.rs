//! One watcher per index: an operating-system lock that a dead process cannot hold. It is not the
//! writer's lock, which a watcher takes for each update only, so that others can write in between.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// The name of the lock's file in the folder of an index.
const NAME: &str = "watcher.lock";

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
            .open(folder.join(NAME))?;
        match file.try_lock() {
            Ok(()) => {
                // A help for people; failure does not matter.
                let _ = file
                    .set_len(0)
                    .and_then(|()| file.seek(SeekFrom::Start(0)))
                    .and_then(|_| writeln!(file, "{}", std::process::id()));
                Ok(WatchLockAttempt::Taken(WatchLock { file }))
            }
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                let read = file.read_to_string(&mut text).ok();
                let holder = read.and_then(|_| text.trim().parse().ok());
                Ok(WatchLockAttempt::HeldBy(holder))
            }
            Err(TryLockError::Error(error)) => Err(error),
        }
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
