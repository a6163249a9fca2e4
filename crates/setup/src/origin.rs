//! Where a value came from, in the words that a person sees.

use std::fmt;
use std::path::PathBuf;

/// The place that a value came from. Later variants stand above earlier ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Built in.
    Default,
    /// The top level of the user's configuration file.
    ConfigFile {
        /// The file.
        path: PathBuf,
        /// Line, counted from 1.
        line: usize,
    },
    /// The `[vaults.NAME]` table of the user's configuration file.
    VaultTable {
        /// The file.
        path: PathBuf,
        /// Line, counted from 1.
        line: usize,
        /// The vault's name.
        vault: String,
    },
    /// An environment variable.
    Environment {
        /// Its name, such as `LOREWELL_LIMIT`.
        variable: String,
    },
    /// A command-line flag.
    Flag {
        /// The flag without its dashes.
        flag: String,
    },
    /// The file `.lorewell/config.toml` inside a vault, which can only add exclusions.
    InVault {
        /// The file.
        path: PathBuf,
        /// Line, counted from 1.
        line: usize,
    },
}

impl Origin {
    /// A stable word
    /// for machines: `default`, `file`, `vault`, `environment`, `flag`, `in-vault`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::ConfigFile { .. } => "file",
            Self::VaultTable { .. } => "vault",
            Self::Environment { .. } => "environment",
            Self::Flag { .. } => "flag",
            Self::InVault { .. } => "in-vault",
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::ConfigFile { path, line } => {
                write!(f, "config file {} line {line}", path.display())
            }
            Self::VaultTable { path, line, vault } => write!(
                f,
                "vault \"{vault}\" in config file {} line {line}",
                path.display()
            ),
            Self::Environment { variable } => write!(f, "environment {variable}"),
            Self::Flag { flag } => write!(f, "flag --{flag}"),
            Self::InVault { path, line } => {
                write!(f, "the vault's own {} line {line}", path.display())
            }
        }
    }
}
