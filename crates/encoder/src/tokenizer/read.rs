//! Reading a `tokenizer.json` (the format of the `tokenizers` library), and the way of a text
//! through it.

use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::bert::Rules;
use super::normal::{Cut, Step};
use super::unigram::Unigram;
use super::wordpiece::{Letters, WordPiece};
use super::{Pair, Tokens};
use crate::EncoderError;
use crate::container::{malformed, unreadable};

/// A model's tokenizer.
#[derive(Debug)]
pub(crate) struct Tokenizer {
    model: Model,
    before: Vec<u32>,
    after: Vec<u32>,
    largest: u32,
    /// A hash of the file.
    revision: String,
}

#[derive(Debug)]
enum Model {
    WordPiece {
        rules: Rules,
        pieces: WordPiece,
    },
    Unigram {
        steps: Vec<Step>,
        cut: Cut,
        pieces: Unigram,
    },
}

#[derive(Deserialize)]
struct RawFile {
    #[serde(default)]
    added_tokens: Vec<RawAdded>,
    #[serde(default)]
    normalizer: Value,
    #[serde(default)]
    pre_tokenizer: Value,
    #[serde(default)]
    post_processor: Value,
    model: RawModel,
}

#[derive(Deserialize)]
struct RawAdded {
    id: u32,
    content: String,
}

#[derive(Deserialize)]
struct RawModel {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    vocab: Vocabulary,
    unk_token: Option<String>,
    unk_id: Option<u32>,
    continuing_subword_prefix: Option<String>,
    max_input_chars_per_word: Option<usize>,
    #[serde(default)]
    byte_fallback: bool,
}

/// Pieces with their numbers or, where they come in order, their scores.
#[derive(Default)]
pub(super) enum Vocabulary {
    #[default]
    None,
    Numbers(Vec<(Box<str>, u32)>),
    Scores(Vec<(Box<str>, f64)>),
}

impl<'de> Deserialize<'de> for Vocabulary {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(VocabularyVisitor)
    }
}

struct VocabularyVisitor;

impl<'de> Visitor<'de> for VocabularyVisitor {
    type Value = Vocabulary;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a vocabulary: pieces with numbers, or a list of pieces with scores")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vocabulary, A::Error> {
        let mut pieces = Vec::new();
        while let Some(piece) = map.next_entry()? {
            pieces.push(piece);
        }
        Ok(Vocabulary::Numbers(pieces))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vocabulary, A::Error> {
        let mut pieces = Vec::new();
        while let Some(piece) = list.next_element()? {
            pieces.push(piece);
        }
        Ok(Vocabulary::Scores(pieces))
    }
}

impl Tokenizer {
    /// Reads the file.
    ///
    /// # Errors
    /// It cannot be read, is no tokenizer, or is one of another kind.
    pub(crate) fn read(path: &Path) -> Result<Self, EncoderError> {
        let text = fs::read(path).map_err(|source| unreadable(path, source))?;
        let raw: RawFile = serde_json::from_slice(&text)
            .map_err(|error| malformed(path, &format!("no tokenizer: {error}")))?;
        let reading = Reading { path };
        let added = raw.added_tokens;
        let (before, after) = reading.frame(&raw.post_processor, &added)?;
        let (model, largest) =
            reading.model(raw.model, &raw.normalizer, &raw.pre_tokenizer, &added)?;
        let added = added.iter().map(|token| token.id);
        let largest = added
            .chain(before.iter().chain(&after).copied())
            .fold(largest, u32::max);
        let revision = blake3::hash(&text).to_hex()[..16].to_string();
        Ok(Self {
            model,
            before,
            after,
            largest,
            revision,
        })
    }

    /// The largest number of a token.
    pub(crate) fn largest(&self) -> u32 {
        self.largest
    }

    /// A hash of the file that it was read from.
    pub(crate) fn revision(&self) -> &str {
        &self.revision
    }

