//! Files that only their owner may read or change, written whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use crate::AgentsError;

/// A larger file is none of ours.
const MAX_BYTES: u64 = 16 << 20;

/// The content of a private file; nothing where there is none.
///
/// # Errors
/// It cannot be read, or others may change it or its folder.
pub(crate) fn read_private(path: &Path) -> Result<Option<Vec<u8>>, AgentsError> {
    let unreadable = |source| AgentsError::Unreadable {
        path: path.to_path_buf(),
        source,
    };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error)),
    };
    let facts = file.metadata().map_err(unreadable)?;
    if !facts.is_file() || facts.len() > MAX_BYTES {
        return Err(unreadable(io::Error::other(
            "it is no file of this program",
        )));
    }
    check_private(path, &facts)?;
    if let Some(folder) = path.parent() {
        check_private(folder, &fs::metadata(folder).map_err(unreadable)?)?;
    }
    let mut bytes = Vec::with_capacity(facts.len() as usize);
    file.take(MAX_BYTES)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    Ok(Some(bytes))
}

/// Refuses what another user owns, could read or could change.
#[cfg(unix)]
fn check_private(path: &Path, facts: &fs::Metadata) -> Result<(), AgentsError> {
    use std::os::unix::fs::MetadataExt as _;
    let reason = if facts.uid() != user_id() {
        "it belongs to another user"
    } else if facts.mode() & 0o077 != 0 {
        "others than its owner may read or change it"
    } else {
        return Ok(());
    };
    Err(AgentsError::NotPrivate {
        path: path.to_path_buf(),
        reason,
    })
}

/// Elsewhere the user's own data folder is private by itself.
#[cfg(not(unix))]
fn check_private(_: &Path, _: &fs::Metadata) -> Result<(), AgentsError> {
    Ok(())
}

/// Who this process runs as.
#[cfg(unix)]
fn user_id() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Makes a folder that only its owner may enter; one that is there is made so.
pub(crate) fn private_folder(folder: &Path) -> Result<(), AgentsError> {
    let unwritable = |source| AgentsError::Unwritable {
        path: folder.to_path_buf(),
        source,
    };
    if let Some(above) = folder.parent() {
        fs::create_dir_all(above).map_err(unwritable)?;
    }
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    match builder.create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(unwritable(error)),
        _ => check_private(folder, &fs::metadata(folder).map_err(unwritable)?),
    }
}

/// Opens a file that only its owner may read; it is made if it is not there.
pub(crate) fn open_private(path: &Path, append: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).create(true).truncate(false);
    if append {
        options.append(true);
    } else {
        options.write(true);
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(path)
}

/// Waits for the lock of a folder. The system lets go of it however this process ends. Where the
/// file system has no locks the work goes on without.
///
/// # Errors
/// The folder cannot be made or written.
pub(crate) fn lock(folder: &Path) -> Result<File, AgentsError> {
    private_folder(folder)?;
    let path = folder.join(".lock");
    let locked = open_private(&path, false).and_then(|file| match file.lock() {
        Err(error) if error.kind() != io::ErrorKind::Unsupported => Err(error),
        _ => Ok(file),
    });
    locked.map_err(|source| AgentsError::Unwritable { path, source })
}

/// Writes a private file whole or not at all: beside it first, synced, then renamed. The caller
/// holds the folder's lock.
///
/// # Errors
/// It cannot be written; the file is as it was.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), AgentsError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = path.with_file_name(format!(".{name}.tmp"));
    let written = write_and_rename(&beside, path, bytes);
    if written.is_err() {
        // The first error is the one to tell; a leftover is written over.
        let _ = fs::remove_file(&beside);
    }
    written.map_err(|source| AgentsError::Unwritable {
        path: PathBuf::from(path),
        source,
    })
}

fn write_and_rename(beside: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    // One that another process left may be readable by others.
    match fs::remove_file(beside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = open_private(beside, false)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    drop(file);
    fs::rename(beside, path)?;
    #[cfg(unix)]
    if let Some(folder) = path.parent() {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}
