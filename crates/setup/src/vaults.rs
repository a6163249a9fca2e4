//! The list of vaults: name and folder, kept as `[vaults.NAME]` tables in the
//! user's configuration file; and which of them a command means.

use std::path::{Path, PathBuf};

use crate::config::{Config, ListedVault};
use crate::edit;
use crate::environment::Environment;
use crate::error::{SetupError, Warning};
use crate::layers::Flags;
use crate::nearest::nearest;
use crate::origin::Origin;
use crate::paths;
use crate::settings::Key;
use crate::value::Value;

/// A folder of notes and the name it goes by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VaultRef {
    /// Name in the list, else the folder's name.
    pub name: String,
    /// The folder: canonical where it is there, as it was listed where not.
    pub path: PathBuf,
    /// Whether the folder is not there now (an unplugged disk, a renamed folder).
    pub missing: bool,
}

/// What [`add`] did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Added {
    /// The vault as it is listed now.
    pub vault: VaultRef,
    /// Whether the folder was listed before, so that nothing changed.
    pub already: bool,
    /// What to know, such as a vault inside another.
    pub warnings: Vec<Warning>,
}

/// Lists the folder `path` as a vault. Without `name` it takes the folder's. A
/// folder that is listed already is not listed twice.
///
/// # Errors
/// `path` is no folder, the name cannot be one or is taken, or the file cannot be
/// read or written.
pub fn add(environment: &Environment, name: Option<&str>, path: &str) -> Result<Added, SetupError> {
    let folder = existing_folder(environment, path)?;
    let asked = name.map(str::trim);
    let name = asked.map_or_else(|| folder_name(&folder), str::to_owned);
    edit::change(environment, |config, draft| {
        if let Some(listed) = at(config, &folder) {
            return Ok(Added {
                vault: listed.vault.clone(),
                already: true,
                warnings: asked
                    .map_or_else(Vec::new, |asked| renamed_warning(&listed.vault, asked)),
            });
        }
        check_name(&name, config.vaults.iter().map(|listed| &listed.vault))?;
        draft.insert_vault(&name, &folder)?;
        Ok(Added {
            vault: VaultRef::at(&name, &folder),
            already: false,
            warnings: nesting(config, &folder),
        })
    })
}

/// The listed vaults, in the order of the file. A vault whose folder is not there
/// stays listed and says so ([`VaultRef::missing`]).
pub fn list(config: &Config) -> impl Iterator<Item = &VaultRef> {
    config.vaults.iter().map(|listed| &listed.vault)
}

/// Takes a vault off the list, by name or folder, with its own settings, and
/// unsets `default_vault` if it named it. Notes and index stay as they are.
///
/// # Errors
/// No such vault is listed, or the file cannot be read or written.
pub fn remove(environment: &Environment, name_or_dir: &str) -> Result<VaultRef, SetupError> {
    edit::change(environment, |config, draft| {
        let vault = listed_as(config, name_or_dir)?.vault.clone();
        let default = config.entries.iter().find_map(|entry| match &entry.value {
            Value::Text(name) if entry.key == Key::DefaultVault => Some(name),
            _ => None,
        });
        draft.cut_vault(&vault.name)?;
        if default.is_some_and(|default| same_name(default, &vault.name)) {
            draft.cut(None, Key::DefaultVault.setting().name)?;
        }
        Ok(vault)
    })
}

/// Makes a listed vault the one that is meant where none is named.
///
/// # Errors
/// No such vault is listed, or the file cannot be read or written.
pub fn set_default(environment: &Environment, name_or_dir: &str) -> Result<VaultRef, SetupError> {
    edit::change(environment, |config, draft| {
        let vault = listed_as(config, name_or_dir)?.vault.clone();
        let name = vault.name.as_str().into();
        draft.put(None, Key::DefaultVault.setting().name, name)?;
        Ok(vault)
    })
}

/// The vault that a command means. `asked` is a name from the list, else a folder
/// (`./Notes` is always a folder). Not asked: `default_vault`, else the only vault
/// listed, else the current folder if it holds `.obsidian`.
///
/// # Errors
/// Nothing of that name, or nothing that could be meant; the hint says what to type.
pub fn resolve(
    config: &Config,
    flags: &Flags,
    asked: Option<&str>,
) -> Result<VaultRef, SetupError> {
    if let Some(asked) = asked {
        return named(config, asked, &config.environment.current_dir, None);
    }
    let settings = config.settings(None, flags)?;
    if let Some(default) = settings.default_vault() {
        let origin = settings.get(Key::DefaultVault).origin.clone();
        let base = match origin {
            Origin::ConfigFile { .. } => config.path.parent().unwrap_or(Path::new("")),
            _ => &config.environment.current_dir,
        };
        return named(config, &default, base, Some(origin));
    }
    let here = &config.environment.current_dir;
    match config.vaults.as_slice() {
        [only] => Ok(only.vault.clone()),
        listed => match at_or_obsidian(config, here) {
            Some(vault) => Ok(vault),
            None if listed.is_empty() => Err(SetupError::NoVault),
            None => Err(SetupError::WhichVault {
                listed: names(config),
            }),
        },
    }
}

impl VaultRef {
    /// The vault of that name at `folder`, canonical if the folder is there.
    #[must_use]
    pub fn at(name: &str, folder: &Path) -> Self {
        Self {
            name: name.to_owned(),
            path: paths::canonical_or_given(folder),
            missing: !folder.is_dir(),
        }
    }
}

