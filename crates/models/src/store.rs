//! The folder of the models that were fetched.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Manifest, ModelError};

/// The file that says what a model is.
const MANIFEST: &str = "manifest.json";

/// The models that were fetched: a folder for each, with its files and a [`Manifest`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    folder: PathBuf,
}

impl Store {
    /// The store in a folder, which need not exist.
    pub fn new(folder: &Path) -> Store {
        Store {
            folder: folder.to_path_buf(),
        }
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder of a model, whether or not it is there.
    ///
    /// # Errors
    /// The name cannot be one.
    pub fn place(&self, name: &str) -> Result<PathBuf, ModelError> {
        check_name(name)?;
        Ok(self.folder.join(name))
    }

    /// The file whose change means that a model is another now.
    ///
    /// # Errors
    /// The name cannot be one.
    pub fn manifest_file(&self, name: &str) -> Result<PathBuf, ModelError> {
        Ok(self.place(name)?.join(MANIFEST))
    }

    /// What a model is.
    ///
    /// # Errors
    /// It was not fetched, or the file that says so cannot be read.
    pub fn manifest(&self, name: &str) -> Result<Manifest, ModelError> {
        let path = self.manifest_file(name)?;
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let name = name.to_string();
                return Err(ModelError::NotPulled { name });
            }
            Err(source) => return Err(ModelError::Io { path, source }),
        };
        let damaged = |reason: String| ModelError::Damaged {
            name: name.to_string(),
            reason,
        };
        let manifest: Manifest = serde_json::from_slice(&text)
            .map_err(|error| damaged(format!("{MANIFEST} is not what was written: {error}")))?;
        if manifest.version != Manifest::VERSION || manifest.recipe().is_none() {
            return Err(damaged(format!(
                "{MANIFEST} is of another version of this program"
            )));
        }
        Ok(manifest)
    }

    /// Looks whether a model's files are there, in the size that they were fetched in.
    ///
    /// # Errors
    /// One is not.
    pub fn check_files(&self, manifest: &Manifest) -> Result<(), ModelError> {
        let folder = self.place(&manifest.name)?;
        for file in manifest.files.iter().chain(&manifest.prepared) {
            let found = fs::metadata(folder.join(&file.path));
            let reason = match found {
                Ok(found) if found.len() == file.bytes => continue,
                Ok(found) => format!(
                    "{} has {} bytes where {} were fetched",
                    file.path,
                    found.len(),
                    file.bytes
                ),
                Err(error) => format!("{}: {error}", file.path),
            };
            return Err(ModelError::Damaged {
                name: manifest.name.clone(),
                reason,
            });
        }
        Ok(())
    }
}

/// A name is the name of a folder, on every system.
fn check_name(name: &str) -> Result<(), ModelError> {
    let bad = |reason| {
        Err(ModelError::BadName {
            name: name.to_string(),
            reason,
        })
    };
    if name.is_empty() || name.len() > 96 {
        return bad("it has 1 to 96 characters");
    }
    if name.starts_with('.') || name.ends_with('.') {
        return bad("it cannot begin or end with a dot");
    }
    if !name
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
    {
        return bad("it has letters, digits, `-`, `_` and `.`");
    }
    Ok(())
}
