//! The built-in static model: a table of word vectors, no network to run.
//!
//! A text's vector is the sum of its words' vectors, brought to unit length. Words of punctuation
//! only are left out, and a passage's title counts twice (the model card has the measurements that
//! both rest on).

use std::sync::{LazyLock, Mutex, PoisonError};

use crate::{
    Cost, Embedded, Embedder, Fingerprint, FingerprintParts, PassageInput,
    coverage::{Letters, PASSAGE_THRESHOLD, QUESTION_THRESHOLD},
    vocabulary::{TokenId, Vocabulary},
    weights::Weights,
    word_tokens::WordTokens,
    words::WordSplitter,
};

/// The English model that is built into the binary.
#[derive(Debug)]
pub struct StaticModel {
    fingerprint: Fingerprint,
    tables: Tables,
    /// Remembered words, for whoever embeds next; one for each thread that embedded at once.
    idle: Mutex<Vec<Pooler>>,
}

#[derive(Debug)]
struct Tables {
    weights: Weights<'static>,
    vocabulary: Vocabulary,
}

/// What one call works with.
#[derive(Debug)]
struct Pooler {
    splitter: WordSplitter,
    words: WordTokens,
    /// How often each token was seen in the text at hand; zeros between texts.
    counts: Vec<u32>,
    /// The tokens with a count, as they first came.
    seen: Vec<TokenId>,
}

/// Texts added up.
#[derive(Debug, Clone)]
struct Pooled {
    sum: Vec<f32>,
    letters: Letters,
    /// A letter or digit was there.
    has_words: bool,
}

/// BLAKE3 of the weights file, first 16 bytes; a test compares it.
const REVISION: &str = "c6f546c3b87000a6bf5ab1401102fbf4";

/// Raised whenever the same text and weights would give another vector, or another abstention.
const TEXT_RULES: &str = "1:title*2+headings+aliases+tags+prose";

/// How often the title's words count.
const TITLE_WEIGHT: f32 = 2.0;

/// Poolers kept for later calls.
const MOST_IDLE: usize = 4;

static WEIGHTS: &[u8] = include_bytes!("../models/static-en-256/static_en_256_int4.safetensors");
static VOCABULARY: &str = include_str!("../models/static-en-256/vocab.txt");

impl StaticModel {
    /// The model's name.
    pub const NAME: &'static str = "static-en-256";

    /// The model, made ready (in about a millisecond) when it is first asked for.
    pub fn built_in() -> &'static Self {
        static BUILT_IN: LazyLock<StaticModel> = LazyLock::new(StaticModel::load);
        &BUILT_IN
    }

    fn load() -> Self {
        // Both texts are part of the program, and a test reads them: there is no input to fail on.
        let weights = Weights::parse(WEIGHTS).expect("the built-in weights are sound");
        let tables = Tables {
            weights,
            vocabulary: Vocabulary::new(VOCABULARY),
        };
        debug_assert_eq!(tables.vocabulary.len(), tables.weights.tokens());
        Self {
            fingerprint: Fingerprint::new(&FingerprintParts {
                model: StaticModel::NAME,
                revision: REVISION,
                precision: "int4",
                pooling: "mean of words, no punctuation",
                prefix: "none",
                text_rules: TEXT_RULES,
            }),
            tables,
            idle: Mutex::new(Vec::new()),
        }
    }

    /// The share of the letters of a text that the model knows, 0 to 1; 1 when it has none.
    pub fn coverage(&self, text: &str) -> f32 {
        self.with_pooler(|pooler| pooler.pool(&self.tables, text))
            .letters
            .coverage()
    }

    /// The tokens that a text's vector is the sum of, in order: what a training needs to know.
    pub fn tokens(&self, text: &str) -> Vec<u16> {
        let mut all = Vec::new();
        self.with_pooler(|pooler| {
            let Pooler {
                splitter, words, ..
            } = pooler;
            splitter.each(text, |word, _| {
                if is_worded(word) {
                    all.extend_from_slice(words.of(&self.tables.vocabulary, word).0);
                }
            });
        });
        all
    }

    fn with_pooler<T>(&self, work: impl FnOnce(&mut Pooler) -> T) -> T {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = idle().pop();
        let mut pooler = taken.unwrap_or_else(|| Pooler::new(self.tables.vocabulary.len()));
        let result = work(&mut pooler);
        let mut idle = idle();
        if idle.len() < MOST_IDLE {
            idle.push(pooler);
        }
        result
    }
}

