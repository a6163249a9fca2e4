//! The plugin's folder in a vault.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use rustc_hash::FxHashMap;
use serde_json::Value;

use crate::entry::{Entry, Line, read as read_line};
use crate::likeness::SmartVectors;

/// A larger file is passed over: one has the lines of one note, or, in older ones, of a vault.
const MOST_BYTES: u64 = 1 << 30;
/// Clocks and file systems round: a change within so many milliseconds is none.
const ROUNDING: f64 = 2_000.0;

/// The plugin's vectors in a vault, read again when its files or the notes changed.
#[derive(Debug)]
pub struct SmartFolder {
    vault: PathBuf,
    kept: Mutex<Option<(Stamp, Option<Arc<SmartVectors>>)>>,
}

/// Files, their bytes, and the newest change; and what the caller counts of the notes.
type Stamp = (usize, u64, Option<SystemTime>, u64);

impl SmartFolder {
    /// That of the vault in a folder.
    pub fn of(vault: &Path) -> SmartFolder {
        SmartFolder {
            vault: vault.to_path_buf(),
            kept: Mutex::default(),
        }
    }

    /// The vectors, if there are any. `generation` changes whenever a note did.
    pub fn vectors(&self, generation: u64) -> Option<Arc<SmartVectors>> {
        let stamp = self.stamp(generation);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        match &*kept {
            Some((of, vectors)) if *of == stamp => vectors.clone(),
            _ => {
                let vectors = read(&self.vault).map(Arc::new);
                *kept = Some((stamp, vectors.clone()));
                vectors
            }
        }
    }

    fn stamp(&self, generation: u64) -> Stamp {
        let new = self.vault.join(".smart-env");
        let mut all = files(&new.join("multi"));
        all.extend(files(&self.vault.join(".smart-connections")));
        all.push(new.join("smart_env.json"));
        let facts = all.iter().filter_map(|file| fs::metadata(file).ok());
        let mut stamp: Stamp = (0, 0, None, generation);
        for facts in facts {
            stamp.0 += 1;
            stamp.1 += facts.len();
            stamp.2 = stamp.2.max(facts.modified().ok());
        }
        stamp
    }
}

/// What was read so far.
#[derive(Default)]
struct Found {
    /// The last line of each note.
    entries: FxHashMap<String, Entry>,
    broken: u64,
}

/// The vectors that lie in a vault, of the one model that is in use there; nothing where there are
/// none. A vector of a text that changed since is left out and counted.
pub fn read(vault: &Path) -> Option<SmartVectors> {
    let mut found = Found::default();
    let new = vault.join(".smart-env");
    for file in files(&new.join("multi")) {
        found.take(&file, None);
    }
    if found.entries.is_empty() {
        for file in files(&vault.join(".smart-connections")) {
            let name = file.file_stem().unwrap_or_default().to_string_lossy();
            let of = ["smart_notes-", "smart_sources-"];
            let model = of.iter().find_map(|before| name.strip_prefix(before));
            if let Some(model) = model {
                found.take(&file, Some(model));
            }
        }
    }
    let model = found.model(in_use(&new.join("smart_env.json")).as_deref())?;
    let mut notes = Vec::new();
    let mut stale = 0;
    for (path, entry) in found.entries {
        let is_fresh = entry.is_fresh(&vault.join(&path));
        let vector = entry.vectors.into_iter().find(|(name, _)| *name == model);
        match vector {
            Some((_, vector)) if is_fresh => notes.push((path, vector)),
            Some(_) => stale += 1,
            None => {}
        }
    }
    Some(SmartVectors::new(model, notes, stale, found.broken))
}

impl Found {
    fn take(&mut self, file: &Path, model: Option<&str>) {
        let Ok(bytes) = fs::read(file) else {
            self.broken += 1;
            return;
        };
        for line in String::from_utf8_lossy(&bytes).lines() {
            match read_line(line, model) {
                Line::Entry(entry) => drop(self.entries.insert(entry.path.clone(), entry)),
                Line::Gone(path) => drop(self.entries.remove(&path)),
                Line::Other => {}
                Line::Broken => self.broken += 1,
            }
        }
    }

    /// The model that the plugin's settings name, if notes have vectors of it; else that of most.
    fn model(&self, in_use: Option<&str>) -> Option<String> {
        let mut counts: FxHashMap<&str, u64> = FxHashMap::default();
        for (model, _) in self.entries.values().flat_map(|entry| &entry.vectors) {
            *counts.entry(model).or_default() += 1;
        }
        if let Some(model) = in_use.filter(|model| counts.contains_key(model)) {
            return Some(model.to_string());
        }
        let most = counts
            .into_iter()
            .max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(a.0)));
        most.map(|(model, _)| model.to_string())
    }
}

impl Entry {
    /// Whether the vector is of the file as it is now, as far as its stamp tells.
    fn is_fresh(&self, file: &Path) -> bool {
        let Ok(facts) = fs::metadata(file) else {
            return false;
        };
        if self.is_behind {
            return false;
        }
        let changed = facts
            .modified()
            .ok()
            .and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        let Some(changed) = changed.map(|since| since.as_secs_f64() * 1000.0) else {
            return true;
        };
        match (self.stamp, self.made) {
            (Some((_, size)), _) if size != facts.len() => false,
            (Some((mtime, _)), _) => changed <= mtime + ROUNDING,
            (None, Some(made)) => changed <= made + ROUNDING,
            (None, None) => true,
        }
    }
}

/// The plugin's files in a folder, by name. Links are not followed.
fn files(folder: &Path) -> Vec<PathBuf> {
    let is_folder = |path: &Path| fs::symlink_metadata(path).is_ok_and(|facts| facts.is_dir());
    if !is_folder(folder) || !folder.parent().is_some_and(is_folder) {
        return Vec::new();
    }
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_plain = |path: &PathBuf| {
        let facts = fs::symlink_metadata(path);
        let named = path.extension().is_some_and(|end| end == "ajson");
        named && facts.is_ok_and(|facts| facts.is_file() && facts.len() <= MOST_BYTES)
    };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_plain).collect();
    files.sort_unstable();
    files
}

/// The model that the plugin's settings name.
fn in_use(file: &Path) -> Option<String> {
    let settings: Value = serde_json::from_slice(&fs::read(file).ok()?).ok()?;
    let model = &settings["smart_sources"]["embed_model"];
    let adapter = model["adapter"].as_str()?;
    let key = model[adapter]["model_key"].as_str();
    key.or_else(|| model["model_key"].as_str())
        .map(str::to_string)
}
