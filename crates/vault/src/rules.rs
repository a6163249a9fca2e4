//! What the user leaves out: folders, patterns, tags and properties, and Obsidian's own filters.

use std::fmt;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use lorewell_text::{name_key, path_key};
use serde_json::Value;

use crate::obsidian::Filter;
use crate::{Reason, leftovers};

/// The user's exclusions as written in the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleSettings {
    /// Folders, as paths from the root (`Private` or `Private/`): they and all in them.
    pub folders: Vec<String>,
    /// Patterns with `*`, `?`, `**`, `[a-z]` and `{a,b}`. One without `/` is looked for in every
    /// folder; one that matches a folder leaves out all in it.
    pub globs: Vec<String>,
    /// Tags, with or without `#`; a tag stands for those nested in it.
    pub tags: Vec<String>,
    /// Properties: `key=value` (of a list: one of its values), or `key` alone for any value but
    /// false, null and nothing.
    pub properties: Vec<String>,
    /// Whether the "Excluded files" of Obsidian's settings hold as well.
    pub obsidian_filters: bool,
}

impl Default for RuleSettings {
    fn default() -> RuleSettings {
        RuleSettings {
            folders: Vec::new(),
            globs: Vec::new(),
            tags: Vec::new(),
            properties: Vec::new(),
            obsidian_filters: true,
        }
    }
}

/// A rule of the user that cannot be understood.
#[derive(Debug, thiserror::Error)]
#[error("the excluded pattern “{glob}” cannot be read: {message}")]
pub struct RuleError {
    /// The pattern.
    pub glob: String,
    /// What is wrong with it.
    pub message: String,
}

impl RuleError {
    /// What to try.
    pub fn hint(&self) -> &'static str {
        "Close every bracket and brace, or write “\\[” for a bracket that is part of a name."
    }
}

/// The exclusions, ready to be asked. The default leaves out only what is left out everywhere
/// (hidden folders, leftovers of programs, …) and what Obsidian's settings name.
#[derive(Clone, Default)]
pub struct Rules {
    settings: RuleSettings,
    folders: Vec<Rule>,
    folder_globs: Globs,
    file_globs: Globs,
    tags: Vec<Rule>,
    properties: Vec<PropertyRule>,
    obsidian: Vec<Filter>,
    /// Whether Obsidian's settings were read, now or before.
    knows_obsidian: bool,
}

/// A rule's folded form, and how the user wrote it.
#[derive(Clone)]
struct Rule {
    key: String,
    shown: String,
}

#[derive(Clone)]
struct PropertyRule {
    key: String,
    value: Option<String>,
    shown: String,
}

#[derive(Clone, Default)]
struct Globs {
    set: GlobSet,
    shown: Vec<String>,
}

impl Rules {
    /// Makes the rules of `settings` ready. Blank entries are passed over.
    ///
    /// # Errors
    /// A pattern that is not well formed.
    pub fn new(settings: RuleSettings) -> Result<Rules, RuleError> {
        let filled = |list: &[String]| -> Vec<String> {
            list.iter()
                .map(|s| s.trim().to_owned())
                .filter(|s| !s.is_empty())
                .collect()
        };
        let (folder_globs, file_globs) = globs(&filled(&settings.globs))?;
        let folders = filled(&settings.folders).into_iter().map(|shown| Rule {
            key: path_key(shown.trim_start_matches("./").trim_matches('/')),
            shown,
        });
        let tags = filled(&settings.tags).into_iter().map(|shown| {
            let shown = shown.trim_matches(['#', '/']).to_owned();
            Rule {
                key: name_key(&shown),
                shown,
            }
        });
        Ok(Rules {
            folders: folders.filter(|rule| !rule.key.is_empty()).collect(),
            folder_globs,
            file_globs,
            tags: tags.filter(|rule| !rule.key.is_empty()).collect(),
            properties: filled(&settings.properties)
                .into_iter()
                .map(PropertyRule::new)
                .collect(),
            obsidian: Vec::new(),
            knows_obsidian: false,
            settings,
        })
    }

