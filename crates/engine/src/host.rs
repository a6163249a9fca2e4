//! The host: one vault, its index, its settings.

use std::path::Path;

use lorewell_embed::{Embedder, StaticModel};
use lorewell_index::{IndexError, IndexSettings, Layout, Snapshot};
use lorewell_retrieval::SearchSettings;
use lorewell_vault::Vault;

use crate::{EngineError, View};

/// Everything of the settings that the engine itself needs.
#[derive(Clone, Debug, Default)]
pub struct EngineSettings {
    /// How notes are read and cut, and what is left out.
    pub index: IndexSettings,
    /// How answers are made.
    pub search: SearchSettings,
    /// Notes larger than this are left out, in bytes; `None` for the usual limit.
    pub max_note_bytes: Option<u64>,
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
    /// The folder of notes is missing, is a file, or may not be read.
    pub fn open(
        name: &str,
        root: &Path,
        index_folder: &Path,
        settings: EngineSettings,
    ) -> Result<Host, EngineError> {
        let mut vault = Vault::open(root)?;
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
    /// # Errors
    /// See [`IndexError`].
    pub fn view(&self) -> Result<View<'_>, EngineError> {
        Ok(View {
            host: self,
            snapshot: self.snapshot()?,
        })
    }

    pub(crate) fn snapshot(&self) -> Result<Snapshot, IndexError> {
        Snapshot::open(&self.layout, self.embedder.fingerprint().as_str())
    }
}