    /// The tokens of a question, of which at most `most` are kept, and of a passage, which is cut
    /// so that both have at most `longest` with the special ones around and between them. The frame
    /// is BERT's: the passage follows as a text of its own without what stands before one.
    pub(crate) fn pair(&self, question: &str, passage: &str, most: usize, longest: usize) -> Pair {
        let first = self.tokens(question, most.min(longest));
        let left = longest.saturating_sub(first.ids.len()) + self.before.len();
        let second = self.tokens(passage, left);
        let mut ids = first.ids;
        let start = ids.len();
        ids.extend(second.ids.iter().skip(self.before.len()));
        Pair {
            ids,
            second: start,
            truncated: first.truncated || second.truncated,
            coverage: first.coverage.min(second.coverage),
        }
    }

    /// The tokens of a text, at most `longest` with the special ones around them.
    pub(crate) fn tokens(&self, text: &str, longest: usize) -> Tokens {
        let mut ids = self.before.clone();
        let mut letters = Letters::default();
        match &self.model {
            Model::WordPiece { rules, pieces } => {
                rules.each_word(text, |word| pieces.add(word, &mut ids, &mut letters));
            }
            Model::Unigram { steps, cut, pieces } => {
                let mut text = std::borrow::Cow::Borrowed(text);
                for step in steps {
                    text = step.apply(&text).into();
                }
                cut.each_word(&text, |word| pieces.add(word, &mut ids, &mut letters));
            }
        }
        let most = longest
            .saturating_sub(self.after.len())
            .max(self.before.len());
        let truncated = ids.len() > most;
        ids.truncate(most);
        ids.extend_from_slice(&self.after);
        let coverage = if letters.all == 0 {
            1.0
        } else {
            letters.known as f32 / letters.all as f32
        };
        Tokens {
            ids,
            truncated,
            coverage,
        }
    }
}

struct Reading<'a> {
    path: &'a Path,
}

