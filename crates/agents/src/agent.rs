//! An approved agent, and what an approval says.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::token::TokenHash;

/// Where a caller reads what it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reader {
    /// On this machine: it sees every indexed note.
    Local,
    /// Somewhere else, such as a model in a data centre: notes behind the vault's fences are kept
    /// from it.
    Remote,
}

impl Reader {
    /// A stable word for programs: `local` or `remote`.
    pub fn code(self) -> &'static str {
        match self {
            Reader::Local => "local",
            Reader::Remote => "remote",
        }
    }
}

/// Which vaults an agent may ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VaultScope {
    /// Every vault, also those that are listed later.
    All,
    /// These alone.
    These(Vec<ScopedVault>),
}

/// A vault in a scope. The folder decides: a name can be given to another folder later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScopedVault {
    /// Its name when the agent was approved.
    pub name: String,
    /// Its canonical folder.
    pub path: PathBuf,
}

impl VaultScope {
    /// Whether the vault in the canonical folder `path` is among them.
    pub fn holds(&self, path: &Path) -> bool {
        match self {
            VaultScope::All => true,
            VaultScope::These(vaults) => vaults.iter().any(|vault| vault.path == path),
        }
    }
}

/// An agent as the register holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    /// What it is called; unique whatever the case.
    pub name: String,
    /// Unique for good: an agent that is approved anew under an old name has another.
    pub id: String,
    /// Which vaults it may ask.
    pub vaults: VaultScope,
    /// Whether it may change derived data, such as have an index built anew.
    pub manage: bool,
    /// Where it reads.
    pub reader: Reader,
    /// Names of the tool groups that are turned off.
    pub off: Vec<String>,
    /// When it was approved.
    pub approved_at: Timestamp,
    /// When the approval ends; never, if nothing.
    pub expires_at: Option<Timestamp>,
    /// What its token is compared with.
    pub token: TokenHash,
}

impl Agent {
    /// Whether the approval has ended.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|end| now >= end)
    }
}

/// What an approval says. See [`Agent`] for its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    /// What the agent is called.
    pub name: String,
    /// Which vaults it may ask.
    pub vaults: VaultScope,
    /// Whether it may change derived data.
    pub manage: bool,
    /// Where it reads.
    pub reader: Reader,
    /// Tool groups that are turned off.
    pub off: Vec<String>,
    /// When the approval ends.
    pub expires_at: Option<Timestamp>,
}
