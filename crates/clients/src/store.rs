//! Files of other programs, read and written with care; and what was written, remembered.
//!
//! A write is whole or not at all: a new file beside the old one, synced and put in its place. A
//! symbolic link stays one, and permissions stay as they are. Backups and the ledger lie in a
//! folder of the user's own, for configurations hold secrets of others.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::error::ClientError;

/// So many backups of one file are kept.
const BACKUPS: usize = 10;

/// Larger files are no configuration.
const MAX_BYTES: u64 = 64 << 20;

/// The text of a file; `None` where it is not there.
pub(crate) fn read(path: &Path) -> Result<Option<String>, ClientError> {
    let unreadable = |error| ClientError::unreadable(path, error);
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error)),
    };
    if !metadata.is_file() || metadata.len() > MAX_BYTES {
        return Err(unreadable(io::Error::other("it is no file of settings")));
    }
    let bytes = fs::read(path).map_err(unreadable)?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let before = String::from_utf8_lossy(&error.as_bytes()[..at]).into_owned();
            let (line, column) = crate::jsonc::line_and_column(&before, before.len());
            Err(ClientError::Syntax {
                path: path.to_path_buf(),
                line,
                column,
                what: "this is not UTF-8".to_string(),
            })
        }
    }
}

/// The file itself where the path is a symbolic link, though it may not be there yet. The same
/// before and after it is made.
pub(crate) fn target(path: &Path) -> PathBuf {
    let mut target = path.to_path_buf();
    for _ in 0..40 {
        let Ok(next) = fs::read_link(&target) else {
            break;
        };
        target = match target.parent() {
            Some(folder) => folder.join(next),
            None => next,
        };
    }
    for there in target.ancestors() {
        if let Ok(real) = fs::canonicalize(there) {
            let rest = target.strip_prefix(there).unwrap_or(Path::new(""));
            return if rest.as_os_str().is_empty() {
                real
            } else {
                real.join(rest)
            };
        }
    }
    target
}

/// Puts a text in a file's place. `private`: a new file is for its owner only.
pub(crate) fn write_whole(path: &Path, text: &[u8], private: bool) -> Result<(), ClientError> {
    let target = target(path);
    let unwritable = |error| ClientError::unwritable(path, error);
    if let Some(folder) = target.parent() {
        fs::create_dir_all(folder).map_err(unwritable)?;
    }
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let temporary = target.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    let written = put(&temporary, &target, text, private);
    if written.is_err() {
        // The first error is the one to tell.
        let _ = fs::remove_file(&temporary);
    }
    written.map_err(unwritable)
}

fn put(temporary: &Path, target: &Path, text: &[u8], private: bool) -> io::Result<()> {
    let mut file = new_file(temporary, private)?;
    file.write_all(text)?;
    if let Ok(metadata) = fs::metadata(target) {
        if metadata.permissions().readonly() {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "it is read-only",
            ));
        }
        file.set_permissions(metadata.permissions())?;
    }
    file.sync_all()?;
    drop(file);
    fs::rename(temporary, target)
}

/// A new file; with `private` nobody else may ever read it.
fn new_file(path: &Path, private: bool) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(if private { 0o600 } else { 0o666 });
    }
    #[cfg(not(unix))]
    let _ = private;
    options.open(path)
}

/// A folder that only its owner may enter.
pub(crate) fn private_folder(path: &Path) -> Result<(), ClientError> {
    let unwritable = |error| ClientError::unwritable(path, error);
    fs::create_dir_all(path).map_err(unwritable)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o700)).map_err(unwritable)?;
    }
    Ok(())
}

pub(crate) fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

/// What was written into other programs' files, and how they were before.
#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    folder: PathBuf,
}

/// What is remembered of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Record {
    /// The hash of the file as it was written.
    pub(crate) after: String,
    /// How the file was without us.
    pub(crate) origin: Origin,
    /// Members that were made to hold ours.
    pub(crate) made: Vec<String>,
    /// Folders that were made to hold the file, outermost first.
    pub(crate) folders: Vec<PathBuf>,
}

