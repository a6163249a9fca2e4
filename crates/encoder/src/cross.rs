//! A cross-encoder: question and passage go through the network together, and one number comes out:
//! how well the passage answers. Models of the BERT family with a classifier of one output, such as
//! ms-marco-MiniLM (Nogueira and Cho 2019; <https://www.sbert.net/docs/cross_encoder>).

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use lorewell_embed::Reranker;
use serde_json::Value;

use crate::config::Shape;
use crate::container::{Container, malformed, unreadable};
use crate::model::PASSAGE_COVERAGE;
use crate::network::{Network, Room, Segments};
use crate::prepare::prepared;
use crate::tokenizer::{Pair, Tokenizer};
use crate::{EncoderError, Kernel, Options, Precision};

/// Of all tokens at most one of so many is the question's; a longer one is cut.
const QUESTION_SHARE: usize = 4;

/// A model that reads a question and a passage together.
pub struct CrossEncoder {
    name: String,
    folder: PathBuf,
    revision: String,
    kernel: Kernel,
    longest: usize,
    tokenizer: Tokenizer,
    network: Network,
    head: Head,
    rooms: Mutex<Vec<Room>>,
}

/// What stands behind the network: a layer over the first token (the pooler), and the classifier.
#[derive(Debug)]
struct Head {
    /// What is added to a token of the passage: the difference of the two token types.
    passage: Vec<f32>,
    pooler: Vec<f32>,
    pooler_bias: Vec<f32>,
    classifier: Vec<f32>,
    classifier_bias: f32,
}

/// How well a passage answers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Relevance {
    /// The classifier's output, a logit: above 0 the passage answers rather than not.
    pub logit: f32,
    /// The passage, or the question, was longer than the model takes, and cut.
    pub truncated: bool,
    /// The share of letters, of the passage or the question, whichever is less, in words and parts
    /// of words that the model knows, 0 to 1.
    pub coverage: f32,
}

impl CrossEncoder {
    /// Opens the model in a folder: `config.json`, `tokenizer.json`, `model.safetensors`. What is
    /// prepared from the weights is written beside them, as by [`crate::Encoder::open`]. Of the
    /// options the recipe is not looked at.
    ///
    /// # Errors
    /// See [`EncoderError`]: among others, a model with no classifier of one output.
    pub fn open(folder: &Path, options: &Options) -> Result<Self, EncoderError> {
        let config = folder.join("config.json");
        let shape = Shape::read(&config)?;
        check_head(&config, &shape)?;
        let precision = options.precision.unwrap_or(Precision::Q8);
        let tokenizer = Tokenizer::read(&folder.join("tokenizer.json"))?;
        if tokenizer.largest() as usize >= shape.vocabulary {
            return Err(malformed(
                &folder.join("tokenizer.json"),
                "it has more tokens than the model",
            ));
        }
        let head = Head::read(&folder.join("model.safetensors"), &shape)?;
        let kernel = Kernel::chosen(options.kernel)?;
        let network = Network::load(prepared(folder, &shape, precision)?, shape, precision)?;
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        Ok(Self {
            name: name.into_owned(),
            folder: folder.to_path_buf(),
            revision: format!("{}-{}", network.revision(), tokenizer.revision()),
            kernel,
            longest: shape.longest(),
            tokenizer,
            network,
            head,
            rooms: Mutex::new(Vec::new()),
        })
    }

    /// The folder's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The folder that it was read from.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// How many numbers a token has within the network, and how many layers that has.
    pub fn sizes(&self) -> (usize, usize) {
        (self.network.shape.hidden, self.network.shape.layers)
    }

    /// Which weights and tokenizer: a hash of both.
    pub fn revision(&self) -> &str {
        &self.revision
    }

    /// The most tokens of question and passage together, special ones included.
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// How well each passage answers the question, in the order of the passages. What is too long
    /// is cut so that both fit: of the question at most a quarter of all tokens is kept.
    pub fn judge(&self, question: &str, passages: &[&str]) -> Vec<Relevance> {
        use rayon::prelude::*;
        passages
            .par_iter()
            .map(|passage| {
                let most = self.longest / QUESTION_SHARE;
                let pair = self.tokenizer.pair(question, passage, most, self.longest);
                Relevance {
                    logit: self.logit(&pair),
                    truncated: pair.truncated,
                    coverage: pair.coverage,
                }
            })
            .collect()
    }

