//! A model that is dear, as a transformer is: small, exact, and it counts what it is asked.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use lorewell_embed::{Cost, Embedded, Embedder, Fingerprint, FingerprintParts, PassageInput};

/// A vector says which words a text has. Texts with `unspeakable` are refused.
pub(crate) struct Dear {
    fingerprint: Fingerprint,
    /// Every passage that was ever asked for.
    asked: Mutex<Vec<String>>,
    /// Done once, within the next call.
    meanwhile: Mutex<Option<Box<dyn FnOnce() + Send>>>,
    pub(crate) is_down: AtomicBool,
}

const DIMENSION: usize = 64;

impl Dear {
    /// A model that lives as long as the tests.
    pub(crate) fn new(revision: &str) -> &'static Dear {
        Box::leak(Box::new(Dear {
            fingerprint: Fingerprint::new(&FingerprintParts {
                model: "dear-64",
                revision,
                precision: "f32",
                pooling: "sum",
                prefix: "none",
                text_rules: "1",
            }),
            asked: Mutex::new(Vec::new()),
            meanwhile: Mutex::new(None),
            is_down: AtomicBool::new(false),
        }))
    }

    /// The prose of the passages that it was asked for since the last look, sorted.
    pub(crate) fn asked(&self) -> Vec<String> {
        let mut asked = std::mem::take(&mut *self.asked.lock().unwrap());
        asked.sort();
        asked
    }

    pub(crate) fn meanwhile(&self, work: impl FnOnce() + Send + 'static) {
        *self.meanwhile.lock().unwrap() = Some(Box::new(work));
    }

    fn embed(text: &str) -> Embedded {
        let mut vector = vec![0.0; DIMENSION];
        let words = text.split(|c: char| !c.is_alphanumeric());
        for word in words.filter(|word| !word.is_empty()) {
            let hash = blake3::hash(word.to_lowercase().as_bytes());
            vector[usize::from(hash.as_bytes()[0]) % DIMENSION] += 1.0;
        }
        let length: f32 = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        if length == 0.0 {
            return Embedded::Empty;
        }
        vector.iter_mut().for_each(|x| *x /= length);
        Embedded::Vector(vector)
    }
}

impl Embedder for Dear {
    fn model(&self) -> &str {
        "dear-64"
    }
    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }
    fn dimension(&self) -> usize {
        DIMENSION
    }
    fn cost(&self) -> Cost {
        Cost::Dear
    }
    fn embed_question(&self, text: &str) -> Embedded {
        Dear::embed(text)
    }
    fn embed_passages(&self, inputs: &[PassageInput<'_>]) -> Vec<Embedded> {
        let work = self.meanwhile.lock().unwrap().take();
        if let Some(work) = work {
            work();
        }
        let one = |input: &PassageInput<'_>| {
            if self.is_down.load(Ordering::SeqCst) {
                return Embedded::Failed {
                    reason: "it is not running".to_string(),
                };
            }
            self.asked.lock().unwrap().push(input.prose.to_string());
            if input.prose.contains("unspeakable") {
                return Embedded::Refused {
                    reason: "it is unspeakable".to_string(),
                };
            }
            Dear::embed(&format!("{} {}", input.title, input.prose))
        };
        inputs.iter().map(one).collect()
    }
}