/// A name that can be typed, and that no vault of `others` has.
pub(crate) fn check_name<'a>(
    name: &str,
    mut others: impl Iterator<Item = &'a VaultRef>,
) -> Result<(), SetupError> {
    let reason = if name.trim().is_empty() {
        Some("it is empty")
    } else if name.trim() != name {
        Some("it begins or ends with a space")
    } else if name.contains(['/', '\\']) || matches!(name, "." | ".." | "~") {
        Some("it would be read as a path")
    } else if name.starts_with('-') {
        Some("it would be read as a flag")
    } else if name.chars().any(char::is_control) {
        Some("it holds a control character")
    } else {
        None
    };
    if let Some(reason) = reason {
        let name = name.to_owned();
        return Err(SetupError::BadVaultName { name, reason });
    }
    match others.find(|other| same_name(&other.name, name)) {
        None => Ok(()),
        Some(other) => Err(SetupError::VaultNameTaken {
            name: name.to_owned(),
            path: other.path.clone(),
        }),
    }
}

pub(crate) fn same_name(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}

/// The listed vault of that name, whatever the case.
pub(crate) fn by_name<'c>(config: &'c Config, name: &str) -> Option<&'c ListedVault> {
    let mut listed = config.vaults.iter();
    listed.find(|listed| same_name(&listed.vault.name, name.trim()))
}

pub(crate) fn unknown(config: &Config, asked: &str, because: Option<Origin>) -> SetupError {
    let listed = names(config);
    SetupError::UnknownVault {
        asked: asked.to_owned(),
        nearest: nearest(asked, listed.iter().map(String::as_str)),
        listed,
        because: because.map(Box::new),
    }
}

fn names(config: &Config) -> Vec<String> {
    list(config).map(|vault| vault.name.clone()).collect()
}

fn at<'c>(config: &'c Config, folder: &Path) -> Option<&'c ListedVault> {
    let mut listed = config.vaults.iter();
    listed.find(|listed| listed.vault.path == folder)
}

fn listed_as<'c>(config: &'c Config, asked: &str) -> Result<&'c ListedVault, SetupError> {
    let environment = &config.environment;
    let folder = || {
        let path = paths::meant_folder(asked.trim(), &environment.home, &environment.current_dir);
        at(config, &paths::canonical_or_given(&path))
    };
    by_name(config, asked)
        .or_else(folder)
        .ok_or_else(|| unknown(config, asked, None))
}

fn named(
    config: &Config,
    asked: &str,
    base: &Path,
    because: Option<Origin>,
) -> Result<VaultRef, SetupError> {
    if let Some(listed) = by_name(config, asked) {
        return Ok(listed.vault.clone());
    }
    let path = paths::meant_folder(asked.trim(), &config.environment.home, base);
    let folder = paths::canonical_or_given(&path);
    if let Some(listed) = at(config, &folder) {
        return Ok(listed.vault.clone());
    }
    if asked.trim().is_empty() || !folder.exists() {
        return Err(unknown(config, asked, because));
    }
    if !folder.is_dir() {
        return Err(not_a_folder(folder));
    }
    Ok(VaultRef::at(&folder_name(&folder), &folder))
}

fn at_or_obsidian(config: &Config, here: &Path) -> Option<VaultRef> {
    let folder = paths::canonical_or_given(here);
    if let Some(listed) = at(config, &folder) {
        return Some(listed.vault.clone());
    }
    let is_vault = folder.join(".obsidian").is_dir();
    is_vault.then(|| VaultRef::at(&folder_name(&folder), &folder))
}

fn existing_folder(environment: &Environment, path: &str) -> Result<PathBuf, SetupError> {
    let path = paths::meant_folder(path, &environment.home, &environment.current_dir);
    match paths::canonical(&path) {
        Ok(folder) if folder.is_dir() => Ok(folder),
        Ok(file) => Err(not_a_folder(file)),
        Err(source) => Err(SetupError::NotAFolder {
            reason: match source.kind() {
                std::io::ErrorKind::NotFound => "there is no such folder".to_owned(),
                _ => source.to_string(),
            },
            path,
        }),
    }
}

fn not_a_folder(path: PathBuf) -> SetupError {
    SetupError::NotAFolder {
        path,
        reason: "this is a file; a vault is a folder of notes".to_owned(),
    }
}

fn folder_name(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    name.trim().to_owned()
}

/// Asked for under a new name, a listed vault keeps its own.
fn renamed_warning(vault: &VaultRef, asked: &str) -> Vec<Warning> {
    if same_name(&vault.name, asked) {
        return Vec::new();
    }
    vec![Warning {
        code: "vault_not_renamed",
        message: format!(
            "it was not renamed to \"{asked}\"; `lorewell vault remove` it first to give it another name"
        ),
    }]
}

/// One warning a listed vault that `folder` is inside of, or that is inside `folder`.
fn nesting(config: &Config, folder: &Path) -> Vec<Warning> {
    let nested = |listed: &ListedVault| {
        let VaultRef { name, path, .. } = &listed.vault;
        let how = if folder.starts_with(path) {
            "lies inside"
        } else if path.starts_with(folder) {
            "holds"
        } else {
            return None;
        };
        Some(Warning {
            code: "vault_nested",
            message: format!(
                "{} {how} the vault \"{name}\" ({}): the notes of the inner folder are in both",
                folder.display(),
                path.display()
            ),
        })
    };
    config.vaults.iter().filter_map(nested).collect()
}
