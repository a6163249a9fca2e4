//! The user's configuration file, read and checked. It writes nothing; see `edit`.

use std::io;
use std::path::{Path, PathBuf};

use toml_edit::{Document, Item, TableLike};

use crate::environment::{Environment, OTHER_VARIABLES, PREFIX};
use crate::error::{SetupError, Warning};
use crate::nearest::nearest;
use crate::origin::Origin;
use crate::paths;
use crate::settings::{Key, Reach, SETTINGS, Setting};
use crate::value::{Bases, Value};
use crate::vaults::{self, VaultRef};

/// The configuration file as it was when it was read, with the surroundings that
/// it was read in. A missing file is an empty one.
#[derive(Debug, Clone)]
pub struct Config {
    pub(crate) environment: Environment,
    pub(crate) path: PathBuf,
    pub(crate) entries: Vec<Entry>,
    pub(crate) vaults: Vec<ListedVault>,
    warnings: Vec<Warning>,
}

/// A `[vaults.NAME]` table.
#[derive(Debug, Clone)]
pub struct ListedVault {
    /// Name and folder, and whether the folder is there.
    pub vault: VaultRef,
    /// Line of its table in the file, counted from 1.
    pub line: usize,
    pub(crate) entries: Vec<Entry>,
}

/// One setting given in one place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: Key,
    pub(crate) value: Value,
    pub(crate) origin: Origin,
}

impl Config {
    /// Reads `<config_dir>/lorewell/config.toml`.
    ///
    /// # Errors
    /// The file cannot be read, is not TOML, or holds an unknown key, a value that
    /// does not fit its setting or a vault that cannot be.
    pub fn load(environment: &Environment) -> Result<Self, SetupError> {
        let path = environment.config_file();
        let text = read_if_there(&path)?.unwrap_or_default();
        Self::parse(environment, &path, &text)
    }

    /// The checks of [`Config::load`] on a text that may not be written yet.
    pub(crate) fn parse(
        environment: &Environment,
        path: &Path,
        text: &str,
    ) -> Result<Self, SetupError> {
        let document = parse_toml(path, text)?;
        let reader = Reader {
            path,
            text,
            environment,
        };
        let mut entries = Vec::new();
        let mut vaults = Vec::new();
        for (name, item, line) in reader.items(document.as_table()) {
            if name == "vaults" {
                vaults = reader.vaults(item, line)?;
            } else {
                entries.push(reader.entry(name, item, line, None)?);
            }
        }
        Ok(Self {
            environment: environment.clone(),
            path: path.to_path_buf(),
            entries,
            vaults,
            warnings: unknown_variables(environment),
        })
    }

    /// The file, whether or not it exists.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The surroundings that it was read in.
    #[must_use]
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// The listed vaults, in the order of the file.
    #[must_use]
    pub fn vaults(&self) -> &[ListedVault] {
        &self.vaults
    }

    /// What a person should know, such as a misspelt `LOREWELL_` variable.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }
}

/// Text of a file; `None` where there is none.
pub(crate) fn read_if_there(path: &Path) -> Result<Option<String>, SetupError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(SetupError::Unreadable {
            path: path.to_path_buf(),
            source,
        }),
    }
}

pub(crate) fn parse_toml<'t>(path: &Path, text: &'t str) -> Result<Document<&'t str>, SetupError> {
    Document::parse(text).map_err(|error| SetupError::Syntax {
        path: path.to_path_buf(),
        line: line_at(text, error.span().map_or(0, |span| span.start)),
        message: error.message().replace('\n', ", "),
    })
}

/// The line, counted from 1, that the byte at `offset` stands on.
pub(crate) fn line_at(text: &str, offset: usize) -> usize {
    let before = text.as_bytes().iter().take(offset);
    before.filter(|byte| **byte == b'\n').count() + 1
}

/// `found` as an error shows it: one line, at most 60 characters.
pub(crate) fn shortened(found: &str) -> String {
    let line = found.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= 60 {
        return line;
    }
    line.chars().take(59).chain(['…']).collect()
}

/// What is needed to turn items of a document into entries and errors.
struct Reader<'a> {
    path: &'a Path,
    text: &'a str,
    environment: &'a Environment,
}

