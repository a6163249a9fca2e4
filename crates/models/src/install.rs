//! From files to a model of the store: gathered in a folder beside it, looked at, prepared, and put
//! in its place at once.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use lorewell_encoder::{
    CrossEncoder, Encoder, EncoderError, Options, Pooling, Precision, Recipe, check_config,
    check_cross_config, is_classifier,
};

use crate::digest::Digests;
use crate::hub::{Hub, Progress, short_name};
use crate::manifest::ModelRecipe;
use crate::shortlist::vetted;
use crate::store::check_name;
use crate::{Manifest, ModelError, ModelFile, Origin, Store, Task};

/// The file of a model's weights.
pub const WEIGHTS: &str = "model.safetensors";

/// What every model has, small files first.
const NEEDED: [&str; 3] = ["config.json", "tokenizer.json", WEIGHTS];

/// What says how a model is used, where it does.
pub(crate) const RECIPE_FILES: &[&str] = &[
    "modules.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
    "1_Pooling/config.json",
];

impl Store {
    /// Fetches a model from a hub: one of the shortlist by its name, another as `OWNER/NAME`. What
    /// came of an attempt before is not fetched again. One that is there is replaced at the end.
    ///
    /// # Errors
    /// There is no such model; the hub; the disk; the encoder does not take it (that is known
    /// before its weights are fetched).
    pub fn pull(
        &self,
        asked: &str,
        revision: Option<&str>,
        hub: &Hub,
        progress: &dyn Progress,
    ) -> Result<Manifest, ModelError> {
        let repository = match vetted(asked) {
            Some(model) => model.repository,
            None if is_repository(asked)? => asked,
            None => {
                let name = asked.to_string();
                return Err(ModelError::Unknown { name });
            }
        };
        let name = short_name(repository);
        let staging = self.staging(name)?;
        let commit = hub.commit(repository, revision.unwrap_or("main"), progress)?;
        let has = |path: &str| commit.files.iter().any(|file| file == path);
        if let Some(missing) = NEEDED.into_iter().find(|path| !has(path)) {
            return Err(ModelError::Unfit {
                name: repository.to_string(),
                reason: format!("it has no {missing}"),
            });
        }
        let mut files = Vec::new();
        let small = ["config.json"]
            .into_iter()
            .chain(RECIPE_FILES.iter().copied());
        let mut fetch = |path: &str| -> Result<(), ModelError> {
            files.push(hub.fetch(&commit, path, &staging, progress)?);
            Ok(())
        };
        for path in small.filter(|path| has(path)) {
            fetch(path)?;
        }
        let plan = plan(name, &staging)?;
        fetch("tokenizer.json")?;
        fetch(WEIGHTS)?;
        let origin = Origin::Hub {
            hub: hub.address(),
            repository: commit.repository.clone(),
            revision: commit.revision.clone(),
        };
        let installed = self.install(name, &staging, origin, plan, files, progress);
        installed.inspect_err(|error| {
            // What cannot be used is not kept; what was cut short is.
            if matches!(error, ModelError::Unfit { .. } | ModelError::Encoder(_)) {
                let _ = fs::remove_dir_all(&staging);
            }
        })
    }

    /// Takes a model from a folder of this machine, which stays as it is.
    ///
    /// # Errors
    /// A file is missing; the disk; the encoder does not take it.
    pub fn pull_from(
        &self,
        asked: &str,
        folder: &Path,
        progress: &dyn Progress,
    ) -> Result<Manifest, ModelError> {
        let name = vetted(asked).map_or(short_name(asked), |model| model.name);
        let staging = self.staging(name)?;
        let taken = self.take(name, folder, &staging, progress);
        // The folder is there still: nothing is worth keeping of what did not succeed.
        taken.inspect_err(|_| drop(fs::remove_dir_all(&staging)))
    }

