//! What the user leaves out: folders, patterns, tags and properties, and Obsidian's own filters.

use std::fmt;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use lorewell_text::path_key;
use serde_json::Value;

use crate::obsidian::Filter;
use crate::rule::{
    PropertyRule, Rule, by_property, by_tag, filled, folder_rules, property_rules, tag_rules,
};
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
    /// What is left out besides without a word: see [`FenceSettings`].
    pub fences: FenceSettings,
}

/// Notes that are kept from a reader who must not learn of them. They are left out like excluded
/// ones; but a listing does not tell them, and with a fence in force nothing is told of any file
/// that was not read. The lists are written as those of [`RuleSettings`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FenceSettings {
    /// Folders.
    pub folders: Vec<String>,
    /// Tags.
    pub tags: Vec<String>,
    /// Properties.
    pub properties: Vec<String>,
}

impl FenceSettings {
    /// Whether there is any fence. Blank entries are none.
    pub fn is_empty(&self) -> bool {
        let lists = [&self.folders, &self.tags, &self.properties];
        lists
            .into_iter()
            .flatten()
            .all(|rule| rule.trim().is_empty())
    }
}

impl Default for RuleSettings {
    fn default() -> RuleSettings {
        RuleSettings {
            folders: Vec::new(),
            globs: Vec::new(),
            tags: Vec::new(),
            properties: Vec::new(),
            obsidian_filters: true,
            fences: FenceSettings::default(),
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
    fences: Fences,
    obsidian: Vec<Filter>,
    /// Whether Obsidian's settings were read, now or before.
    knows_obsidian: bool,
}

/// Fences, ready to be asked.
#[derive(Clone, Default)]
struct Fences {
    folders: Vec<Rule>,
    tags: Vec<Rule>,
    properties: Vec<PropertyRule>,
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
        let (folder_globs, file_globs) = globs(&filled(&settings.globs))?;
        Ok(Rules {
            folders: folder_rules(&settings.folders),
            folder_globs,
            file_globs,
            tags: tag_rules(&settings.tags),
            properties: property_rules(&settings.properties),
            fences: Fences {
                folders: folder_rules(&settings.fences.folders),
                tags: tag_rules(&settings.fences.tags),
                properties: property_rules(&settings.fences.properties),
            },
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
        let fenced = by_tag(&self.fences.tags, tags).is_some()
            || by_property(&self.fences.properties, properties).is_some();
        if fenced {
            return Some(Reason::Fenced);
        }
        let tag = by_tag(&self.tags, tags);
        tag.map(|rule| Reason::ExcludedTag(rule.shown.clone()))
            .or_else(|| {
                let rule = by_property(&self.properties, properties)?;
                Some(Reason::ExcludedProperty(rule.shown.clone()))
            })
    }

    /// Whether a note must be read to know that it is left out.
    pub fn looks_into_notes(&self) -> bool {
        let Fences {
            tags, properties, ..
        } = &self.fences;
        let lists_are_empty = self.tags.is_empty() && tags.is_empty();
        !(lists_are_empty && self.properties.is_empty() && properties.is_empty())
    }

    /// Whether some reader must not learn of some notes ([`RuleSettings::fences`]).
    pub fn has_fences(&self) -> bool {
        let Fences {
            folders,
            tags,
            properties,
        } = &self.fences;
        !(folders.is_empty() && tags.is_empty() && properties.is_empty())
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
        let fences = &self.settings.fences;
        let fences = [&fences.folders, &fences.tags, &fences.properties];
        // Without fences the digest is that of before there were any.
        let fences = fences.into_iter().filter(|_| self.has_fences());
        for list in lists.into_iter().chain([&filters]).chain(fences) {
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
        if self.fences.folders.iter().any(|rule| rule.key == key) {
            return Some(Reason::Fenced);
        }
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
        !(self.folders.is_empty()
            && self.settings.globs.is_empty()
            && self.fences.folders.is_empty()
            && self.obsidian.is_empty())
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
