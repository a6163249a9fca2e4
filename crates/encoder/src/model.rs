//! A model, ready to embed.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use lorewell_embed::{Cost, Embedded, Embedder, Fingerprint, FingerprintParts, PassageInput};

use crate::config::Shape;
use crate::network::{Network, Room};
use crate::prepare::prepared;
use crate::tokenizer::{Tokenizer, Tokens};
use crate::{Device, EncoderError, Kernel, Precision, Recipe};

/// Tokens that are computed together at most, unless one text has more.
const PACK: usize = 256;

/// Texts of which less is known get no vector: questions, passages.
const QUESTION_COVERAGE: f32 = 0.35;
pub(crate) const PASSAGE_COVERAGE: f32 = 0.35;

/// How a model is opened.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// In which numbers; `None` for q8.
    pub precision: Option<Precision>,
    /// On what.
    pub device: Device,
    /// With which instructions; `None` for the fastest that the machine has.
    pub kernel: Option<Kernel>,
    /// How many threads work at a time at most; `None` for all of the pool in which it is called.
    pub threads: Option<usize>,
    /// How the model is used; `None` for what its folder says.
    pub recipe: Option<Recipe>,
}

/// A model of the BERT family.
pub struct Encoder {
    folder: PathBuf,
    recipe: Recipe,
    revision: String,
    fingerprint: Fingerprint,
    precision: Precision,
    kernel: Kernel,
    threads: usize,
    longest: usize,
    tokenizer: Tokenizer,
    network: Network,
    rooms: Mutex<Vec<Room>>,
    truncated: AtomicU64,
}

/// The fingerprint of a model that need not be open: [`Encoder::revision`] and
/// [`Encoder::longest`] are what it said when it was.
pub fn fingerprint(
    recipe: &Recipe,
    revision: &str,
    precision: Precision,
    longest: usize,
) -> Fingerprint {
    Fingerprint::new(&FingerprintParts {
        model: &recipe.name,
        revision,
        precision: precision.name(),
        pooling: recipe.pooling.name(),
        prefix: &format!(
            "{}|{}|{longest}",
            recipe.question_prefix, recipe.passage_prefix
        ),
        text_rules: PassageInput::TEXT_RULES,
    })
}

/// A text's vector.
#[derive(Debug, Clone, PartialEq)]
pub struct Encoding {
    /// Of unit length.
    pub vector: Vec<f32>,
    /// Tokens, special ones included.
    pub tokens: usize,
    /// The text had more tokens than the model takes; the rest was left out.
    pub truncated: bool,
}

impl Encoder {
    /// Opens the model in a folder with `config.json`, `tokenizer.json` and `model.safetensors`.
    ///
    /// The first time, weights are prepared for the precision and kept in the folder, as
    /// `lorewell-PRECISION.safetensors`.
    ///
    /// # Errors
    /// See [`EncoderError`]. Nothing else is ever taken in place of what was asked for.
    pub fn open(folder: &Path, options: &Options) -> Result<Self, EncoderError> {
        if cfg!(target_endian = "big") {
            return Err(EncoderError::Unavailable(
                "transformer models need a little-endian machine".into(),
            ));
        }
        let Device::Cpu = options.device;
        let precision = options.precision.unwrap_or(Precision::Q8);
        let config_path = folder.join("config.json");
        let shape = Shape::read(&config_path)?;
        let recipe = match &options.recipe {
            Some(recipe) => recipe.clone(),
            None => Recipe::of_folder(folder)?,
        };
        let tokenizer_path = folder.join("tokenizer.json");
        let tokenizer = Tokenizer::read(&tokenizer_path)?;
        if tokenizer.largest() as usize >= shape.vocabulary {
            return Err(EncoderError::Malformed {
                path: tokenizer_path,
                reason: format!(
                    "it has a token of number {}, and the model only {} of them",
                    tokenizer.largest(),
                    shape.vocabulary
                ),
            });
        }
        let kernel = Kernel::chosen(options.kernel)?;
        let network = Network::load(prepared(folder, &shape, precision)?, shape, precision)?;
        let longest = recipe.longest.min(shape.longest());
        let revision = format!("{}-{}", network.revision(), tokenizer.revision());
        let fingerprint = fingerprint(&recipe, &revision, precision, longest);
        Ok(Self {
            folder: folder.to_path_buf(),
            recipe,
            revision,
            fingerprint,
            precision,
            kernel,
            threads: options.threads.unwrap_or(usize::MAX).max(1),
            longest,
            tokenizer,
            network,
            rooms: Mutex::new(Vec::new()),
            truncated: AtomicU64::new(0),
        })
    }

    /// The folder that it was read from.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// How it is used.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// How many numbers a token has within the network, and how many layers that has.
    pub fn sizes(&self) -> (usize, usize) {
        (self.network.shape.hidden, self.network.shape.layers)
    }

    /// Which weights and tokenizer: a hash of both.
    pub fn revision(&self) -> &str {
        &self.revision
    }

    /// The numbers that it computes in.
    pub fn precision(&self) -> Precision {
        self.precision
    }

    /// The instructions that it computes with.
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// The most tokens of a text, special ones included.
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// How many texts were cut at [`Encoder::longest`] since it was opened.
    pub fn truncated(&self) -> u64 {
        self.truncated.load(Ordering::Relaxed)
    }

