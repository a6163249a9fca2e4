//! One process embeds for an index at a time: an operating-system lock that a dead process cannot
//! hold. It is not the writer's lock, which is taken for each batch only.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Write as _};
use std::path::Path;

use lorewell_index::IndexError;

/// The name of the lock file in the folder of an index.
const NAME: &str = "embedding.lock";

/// Who embeds, as far as the lock file tells.
#[derive(Debug, Default)]
pub(crate) struct Holder {
    /// The process.
    pub(crate) process: Option<u32>,
    /// The model that it embeds for.
    pub(crate) model: Option<String>,
}

impl Holder {
    fn read(file: &mut File) -> Holder {
        let mut text = String::new();
        let _ = file.read_to_string(&mut text);
        let mut lines = text.lines();
        Holder {
            process: lines.next().and_then(|line| line.trim().parse().ok()),
            model: lines.next().map(str::to_string),
        }
    }
}

/// The turn, until dropped or until the process ends, however it ends.
pub(crate) struct Turn(File);

impl Drop for Turn {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

impl Turn {
    /// Takes the turn for the index in `folder`, which exists, to embed for `model`; else who has
    /// it, for messages.
    ///
    /// # Errors
    /// The file cannot be made or opened.
    pub(crate) fn take(
        folder: &Path,
        model: &str,
    ) -> Result<Result<Turn, Option<u32>>, IndexError> {
        let path = folder.join(NAME);
        let failed = |source| IndexError::Io {
            path: path.clone(),
            source,
        };
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {
                // A help for people; failure does not matter.
                let _ = file.set_len(0);
                let _ = writeln!(file, "{}\n{model}", std::process::id());
                Ok(Ok(Turn(file)))
            }
            Err(TryLockError::WouldBlock) => Ok(Err(Holder::read(&mut file).process)),
            Err(TryLockError::Error(source)) => Err(failed(source)),
        }
    }

    /// The process that embeds for the index in `folder`, if one does.
    pub(crate) fn holder(folder: &Path) -> Option<Holder> {
        let mut file = File::open(folder.join(NAME)).ok()?;
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => Some(Holder::read(&mut file)),
            Ok(()) => {
                let _ = file.unlock();
                None
            }
            Err(TryLockError::Error(_)) => None,
        }
    }
}
