//! A case as its file says it: read, not yet done.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

/// A failure case.
#[derive(Clone, Debug)]
pub struct Case {
    /// The name of its folder.
    pub id: String,
    /// `parsing`, `search`, `ranking`, `incremental`, `chat`, `embeddings` or `daemon`.
    pub kind: String,
    /// Its folder.
    pub folder: PathBuf,
    /// Files of the vault with something to say of them (`path_escaped`, `generate`).
    pub files: Vec<Value>,
    /// What is done, in order.
    pub steps: Vec<Step>,
    /// What must have come of it.
    pub checks: Vec<Check>,
}

/// Something that is done.
#[derive(Clone, Debug)]
pub struct Step {
    /// What.
    pub action: String,
    /// The name of its result.
    pub name: Option<String>,
    fields: Map<String, Value>,
}

/// Something that is looked at when all is done.
#[derive(Clone, Debug)]
pub struct Check {
    /// What.
    pub name: String,
    /// How much it matters.
    pub level: Level,
    fields: Map<String, Value>,
}

/// How much a check matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Whoever breaks it is at fault.
    Must,
    /// It is wished for.
    Should,
    /// It would be nice.
    May,
}

/// Why a case cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// A file or folder.
    #[error("{path}: {source}")]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The JSON is not that of a case.
    #[error("{path}: {what}")]
    Malformed {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
}

/// Every case in a folder, by name.
///
/// # Errors
/// The folder or a case cannot be read.
pub fn load(folder: &Path) -> Result<Vec<Case>, CaseError> {
    let failed = |source| CaseError::File {
        path: folder.to_path_buf(),
        source,
    };
    let mut cases = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let place = entry.map_err(failed)?.path();
        if place.join("case.json").is_file() {
            cases.push(Case::read(&place)?);
        }
    }
    cases.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(cases)
}

impl Case {
    /// Reads the case in a folder.
    ///
    /// # Errors
    /// There is no `case.json`, or it is not one of a case.
    pub fn read(folder: &Path) -> Result<Case, CaseError> {
        let path = folder.join("case.json");
        let text = fs::read_to_string(&path).map_err(|source| CaseError::File {
            path: path.clone(),
            source,
        })?;
        let id = folder
            .file_name()
            .map_or(String::new(), |name| name.to_string_lossy().into_owned());
        serde_json::from_str(&text)
            .map_err(|error| error.to_string())
            .and_then(|json| Case::of(id, folder, &json))
            .map_err(|what| CaseError::Malformed { path, what })
    }

    /// The case that some JSON describes.
    fn of(id: String, folder: &Path, json: &Value) -> Result<Case, String> {
        let list = |key: &str| {
            let list = json[key].as_array();
            list.cloned().ok_or(format!("there is no list “{key}”"))
        };
        let action = list("action")?;
        let checks = list("checks")?;
        Ok(Case {
            id,
            kind: json["kind"].as_str().unwrap_or("unknown").to_string(),
            folder: folder.to_path_buf(),
            files: json["files"].as_array().cloned().unwrap_or_default(),
            steps: action.iter().map(Step::of).collect::<Result<_, _>>()?,
            checks: checks.iter().map(Check::of).collect::<Result<_, _>>()?,
        })
    }

    /// Whether a step takes permissions away.
    pub fn takes_permissions(&self) -> bool {
        self.steps.iter().any(|step| step.action == "chmod")
    }

    /// Whether a step starts the program as a process.
    pub fn needs_program(&self) -> bool {
        let starts = |step: &Step| crate::processes::STEPS.contains(&step.action.as_str());
        self.steps.iter().any(starts)
    }

    /// How many watches of the file system there are, if a step says so.
    pub fn max_watches(&self) -> Option<u64> {
        let limit = |step: &Step| step.get("max_user_watches").and_then(Value::as_u64);
        self.steps.iter().find_map(limit)
    }

    /// The steps that are done while another is at work.
    pub(crate) fn steps_during(&self, step: &Step) -> Vec<Step> {
        let during = |other: &&Step| other.text("during").is_ok_and(|name| name == step.action);
        self.steps.iter().filter(during).cloned().collect()
    }
}

impl Step {
    /// The step that some JSON describes.
    pub(crate) fn of(json: &Value) -> Result<Step, String> {
        let fields = json.as_object().ok_or("a step is no object")?;
        let action = json["do"].as_str().ok_or("a step does nothing")?;
        Ok(Step {
            action: action.to_string(),
            name: json["as"].as_str().map(str::to_string),
            fields: fields.clone(),
        })
    }

    /// A field.
    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        self.fields.get(key)
    }

    /// The names of its fields.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.fields.keys().map(String::as_str)
    }

    /// All fields.
    pub(crate) fn fields(&self) -> Value {
        Value::Object(self.fields.clone())
    }

    /// A field that is a text.
    pub(crate) fn text(&self, key: &str) -> Result<&str, String> {
        let text = self.get(key).and_then(Value::as_str);
        text.ok_or_else(|| format!("“{}” lacks a text “{key}”", self.action))
    }

    /// A field that is a number, or what is usual.
    pub(crate) fn number_or(&self, key: &str, usual: u64) -> u64 {
        self.get(key).and_then(Value::as_u64).unwrap_or(usual)
    }

    /// Whether a field is true.
    pub(crate) fn flag(&self, key: &str) -> bool {
        self.get(key) == Some(&Value::Bool(true))
    }
}

impl Check {
    /// The check that some JSON describes.
    ///
    /// # Errors
    /// It is none.
    pub fn of(json: &Value) -> Result<Check, String> {
        let fields = json.as_object().ok_or("a check is no object")?;
        let name = json["check"].as_str().ok_or("a check has no name")?;
        let level = match json["level"].as_str() {
            None | Some("must") => Level::Must,
            Some("should") => Level::Should,
            Some("may") => Level::May,
            Some(other) => return Err(format!("there is no level “{other}”")),
        };
        Ok(Check {
            name: name.to_string(),
            level,
            fields: fields.clone(),
        })
    }

    /// What tells it from the case's other checks: `first a Kiln.md`.
    pub fn label(&self) -> String {
        let mut label = self.name.clone();
        let after = match self.get("after") {
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            Some(Value::String(name)) => vec![name.as_str()],
            _ => Vec::new(),
        };
        let texts = ["path", "path_nfc", "link", "to", "field", "text", "since"]
            .into_iter()
            .filter_map(|key| self.get(key)?.as_str());
        for word in after.into_iter().chain(texts) {
            label = format!("{label} {}", word.escape_debug());
        }
        label
    }

    /// A field.
    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        self.fields.get(key)
    }

    /// The names of its fields.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.fields.keys().map(String::as_str)
    }

    /// A field that is a text.
    pub(crate) fn text(&self, key: &str) -> Result<&str, String> {
        let text = self.get(key).and_then(Value::as_str);
        text.ok_or_else(|| format!("“{}” lacks a text “{key}”", self.name))
    }

    /// A field that is a number.
    pub(crate) fn number(&self, key: &str) -> Result<u64, String> {
        let number = self.get(key).and_then(Value::as_u64);
        number.ok_or_else(|| format!("“{}” lacks a number “{key}”", self.name))
    }

    /// A field that is a list of texts.
    pub(crate) fn texts(&self, key: &str) -> Result<Vec<String>, String> {
        let list = self.get(key).and_then(Value::as_array);
        let list = list.ok_or_else(|| format!("“{}” lacks a list “{key}”", self.name))?;
        let texts = list.iter().filter_map(Value::as_str).map(str::to_string);
        Ok(texts.collect())
    }
}
