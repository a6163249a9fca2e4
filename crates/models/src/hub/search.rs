//! Looking for models on a hub. What is found there was not looked at by anybody here.

use std::fs;

use lorewell_encoder::Recipe;
use serde_json::Value;

use super::download::Commit;
use super::exchange::Method;
use super::{Hub, Progress};
use crate::install::{RECIPE_FILES, plan_of};
use crate::shortlist::vetted;
use crate::{ModelError, Task, WEIGHTS};

/// A repository that a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// `OWNER/NAME`.
    pub repository: String,
    /// How often it was fetched, as the hub counts.
    pub downloads: u64,
    /// Its licence, as the hub names it.
    pub licence: Option<String>,
    /// Whether its terms must be accepted on the hub first.
    pub gated: bool,
    /// Whether it is of the shortlist.
    pub vetted: bool,
    /// Whether it can be used, and how.
    pub fit: Fit,
}

/// Whether a model can be used here.
#[derive(Debug, Clone, PartialEq)]
pub enum Fit {
    /// It would be used like this.
    Fits(Recipe),
    /// It would be used as a reranker.
    Reranks,
    /// It cannot be.
    Unfit {
        /// Why, for people.
        reason: String,
    },
}

impl Hub {
    /// Repositories whose name has these words, the most used first.
    ///
    /// # Errors
    /// The hub cannot be asked or does not answer.
    pub fn search(
        &self,
        words: &str,
        limit: usize,
        progress: &dyn Progress,
    ) -> Result<Vec<Found>, ModelError> {
        let words: String = words
            .split_whitespace()
            .map(escaped)
            .collect::<Vec<_>>()
            .join("+");
        let path = format!(
            "/api/models?search={words}&filter=sentence-transformers&sort=downloads&direction=-1&limit={limit}&full=true&config=true"
        );
        let answer = self.json(&path, progress)?;
        let Some(models) = answer.as_array() else {
            return Err(self.failed("its answer is no list of models; is that a hub?"));
        };
        let mut found = Vec::new();
        for model in models {
            if progress.stopped() {
                return Err(ModelError::Stopped);
            }
            let Some(repository) = model["id"].as_str() else {
                continue;
            };
            found.push(Found {
                repository: repository.to_string(),
                downloads: model["downloads"].as_u64().unwrap_or(0),
                licence: licence(model),
                gated: !matches!(&model["gated"], Value::Null | Value::Bool(false)),
                vetted: vetted(repository).is_some(),
                fit: self.fit(repository, model, progress)?,
            });
        }
        Ok(found)
    }

    /// How a repository would be used, from its small files; they are not kept.
    fn fit(
        &self,
        repository: &str,
        model: &Value,
        progress: &dyn Progress,
    ) -> Result<Fit, ModelError> {
        let unfit = |reason: String| Ok(Fit::Unfit { reason });
        let files: Vec<String> = model["siblings"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|file| file["rfilename"].as_str().map(str::to_string))
            .collect();
        for needed in ["config.json", "tokenizer.json", WEIGHTS] {
            if !files.iter().any(|file| file == needed) {
                return unfit(format!("it has no {needed}"));
            }
        }
        let place = tempfile::tempdir().map_err(|source| ModelError::Io {
            path: std::env::temp_dir(),
            source,
        })?;
        let commit = Commit {
            repository: repository.to_string(),
            revision: model["sha"].as_str().unwrap_or("main").to_string(),
            files,
        };
        let small = ["config.json"]
            .into_iter()
            .chain(RECIPE_FILES.iter().copied());
        for path in small.filter(|path| commit.files.iter().any(|file| file == path)) {
            let route = format!("/{repository}/resolve/{}/{path}", commit.revision);
            let text = self.again(progress, || {
                let response = self.ask(Method::Get, &route, None, true)?;
                let mut response = self.sound(&route, response)?;
                response
                    .body_mut()
                    .with_config()
                    .limit(1 << 20)
                    .read_to_vec()
                    .map_err(|error| self.unreachable(&error.to_string()))
            });
            let text = match text {
                Ok(text) => text,
                Err(error @ (ModelError::Gated { .. } | ModelError::Unauthorized { .. })) => {
                    return unfit(error.to_string());
                }
                Err(error) => return Err(error),
            };
            let file = place.path().join(path);
            let parent = file.parent().unwrap_or(place.path());
            fs::create_dir_all(parent)
                .and_then(|()| fs::write(&file, text))
                .map_err(|source| ModelError::Io {
                    path: file.clone(),
                    source,
                })?;
        }
        let name = vetted(repository).map_or(short_name(repository), |model| model.name);
        match plan_of(name, place.path()) {
            Ok((Task::Embed, recipe)) => Ok(Fit::Fits(recipe)),
            Ok((Task::Rerank, _)) => Ok(Fit::Reranks),
            Err(error) => unfit(without_place(&error.to_string())),
        }
    }
}

/// What a repository is called without its owner.
pub(crate) fn short_name(repository: &str) -> &str {
    repository.rsplit('/').next().unwrap_or(repository)
}

/// A message of the encoder without the temporary file that it is about.
fn without_place(message: &str) -> String {
    message
        .split_once(": ")
        .map_or(message, |(_, reason)| reason)
        .to_string()
}

fn licence(model: &Value) -> Option<String> {
    let tags = model["tags"].as_array()?;
    let licence = |tag: &Value| tag.as_str()?.strip_prefix("license:").map(str::to_string);
    tags.iter().find_map(licence)
}

/// A word as a part of an address.
fn escaped(word: &str) -> String {
    let mut out = String::new();
    for byte in word.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(byte));
            }
            _ => out += &format!("%{byte:02X}"),
        }
    }
    out
}
