//! The host: one vault, its index, its settings.

use std::path::Path;
use std::sync::Arc;

use lorewell_embed::{Embedder, StaticModel};
use lorewell_index::{
    IndexError, IndexSettings, Layout, Lock, LockAttempt, Snapshot, Writer, known_filters,
};
use lorewell_retrieval::SearchSettings;
use lorewell_vault::{Listing, Rules, Vault, VaultError};

use crate::{EngineError, Tokens, View};

/// Everything of the settings that the engine itself needs.
#[derive(Clone, Debug, Default)]
pub struct EngineSettings {
    /// How notes are read and cut, and what is left out.
    pub index: IndexSettings,
    /// How answers are made.
    pub search: SearchSettings,
    /// Notes larger than this are left out, in bytes; `None` for the usual limit.
    pub max_note_bytes: Option<u64>,
    /// What counts tokens; `None` for an estimate.
    pub tokens: Option<Arc<dyn Tokens>>,
}

/// One vault with its index. Cheap to open; nothing is read until it is asked.
pub struct Host {
    pub(crate) vault: Vault,
    pub(crate) name: String,
    pub(crate) layout: Layout,
    pub(crate) settings: EngineSettings,
    pub(crate) embedder: &'static dyn Embedder,
}

impl Host {
    /// Opens the folder of notes at `root`, called `name`, with its index in `index_folder`,
    /// which need not exist yet.
    ///
    /// # Errors
    /// The folder of notes is missing, is a file, or may not be read; the index would lie in it.
    pub fn open(
        name: &str,
        root: &Path,
        index_folder: &Path,
        settings: EngineSettings,
    ) -> Result<Host, EngineError> {
        let mut vault = Vault::open(root)?;
        if lies_in(index_folder, vault.root()) {
            return Err(EngineError::IndexInVault {
                index: index_folder.to_path_buf(),
                vault: vault.root().to_path_buf(),
            });
        }
        if let Some(bytes) = settings.max_note_bytes {
            vault = vault.with_max_bytes(bytes);
        }
        Ok(Host {
            vault,
            name: name.to_string(),
            layout: Layout::new(index_folder),
            settings,
            embedder: StaticModel::built_in(),
        })
    }

    /// The same host with another model for the dense lane; an index of the old one is read anew.
    pub fn with_embedder(self, embedder: &'static dyn Embedder) -> Host {
        Host { embedder, ..self }
    }

    /// The vault's name, as shown in answers.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The vault's real folder.
    pub fn root(&self) -> &Path {
        self.vault.root()
    }

    /// The folder of the index.
    pub fn index_folder(&self) -> &Path {
        self.layout.folder()
    }

    /// The settings it was opened with.
    pub fn settings(&self) -> &EngineSettings {
        &self.settings
    }

    /// The newest generation, as it is on disk; [`IndexError::Absent`] before the first build.
    ///
    /// The folder is not compared with it. Only notes that are excluded by now are taken out
    /// first, by what is known of them.
    ///
    /// # Errors
    /// See [`IndexError`]; [`EngineError::ExclusionsChanged`] if such notes cannot be taken out.
    pub fn view(&self) -> Result<View<'_>, EngineError> {
        Ok(View {
            host: self,
            snapshot: self.without_excluded()?,
        })
    }

    /// The newest generation, without notes that the rules in force exclude.
    pub(crate) fn without_excluded(&self) -> Result<Snapshot, EngineError> {
        let snapshot = self.snapshot()?;
        let known = || known_filters(&self.layout);
        let (rules, _) = self
            .vault
            .rules_in_force(&self.settings.index.rules, &known);
        if !snapshot.holds_excluded(&rules)? {
            return Ok(snapshot);
        }
        drop(snapshot);
        self.take_out(&rules)?;
        Ok(self.snapshot()?)
    }

    fn take_out(&self, rules: &Rules) -> Result<(), EngineError> {
        let lock = match Lock::attempt(&self.layout) {
            Ok(LockAttempt::Taken(lock)) => lock,
            Ok(LockAttempt::HeldBy(_)) => {
                let busy = IndexError::Busy(self.layout.folder().to_path_buf());
                return Err(EngineError::ExclusionsChanged(busy));
            }
            Err(error) => return Err(EngineError::ExclusionsChanged(error)),
        };
        Writer::open(&self.layout, lock, self.embedder)
            .and_then(|mut writer| writer.exclude(rules))
            .map(drop)
            .map_err(EngineError::ExclusionsChanged)
    }

    pub(crate) fn snapshot(&self) -> Result<Snapshot, IndexError> {
        Snapshot::open(&self.layout, self.embedder.fingerprint().as_str())
    }

    /// The exclusions that hold now: those of the settings, and those of the vault's own app.
    pub fn rules_in_force(&self) -> Rules {
        let known = || known_filters(&self.layout);
        let rules = &self.settings.index.rules;
        self.vault.rules_in_force(rules, &known).0
    }

    /// A look at the whole folder.
    pub(crate) fn list(&self) -> Result<Listing, VaultError> {
        let known = || known_filters(&self.layout);
        self.vault.list_knowing(&self.settings.index.rules, &known)
    }
}

/// Whether a folder, which need not exist yet, lies in another, also by way of links.
fn lies_in(folder: &Path, root: &Path) -> bool {
    let there = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf());
    let real = there
        .ancestors()
        .find_map(|a| std::fs::canonicalize(a).ok());
    real.is_some_and(|real| real.starts_with(root))
}