    /// The settings that these rules were made from.
    pub fn settings(&self) -> &RuleSettings {
        &self.settings
    }

    /// Why a note of this path (from the root) is left out: for its own name or that of a folder
    /// above it. Whether there is such a note is not looked at.
    pub fn excludes_path(&self, path: &str) -> Option<Reason> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        self.excludes_folder_path(folder)
            .or_else(|| leftovers::file_reason(name))
            .or_else(|| self.excludes_file(path))
    }

    /// Why a note with these tags and properties is left out. Tags are without `#`.
    pub fn excludes_note(&self, tags: &[&str], properties: &[(String, Value)]) -> Option<Reason> {
        self.by_tag(tags).or_else(|| self.by_property(properties))
    }

    /// A digest of all rules, Obsidian's filters included: when it changes, notes that did not
    /// change may have to go or come back.
    pub fn fingerprint(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        let lists = [
            &self.settings.folders,
            &self.settings.globs,
            &self.settings.tags,
            &self.settings.properties,
        ];
        let filters: Vec<String> = self.obsidian.iter().map(|f| f.shown().to_owned()).collect();
        for list in lists.into_iter().chain([&filters]) {
            hasher.update(&(list.len() as u64).to_le_bytes());
            for rule in list {
                hasher.update(&(rule.len() as u64).to_le_bytes());
                hasher.update(rule.as_bytes());
            }
        }
        *hasher.finalize().as_bytes()
    }

    /// Obsidian's filters as written there; nothing where its settings were never read.
    pub fn obsidian_filters(&self) -> Option<Vec<&str>> {
        let shown = || self.obsidian.iter().map(Filter::shown).collect();
        self.knows_obsidian.then(shown)
    }

    /// The same rules with Obsidian's filters, if they are known.
    pub(crate) fn with_obsidian(&self, filters: Option<Vec<Filter>>) -> Rules {
        Rules {
            knows_obsidian: filters.is_some(),
            obsidian: filters.unwrap_or_default(),
            ..self.clone()
        }
    }

    /// Why a folder is left out: for its own name or that of a folder above it.
    pub fn excludes_folder_path(&self, folder: &str) -> Option<Reason> {
        let above = folder.match_indices('/').map(|(at, _)| &folder[..at]);
        above
            .chain([folder])
            .filter(|f| !f.is_empty())
            .find_map(|f| self.excludes_folder(f))
    }

    /// Why a folder is left out with all in it; folders above it are not looked at.
    pub(crate) fn excludes_folder(&self, path: &str) -> Option<Reason> {
        if let Some(reason) = leftovers::folder_reason(path) {
            return Some(reason);
        }
        if !self.asks_for_paths() {
            return None;
        }
        let mut key = path_key(path);
        if let Some(rule) = self.folders.iter().find(|rule| rule.key == key) {
            return Some(Reason::ExcludedFolder(rule.shown.clone()));
        }
        if let Some(glob) = self.folder_globs.first_match(&key) {
            return Some(Reason::ExcludedGlob(glob.to_owned()));
        }
        key.push('/');
        let filter = self
            .obsidian
            .iter()
            .find(|filter| filter.covers_folder(&key))?;
        Some(Reason::ObsidianIgnore(filter.shown().to_owned()))
    }

    /// Why the user's rules leave out a file; folders above it are not looked at.
    pub(crate) fn excludes_file(&self, path: &str) -> Option<Reason> {
        if !self.asks_for_paths() {
            return None;
        }
        let key = path_key(path);
        if let Some(glob) = self.file_globs.first_match(&key) {
            return Some(Reason::ExcludedGlob(glob.to_owned()));
        }
        let filter = self
            .obsidian
            .iter()
            .find(|filter| filter.covers_file(path, &key))?;
        Some(Reason::ObsidianIgnore(filter.shown().to_owned()))
    }

    fn asks_for_paths(&self) -> bool {
        !(self.folders.is_empty() && self.settings.globs.is_empty() && self.obsidian.is_empty())
    }

    fn by_tag(&self, tags: &[&str]) -> Option<Reason> {
        if self.tags.is_empty() {
            return None;
        }
        let keys: Vec<String> = tags
            .iter()
            .map(|tag| name_key(tag.trim_start_matches('#')))
            .collect();
        let rule = self.tags.iter().find(|rule| {
            keys.iter().any(|key| {
                key.strip_prefix(&rule.key)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
        })?;
        Some(Reason::ExcludedTag(rule.shown.clone()))
    }

    fn by_property(&self, properties: &[(String, Value)]) -> Option<Reason> {
        if self.properties.is_empty() {
            return None;
        }
        let rule = self.properties.iter().find(|rule| {
            properties
                .iter()
                .any(|(key, value)| name_key(key) == rule.key && rule.fits(value))
        })?;
        Some(Reason::ExcludedProperty(rule.shown.clone()))
    }
}

impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let filters: Vec<&str> = self.obsidian.iter().map(Filter::shown).collect();
        f.debug_struct("Rules")
            .field("settings", &self.settings)
            .field("obsidian", &filters)
            .finish_non_exhaustive()
    }
}