    fn logit(&self, pair: &Pair) -> f32 {
        let rooms = || self.rooms.lock().unwrap_or_else(PoisonError::into_inner);
        let mut room = rooms().pop().unwrap_or_default();
        let segments = Segments {
            second: pair.second,
            added: &self.head.passage,
        };
        let state = self
            .network
            .first_state(self.kernel, &pair.ids, segments, &mut room);
        let logit = self.head.logit(&state);
        let mut rooms = rooms();
        if rooms.len() < rayon::current_num_threads() {
            rooms.push(room);
        }
        logit
    }
}

impl Reranker for CrossEncoder {
    fn model(&self) -> &str {
        &self.name
    }

    fn relevance(&self, question: &str, passages: &[&str]) -> Result<Vec<Option<f32>>, String> {
        let share = |judged: Relevance| {
            (judged.coverage >= PASSAGE_COVERAGE).then(|| 1.0 / (1.0 + (-judged.logit).exp()))
        };
        let all = self.judge(question, passages).into_iter();
        Ok(all.map(share).collect())
    }
}

impl Head {
    fn read(path: &Path, shape: &Shape) -> Result<Self, EncoderError> {
        let hidden = shape.hidden;
        let weights = Container::open(path)?;
        let types = weights.floats(
            "bert.embeddings.token_type_embeddings.weight",
            &[shape.types, hidden],
        )?;
        let (first, second) = types.split_at(hidden);
        let classifier_bias = weights.floats("classifier.bias", &[1])?;
        Ok(Self {
            passage: second.iter().zip(first).map(|(b, a)| b - a).collect(),
            pooler: weights.floats("bert.pooler.dense.weight", &[hidden, hidden])?,
            pooler_bias: weights.floats("bert.pooler.dense.bias", &[hidden])?,
            classifier: weights.floats("classifier.weight", &[1, hidden])?,
            classifier_bias: classifier_bias.first().copied().unwrap_or_default(),
        })
    }

    fn logit(&self, state: &[f32]) -> f32 {
        let dot = |a: &[f32], b: &[f32]| -> f32 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        let pooled: Vec<f32> = self
            .pooler
            .chunks_exact(state.len())
            .zip(&self.pooler_bias)
            .map(|(row, bias)| (dot(row, state) + bias).tanh())
            .collect();
        dot(&self.classifier, &pooled) + self.classifier_bias
    }
}

/// Whether a configuration is that of a classifier: a cross-encoder rather than an embedding model.
///
/// # Errors
/// The file cannot be read or is no JSON.
pub fn is_classifier(path: &Path) -> Result<bool, EncoderError> {
    let config = json(path)?;
    let kind = config["architectures"][0].as_str().unwrap_or_default();
    Ok(kind.ends_with("ForSequenceClassification"))
}

/// Looks whether a configuration is that of a cross-encoder which is computed here.
///
/// # Errors
/// The file cannot be read, is no configuration, or is that of another network; the message names
/// the entry.
pub fn check_cross_config(path: &Path) -> Result<(), EncoderError> {
    check_head(path, &Shape::read(path)?)
}

fn json(path: &Path) -> Result<Value, EncoderError> {
    let text = std::fs::read(path).map_err(|source| unreadable(path, source))?;
    serde_json::from_slice(&text).map_err(|error| malformed(path, &format!("not JSON: {error}")))
}

/// A classifier of one output over BERT, with two token types.
fn check_head(path: &Path, shape: &Shape) -> Result<(), EncoderError> {
    let unsupported = |reason: String| EncoderError::Unsupported {
        path: path.to_path_buf(),
        reason,
    };
    let config = json(path)?;
    let kind = config["architectures"][0].as_str().unwrap_or("none");
    if kind != "BertForSequenceClassification" {
        return Err(unsupported(format!(
            "as a reranker the architecture {kind} is not supported; BertForSequenceClassification is"
        )));
    }
    // transformers writes the number of labels only as the table of their names, and two is usual.
    let labels = config["id2label"].as_object().map_or(2, |all| all.len());
    if labels != 1 {
        return Err(unsupported(format!(
            "the classifier has {labels} outputs; a reranker has one"
        )));
    }
    if shape.types < 2 {
        return Err(unsupported(
            "it has one token type, so that it cannot tell a passage from the question".into(),
        ));
    }
    Ok(())
}