impl Reading<'_> {
    fn model(
        &self,
        raw: RawModel,
        normalizer: &Value,
        pre_tokenizer: &Value,
        added: &[RawAdded],
    ) -> Result<(Model, u32), EncoderError> {
        // Special tokens in a note are words like others.
        let special = |piece: &str| added.iter().any(|token| token.content == piece);
        match (raw.kind.as_str(), raw.vocab) {
            ("WordPiece" | "", Vocabulary::Numbers(vocabulary)) => {
                let rules = self.bert_rules(normalizer, pre_tokenizer)?;
                let largest = vocabulary
                    .iter()
                    .map(|(_, id)| *id)
                    .max()
                    .unwrap_or_default();
                let name = raw.unk_token.as_deref().unwrap_or("[UNK]");
                let unknown = vocabulary.iter().find(|(piece, _)| **piece == *name);
                let unknown = unknown.map(|(_, id)| *id).ok_or_else(|| {
                    malformed(
                        self.path,
                        &format!("the vocabulary lacks the unknown token `{name}`"),
                    )
                })?;
                let words = vocabulary
                    .into_iter()
                    .filter(|(piece, _)| !special(piece))
                    .collect();
                let mark = raw.continuing_subword_prefix.as_deref().unwrap_or("##");
                let most = raw.max_input_chars_per_word.unwrap_or(100);
                let pieces = WordPiece::new(words, mark, unknown, most);
                Ok((Model::WordPiece { rules, pieces }, largest))
            }
            ("Unigram" | "", Vocabulary::Scores(vocabulary)) => {
                if raw.byte_fallback {
                    return Err(self.unsupported(
                        "a Unigram model with byte_fallback is not supported".into(),
                    ));
                }
                let mut steps = Vec::new();
                Step::read(normalizer, &mut steps).map_err(|kind| {
                    self.unsupported(format!("the normalizer {kind} is not supported"))
                })?;
                let cut = Cut::read(pre_tokenizer).map_err(|kind| {
                    self.unsupported(format!("the pre-tokenizer {kind} is not supported"))
                })?;
                let largest = u32::try_from(vocabulary.len())
                    .unwrap_or(u32::MAX)
                    .saturating_sub(1);
                let unknown = raw.unk_id.filter(|id| *id <= largest).ok_or_else(|| {
                    malformed(self.path, "the vocabulary lacks an unknown token (unk_id)")
                })?;
                let pieces = Unigram::new(vocabulary, unknown, |piece| !special(piece));
                Ok((Model::Unigram { steps, cut, pieces }, largest))
            }
            (kind, _) => Err(self.unsupported(format!(
                "the tokenizer is a {kind} model; WordPiece and Unigram are supported"
            ))),
        }
    }

    fn bert_rules(&self, normalizer: &Value, pre_tokenizer: &Value) -> Result<Rules, EncoderError> {
        let kind = |value: &Value| value["type"].as_str().unwrap_or("none").to_string();
        if kind(normalizer) != "BertNormalizer" {
            return Err(self.unsupported(format!(
                "the normalizer {} of a WordPiece model is not supported; BertNormalizer is",
                kind(normalizer)
            )));
        }
        if kind(pre_tokenizer) != "BertPreTokenizer" {
            return Err(self.unsupported(format!(
                "the pre-tokenizer {} of a WordPiece model is not supported; BertPreTokenizer is",
                kind(pre_tokenizer)
            )));
        }
        let flag = |key: &str| normalizer[key].as_bool();
        let lowercase = flag("lowercase").unwrap_or(true);
        Ok(Rules {
            clean: flag("clean_text").unwrap_or(true),
            chinese_alone: flag("handle_chinese_chars").unwrap_or(true),
            strip_accents: flag("strip_accents").unwrap_or(lowercase),
            lowercase,
        })
    }

    /// The special tokens before and after a single text.
    fn frame(
        &self,
        processor: &Value,
        added: &[RawAdded],
    ) -> Result<(Vec<u32>, Vec<u32>), EncoderError> {
        match processor["type"].as_str().unwrap_or("none") {
            "TemplateProcessing" => self.template(processor, added),
            "BertProcessing" | "RobertaProcessing" => {
                let id = |key: &str| {
                    let id = processor[key][1]
                        .as_u64()
                        .and_then(|id| u32::try_from(id).ok());
                    id.ok_or_else(|| malformed(self.path, &format!("post_processor lacks `{key}`")))
                };
                Ok((vec![id("cls")?], vec![id("sep")?]))
            }
            other => Err(self.unsupported(format!(
                "the post-processor {other} is not supported; TemplateProcessing is"
            ))),
        }
    }

    fn template(
        &self,
        processor: &Value,
        added: &[RawAdded],
    ) -> Result<(Vec<u32>, Vec<u32>), EncoderError> {
        let (mut before, mut after, mut seen) = (Vec::new(), Vec::new(), false);
        for part in processor["single"].as_array().into_iter().flatten() {
            if part["Sequence"].is_object() {
                seen = true;
                continue;
            }
            let name = part["SpecialToken"]["id"].as_str().unwrap_or_default();
            let ids = processor["special_tokens"][name]["ids"].as_array();
            let mut ids: Vec<u32> = ids
                .into_iter()
                .flatten()
                .filter_map(|id| u32::try_from(id.as_u64()?).ok())
                .collect();
            if ids.is_empty() {
                let token = added
                    .iter()
                    .find(|token| token.content == name)
                    .ok_or_else(|| {
                        malformed(
                            self.path,
                            &format!("the special token `{name}` has no number"),
                        )
                    })?;
                ids.push(token.id);
            }
            if seen {
                after.extend(ids)
            } else {
                before.extend(ids)
            }
        }
        if !seen {
            return Err(malformed(
                self.path,
                "post_processor has no place for the text",
            ));
        }
        Ok((before, after))
    }

    fn unsupported(&self, reason: String) -> EncoderError {
        EncoderError::Unsupported {
            path: self.path.to_path_buf(),
            reason,
        }
    }
}
