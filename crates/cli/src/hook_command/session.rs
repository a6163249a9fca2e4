//! What a session was given, so that nothing is given twice.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use lorewell_setup::Environment;

/// What a session was given is forgotten after so long.
const SESSION: Duration = Duration::from_secs(3 * 24 * 3600);

/// What a session was given: hashes, one a line, in a file that only the user may read.
pub(super) struct Session {
    file: Option<PathBuf>,
    given: Vec<String>,
}

impl Session {
    pub(super) fn of(environment: &Environment, client: &str, id: &str) -> Session {
        let folder = environment
            .data_dir
            .join("lorewell")
            .join("clients")
            .join("sessions");
        let file = (!id.is_empty()).then(|| folder.join(short_hash(&[client, id])));
        let text = file.as_ref().and_then(|file| fs::read_to_string(file).ok());
        let given = text
            .unwrap_or_default()
            .lines()
            .map(str::to_string)
            .collect();
        Session { file, given }
    }

    /// A note as it stands: one that changed is new.
    pub(super) fn key(vault: &str, note: &str, content_hash: &str) -> String {
        short_hash(&[vault, note, content_hash])
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.given.iter().any(|given| given == key)
    }

    /// Failure costs a repetition, no more.
    pub(super) fn remember(&self, keys: &[String]) {
        let Some(file) = &self.file else { return };
        let Some(folder) = file.parent() else { return };
        if !folder.is_dir() {
            let _ = fs::create_dir_all(folder);
            private(folder, 0o700);
        }
        let lines: String = keys.iter().map(|key| format!("{key}\n")).collect();
        let opened = fs::File::options().create(true).append(true).open(file);
        private(file, 0o600);
        let _ = opened.and_then(|mut file| file.write_all(lines.as_bytes()));
        forget_old(folder);
    }
}

fn private(path: &Path, mode: u32) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let _ = fs::set_permissions(path, fs::Permissions::from_mode(mode));
    }
    #[cfg(not(unix))]
    let _ = (path, mode);
}

/// Drops sessions that are over.
fn forget_old(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        let age = modified
            .ok()
            .and_then(|time| SystemTime::now().duration_since(time).ok());
        if age.is_some_and(|age| age > SESSION) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn short_hash(parts: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex()[..32].to_string()
}
