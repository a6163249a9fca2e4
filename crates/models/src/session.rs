//! A model at work: an embedder that is known without being loaded.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lorewell_embed::{Cost, Embedded, Embedder, Fingerprint, PassageInput};
use lorewell_encoder::{Device, Encoder, Options, Precision};

use crate::shortlist::{USUAL_WEIGHT, vetted};
use crate::{Manifest, ModelError, Store, loaded};

/// A model that could not be loaded is not tried again for so long.
const PAUSE: Duration = Duration::from_secs(30);

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
    trouble: Mutex<Option<Trouble>>,
}

/// Why it could not be loaded, and when.
struct Trouble {
    reason: String,
    since: Instant,
}

impl Session {
    /// The session of a model, whatever the case of its name. Nothing of it is loaded yet.
    ///
    /// # Errors
    /// It was not fetched or lacks files; there is no such precision or device.
    pub fn of(
        store: &Store,
        name: &str,
        precision: &str,
        device: &str,
    ) -> Result<&'static Session, ModelError> {
        let name = vetted(name).map_or(name, |model| model.name);
        let manifest = store.manifest(name)?;
        let (precision, device) = (precision.parse()?, device.parse()?);
        store.check_files(&manifest)?;
        let Some(fingerprint) = manifest.fingerprint(precision) else {
            let name = name.to_string();
            return Err(ModelError::NotPulled { name });
        };
        let session = Session {
            number: 0,
            folder: store.place(name)?,
            manifest,
            precision,
            device,
            fingerprint,
            cut: AtomicU64::new(0),
            trouble: Mutex::new(None),
        };
        Ok(session.interned())
    }

    /// The same one for the same model. A model that was fetched anew is another.
    fn interned(mut self) -> &'static Session {
        static KNOWN: Mutex<Option<HashMap<String, &'static Session>>> = Mutex::new(None);
        let key = format!("{}\n{:?}", self.folder.display(), self.fingerprint);
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.get_or_insert_default();
        if let Some(session) = known.get(&key)
            && session.manifest == self.manifest
        {
            return session;
        }
        static NEXT: AtomicU64 = AtomicU64::new(1);
        self.number = NEXT.fetch_add(1, Ordering::Relaxed);
        let session: &'static Session = Box::leak(Box::new(self));
        known.insert(key, session);
        session
    }

    /// What the model is.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Whether it is loaded now.
    pub fn is_loaded(&self) -> bool {
        loaded::is_loaded(self.number)
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
            let name = &self.manifest.name;
            return Err(format!(
                "its files are not those that were fetched; `lorewell models pull {name}` fetches them again"
            ));
        }
        Ok(encoder)
    }

    fn work<T>(&self, work: impl FnOnce(&Encoder) -> T) -> Result<T, String> {
        if let Some(reason) = self.trouble() {
            return Err(reason);
        }
        let outcome = loaded::with(
            self.number,
            || self.load(),
            |encoder| {
                let before = encoder.truncated();
                let done = work(encoder);
                // Counted roughly where several ask at once; it is for people.
                let cut = encoder.truncated().saturating_sub(before);
                self.cut.fetch_add(cut, Ordering::Relaxed);
                done
            },
        );
        if let Err(reason) = &outcome {
            *self.troubled() = Some(Trouble {
                reason: reason.clone(),
                since: Instant::now(),
            });
        }
        outcome
    }

    fn troubled(&self) -> MutexGuard<'_, Option<Trouble>> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner)
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

    fn cut(&self) -> u64 {
        self.cut.load(Ordering::Relaxed)
    }

    fn weight(&self) -> f32 {
        vetted(&self.manifest.name).map_or(USUAL_WEIGHT, |model| model.weight)
    }

    fn trouble(&self) -> Option<String> {
        let mut trouble = self.troubled();
        if trouble
            .as_ref()
            .is_some_and(|trouble| trouble.since.elapsed() >= PAUSE)
        {
            *trouble = None;
        }
        trouble.as_ref().map(|trouble| trouble.reason.clone())
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
