//! What can be wrong with a configuration: where, what, and what to try.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::origin::Origin;

/// A reason to stop. `Display` says where and what, [`hint`](Self::hint) what to
/// try, [`code`](Self::code) is the stable name for machines.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// The user has no home folder.
    #[error("this user's home folder is not known")]
    NoHome,
    /// The current folder cannot be read.
    #[error("the current folder is not known: {source}")]
    NoCurrentFolder {
        /// What the system said.
        source: io::Error,
    },
    /// A variable of ours holds bytes that are not Unicode.
    #[error("environment {variable}: its value is not Unicode")]
    VariableNotUnicode {
        /// The variable.
        variable: String,
    },
    /// A file cannot be read.
    #[error("{}: cannot be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The configuration file cannot be written.
    #[error("{}: cannot be written: {source}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file is not TOML.
    #[error("{} line {line}: {message}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Line, counted from 1.
        line: usize,
        /// What the parser said.
        message: String,
    },
    /// A key in the file that no setting has.
    #[error("{} line {line}: there is no setting `{key}`", path.display())]
    UnknownKey {
        /// The file.
        path: PathBuf,
        /// Line, counted from 1.
        line: usize,
        /// The key as it stands there.
        key: String,
        /// The known key nearest to it.
        nearest: Option<String>,
    },
    /// A name given to `get`, `set` or `unset` that no setting has.
    #[error("there is no setting `{name}`")]
    UnknownSetting {
        /// The name as given.
        name: String,
        /// The known name nearest to it.
        nearest: Option<String>,
    },
    /// A value of the wrong type or out of range.
    #[error("{origin}: `{key}` is {found}, but must be {expected}")]
    WrongValue {
        /// Where the value stands.
        origin: Box<Origin>,
        /// The key.
        key: String,
        /// The value as it stands there, shortened.
        found: String,
        /// The type and range, in words.
        expected: String,
    },
    /// A text given to `set` that does not fit the setting.
    #[error("`{name}` cannot be {text:?}: it must be {expected}")]
    WrongInput {
        /// The setting.
        name: &'static str,
        /// What was given, shortened.
        text: String,
        /// The type and range, in words.
        expected: String,
    },
    /// A setting of the machine inside a `[vaults.NAME]` table.
    #[error("{} line {line}: `{key}` cannot differ from vault to vault", path.display())]
    NotPerVault {
        /// The file.
        path: PathBuf,
        /// Line, counted from 1.
        line: usize,
        /// The key.
        key: String,
    },
    /// A variable or flag changes what the user alone says, for an agent that reads elsewhere.
    #[error("{origin}: an agent that reads elsewhere cannot change `{key}`")]
    NotForRemote {
        /// The variable or flag.
        origin: Box<Origin>,
        /// The key.
        key: &'static str,
    },
    /// A `[vaults.NAME]` table without `path`.
    #[error("{} line {line}: the vault \"{vault}\" has no `path`", path.display())]
    VaultWithoutPath {
        /// The file.
        path: PathBuf,
        /// Line, counted from 1.
        line: usize,
        /// The vault.
        vault: String,
    },
    /// A name that a vault cannot have.
    #[error("\"{name}\" cannot be the name of a vault: {reason}")]
    BadVaultName {
        /// The name.
        name: String,
        /// Why not.
        reason: &'static str,
    },
    /// Two vaults of one name, whatever their case.
    #[error("the name \"{name}\" is taken by the vault at {}", path.display())]
    VaultNameTaken {
        /// The name.
        name: String,
        /// Folder of the vault that has it.
        path: PathBuf,
    },
    /// No vault of that name, and no such folder.
    #[error("{}there is no vault named \"{asked}\" and no such folder", because.as_ref().map(|origin| format!("{origin}: ")).unwrap_or_default())]
    UnknownVault {
        /// What was asked for.
        asked: String,
        /// The listed name nearest to it.
        nearest: Option<String>,
        /// Names of all listed vaults.
        listed: Vec<String>,
        /// Where the name came from, if nobody typed it now.
        because: Option<Box<Origin>>,
    },
    /// A path that is no folder.
    #[error("{}: {reason}", path.display())]
    NotAFolder {
        /// The path.
        path: PathBuf,
        /// Why it cannot be a vault.
        reason: String,
    },
    /// No vault named, none listed, and the current folder is none.
    #[error("no vault was named, none is listed, and this folder is not an Obsidian vault")]
    NoVault,
    /// Several vaults listed, none named, none the default.
    #[error("which vault? {} are listed and none is the default: {}", listed.len(), listed.join(", "))]
    WhichVault {
        /// Names of all listed vaults.
        listed: Vec<String>,
    },
}

