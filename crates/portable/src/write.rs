//! Writing and removing a device's own files.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::failpoint::failpoint;
use crate::format::{EXTENSION, Header, row_checksum};
use crate::place::entries;
use crate::{DeviceId, Key, PortableError};

/// Writes a segment whose rows are in ascending order of their keys, each once. When this returns,
/// the whole file is on disk under the name that its content gives.
pub(crate) fn write_segment(
    folder: &Path,
    header: &Header,
    rows: &[(Key, Vec<u8>)],
) -> Result<PathBuf, PortableError> {
    let image = image(header, rows);
    let hash = blake3::hash(&image);
    let path = folder.join(format!("{}{EXTENSION}", hash.to_hex()));
    let draft = folder.join(format!(
        "{}{}.tmp",
        draft_prefix(header.device),
        hash.to_hex()
    ));
    let whole = || -> io::Result<()> {
        let mut file = File::create(&draft)?;
        failpoint("carry-draft-made")?;
        file.write_all(&image)?;
        file.write_all(hash.as_bytes())?;
        failpoint("carry-draft-written")?;
        file.sync_all()?;
        drop(file);
        failpoint("carry-draft-synced")?;
        fs::rename(&draft, &path)?;
        failpoint("carry-renamed")
    };
    if let Err(error) = whole() {
        let _ = fs::remove_file(&draft);
        return Err(PortableError::io("write", &path)(error));
    }
    sync_folder(folder)?;
    failpoint("carry-folder-synced").map_err(PortableError::io("write", &path))?;
    Ok(path)
}

/// Removes a file that may be gone already.
pub(crate) fn remove(path: &Path) -> Result<(), PortableError> {
    let gone = || -> io::Result<()> {
        failpoint("carry-before-remove")?;
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => failpoint("carry-after-remove"),
        }
    };
    gone().map_err(PortableError::io("remove", path))
}

/// Removes what this device left unfinished in a folder.
pub(crate) fn remove_drafts(folder: &Path, device: DeviceId) {
    let prefix = draft_prefix(device);
    for entry in entries(folder) {
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Makes new names in a folder last; only Unix can and needs it.
pub(crate) fn sync_folder(folder: &Path) -> Result<(), PortableError> {
    if cfg!(unix) {
        File::open(folder)
            .and_then(|folder| folder.sync_all())
            .map_err(PortableError::io("sync", folder))?;
    }
    Ok(())
}

/// Most sync programs leave files alone whose names begin so.
fn draft_prefix(device: DeviceId) -> String {
    format!(".~{device}-")
}

/// Everything of the file but the checksum at its end.
fn image(header: &Header, rows: &[(Key, Vec<u8>)]) -> Vec<u8> {
    let mut image = header.to_bytes();
    image.reserve(header.file_bytes() as usize);
    for (key, _) in rows {
        image.extend_from_slice(key);
    }
    for (key, row) in rows {
        image.extend_from_slice(&row_checksum(key, row).to_le_bytes());
    }
    for (_, row) in rows {
        image.extend_from_slice(row);
    }
    image
}
