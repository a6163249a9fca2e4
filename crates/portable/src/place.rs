//! The place of carried segments in a vault. Links are not followed: a vault may come from
//! elsewhere, and a link in it could lead to any file of the user.

use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};

use crate::failpoint::failpoint;
use crate::format::folder_of;
use crate::{Fault, PortableError};

/// The folders between the vault's root and those of the fingerprints.
const FOLDERS: [&str; 2] = [".lorewell", "vectors"];

/// Where the portable vectors of one vault lie. To have one reads and writes nothing.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
}

impl Store {
    /// The store of the vault at `root`.
    pub fn in_vault(root: &Path) -> Store {
        Store {
            root: root.to_path_buf(),
        }
    }

    /// `VAULT/.lorewell/vectors`, whether or not it is there.
    pub fn folder(&self) -> PathBuf {
        let mut folder = self.root.clone();
        folder.extend(FOLDERS);
        folder
    }

    /// Whether there is anything to look at.
    pub fn is_there(&self) -> bool {
        self.blocked().is_none() && self.folder().is_dir()
    }

    /// A line that differs when files came, went or changed their size or time.
    pub fn stamp(&self) -> String {
        let mut lines: Vec<String> = Vec::new();
        for folder in self.folders() {
            for entry in entries(&folder) {
                let stamp = entry.metadata().ok().map(|m| (m.len(), m.modified().ok()));
                lines.push(format!("{:?} {stamp:?}", entry.path()));
            }
        }
        lines.sort();
        blake3::hash(lines.join("\n").as_bytes())
            .to_hex()
            .to_string()
    }

    /// The path of a file as a person sees it: from the vault's root, with `/`.
    pub(crate) fn shown(&self, path: &Path) -> String {
        let inside = path.strip_prefix(&self.root).unwrap_or(path);
        let parts: Vec<_> = inside.iter().map(|part| part.to_string_lossy()).collect();
        parts.join("/")
    }

    /// A link or file that stands where a folder on the way should be.
    pub(crate) fn blocked(&self) -> Option<(PathBuf, Fault)> {
        let mut path = self.root.clone();
        for name in FOLDERS {
            path.push(name);
            match fs::symlink_metadata(&path) {
                Ok(metadata) if metadata.is_dir() => {}
                Ok(_) => return Some((path, Fault::NotAFolder)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
                Err(error) => return Some((path, Fault::Unreadable(error.to_string()))),
            }
        }
        None
    }

    /// The folders of fingerprints that are there, by name.
    pub(crate) fn folders(&self) -> Vec<PathBuf> {
        if self.blocked().is_some() {
            return Vec::new();
        }
        let is_dir = |entry: &DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
        let all = entries(&self.folder()).into_iter().filter(is_dir);
        let mut folders: Vec<PathBuf> = all.map(|entry| entry.path()).collect();
        folders.sort();
        folders
    }

    /// The folder of a fingerprint, if it is there and no link leads to it.
    pub(crate) fn folder_of(&self, fingerprint: &str) -> Option<PathBuf> {
        let folder = self.folder().join(folder_of(fingerprint));
        let is_dir = fs::symlink_metadata(&folder).is_ok_and(|metadata| metadata.is_dir());
        (is_dir && self.blocked().is_none()).then_some(folder)
    }

    /// The same, made where it is not there. The vault's root is never made.
    pub(crate) fn make_folder_of(&self, fingerprint: &str) -> Result<PathBuf, PortableError> {
        let mut path = self.root.clone();
        for name in [FOLDERS[0], FOLDERS[1], &folder_of(fingerprint)] {
            path.push(name);
            match fs::create_dir(&path) {
                Ok(()) => {
                    crate::write::sync_folder(path.parent().unwrap_or(&self.root))?;
                    failpoint("carry-folder-made").map_err(PortableError::io("make", &path))?;
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    let metadata = fs::symlink_metadata(&path);
                    if !metadata.is_ok_and(|metadata| metadata.is_dir()) {
                        return Err(PortableError::NotAFolder(path));
                    }
                }
                Err(error) => return Err(PortableError::io("make", &path)(error)),
            }
        }
        Ok(path)
    }

    /// Takes away folders that hold nothing any more, up to `.lorewell` itself.
    pub(crate) fn remove_empty_folders(&self) {
        for folder in self.folders() {
            // Only an empty one can be removed.
            let _ = fs::remove_dir(folder);
        }
        let vectors = self.folder();
        if self.blocked().is_none() && fs::remove_dir(&vectors).is_ok() {
            let _ = fs::remove_dir(self.root.join(FOLDERS[0]));
        }
    }
}

/// What a folder holds, by name; nothing where it cannot be read.
pub(crate) fn entries(folder: &Path) -> Vec<DirEntry> {
    let mut all: Vec<DirEntry> = fs::read_dir(folder)
        .map(|entries| entries.flatten().collect())
        .unwrap_or_default();
    all.sort_by_key(DirEntry::file_name);
    all
}
