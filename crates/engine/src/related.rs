//! Notes related to a note: what retrieval found, in the user's words.

use lorewell_index::{Scope, StoredNote, StoredPassage};
use lorewell_retrieval::{
    LaneReport, RelatedNote, RelatedReason, RelatedRequest, RelatedSignal, RelatedWeights,
};
use lorewell_text::{Question, Tokenizer};
use rustc_hash::FxBuildHasher;
use std::collections::HashSet;
use std::hash::BuildHasher;

use crate::{EngineError, View, sentence};

/// A snippet has at most so many characters.
const SNIPPET: usize = 160;

/// Notes that have so large a share of their runs of three words in common are near-copies.
const SAME: f32 = 0.6;

/// Of each note so many bytes are compared.
const COMPARED: usize = 64 * 1024;

/// What is asked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RelatedQuestion {
    /// The note: its path, name, title or alias, or a link as it is written.
    pub note: String,
    /// At most so many notes.
    pub limit: usize,
    /// Only notes within.
    pub scope: Scope,
}

/// The answer.
#[derive(Clone, Debug, PartialEq)]
pub struct RelatedNotes {
    /// The note that was asked about.
    pub note: StoredNote,
    /// Paths of other notes that answer to the name.
    pub others: Vec<String>,
    /// Related notes, best first.
    pub notes: Vec<RelatedEntry>,
    /// How the comparison by meaning fared.
    pub dense: LaneReport,
    /// Why not all words could be compared, if so.
    pub words: Option<String>,
}

/// A related note.
#[derive(Clone, Debug, PartialEq)]
pub struct RelatedEntry {
    /// The note.
    pub note: StoredNote,
    /// 0 to 1.
    pub score: f32,
    /// A line of it that tells best why; empty for a note without text.
    pub snippet: String,
    /// Why, the strongest reason first.
    pub signals: Vec<RelatedSignal>,
    /// Whether it has nearly the same text as the note that was asked about.
    pub near_copy: bool,
}

impl View<'_> {
    /// Finds the notes that are related to a note.
    ///
    /// # Errors
    /// No such note, or the index cannot be read.
    pub fn related(&self, question: &RelatedQuestion) -> Result<RelatedNotes, EngineError> {
        let (note, others) = self.note_named(&question.note)?;
        let request = RelatedRequest {
            note: note.clone(),
            limit: question.limit,
            scope: question.scope.clone(),
            reasons: RelatedReason::ALL.to_vec(),
            weights: RelatedWeights::default(),
            apart: None,
            near: self.near_by_plugin(note.path.as_str())?,
        };
        let found = self.despite_damage(|| {
            lorewell_retrieval::related(&self.snapshot, self.embedder, &request)
        })?;
        let mut original = None;
        let mut notes = Vec::with_capacity(found.notes.len());
        for related in found.notes {
            let Some(other) = self.snapshot.note(related.note)? else {
                continue;
            };
            let near_copy = self.is_near_copy(&note, &other, &related, &mut original)?;
            notes.push(RelatedEntry {
                snippet: self.snippet(&related)?,
                note: other,
                score: related.score,
                signals: related.signals,
                near_copy,
            });
        }
        let mut dense = found.dense;
        if request.near.is_none() {
            self.say_wanted_in(&mut dense)?;
            self.say_plugin_is_away(&mut dense);
        }
        Ok(RelatedNotes {
            note,
            others,
            notes,
            dense,
            words: found.words,
        })
    }

    /// The sentence with the first shared word, else the beginning of the nearest passage.
    fn snippet(&self, related: &RelatedNote) -> Result<String, EngineError> {
        let first = self.snapshot.passages_of(related.note)?.first().copied();
        let Some(id) = related.passage.or(first) else {
            return Ok(String::new());
        };
        let Some(passage) = self.snapshot.passage(id)? else {
            return Ok(String::new());
        };
        let words = related.signals.iter().find_map(|signal| match signal {
            RelatedSignal::Words(words) => Some(words.join(" ")),
            _ => None,
        });
        let around = words.and_then(|words| {
            let place = Question::new(&words)
                .matches(&passage.text)
                .into_iter()
                .next()?;
            Some(sentence::around(&passage.text, place))
        });
        let snippet = around.map(|range| sentence::plain(&passage.text[range]));
        let snippet = snippet.filter(|text| text.chars().count() > SNIPPET / 8);
        Ok(shortened(&snippet.unwrap_or_else(|| beginning(&passage))))
    }

    fn is_near_copy(
        &self,
        note: &StoredNote,
        other: &StoredNote,
        related: &RelatedNote,
        original: &mut Option<HashSet<u64>>,
    ) -> Result<bool, EngineError> {
        if note.content_hash == other.content_hash {
            return Ok(true);
        }
        // Copies share words or meaning: what shares only links is not read.
        let by_text = related.trace.iter().any(|part| {
            matches!(part.reason, RelatedReason::Words | RelatedReason::Dense)
                && part.strength > 0.5
        });
        if !by_text {
            return Ok(false);
        }
        if original.is_none() {
            *original = Some(self.runs_of(note.id)?);
        }
        let theirs = self.runs_of(other.id)?;
        let ours = original.get_or_insert_default();
        let shared = ours.intersection(&theirs).count();
        let all = ours.len() + theirs.len() - shared;
        Ok(all > 0 && shared as f32 >= SAME * all as f32)
    }

    /// Every three words that follow one another in a note, as hashes.
    fn runs_of(&self, note: u32) -> Result<HashSet<u64>, EngineError> {
        let mut terms: Vec<u64> = Vec::new();
        let mut read = 0;
        let mut tokenizer = Tokenizer::new();
        for id in self.snapshot.passages_of(note)? {
            let Some(passage) = self.snapshot.passage(id)? else {
                continue;
            };
            tokenizer.tokens(&passage.text, &mut |token| {
                terms.push(FxBuildHasher.hash_one(token.term));
            });
            read += passage.text.len();
            if read > COMPARED {
                break;
            }
        }
        let runs = terms.windows(3).map(|run| FxBuildHasher.hash_one(run));
        Ok(runs.collect())
    }
}

/// A passage from its first line that is no heading.
fn beginning(passage: &StoredPassage) -> String {
    let text = passage.text.as_str();
    let is_heading = |line: &&str| line.trim().is_empty() || line.starts_with('#');
    let opening: usize = text
        .split_inclusive('\n')
        .take_while(is_heading)
        .map(str::len)
        .sum();
    let body = sentence::plain(&text[opening..]);
    if body.is_empty() {
        sentence::plain(text)
    } else {
        body
    }
}

/// At most [`SNIPPET`] characters, cut at a blank.
fn shortened(text: &str) -> String {
    let Some((end, _)) = text.char_indices().nth(SNIPPET) else {
        return text.to_string();
    };
    let cut = &text[..end];
    let at = cut.rfind(' ').filter(|at| *at > end / 2).unwrap_or(end);
    format!("{}…", cut[..at].trim_end())
}