/// Something that a person should know and that stops nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// Stable name for machines.
    pub code: &'static str,
    /// Where and what.
    pub message: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl SetupError {
    /// Stable name of the kind of error, for machines.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoHome => "no_home",
            Self::NoCurrentFolder { .. } => "no_current_folder",
            Self::VariableNotUnicode { .. } => "variable_not_unicode",
            Self::Unreadable { .. } => "config_unreadable",
            Self::Unwritable { .. } => "config_unwritable",
            Self::Syntax { .. } => "config_syntax",
            Self::UnknownKey { .. } | Self::UnknownSetting { .. } => "unknown_setting",
            Self::WrongValue { .. } | Self::WrongInput { .. } => "wrong_value",
            Self::NotPerVault { .. } => "not_per_vault",
            Self::NotForRemote { .. } => "not_for_remote",
            Self::VaultWithoutPath { .. } => "vault_without_path",
            Self::BadVaultName { .. } => "bad_vault_name",
            Self::VaultNameTaken { .. } => "vault_name_taken",
            Self::UnknownVault { .. } => "unknown_vault",
            Self::NotAFolder { .. } => "not_a_folder",
            Self::NoVault => "no_vault",
            Self::WhichVault { .. } => "which_vault",
        }
    }

    /// What to try, in one sentence, where there is something to try.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoHome => Some("Set HOME to your home folder.".to_owned()),
            Self::UnknownKey { nearest, .. } | Self::UnknownSetting { nearest, .. } => {
                Some(nearest.as_ref().map_or_else(
                    || "`lorewell config list` names every setting.".to_owned(),
                    |nearest| format!("Did you mean `{nearest}`?"),
                ))
            }
            Self::NotPerVault { key, .. } => Some(format!(
                "Move `{key}` above the first [vaults.…] table of the file."
            )),
            Self::NotForRemote { key, .. } => Some(format!(
                "Leave it out; `lorewell config set {key} VALUE` says it for everyone."
            )),
            Self::VaultWithoutPath { .. } => Some("Add `path = \"/folder/of/notes\"`.".to_owned()),
            Self::BadVaultName { .. } | Self::VaultNameTaken { .. } => {
                Some("`lorewell vault add DIR --name NAME` gives another name.".to_owned())
            }
            Self::UnknownVault {
                nearest, listed, ..
            } => Some(unknown_vault_hint(nearest.as_deref(), listed)),
            Self::NoVault => Some(
                "`lorewell vault add DIR` lists a vault once and for all, `--vault DIR` names a folder for one command."
                    .to_owned(),
            ),
            Self::WhichVault { .. } => Some(
                "`--vault NAME` names one, `lorewell vault default NAME` chooses one for good."
                    .to_owned(),
            ),
            Self::NoCurrentFolder { .. }
            | Self::VariableNotUnicode { .. }
            | Self::Unreadable { .. }
            | Self::Unwritable { .. }
            | Self::Syntax { .. }
            | Self::WrongValue { .. }
            | Self::WrongInput { .. }
            | Self::NotAFolder { .. } => None,
        }
    }
}

fn unknown_vault_hint(nearest: Option<&str>, listed: &[String]) -> String {
    match nearest {
        Some(nearest) => format!("Did you mean \"{nearest}\"?"),
        None if listed.is_empty() => {
            "Give a folder of notes; `lorewell vault add DIR` lists it by name.".to_owned()
        }
        None => format!("Listed: {}.", listed.join(", ")),
    }
}