    /// The vector of each text as it is, without prefix.
    pub fn encode(&self, texts: &[&str]) -> Vec<Encoding> {
        let tokens: Vec<Tokens> = texts.iter().map(|text| self.tokens(text)).collect();
        self.vectors(&tokens)
            .into_iter()
            .zip(tokens)
            .map(|(vector, tokens)| Encoding {
                vector,
                tokens: tokens.ids.len(),
                truncated: tokens.truncated,
            })
            .collect()
    }

    fn tokens(&self, text: &str) -> Tokens {
        let tokens = self.tokenizer.tokens(text, self.longest);
        if tokens.truncated {
            self.truncated.fetch_add(1, Ordering::Relaxed);
        }
        tokens
    }

    /// Packs of texts are computed by as many threads as are allowed and there is work for.
    fn vectors(&self, texts: &[Tokens]) -> Vec<Vec<f32>> {
        let packs = packs(texts);
        let mut vectors = vec![Vec::new(); texts.len()];
        let threads = self
            .threads
            .min(packs.len())
            .min(rayon::current_num_threads());
        if threads <= 1 {
            for pack in &packs {
                for (index, vector) in self.pack(texts, pack) {
                    vectors[index] = vector;
                }
            }
            return vectors;
        }
        let next = AtomicUsize::new(0);
        let done = Mutex::new(Vec::with_capacity(texts.len()));
        rayon::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|_| {
                    while let Some(pack) = packs.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let vectors = self.pack(texts, pack);
                        done.lock()
                            .unwrap_or_else(PoisonError::into_inner)
                            .extend(vectors);
                    }
                });
            }
        });
        for (index, vector) in done.into_inner().unwrap_or_else(PoisonError::into_inner) {
            vectors[index] = vector;
        }
        vectors
    }

    fn pack(&self, texts: &[Tokens], pack: &[usize]) -> Vec<(usize, Vec<f32>)> {
        let (mut ids, mut spans) = (Vec::new(), Vec::<Range<usize>>::new());
        for index in pack {
            let start = ids.len();
            ids.extend_from_slice(&texts[*index].ids);
            spans.push(start..ids.len());
        }
        let rooms = || self.rooms.lock().unwrap_or_else(PoisonError::into_inner);
        let mut room = rooms().pop().unwrap_or_default();
        let vectors = self
            .network
            .run(self.kernel, &ids, &spans, self.recipe.pooling, &mut room);
        let mut rooms = rooms();
        if rooms.len() < rayon::current_num_threads() {
            rooms.push(room);
        }
        pack.iter().copied().zip(vectors).collect()
    }

    fn embedded(&self, texts: &[String], threshold: f32) -> Vec<Embedded> {
        let mut results = vec![Embedded::Empty; texts.len()];
        let (mut places, mut kept) = (Vec::new(), Vec::new());
        for (index, text) in texts.iter().enumerate() {
            if !text.chars().any(char::is_alphanumeric) {
                continue;
            }
            let tokens = self.tokens(text);
            if tokens.coverage < threshold {
                results[index] = Embedded::OutsideVocabulary {
                    coverage: tokens.coverage,
                };
            } else {
                places.push(index);
                kept.push(tokens);
            }
        }
        for (place, vector) in places.into_iter().zip(self.vectors(&kept)) {
            results[place] = Embedded::Vector(vector);
        }
        results
    }
}

/// Texts of like length together, so that long ones are begun first and no thread is left with one
/// at the end.
fn packs(texts: &[Tokens]) -> Vec<Vec<usize>> {
    let length = |index: usize| texts[index].ids.len();
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_by_key(|index| std::cmp::Reverse(length(*index)));
    let (mut packs, mut tokens) = (Vec::<Vec<usize>>::new(), 0);
    for index in order {
        match packs.last_mut() {
            Some(pack) if tokens + length(index) <= PACK => pack.push(index),
            _ => {
                packs.push(vec![index]);
                tokens = 0;
            }
        }
        tokens += length(index);
    }
    packs
}

/// What a transformer counts beside words: scores of words and meaning joined 1 to 0.8. Of eight
/// weights from .33 to 2 it gave the most recall on the English question sets for bge-small and for
/// MiniLM (docs/evaluation.md); the others were not measured.
pub const WEIGHT: f32 = 0.8;

impl Embedder for Encoder {
    fn weight(&self) -> f32 {
        WEIGHT
    }

    fn model(&self) -> &str {
        &self.recipe.name
    }

    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    fn dimension(&self) -> usize {
        self.network.shape.hidden
    }

    fn cost(&self) -> Cost {
        Cost::Dear
    }

    fn embed_question(&self, text: &str) -> Embedded {
        if !text.chars().any(char::is_alphanumeric) {
            return Embedded::Empty;
        }
        let text = format!("{}{text}", self.recipe.question_prefix);
        self.embedded(&[text], QUESTION_COVERAGE)
            .pop()
            .unwrap_or(Embedded::Empty)
    }

    fn embed_passages(&self, inputs: &[PassageInput<'_>]) -> Vec<Embedded> {
        let prefix = &self.recipe.passage_prefix;
        let texts: Vec<String> = inputs
            .iter()
            .map(|input| format!("{prefix}{}", input.text()))
            .collect();
        self.embedded(&texts, PASSAGE_COVERAGE)
    }
}