impl Embedder for StaticModel {
    fn model(&self) -> &str {
        StaticModel::NAME
    }

    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    fn dimension(&self) -> usize {
        self.tables.weights.dimension()
    }

    fn cost(&self) -> Cost {
        Cost::Cheap
    }

    fn embed_question(&self, text: &str) -> Embedded {
        self.with_pooler(|pooler| pooler.pool(&self.tables, text))
            .into_embedded(QUESTION_THRESHOLD)
    }

    fn embed_passages(&self, inputs: &[PassageInput<'_>]) -> Vec<Embedded> {
        self.with_pooler(|pooler| {
            let mut note: Option<(&PassageInput<'_>, Pooled)> = None;
            let each = inputs.iter().map(|input| {
                let pooled = match note.take() {
                    Some((before, pooled)) if is_same_note(before, input) => pooled,
                    _ => pooler.pool_note(&self.tables, input),
                };
                let mut passage = pooled.clone();
                note = Some((input, pooled));
                for text in input
                    .headings
                    .iter()
                    .map(String::as_str)
                    .chain([input.prose])
                {
                    passage.add(1.0, &pooler.pool(&self.tables, text));
                }
                passage.into_embedded(PASSAGE_THRESHOLD)
            });
            each.collect()
        })
    }
}

/// Whether what a note gives to each of its passages is the same for two.
fn is_same_note(a: &PassageInput<'_>, b: &PassageInput<'_>) -> bool {
    a.title == b.title && a.aliases == b.aliases && a.tags == b.tags
}

impl Pooler {
    fn new(tokens: usize) -> Self {
        Self {
            splitter: WordSplitter::default(),
            words: WordTokens::default(),
            counts: vec![0; tokens],
            seen: Vec::new(),
        }
    }

    /// What a note gives to each of its passages.
    fn pool_note(&mut self, tables: &Tables, input: &PassageInput<'_>) -> Pooled {
        let mut note = Pooled::new(tables.weights.dimension());
        note.add(TITLE_WEIGHT, &self.pool(tables, input.title));
        for text in input.aliases.iter().chain(input.tags) {
            note.add(1.0, &self.pool(tables, text));
        }
        note
    }

    /// One text. Each is summed by itself, so that no result depends on what came before; a token
    /// that comes often is added once.
    fn pool(&mut self, tables: &Tables, text: &str) -> Pooled {
        let mut pooled = Pooled::new(tables.weights.dimension());
        self.splitter.each(text, |word, accented| {
            if is_worded(word) {
                let (tokens, letters) = self.words.of(&tables.vocabulary, word);
                for &token in tokens {
                    let count = &mut self.counts[usize::from(token)];
                    if *count == 0 {
                        self.seen.push(token);
                    }
                    *count = count.saturating_add(1);
                }
                pooled
                    .letters
                    .add(if accented { letters.unknown() } else { letters });
                pooled.has_words = true;
            }
        });
        for token in self.seen.drain(..) {
            let times = std::mem::take(&mut self.counts[usize::from(token)]) as f32;
            tables.weights.add(token, times, &mut pooled.sum);
        }
        pooled
    }
}

impl Pooled {
    fn new(dimension: usize) -> Self {
        Self {
            sum: vec![0.0; dimension],
            letters: Letters::default(),
            has_words: false,
        }
    }

    fn add(&mut self, weight: f32, text: &Self) {
        for (sum, value) in self.sum.iter_mut().zip(&text.sum) {
            *sum += weight * value;
        }
        self.letters.add(text.letters);
        self.has_words |= text.has_words;
    }

    fn into_embedded(mut self, threshold: f32) -> Embedded {
        if !self.has_words {
            return Embedded::Empty;
        }
        let coverage = self.letters.coverage();
        let squares: f32 = self.sum.iter().map(|value| value * value).sum();
        if coverage < threshold {
            return Embedded::OutsideVocabulary { coverage };
        }
        if squares < f32::MIN_POSITIVE || !squares.is_finite() {
            return Embedded::OutsideVocabulary { coverage: 0.0 };
        }
        let scale = squares.sqrt().recip();
        self.sum.iter_mut().for_each(|value| *value *= scale);
        Embedded::Vector(self.sum)
    }
}

/// Whether a word holds a letter or digit.
fn is_worded(word: &str) -> bool {
    match word.as_bytes() {
        [byte] => byte.is_ascii_alphanumeric(),
        [byte, ..] if byte.is_ascii_alphanumeric() => true,
        _ => word.chars().any(char::is_alphanumeric),
    }
}
