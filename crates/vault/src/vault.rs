//! A folder of notes, opened.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use lorewell_text::NotePath;

use crate::metadata::real_path;
use crate::obsidian::{Filter, read_filters, read_folders};
use crate::read::{NoteFile, ReadError, read_note};
use crate::walk::walk;
use crate::{Listing, Rules};

/// Notes larger than this, in bytes, are left out unless the vault is told otherwise.
pub const DEFAULT_MAX_BYTES: u64 = 64 << 20;

/// A folder of notes. It is only ever read.
#[derive(Debug)]
pub struct Vault {
    root: PathBuf,
    name: String,
    max_bytes: u64,
    /// The file system gives no file any blocks, so that having none says nothing.
    counts_no_blocks: AtomicBool,
    /// Obsidian's filters as last read whole: its settings file is rewritten in place, and must
    /// not let excluded notes slip in while it is half written. Nothing before the first time.
    last_filters: Mutex<Option<Vec<Filter>>>,
}

/// The folder itself cannot be used. None of these means that its notes are gone.
#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    /// There is nothing at the path.
    #[error("there is no folder {}", .path.display())]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// There is something else at the path.
    #[error("{} is a file, not a folder", .path.display())]
    NotAFolder {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The user who runs this may not look into the folder.
    #[error("no permission to read the folder {}", .path.display())]
    NoPermission {
        /// The folder.
        path: PathBuf,
    },
    /// The system failed otherwise.
    #[error("the folder {} cannot be read: {source}", .path.display())]
    Io {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl Vault {
    /// Opens the folder at `root`. An empty one is fine.
    ///
    /// # Errors
    /// There is no such folder, it is a file, or it may not be read.
    pub fn open(root: &Path) -> Result<Vault, VaultError> {
        let error = |e| VaultError::new(root, e);
        let real = real_path(root).map_err(error)?;
        check_folder(&real).map_err(error)?;
        let name = real.file_name().map_or_else(
            || real.display().to_string(),
            |name| name.to_string_lossy().into_owned(),
        );
        Ok(Vault {
            root: real,
            name,
            max_bytes: DEFAULT_MAX_BYTES,
            counts_no_blocks: AtomicBool::new(false),
            last_filters: Mutex::default(),
        })
    }

    /// The same vault with another limit for a note's size, in bytes.
    pub fn with_max_bytes(self, max_bytes: u64) -> Vault {
        Vault { max_bytes, ..self }
    }

    /// The folder's real path: absolute, without links.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Looks at the whole folder: every note with size and times, and what is left out and why.
    ///
    /// No note is opened. Links are never walked through: a link to something that the vault
    /// holds is left out in favour of the real path, and one that leads outside is not followed.
    ///
    /// # Errors
    /// The folder is missing or unreadable, before or after the look. Trouble with single files
    /// and folders is part of the listing.
    pub fn list(&self, rules: &Rules) -> Result<Listing, VaultError> {
        self.list_knowing(rules, &|| None)
    }

    /// The same for who may know the filters of Obsidian from before: see
    /// [`Vault::rules_in_force`].
    ///
    /// # Errors
    /// As [`Vault::list`].
    pub fn list_knowing(
        &self,
        rules: &Rules,
        known: &dyn Fn() -> Option<Vec<String>>,
    ) -> Result<Listing, VaultError> {
        let error = |e| VaultError::new(&self.root, e);
        let (rules, warnings) = self.rules_in_force(rules, known);
        let found = walk(&self.root, &rules, self.max_bytes).map_err(error)?;
        // A drive that was taken away half-way must not look like a folder of few notes.
        check_folder(&self.root).map_err(error)?;
        self.counts_no_blocks
            .store(found.counts_no_blocks, Ordering::Relaxed);
        Ok(Listing {
            rules,
            app_folders: read_folders(&self.root),
            warnings,
            ..found.listing
        })
    }

    /// `rules` together with what Obsidian's settings of this vault exclude now, and what is
    /// wrong with those settings.
    ///
    /// Where the settings cannot be read, the filters hold that were read from them before: by
    /// this vault, and those that `known` gives ([`Rules::obsidian_filters`] of an earlier time).
    /// It is asked only then.
    pub fn rules_in_force(
        &self,
        rules: &Rules,
        known: &dyn Fn() -> Option<Vec<String>>,
    ) -> (Rules, Vec<String>) {
        if !rules.settings().obsidian_filters {
            return (rules.clone(), Vec::new());
        }
        let mut last = self
            .last_filters
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        match read_filters(&self.root) {
            Ok(found) => {
                *last = Some(found.filters.clone());
                (rules.with_obsidian(Some(found.filters)), found.warnings)
            }
            Err(message) => {
                let filters = joined(known(), last.as_deref());
                let outcome = match &filters {
                    Some(_) => "the excluded files known before still hold",
                    None => {
                        "which files it excludes was never read, so none is left out on its account"
                    }
                };
                let warning = format!("{message}; {outcome}");
                (rules.with_obsidian(filters), vec![warning])
            }
        }
    }

    /// Reads and decodes a note.
    ///
    /// # Errors
    /// See [`ReadError`]; only [`ReadError::NotFound`] means that the note is gone.
    pub fn read(&self, path: &NotePath) -> Result<NoteFile, ReadError> {
        let trusts_blocks = !self.counts_no_blocks.load(Ordering::Relaxed);
        read_note(&self.root, path, self.max_bytes, trusts_blocks)
    }
}

impl VaultError {
    fn new(path: &Path, source: io::Error) -> VaultError {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => VaultError::Missing { path },
            io::ErrorKind::NotADirectory => VaultError::NotAFolder { path },
            io::ErrorKind::PermissionDenied => VaultError::NoPermission { path },
            _ => VaultError::Io { path, source },
        }
    }

    /// A stable name for programs.
    pub fn code(&self) -> &'static str {
        match self {
            VaultError::Missing { .. } => "vault_missing",
            VaultError::NotAFolder { .. } => "vault_not_a_folder",
            VaultError::NoPermission { .. } => "vault_no_permission",
            VaultError::Io { .. } => "vault_unreadable",
        }
    }

    /// What to try.
    pub fn hint(&self) -> &'static str {
        match self {
            VaultError::Missing { .. } => {
                "Check the spelling; if the folder is on a drive or in the cloud, connect that first."
            }
            VaultError::NotAFolder { .. } => "Name the folder that holds the notes.",
            VaultError::NoPermission { .. } => {
                "Give yourself permission to read it (on macOS: System Settings, Privacy & \
                 Security, Files and Folders)."
            }
            VaultError::Io { .. } => "Try again; if it stays so, check the drive.",
        }
    }
}

/// All filters known from before; each once. Nothing where none were ever read.
fn joined(known: Option<Vec<String>>, last: Option<&[Filter]>) -> Option<Vec<Filter>> {
    if known.is_none() && last.is_none() {
        return None;
    }
    let known = known.into_iter().flatten();
    let mut filters: Vec<Filter> = known
        .filter_map(|entry| Filter::new(&entry).ok().flatten())
        .collect();
    for filter in last.unwrap_or_default() {
        if filters.iter().all(|known| known.shown() != filter.shown()) {
            filters.push(filter.clone());
        }
    }
    Some(filters)
}

/// Whether this is a folder that can be looked into.
fn check_folder(path: &Path) -> io::Result<()> {
    fs::read_dir(path).map(drop)
}