/// How a file was before anything of ours stood in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Origin {
    /// It is not known byte for byte.
    #[default]
    Unknown,
    /// It was not there.
    Absent,
    /// It is in the backup of that name.
    Kept(String),
}

impl Ledger {
    pub(crate) fn at(folder: &Path) -> Ledger {
        Ledger {
            folder: folder.to_path_buf(),
        }
    }

    pub(crate) fn backups(&self) -> PathBuf {
        self.folder.join("backups")
    }

    fn file(&self, path: &Path) -> PathBuf {
        let key = hash(&target(path).to_string_lossy());
        self.folder.join(format!("{}.json", &key[..16]))
    }

    /// The record of what was written into a folder of the skill.
    pub(crate) fn skill_file(&self, folder: &Path) -> PathBuf {
        let key = hash(&target(folder).to_string_lossy());
        self.folder.join(format!("skill-{}.json", &key[..16]))
    }

    /// What is remembered of a file. A record that cannot be read is none.
    pub(crate) fn record(&self, path: &Path) -> Option<Record> {
        let text = fs::read_to_string(self.file(path)).ok()?;
        let json: Value = serde_json::from_str(&text).ok()?;
        let strings = |key: &str| -> Vec<String> {
            let items = json[key].as_array().into_iter().flatten();
            items
                .filter_map(Value::as_str)
                .map(str::to_string)
                .collect()
        };
        Some(Record {
            after: json["after"].as_str()?.to_string(),
            origin: match (json["absent"].as_bool(), json["backup"].as_str()) {
                (Some(true), _) => Origin::Absent,
                (_, Some(name)) => Origin::Kept(name.to_string()),
                _ => Origin::Unknown,
            },
            made: strings("made"),
            folders: strings("folders").into_iter().map(PathBuf::from).collect(),
        })
    }

    pub(crate) fn remember(&self, path: &Path, record: &Record) -> Result<(), ClientError> {
        private_folder(&self.folder)?;
        let mut json = json!({
            "path": path.display().to_string(),
            "after": record.after,
            "made": record.made,
            "folders": record.folders.iter().map(|f| f.display().to_string()).collect::<Vec<_>>(),
        });
        match &record.origin {
            Origin::Unknown => {}
            Origin::Absent => json["absent"] = Value::from(true),
            Origin::Kept(name) => json["backup"] = Value::from(name.as_str()),
        }
        write_whole(&self.file(path), format!("{json:#}\n").as_bytes(), true)
    }

    pub(crate) fn forget(&self, path: &Path) {
        // One that stays is never taken for more than it is: it names the hash of the file.
        let _ = fs::remove_file(self.file(path));
    }

    /// The text of a backup.
    pub(crate) fn kept(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.backups().join(name)).ok()
    }

    /// Keeps a text; the name of the backup.
    pub(crate) fn keep(
        &self,
        path: &Path,
        label: &str,
        text: &[u8],
    ) -> Result<String, ClientError> {
        private_folder(&self.folder)?;
        let folder = self.backups();
        private_folder(&folder)?;
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let key = hash(&target(path).to_string_lossy());
        let family = format!("{label}.{}.{}", &key[..8], file.trim_start_matches('.'));
        let time = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%S%3fZ");
        let name = format!("{family}.{time}");
        write_whole(&folder.join(&name), text, true)?;
        self.drop_old(&folder, &family, &name);
        Ok(name)
    }

    /// Drops all but the newest backups of a file; the one that a record names stays.
    fn drop_old(&self, folder: &Path, family: &str, newest: &str) {
        let Ok(entries) = fs::read_dir(folder) else {
            return;
        };
        let names = entries
            .flatten()
            .map(|e| e.file_name().to_string_lossy().into_owned());
        let prefix = format!("{family}.");
        let mut names: Vec<String> = names.filter(|name| name.starts_with(&prefix)).collect();
        names.sort();
        let records = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let named: String = records
            .filter_map(|entry| fs::read_to_string(entry.path()).ok())
            .collect();
        let spare = names.len().saturating_sub(BACKUPS);
        for name in names.into_iter().take(spare) {
            if name != newest && !named.contains(&name) {
                let _ = fs::remove_file(folder.join(name));
            }
        }
    }
}
