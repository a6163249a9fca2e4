//! A vault with its index in a temporary folder, asked by several threads.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use lorewell_engine::{EngineSettings, Host, Patience, Quiet, View};
use lorewell_evaluation::{Outcome, Question, System};
use tempfile::TempDir;

use crate::model;

/// An indexed vault.
pub struct Workbench {
    host: Host,
    _index: TempDir,
}

impl Workbench {
    /// Indexes the folder of notes at `root`.
    ///
    /// # Errors
    /// The folder cannot be read or the index not be written.
    pub fn build(name: &str, root: &Path, settings: EngineSettings) -> Result<Workbench> {
        let index = tempfile::tempdir()?;
        let mut host = Host::open(name, root, index.path(), settings)
            .with_context(|| root.display().to_string())?;
        if let Some(model) = model::chosen() {
            host = host.with_embedder(model);
        }
        if let Some(reranker) = model::chosen_reranker() {
            host = host.with_reranker(reranker);
        }
        host.refresh(Patience::Wait, &Quiet)?;
        let embedding = host.embed_waiting(&Quiet)?;
        ensure!(
            embedding.waiting == 0,
            "passages without a vector: {embedding:?}"
        );
        Ok(Workbench {
            host,
            _index: index,
        })
    }

    /// The vault.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Does something with every item; results in the order of the items.
    ///
    /// # Errors
    /// The first that occurs.
    pub fn each<T: Sync, R: Send>(
        &self,
        items: &[T],
        work: impl Fn(&View<'_>, &T) -> Result<R> + Sync,
    ) -> Result<Vec<R>> {
        lorewell_evaluation::each(&self.host, items, work)
    }

    /// Asks every question.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn ask(&self, questions: &[Question], system: &System) -> Result<Vec<Outcome>> {
        Ok(lorewell_evaluation::ask(&self.host, questions, system)?)
    }
}
