//! Changes to the configuration file. Comments, order and layout stay; nothing is
//! written that would not be read again; a write is whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::config::{Config, read_if_there};
use crate::draft::Draft;
use crate::environment::Environment;
use crate::error::SetupError;
use crate::layers::{checked, find};
use crate::paths;
use crate::settings::Reach;
use crate::value::Value;
use crate::vaults;

/// Sets `name` to what `text` means, at the file's top level or in the table of
/// the listed vault `vault`, and returns the value. A relative path starts at the
/// current folder and is stored absolute.
///
/// # Errors
/// No such setting or vault, a value that does not fit, or a file that cannot be
/// read or written. The file is left as it was.
pub fn set(
    environment: &Environment,
    vault: Option<&str>,
    name: &str,
    text: &str,
) -> Result<Value, SetupError> {
    let setting = find(name)?;
    let value = checked(environment, setting, text)?;
    let stored = match &value {
        Value::Path(path) => path.to_string_lossy().as_ref().into(),
        _ => setting.kind.toml_from_text(text),
    };
    change(environment, |config, draft| {
        let Some(vault) = vault else {
            return draft.put(None, setting.name, stored);
        };
        let listed = vaults::by_name(config, vault);
        let listed = listed.ok_or_else(|| vaults::unknown(config, vault, None))?;
        if setting.reach == Reach::Machine {
            return Err(SetupError::NotPerVault {
                path: config.path.clone(),
                line: listed.line,
                key: setting.name.to_owned(),
            });
        }
        draft.put(Some(&listed.vault.name), setting.name, stored)
    })?;
    Ok(value)
}

/// Takes `name` out of the file (or out of the vault's table); comments stay.
/// `false` where it was not there. A key that no setting has can be taken out
/// too: that is how a misspelt one is put right.
///
/// # Errors
/// No such setting or vault, or a file that cannot be read or written.
pub fn unset(
    environment: &Environment,
    vault: Option<&str>,
    name: &str,
) -> Result<bool, SetupError> {
    rewrite(environment, |draft| {
        let vault = vault.map(|asked| draft.vault_called(asked)).transpose()?;
        let there = draft.cut(vault.as_deref(), name)?;
        if !there {
            find(name)?;
        }
        Ok(there)
    })
}

/// Edits a file that is sound, with the configuration it holds at hand.
pub(crate) fn change<T>(
    environment: &Environment,
    edit: impl FnOnce(&Config, &mut Draft) -> Result<T, SetupError>,
) -> Result<T, SetupError> {
    rewrite(environment, |draft| {
        let config = Config::parse(environment, draft.path(), draft.text())?;
        edit(&config, draft)
    })
}

/// Reads, edits, checks and writes the file under a lock, so that two commands at
/// once do not undo each other.
fn rewrite<T>(
    environment: &Environment,
    edit: impl FnOnce(&mut Draft) -> Result<T, SetupError>,
) -> Result<T, SetupError> {
    let path = environment.config_file();
    let unwritable = |source| SetupError::Unwritable {
        path: path.clone(),
        source,
    };
    let folder = path.parent().unwrap_or(Path::new(""));
    fs::create_dir_all(folder).map_err(unwritable)?;
    let _lock = lock(&folder.join(".config.lock")).map_err(unwritable)?;
    let before = read_if_there(&path)?.unwrap_or_default();
    let mut draft = Draft::new(&path, &before);
    let done = edit(&mut draft)?;
    let after = draft.finished();
    if after != before {
        Config::parse(environment, &path, &after)?;
        write_whole(&path, &after).map_err(unwritable)?;
    }
    Ok(done)
}

/// Waits for the lock. Where the file system has none, the write goes on without.
fn lock(path: &Path) -> io::Result<File> {
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)?;
    match file.lock() {
        Err(error) if error.kind() != io::ErrorKind::Unsupported => Err(error),
        _ => Ok(file),
    }
}

/// Writes a temporary file beside the target, syncs it and renames it over the
/// target. A symbolic link stays one (dotfiles are often linked), and so do the
/// permissions.
fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let target = paths::canonical_or_given(path);
    let temporary = temporary_beside(&target);
    let result = write_and_rename(&temporary, &target, text);
    if result.is_err() {
        // The first error is the one to tell; a leftover is harmless.
        let _ = fs::remove_file(&temporary);
    }
    result
}

fn write_and_rename(temporary: &Path, target: &Path, text: &str) -> io::Result<()> {
    let mut file = File::create(temporary)?;
    file.write_all(text.as_bytes())?;
    if let Ok(metadata) = fs::metadata(target) {
        file.set_permissions(metadata.permissions())?;
    }
    file.sync_all()?;
    drop(file);
    fs::rename(temporary, target)
}

fn temporary_beside(target: &Path) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    target.with_file_name(format!(".{name}.{}.tmp", std::process::id()))
}