impl PropertyRule {
    fn new(shown: String) -> PropertyRule {
        let (key, value) = match shown.split_once('=') {
            Some((key, value)) => (key, Some(name_key(value))),
            None => (shown.as_str(), None),
        };
        PropertyRule {
            key: name_key(key),
            value,
            shown,
        }
    }

    fn fits(&self, value: &Value) -> bool {
        match (&self.value, value) {
            (_, Value::Array(values)) => values.iter().any(|v| self.fits(v)),
            (None, Value::Null | Value::Bool(false)) => false,
            (None, Value::String(text)) => !text.trim().is_empty(),
            (None, Value::Object(map)) => !map.is_empty(),
            (None, _) => true,
            (Some(wanted), Value::String(text)) => name_key(text) == *wanted,
            (Some(wanted), Value::Null) => wanted.is_empty(),
            (Some(wanted), Value::Bool(_) | Value::Number(_)) => {
                name_key(&value.to_string()) == *wanted
            }
            (Some(_), Value::Object(_)) => false,
        }
    }
}

impl Globs {
    fn first_match(&self, key: &str) -> Option<&str> {
        let at = *self.set.matches(key).first()?;
        self.shown.get(at).map(String::as_str)
    }
}

/// The patterns for folders and those for files.
fn globs(patterns: &[String]) -> Result<(Globs, Globs), RuleError> {
    let (mut folders, mut files) = (Vec::new(), Vec::new());
    for shown in patterns {
        let bare = shown
            .strip_suffix("/**")
            .or_else(|| shown.strip_suffix('/'));
        let pattern = anchored(bare.unwrap_or(shown));
        folders.push((pattern.clone(), shown.clone()));
        if bare.is_none() {
            files.push((pattern, shown.clone()));
        }
    }
    Ok((build(folders)?, build(files)?))
}

/// A pattern without a `/` looks in every folder; one that begins with `/` from the root only.
fn anchored(pattern: &str) -> String {
    let key = path_key(pattern);
    match key.strip_prefix('/') {
        Some(from_root) => from_root.to_owned(),
        None if key.contains('/') => key,
        None => format!("**/{key}"),
    }
}

fn build(patterns: Vec<(String, String)>) -> Result<Globs, RuleError> {
    let mut set = GlobSetBuilder::new();
    let mut shown = Vec::with_capacity(patterns.len());
    for (pattern, written) in patterns {
        let message = |e: globset::Error| RuleError {
            glob: written.clone(),
            message: e.kind().to_string(),
        };
        set.add(
            GlobBuilder::new(&pattern)
                .literal_separator(true)
                .build()
                .map_err(message)?,
        );
        shown.push(written);
    }
    let set = set.build().map_err(|e| RuleError {
        glob: shown.join(", "),
        message: e.kind().to_string(),
    })?;
    Ok(Globs { set, shown })
}
