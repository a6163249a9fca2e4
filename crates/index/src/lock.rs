//! One writer per index: an operating-system lock that a dead process cannot hold.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};

use crate::{IndexError, Layout};

/// The writer's lock, held until dropped or until the process ends, however it ends.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Drop for Lock {
    /// Said aloud, for a process that was started meanwhile may still have the file open.
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

/// The outcome of asking for the lock without waiting.
#[derive(Debug)]
pub enum LockAttempt {
    /// It is ours.
    Taken(Lock),
    /// Another process holds it; its id, if it could be read. The id is for messages only: the
    /// lock decides, never the file's content.
    HeldBy(Option<u32>),
}

impl Lock {
    /// Asks for the lock and comes back at once.
    pub fn attempt(layout: &Layout) -> Result<LockAttempt, IndexError> {
        let mut file = open(layout)?;
        match file.try_lock() {
            Ok(()) => Ok(LockAttempt::Taken(Lock::signed(file))),
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                let holder = file
                    .read_to_string(&mut text)
                    .ok()
                    .and_then(|_| text.trim().parse().ok());
                Ok(LockAttempt::HeldBy(holder))
            }
            Err(TryLockError::Error(source)) => Err(IndexError::io(&layout.lock(), source)),
        }
    }

    /// Whether a process holds the lock, and its id, if it could be read. Nothing is written.
    pub fn holder(layout: &Layout) -> Option<Option<u32>> {
        let mut file = File::open(layout.lock()).ok()?;
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                let read = file.read_to_string(&mut text).ok();
                Some(read.and_then(|_| text.trim().parse().ok()))
            }
            // Free; ours goes with the file.
            _ => None,
        }
    }

    /// Waits until the lock is free.
    pub fn wait(layout: &Layout) -> Result<Lock, IndexError> {
        let file = open(layout)?;
        file.lock()
            .map_err(|source| IndexError::io(&layout.lock(), source))?;
        Ok(Lock::signed(file))
    }

    /// Writes the process id into the file, as a help for people; failure does not matter.
    fn signed(mut file: File) -> Lock {
        let _ = file
            .set_len(0)
            .and_then(|()| file.seek(SeekFrom::Start(0)))
            .and_then(|_| writeln!(file, "{}", std::process::id()));
        Lock { file }
    }
}

fn open(layout: &Layout) -> Result<File, IndexError> {
    std::fs::create_dir_all(layout.folder())
        .map_err(|source| IndexError::folder(layout.folder(), source))?;
    restrict_to_owner(layout);
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(layout.lock())
        .map_err(|source| IndexError::io(&layout.lock(), source))
}

/// An index is as private as the notes: only the owner may enter its folder.
fn restrict_to_owner(layout: &Layout) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let _ = std::fs::set_permissions(layout.folder(), std::fs::Permissions::from_mode(0o700));
    }
    #[cfg(not(unix))]
    let _ = layout;
}
