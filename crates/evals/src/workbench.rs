//! A vault with its index in a temporary folder, asked by several threads.

use std::path::Path;

use anyhow::{Context as _, Result};
use lorewell_engine::{EngineSettings, Host, Patience, Quiet, View};
use tempfile::TempDir;

use crate::outcome::{DEPTH, Outcome};
use crate::question::Question;
use crate::system::System;

/// As many passages as an answer holds by default: what people see.
pub const SHOWN: usize = 6;

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
        let host = Host::open(name, root, index.path(), settings)
            .with_context(|| root.display().to_string())?;
        host.refresh(Patience::Wait, &Quiet)?;
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
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let part = items.len().div_ceil(threads).max(1);
        std::thread::scope(|scope| {
            let work = &work;
            let started: Vec<_> = items
                .chunks(part)
                .map(|items| {
                    scope.spawn(move || {
                        let view = self.host.view()?;
                        items
                            .iter()
                            .map(|item| work(&view, item))
                            .collect::<Result<Vec<R>>>()
                    })
                })
                .collect();
            let mut all = Vec::with_capacity(items.len());
            for thread in started {
                let done = thread
                    .join()
                    .map_err(|_| anyhow::anyhow!("a search panicked"))?;
                all.extend(done?);
            }
            Ok(all)
        })
    }

    /// Asks every question.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn ask(&self, questions: &[Question], system: &System) -> Result<Vec<Outcome>> {
        self.each(questions, |view, question| {
            let wanted = question.wanted();
            let deep = view.search(&system.request(&question.question, DEPTH))?;
            let mut outcome = Outcome::judge(&deep, &wanted);
            let shown = view.search(&system.request(&question.question, SHOWN))?;
            outcome.score = shown.passages.iter().map(|p| p.score).fold(0.0, f32::max);
            outcome.confidence = shown.confidence;
            Ok(outcome)
        })
    }
}
