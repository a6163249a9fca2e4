//! The folder of the models that were fetched.

use std::fs;
use std::path::{Path, PathBuf};

use lorewell_embed::StaticModel;
use lorewell_encoder::{Precision, is_prepared_well};

use crate::digest::Digests;
use crate::shortlist::vetted;
use crate::{Manifest, ModelError, Task};

/// What the settings `model` and `reranker` say besides names of fetched models.
const RESERVED: [&str; 2] = ["off", "endpoint"];

/// The file that says what a model is.
pub(crate) const MANIFEST: &str = "manifest.json";

/// A model by name: what it is, or why it cannot be used.
pub type Listed = (String, Result<Manifest, ModelError>);

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

    /// What a model is that is to be used for a task, with all of its files there.
    ///
    /// # Errors
    /// It was not fetched, is damaged, or is for another task.
    pub(crate) fn manifest_for(&self, name: &str, task: Task) -> Result<Manifest, ModelError> {
        let manifest = self.manifest(name)?;
        self.check_files(&manifest)?;
        if manifest.task != task {
            let (name, is) = (name.to_string(), manifest.task);
            return Err(ModelError::OtherTask { name, is });
        }
        Ok(manifest)
    }

    /// The models that are there, by name; of those that are damaged, why.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn list(&self) -> Result<Vec<Listed>, ModelError> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => {
                let path = self.folder.clone();
                return Err(ModelError::Io { path, source });
            }
        };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut names: Vec<String> = names
            .filter(|name| check_name(name).is_ok() && self.folder.join(name).is_dir())
            .collect();
        names.sort();
        let of = |name: String| {
            let manifest = self.manifest(&name).and_then(|manifest| {
                self.check_files(&manifest)?;
                Ok(manifest)
            });
            (name, manifest)
        };
        Ok(names.into_iter().map(of).collect())
    }

    /// The name here of a model for embedding that others know by its repository
    /// (`TaylorAI/bge-micro-v2`): one of the same last part, for repositories are copied under other
    /// owners. `None` if there is none. Also one that is damaged is named, so that whoever wants it
    /// learns of that.
    ///
    /// # Errors
    /// The folder of the models cannot be read.
    pub fn name_of(&self, repository: &str) -> Result<Option<String>, ModelError> {
        let (_, last) = repository.rsplit_once('/').unwrap_or(("", repository));
        let is_meant = |(name, found): &Listed| {
            let embeds = !matches!(found, Ok(manifest) if manifest.task != Task::Embed);
            embeds && name.eq_ignore_ascii_case(last)
        };
        Ok(self
            .list()?
            .into_iter()
            .find(is_meant)
            .map(|(name, _)| name))
    }

    /// Reads a model's files through, and compares them with what was fetched; those that were
    /// prepared from its weights, with what these give.
    ///
    /// # Errors
    /// One is not what it should be.
    pub fn verify(&self, manifest: &Manifest) -> Result<(), ModelError> {
        self.check_files(manifest)?;
        let folder = self.place(&manifest.name)?;
        let damaged = |reason: String| ModelError::Damaged {
            name: manifest.name.clone(),
            reason,
        };
        for file in &manifest.files {
            let path = folder.join(&file.path);
            let digests = Digests::of(&path).map_err(|source| ModelError::Io { path, source })?;
            if digests.sha256 != file.sha256 {
                return Err(damaged(format!("{} is not what was fetched", file.path)));
            }
        }
        for precision in [Precision::Q8, Precision::F16, Precision::F32] {
            if !is_prepared_well(&folder, precision)? {
                return Err(damaged(format!(
                    "lorewell-{precision}.safetensors is not what the weights give; once it is \
                     deleted, it is made anew"
                )));
            }
        }
        Ok(())
    }

    /// Deletes a model, and what was gathered of it.
    ///
    /// # Errors
    /// It is not there, or the disk.
    pub fn remove(&self, name: &str) -> Result<(), ModelError> {
        let name = vetted(name).map_or(name, |model| model.name);
        let place = self.place(name)?;
        let staging = self.folder.join(format!(".{name}.part"));
        let gathered = fs::remove_dir_all(staging).is_ok();
        match fs::remove_dir_all(&place) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && gathered => Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let name = name.to_string();
                Err(ModelError::NotPulled { name })
            }
            Err(source) => Err(ModelError::Io {
                path: place,
                source,
            }),
        }
    }

    /// Looks whether a model's files are there, in the size that they were fetched in. What was
    /// prepared from them is made anew where it is missing.
    ///
    /// # Errors
    /// One is not.
    pub fn check_files(&self, manifest: &Manifest) -> Result<(), ModelError> {
        let folder = self.place(&manifest.name)?;
        for file in &manifest.files {
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
pub(crate) fn check_name(name: &str) -> Result<(), ModelError> {
    let bad = |reason| {
        Err(ModelError::BadName {
            name: name.to_string(),
            reason,
        })
    };
    if name.is_empty() || name.len() > 96 {
        return bad("it has 1 to 96 characters");
    }
    if name.eq_ignore_ascii_case(StaticModel::NAME) {
        return bad("it is the model that is built into the program");
    }
    if RESERVED.iter().any(|word| word.eq_ignore_ascii_case(name)) {
        return bad("it means something else in the settings");
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
