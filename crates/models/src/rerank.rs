//! A reranker at work: known without being loaded, like a [`Session`](crate::Session).

use std::path::PathBuf;

use lorewell_embed::Reranker;
use lorewell_encoder::{CrossEncoder, Device, Options, Precision};

use crate::known::{Known, Troubles};
use crate::shortlist::vetted;
use crate::{Manifest, ModelError, Store, Task, loaded};

static KNOWN: Known<RerankSession> = Known::new();

/// One reranker of a store in one precision. There is one for each in a process, however many vaults
/// use it.
pub struct RerankSession {
    number: u64,
    folder: PathBuf,
    manifest: Manifest,
    precision: Precision,
    device: Device,
    troubles: Troubles,
}

impl RerankSession {
    /// The session of a model, whatever the case of its name. Nothing of it is loaded yet.
    ///
    /// # Errors
    /// It was not fetched, lacks files or is no reranker; there is no such precision or device.
    pub fn of(
        store: &Store,
        name: &str,
        precision: &str,
        device: &str,
    ) -> Result<&'static RerankSession, ModelError> {
        let name = vetted(name).map_or(name, |model| model.name);
        let (precision, device): (Precision, Device) = (precision.parse()?, device.parse()?);
        let manifest = store.manifest_for(name, Task::Rerank)?;
        let folder = store.place(name)?;
        let key = format!("{}\n{precision}", folder.display());
        let is_same = |known: &RerankSession| known.manifest == manifest;
        Ok(KNOWN.of(key, is_same, |number| RerankSession {
            number,
            folder,
            manifest: manifest.clone(),
            precision,
            device,
            troubles: Troubles::default(),
        }))
    }

    /// Whether it is loaded now.
    pub fn is_loaded(&self) -> bool {
        loaded::RERANKS.is_loaded(self.number)
    }

    fn load(&self) -> Result<CrossEncoder, String> {
        let options = Options {
            precision: Some(self.precision),
            device: self.device,
            ..Options::default()
        };
        let model = CrossEncoder::open(&self.folder, &options)
            .map_err(|error| format!("{error}; {}", error.hint()))?;
        if model.revision() != self.manifest.weights {
            return Err(changed(&self.manifest.name));
        }
        Ok(model)
    }
}

/// The end of a sentence about a model whose files were exchanged.
pub(crate) fn changed(name: &str) -> String {
    format!(
        "its files are not those that were fetched; `lorewell models pull {name}` fetches them again"
    )
}

impl Reranker for RerankSession {
    fn model(&self) -> &str {
        &self.manifest.name
    }

    fn trouble(&self) -> Option<String> {
        self.troubles.now()
    }

    fn relevance(&self, question: &str, passages: &[&str]) -> Result<Vec<Option<f32>>, String> {
        self.troubles.unless_in_trouble(|| {
            let work = |model: &CrossEncoder| model.relevance(question, passages);
            loaded::RERANKS.with(self.number, || self.load(), work)?
        })
    }
}