    fn take(
        &self,
        name: &str,
        folder: &Path,
        staging: &Path,
        progress: &dyn Progress,
    ) -> Result<Manifest, ModelError> {
        let (mut files, mut known) = (Vec::new(), None);
        let small = ["config.json"].iter().chain(RECIPE_FILES);
        for path in small.chain(&["tokenizer.json", WEIGHTS]) {
            if *path == WEIGHTS {
                // What is refused is refused before the large file is copied.
                known = Some(plan(name, staging)?);
            }
            let from = folder.join(path);
            if !from.exists() && RECIPE_FILES.contains(path) {
                continue;
            }
            if progress.stopped() {
                return Err(ModelError::Stopped);
            }
            let to = staging.join(path);
            if let Some(parent) = to.parent() {
                fs::create_dir_all(parent).map_err(|source| failed(parent, source))?;
            }
            let bytes = fs::metadata(&from).map_err(|source| failed(&from, source))?;
            progress.file(path, bytes.len());
            fs::copy(&from, &to).map_err(|source| failed(&to, source))?;
            synced(&to)?;
            progress.at(bytes.len());
            files.push(model_file(staging, path)?);
        }
        let plan = known.map_or_else(|| plan(name, staging), Ok)?;
        let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf());
        let origin = Origin::Folder {
            folder: folder.display().to_string(),
        };
        self.install(name, staging, origin, plan, files, progress)
    }

    /// The folder in which a model is gathered. It is not a model's, whatever its name.
    fn staging(&self, name: &str) -> Result<PathBuf, ModelError> {
        self.place(name)?;
        let staging = self.folder().join(format!(".{name}.part"));
        fs::create_dir_all(&staging).map_err(|source| failed(&staging, source))?;
        Ok(staging)
    }

    /// Looks at what was gathered, prepares it for the usual precision, and puts it in its place.
    fn install(
        &self,
        name: &str,
        staging: &Path,
        origin: Origin,
        (task, mut recipe): Plan,
        files: Vec<ModelFile>,
        progress: &dyn Progress,
    ) -> Result<Manifest, ModelError> {
        progress.says("preparing its weights in bytes");
        let options = Options {
            precision: Some(Precision::Q8),
            recipe: Some(recipe.clone()),
            ..Options::default()
        };
        // What is open is closed again: on Windows a mapped file cannot be moved.
        let ((dimension, layers), longest, weights) = match task {
            Task::Embed => {
                let encoder = Encoder::open(staging, &options)?;
                let weights = encoder.revision().to_string();
                (encoder.sizes(), encoder.longest(), weights)
            }
            Task::Rerank => {
                let model = CrossEncoder::open(staging, &options)?;
                let weights = model.revision().to_string();
                recipe.longest = model.longest();
                (model.sizes(), model.longest(), weights)
            }
        };
        if let Some(model) = vetted(name)
            && (model.task, model.dimension, model.layers) != (task, dimension, layers)
        {
            return Err(ModelError::Unfit {
                name: name.to_string(),
                reason: format!(
                    "these are the files of another model: {} {} of {layers} layers and {dimension} \
                     numbers, where it has {} layers and {} numbers and is {} {}",
                    task.article(),
                    task.noun(),
                    model.layers,
                    model.dimension,
                    model.task.article(),
                    model.task.noun()
                ),
            });
        }
        let prepared = format!("lorewell-{}.safetensors", Precision::Q8);
        let manifest = Manifest {
            version: Manifest::VERSION,
            name: name.to_string(),
            origin,
            vetted: vetted(name).is_some_and(|model| model.name == name),
            task,
            files,
            prepared: vec![model_file(staging, &prepared)?],
            weights,
            dimension,
            longest,
            recipe: ModelRecipe::from(&recipe),
        };
        self.write_manifest(&manifest, staging)?;
        self.put(name, staging)?;
        Ok(manifest)
    }

    fn write_manifest(&self, manifest: &Manifest, folder: &Path) -> Result<(), ModelError> {
        let path = folder.join(crate::store::MANIFEST);
        let text = serde_json::to_vec_pretty(manifest).map_err(|error| ModelError::Io {
            path: path.clone(),
            source: io::Error::other(error),
        })?;
        fs::write(&path, text).map_err(|source| failed(&path, source))?;
        synced(&path)
    }

    /// Puts a gathered model in its place. One that was there goes first; whoever has it open keeps
    /// it.
    fn put(&self, name: &str, staging: &Path) -> Result<(), ModelError> {
        let place = self.place(name)?;
        let old = self.folder().join(format!(".{name}.old"));
        let _ = fs::remove_dir_all(&old);
        if place.exists() {
            fs::rename(&place, &old).map_err(|source| failed(&place, source))?;
        }
        fs::rename(staging, &place).map_err(|source| failed(&place, source))?;
        let _ = fs::remove_dir_all(&old);
        Ok(())
    }
}

/// Whether this is `OWNER/NAME`.
///
/// # Errors
/// It has that form, and a part of it cannot be a name.
fn is_repository(asked: &str) -> Result<bool, ModelError> {
    let Some((owner, name)) = asked.split_once('/') else {
        return Ok(false);
    };
    check_name(owner)?;
    check_name(name)?;
    Ok(true)
}

/// What a model is used for, and how.
pub(crate) type Plan = (Task, Recipe);

/// How a gathered model is used. What the encoder would compute wrongly is refused.
fn plan(name: &str, folder: &Path) -> Result<Plan, ModelError> {
    let unfit = |error: EncoderError| {
        let text = error.to_string();
        let place = format!("{}/", folder.display());
        ModelError::Unfit {
            name: name.to_string(),
            reason: text
                .replace(&place, "")
                .replace(&folder.display().to_string(), name),
        }
    };
    plan_of(name, folder).map_err(unfit)
}

/// How a model with these small files would be used.
pub(crate) fn plan_of(name: &str, folder: &Path) -> Result<Plan, EncoderError> {
    let config = folder.join("config.json");
    let vetted = vetted(name);
    let name = vetted.map_or(name, |model| model.name).to_string();
    if is_classifier(&config)? {
        check_cross_config(&config)?;
        let plain = Recipe {
            name,
            pooling: Pooling::Cls,
            question_prefix: String::new(),
            passage_prefix: String::new(),
            longest: usize::MAX,
        };
        return Ok((Task::Rerank, plain));
    }
    check_config(&config)?;
    let recipe = match vetted.and_then(|model| Recipe::known(model.name)) {
        Some(known) => known,
        None => Recipe {
            name,
            ..Recipe::of_folder(folder)?
        },
    };
    Ok((Task::Embed, recipe))
}

fn model_file(folder: &Path, path: &str) -> Result<ModelFile, ModelError> {
    let file = folder.join(path);
    let digests = Digests::of(&file).map_err(|source| failed(&file, source))?;
    Ok(ModelFile {
        path: path.to_string(),
        bytes: digests.bytes,
        sha256: digests.sha256,
    })
}

fn synced(path: &Path) -> Result<(), ModelError> {
    File::open(path)
        .and_then(|file| file.sync_all())
        .map_err(|source| failed(path, source))
}

fn failed(path: &Path, source: io::Error) -> ModelError {
    ModelError::Io {
        path: path.to_path_buf(),
        source,
    }
}
