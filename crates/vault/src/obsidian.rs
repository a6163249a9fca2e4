//! What Obsidian's own settings of a vault say of its notes: the "Excluded files" (the
//! `userIgnoreFilters` of `.obsidian/app.json`), and in which folders templates and daily notes are
//! kept.
//!
//! Settings that arrive inside a vault are not trusted: all they can do is leave out more and
//! class notes.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use lorewell_text::path_key;
use regex::{Regex, RegexBuilder};
use serde_json::Value;

/// Obsidian's settings are a few kilobytes; what is larger is not read.
const MAX_SETTINGS_BYTES: u64 = 4 << 20;
/// Bounds the memory of a compiled expression.
const MAX_EXPRESSION_BYTES: usize = 1 << 20;

/// One entry of the list: the beginning of a path, or `/an expression/` found anywhere in it.
/// Both ignore case, as in Obsidian.
#[derive(Clone, Debug)]
pub(crate) enum Filter {
    Prefix { key: String, shown: String },
    Expression { regex: Regex, shown: String },
}

/// The filters that could be read, and what was wrong with the others.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filters {
    pub(crate) filters: Vec<Filter>,
    pub(crate) warnings: Vec<String>,
}

/// The folders in which the app keeps certain notes, as paths from the vault's root. They decide
/// nothing but the class of a note.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AppFolders {
    /// Forms that notes are made from.
    pub templates: Vec<String>,
    /// Daily notes.
    pub daily: Vec<String>,
}

/// Where settings name folders: the file, and the ways to the values in it.
type Places = [(&'static str, &'static [&'static str])];
const TEMPLATE_FOLDERS: &Places = &[
    ("templates.json", &["/folder"]),
    (
        "plugins/templater-obsidian/data.json",
        &["/templates_folder"],
    ),
];
const DAILY_FOLDERS: &Places = &[
    ("daily-notes.json", &["/folder"]),
    (
        "plugins/periodic-notes/data.json",
        &["/daily/folder", "/weekly/folder", "/monthly/folder"],
    ),
];

impl Filter {
    /// Nothing for an entry that would match no file.
    pub(crate) fn new(entry: &str) -> Result<Option<Filter>, regex::Error> {
        let shown = entry.to_owned();
        let inner = entry.strip_prefix('/').and_then(|e| e.strip_suffix('/'));
        match inner {
            Some(expression) if !expression.is_empty() => {
                let regex = RegexBuilder::new(expression)
                    .case_insensitive(true)
                    .size_limit(MAX_EXPRESSION_BYTES)
                    .build()?;
                Ok(Some(Filter::Expression { regex, shown }))
            }
            _ => {
                let key = path_key(entry.trim_start_matches('/'));
                Ok((!key.is_empty()).then_some(Filter::Prefix { key, shown }))
            }
        }
    }

    /// The entry as written.
    pub(crate) fn shown(&self) -> &str {
        match self {
            Filter::Prefix { shown, .. } | Filter::Expression { shown, .. } => shown,
        }
    }

    /// Whether every file in the folder is meant; `key` is the folder's folded path with `/`.
    pub(crate) fn covers_folder(&self, key: &str) -> bool {
        matches!(self, Filter::Prefix { key: prefix, .. } if key.starts_with(prefix.as_str()))
    }

    /// Whether a file is meant, by its path as on disk and its folded path.
    pub(crate) fn covers_file(&self, path: &str, key: &str) -> bool {
        match self {
            Filter::Prefix { key: prefix, .. } => key.starts_with(prefix.as_str()),
            Filter::Expression { regex, .. } => regex.is_match(path),
        }
    }
}

/// The filters of the vault at `root`; none if Obsidian has no settings there.
///
/// # Errors
/// What is wrong with the settings file, for people: which filters hold is then not known.
pub(crate) fn read_filters(root: &Path) -> Result<Filters, String> {
    let path = root.join(".obsidian").join("app.json");
    let text = match read_small_file(&path) {
        Ok(text) => text,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Filters::default()),
        Err(e) => return Err(format!(".obsidian/app.json cannot be read: {e}")),
    };
    let settings: Value = serde_json::from_slice(&text)
        .map_err(|e| format!(".obsidian/app.json is not valid JSON: {e}"))?;
    let entries = settings.get("userIgnoreFilters").and_then(Value::as_array);
    let mut found = Filters::default();
    for entry in entries.into_iter().flatten().filter_map(Value::as_str) {
        match Filter::new(entry) {
            Ok(filter) => found.filters.extend(filter),
            Err(e) => found.warnings.push(format!(
                ".obsidian/app.json: the excluded-files filter “{entry}” is not understood and \
                 leaves nothing out ({}); exclude the files in Lorewell's own settings",
                one_line(&e.to_string())
            )),
        }
    }
    Ok(found)
}

/// The folders that Obsidian's settings name in the vault at `root`; none where it has no such
/// settings. What cannot be read names none: notes are then classed by their own signs.
pub(crate) fn read_folders(root: &Path) -> AppFolders {
    let settings = root.join(".obsidian");
    if !settings.is_dir() {
        return AppFolders::default();
    }
    let named = |places: &Places| {
        let mut folders: Vec<String> = Vec::new();
        for (file, pointers) in places {
            let Ok(text) = read_small_file(&settings.join(file)) else {
                continue;
            };
            let value = serde_json::from_slice::<Value>(&text).unwrap_or_default();
            for pointer in *pointers {
                let folder = value.pointer(pointer).and_then(Value::as_str);
                let folder = folder.unwrap_or_default().trim().trim_matches('/');
                // The root itself says nothing of a note.
                if !folder.is_empty() && folder != "." && !folders.iter().any(|f| f == folder) {
                    folders.push(folder.to_owned());
                }
            }
        }
        folders
    };
    AppFolders {
        templates: named(TEMPLATE_FOLDERS),
        daily: named(DAILY_FOLDERS),
    }
}

fn read_small_file(path: &Path) -> io::Result<Vec<u8>> {
    // Looked at before it is opened: opening a pipe would wait for ever.
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() || metadata.len() > MAX_SETTINGS_BYTES {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "not a settings file",
        ));
    }
    let mut bytes = Vec::new();
    File::open(path)?
        .take(MAX_SETTINGS_BYTES)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The last line of a message that draws the expression above it.
fn one_line(message: &str) -> &str {
    message.lines().last().unwrap_or(message).trim()
}

#[cfg(test)]
mod tests {
    use lorewell_testkit::TempVault;

    use super::read_folders;

    #[test]
    fn folders_of_the_app() {
        let vault = TempVault::empty();
        assert_eq!(read_folders(vault.root()), super::AppFolders::default());
        vault.write(
            ".obsidian/templates.json",
            r#"{"folder": "/Extras/Templates/"}"#,
        );
        vault.write(
            ".obsidian/plugins/templater-obsidian/data.json",
            r#"{"templates_folder": "Extras/Templates", "trigger": true}"#,
        );
        vault.write(
            ".obsidian/daily-notes.json",
            r#"{"folder": "", "format": "YYYY"}"#,
        );
        vault.write(
            ".obsidian/plugins/periodic-notes/data.json",
            r#"{"daily": {"folder": "Days"}, "weekly": {"folder": ["x"]}, "monthly": {"folder": "Months"}}"#,
        );
        let folders = read_folders(vault.root());
        assert_eq!(folders.templates, ["Extras/Templates"]);
        assert_eq!(folders.daily, ["Days", "Months"]);
        vault.write(".obsidian/templates.json", "{");
        assert_eq!(read_folders(vault.root()).templates, ["Extras/Templates"]);
    }
}
