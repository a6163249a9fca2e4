//! Where the index of a vault is kept: outside the vault, in a folder that is
//! named after it and keyed by its canonical path; and where approvals and the log are.

use std::path::{Path, PathBuf};

use crate::environment::Environment;
use crate::layers::Settings;
use crate::paths;

/// Longest readable part of the folder's name, in characters.
const SLUG_CHARS: usize = 40;

/// The folder under which all indexes are kept: the setting `index_dir`, else
/// `<data_dir>/lorewell/indexes`.
#[must_use]
pub fn index_root(environment: &Environment, settings: &Settings) -> PathBuf {
    settings
        .index_dir()
        .unwrap_or_else(|| environment.data_dir.join("lorewell").join("indexes"))
}

/// The folder of one vault's index: a readable slug of the folder's name, `-`,
/// and the first 16 hex digits of the BLAKE3 hash of its canonical path. The
/// same vault gives the same folder, however its path is written.
#[must_use]
pub fn index_dir_for(root: &Path, vault: &Path) -> PathBuf {
    let vault = paths::canonical_or_given(vault);
    let hash = blake3::hash(vault.as_os_str().as_encoded_bytes()).to_hex();
    let name = vault.file_name().unwrap_or_default().to_string_lossy();
    root.join(format!("{}-{}", slug(&name), &hash[..16]))
}

/// The folder of the index for remote readers beside a vault's usual one, which need not exist.
#[must_use]
pub fn remote_index_dir(index: &Path) -> PathBuf {
    let name = index.file_name().unwrap_or_default().to_string_lossy();
    index.with_file_name(format!("{name}-remote"))
}

/// The folder of the approved agents: `lorewell/agents` in the user's data folder.
#[must_use]
pub fn agents_dir(environment: &Environment) -> PathBuf {
    environment.data_dir.join("lorewell").join("agents")
}

/// The folder of the log of what agents received: `lorewell/audit` in the user's data folder.
#[must_use]
pub fn audit_dir(environment: &Environment) -> PathBuf {
    environment.data_dir.join("lorewell").join("audit")
}

/// Lower-case letters and digits, everything else a single `-`.
fn slug(name: &str) -> String {
    let mut slug = String::new();
    for letter in name.chars().flat_map(char::to_lowercase) {
        if letter.is_alphanumeric() {
            slug.push(letter);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let cut: String = slug.chars().take(SLUG_CHARS).collect();
    match cut.trim_end_matches('-') {
        "" => "vault".to_owned(),
        readable => readable.to_owned(),
    }
}
