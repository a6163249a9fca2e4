//! Where the evaluation data lies, and how its files are read.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use lorewell_evaluation::Question;
use serde::de::DeserializeOwned;
use tempfile::TempDir;

/// Names the folder of the evaluation data where `--data` does not.
pub const VARIABLE: &str = "LOREWELL_EVAL_DATA";

/// The folder with `eval/`, `vaults/` and `collections/`.
#[derive(Clone, Debug)]
pub struct Data {
    folder: PathBuf,
}

/// A vault that a set asks about. What had to be put together for it vanishes with this.
pub struct Vault {
    /// Its folder.
    pub root: PathBuf,
    _holder: Option<TempDir>,
}

/// The sets, each with the vault to index and the folders of it (all, if none is named).
const SETS: &[(&str, &str, &[&str])] = &[
    ("jackyzha0-garden", "jackyzha0-garden", &[]),
    (
        "obsidian-help-en",
        "obsidian-help",
        &["en", "Release notes", "Sandbox"],
    ),
    ("flancian-garden", "flancian-garden", &[]),
    ("oldwinter-zh", "oldwinter-zh", &[]),
];

/// The sets whose questions and notes are in English.
pub const ENGLISH: &[&str] = &["jackyzha0-garden", "obsidian-help-en", "flancian-garden"];

impl Data {
    /// The folder that was named, else the one that the environment names.
    ///
    /// # Errors
    /// Neither names a folder.
    pub fn open(named: Option<&Path>) -> Result<Data> {
        let folder = match named {
            Some(folder) => folder.to_path_buf(),
            None => std::env::var_os(VARIABLE)
                .map(PathBuf::from)
                .with_context(|| {
                    format!("where is the evaluation data? Give --data DIR or set {VARIABLE}")
                })?,
        };
        if !folder.join("eval").is_dir() {
            bail!(
                "{}: no evaluation data (it has no folder `eval`)",
                folder.display()
            );
        }
        Ok(Data { folder })
    }

    /// The names of the vault sets, in the order in which they are shown.
    pub fn set_names() -> Vec<&'static str> {
        SETS.iter().map(|(name, _, _)| *name).collect()
    }

    /// The development questions of a set.
    ///
    /// # Errors
    /// No such file, or a line that is no question.
    pub fn questions(&self, set: &str) -> Result<Vec<Question>> {
        lines(&self.folder.join("eval").join(format!("{set}.dev.jsonl")))
    }

    /// The vault that a set asks about.
    ///
    /// # Errors
    /// There is no such set, or its vault cannot be read.
    pub fn vault(&self, set: &str) -> Result<Vault> {
        let row = SETS.iter().find(|(name, _, _)| *name == set);
        let (_, vault, folders) = row.with_context(|| {
            format!(
                "no set is called {set}; there are {}",
                Self::set_names().join(", ")
            )
        })?;
        let whole = self.folder.join("vaults").join(vault);
        if folders.is_empty() {
            return Ok(Vault {
                root: whole,
                _holder: None,
            });
        }
        let holder = tempfile::tempdir()?;
        let root = holder.path().join(set);
        for folder in *folders {
            link_all(&whole.join(folder), &root.join(folder))?;
        }
        Ok(Vault {
            root,
            _holder: Some(holder),
        })
    }

    /// The folder of a test collection.
    pub fn collection(&self, name: &str) -> PathBuf {
        self.folder.join("collections").join(name)
    }
}

/// Every line of a file, read as JSON.
///
/// # Errors
/// The file cannot be read, or a line is not what is wanted.
pub fn lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let numbered = (1..)
        .zip(text.lines())
        .filter(|(_, line)| !line.trim().is_empty());
    numbered
        .map(|(number, line)| {
            serde_json::from_str(line).with_context(|| format!("{}:{number}", path.display()))
        })
        .collect()
}

/// The same files under another folder: hard links where the file system has them, else copies.
fn link_all(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| to.display().to_string())?;
    for entry in fs::read_dir(from).with_context(|| from.display().to_string())? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            link_all(&source, &target)?;
        } else if fs::hard_link(&source, &target).is_err() {
            fs::copy(&source, &target).with_context(|| source.display().to_string())?;
        }
    }
    Ok(())
}
