//! A model at work: an embedder that is known without being loaded.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use lorewell_embed::{Cost, Embedded, Embedder, Fingerprint, PassageInput};
use lorewell_encoder::{Device, Encoder, Kernel, Options, Precision, WEIGHT};

use crate::known::{Known, Troubles};
use crate::rerank::changed;
use crate::shortlist::vetted;
use crate::{Manifest, ModelError, Store, Task, loaded};

static KNOWN: Known<Session> = Known::new();

/// One model of a store in one precision. There is one for each in a process, however many vaults
/// use it.
pub struct Session {
    number: u64,
    folder: PathBuf,
    manifest: Manifest,
    precision: Precision,
    device: Device,
    fingerprint: Fingerprint,
    /// Texts that were cut at the model's limit.
    cut: AtomicU64,
    troubles: Troubles,
}

impl Session {
    /// The session of a model, whatever the case of its name. Nothing of it is loaded yet.
    ///
    /// # Errors
    /// It was not fetched, lacks files or is no embedding model; there is no such precision or
    /// device.
    pub fn of(
        store: &Store,
        name: &str,
        precision: &str,
        device: &str,
    ) -> Result<&'static Session, ModelError> {
        let name = vetted(name).map_or(name, |model| model.name);
        let (precision, device) = (precision.parse()?, device.parse()?);
        let manifest = store.manifest_for(name, Task::Embed)?;
        let Some(fingerprint) = manifest.fingerprint(precision) else {
            let name = name.to_string();
            return Err(ModelError::NotPulled { name });
        };
        let folder = store.place(name)?;
        let key = format!("{}\n{fingerprint:?}", folder.display());
        // A model that was fetched anew is another.
        let is_same = |known: &Session| known.manifest == manifest;
        Ok(KNOWN.of(key, is_same, |number| Session {
            number,
            folder,
            manifest: manifest.clone(),
            precision,
            device,
            fingerprint,
            cut: AtomicU64::new(0),
            troubles: Troubles::default(),
        }))
    }

    /// What the model is.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Whether it is loaded now.
    pub fn is_loaded(&self) -> bool {
        loaded::EMBEDS.is_loaded(self.number)
    }

    fn load(&self) -> Result<Encoder, String> {
        let options = Options {
            precision: Some(self.precision),
            device: self.device,
            recipe: self.manifest.recipe(),
            ..Options::default()
        };
        let encoder = Encoder::open(&self.folder, &options)
            .map_err(|error| format!("{error}; {}", error.hint()))?;
        if *encoder.fingerprint() != self.fingerprint {
            return Err(changed(&self.manifest.name));
        }
        Ok(encoder)
    }

    fn work<T>(&self, work: impl FnOnce(&Encoder) -> T) -> Result<T, String> {
        let load = || self.load();
        self.troubles.unless_in_trouble(|| {
            loaded::EMBEDS.with(self.number, load, |encoder| {
                let before = encoder.truncated();
                let done = work(encoder);
                // Counted roughly where several ask at once; it is for people.
                let cut = encoder.truncated().saturating_sub(before);
                self.cut.fetch_add(cut, Ordering::Relaxed);
                done
            })
        })
    }
}

impl Embedder for Session {
    fn model(&self) -> &str {
        &self.manifest.name
    }

    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    fn dimension(&self) -> usize {
        self.manifest.dimension
    }

    fn cost(&self) -> Cost {
        Cost::Dear
    }

    fn computed_by(&self) -> Option<String> {
        Some(format!("{}, {}", self.precision, Kernel::best()))
    }

    fn cut(&self) -> u64 {
        self.cut.load(Ordering::Relaxed)
    }

    fn weight(&self) -> f32 {
        WEIGHT
    }

    fn trouble(&self) -> Option<String> {
        self.troubles.now()
    }

    fn embed_question(&self, text: &str) -> Embedded {
        self.work(|encoder| encoder.embed_question(text))
            .unwrap_or_else(|reason| Embedded::Failed { reason })
    }

    fn embed_passages(&self, inputs: &[PassageInput<'_>]) -> Vec<Embedded> {
        self.work(|encoder| encoder.embed_passages(inputs))
            .unwrap_or_else(|reason| vec![Embedded::Failed { reason }; inputs.len()])
    }
}