impl<'a> Reader<'a> {
    fn items<'t>(&self, table: &'t dyn TableLike) -> Vec<(&'t str, &'t Item, usize)> {
        let with_line = |(name, item): (&'t str, &'t Item)| {
            let key = table.get_key_value(name).and_then(|(key, _)| key.span());
            let span = key.or_else(|| item.span());
            let line = line_at(self.text, span.map_or(0, |span| span.start));
            (name, item, line)
        };
        table.iter().map(with_line).collect()
    }

    fn bases(&self) -> Bases<'a> {
        Bases {
            home: &self.environment.home,
            base: self.path.parent().unwrap_or(Path::new("")),
        }
    }

    fn entry(
        &self,
        name: &str,
        item: &Item,
        line: usize,
        vault: Option<&str>,
    ) -> Result<Entry, SetupError> {
        let path = self.path.to_path_buf();
        let Some(setting) = Setting::named(name) else {
            let own = if vault.is_some() { "path" } else { "vaults" };
            let names = SETTINGS.iter().map(|setting| setting.name).chain([own]);
            return Err(SetupError::UnknownKey {
                path,
                line,
                key: name.to_owned(),
                nearest: nearest(name, names),
            });
        };
        let origin = match vault {
            None => Origin::ConfigFile { path, line },
            Some(_) if setting.reach == Reach::Machine => {
                let key = name.to_owned();
                return Err(SetupError::NotPerVault { path, line, key });
            }
            Some(vault) => Origin::VaultTable {
                path,
                line,
                vault: vault.to_owned(),
            },
        };
        read_entry(setting, item, origin, self.bases())
    }

    fn vaults(&self, item: &Item, line: usize) -> Result<Vec<ListedVault>, SetupError> {
        let tables = self.table(item, "vaults", line)?;
        let mut vaults: Vec<ListedVault> = Vec::new();
        for (name, item, line) in self.items(tables) {
            let vault = self.vault(name, item, line)?;
            vaults::check_name(name, vaults.iter().map(|listed| &listed.vault))?;
            vaults.push(vault);
        }
        Ok(vaults)
    }

    fn vault(&self, name: &str, item: &Item, line: usize) -> Result<ListedVault, SetupError> {
        let table = self.table(item, &format!("vaults.{name}"), line)?;
        let mut folder = None;
        let mut entries = Vec::new();
        for (key, item, line) in self.items(table) {
            if key == "path" {
                folder = Some(self.folder(item, line)?);
            } else {
                entries.push(self.entry(key, item, line, Some(name))?);
            }
        }
        let folder = folder.ok_or_else(|| SetupError::VaultWithoutPath {
            path: self.path.to_path_buf(),
            line,
            vault: name.to_owned(),
        })?;
        Ok(ListedVault {
            vault: VaultRef::at(name, &folder),
            line,
            entries,
        })
    }

    fn folder(&self, item: &Item, line: usize) -> Result<PathBuf, SetupError> {
        let text = item.as_str().filter(|text| !text.trim().is_empty());
        let text = text.ok_or_else(|| self.wrong("path", item, line, "the folder of the vault"))?;
        let bases = self.bases();
        Ok(paths::absolute(text, bases.home, bases.base))
    }

    fn table<'t>(
        &self,
        item: &'t Item,
        key: &str,
        line: usize,
    ) -> Result<&'t dyn TableLike, SetupError> {
        item.as_table_like()
            .ok_or_else(|| self.wrong(key, item, line, "a table, as in [vaults.NAME]"))
    }

    fn wrong(&self, key: &str, item: &Item, line: usize, expected: &str) -> SetupError {
        SetupError::WrongValue {
            origin: Box::new(Origin::ConfigFile {
                path: self.path.to_path_buf(),
                line,
            }),
            key: key.to_owned(),
            found: shortened(&item.to_string()),
            expected: expected.to_owned(),
        }
    }
}

/// Checks the value of one setting.
pub(crate) fn read_entry(
    setting: &Setting,
    item: &Item,
    origin: Origin,
    bases: Bases<'_>,
) -> Result<Entry, SetupError> {
    let value = item
        .as_value()
        .and_then(|value| setting.kind.read(value, bases));
    match value {
        Some(value) => Ok(Entry {
            key: setting.key,
            value,
            origin,
        }),
        None => Err(SetupError::WrongValue {
            origin: Box::new(origin),
            key: setting.name.to_owned(),
            found: if item.is_value() {
                shortened(&item.to_string())
            } else {
                "a table".to_owned()
            },
            expected: item.as_value().map_or_else(
                || setting.kind.describe(),
                |value| setting.kind.expected(value),
            ),
        }),
    }
}

fn unknown_variables(environment: &Environment) -> Vec<Warning> {
    let known: Vec<String> = SETTINGS.iter().map(Setting::variable).collect();
    let known = || known.iter().map(String::as_str);
    let strangers = environment.vars.keys().filter(|name| {
        name.starts_with(PREFIX)
            && !OTHER_VARIABLES.contains(&name.as_str())
            && !known().any(|known| known == *name)
    });
    let warn = |name: &String| {
        let suggestion = nearest_variable(name, known())
            .map_or_else(String::new, |near| format!("; did you mean {near}?"));
        Warning {
            code: "unknown_variable",
            message: format!("environment {name}: no setting has that variable{suggestion}"),
        }
    };
    strangers.map(warn).collect()
}

/// The prefix is common to all, so only what follows it is compared.
fn nearest_variable<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let tail = |name: &'a str| name.strip_prefix(PREFIX);
    let near = nearest(name.strip_prefix(PREFIX)?, known.filter_map(tail))?;
    Some(format!("{PREFIX}{near}"))
}
