//! The lexical lane: BM25F, terms ORed.

use lorewell_index::Snapshot;
use lorewell_lexical::{Live, QueryTerm, document_frequency, search};
use lorewell_text::{Question, TokenKind};

use super::Allowed;
use crate::error::RetrievalError;
use crate::lane::{Lane, LaneHit, LaneResult, LaneState};

/// A word that no passage has is looked for as the beginning of longer words, at this weight:
/// `Mietvertrag` finds `Mietvertragsverlängerung`.
const PREFIX_WEIGHT: f32 = 0.5;
/// So short a word is no useful beginning, in bytes.
const PREFIX_MIN: usize = 4;
/// So many longer words are looked for at most.
const PREFIX_WORDS: usize = 8;

/// The terms that a question looks for, with what each is worth.
#[derive(Clone, Debug, Default)]
pub(crate) struct Terms {
    pub(crate) query: Vec<QueryTerm>,
    /// Inverse document frequency of each term.
    pub(crate) idf: Vec<f32>,
    /// How much of the question's content no passage has, in inverse document frequency.
    pub(crate) missing_idf: f32,
}

impl Terms {
    /// Looks the question's terms up in the segments; those that no passage has are replaced by
    /// longer words that begin with them, where there are any.
    pub(crate) fn new(segments: &[Live<'_>], question: &Question) -> Result<Terms, RetrievalError> {
        let passages = lorewell_lexical::statistics(segments)?.passages as f32;
        let idf = |df: u32| (1.0 + (passages - df as f32 + 0.5) / (df as f32 + 0.5)).ln();
        let mut terms = Terms::default();
        for term in &question.terms {
            let df = document_frequency(segments, &term.term)?;
            if df > 0 {
                terms.push(&term.term, 1.0, idf(df));
            } else if term.kind == TokenKind::Word && term.term.len() >= PREFIX_MIN {
                let longer = longer_words(segments, &term.term)?;
                if longer.is_empty() {
                    terms.missing_idf += idf(0);
                }
                for word in longer {
                    let df = document_frequency(segments, &word)?;
                    terms.push(&word, PREFIX_WEIGHT, idf(df));
                }
            } else if matches!(term.kind, TokenKind::Word | TokenKind::Bigram) {
                terms.missing_idf += idf(0);
            } else if term.kind == TokenKind::Identifier {
                // Its parts may be there, and say less than the whole.
                terms.missing_idf += 0.5 * idf(0);
            }
        }
        Ok(terms)
    }

    fn push(&mut self, term: &str, weight: f32, idf: f32) {
        if !self.query.iter().any(|known| known.term == term) {
            self.query.push(QueryTerm {
                term: term.to_string(),
                weight,
            });
            self.idf.push(idf);
        }
    }

    /// The whole worth of the question's content.
    pub(crate) fn total_idf(&self) -> f32 {
        let found: f32 = self
            .query
            .iter()
            .zip(&self.idf)
            .map(|(term, idf)| term.weight * idf)
            .sum();
        found + self.missing_idf
    }
}

/// The shortest words that begin so and that a living passage has. All segments are asked for all
/// of theirs, so that the outcome does not depend on how the index is cut into segments.
fn longer_words(segments: &[Live<'_>], beginning: &str) -> Result<Vec<String>, RetrievalError> {
    let mut words = Vec::new();
    for live in segments {
        let entries = live.segment.terms_with_prefix(beginning, usize::MAX)?;
        words.extend(entries.into_iter().map(|entry| entry.term));
    }
    words.sort_unstable_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
    words.dedup();
    let mut living = Vec::new();
    for word in words {
        if living.len() == PREFIX_WORDS {
            break;
        }
        if document_frequency(segments, &word)? > 0 {
            living.push(word);
        }
    }
    Ok(living)
}

/// Runs the lane.
pub(crate) fn run(
    segments: &[Live<'_>],
    terms: &Terms,
    allowed: Option<&Allowed>,
    depth: usize,
) -> Result<LaneResult, RetrievalError> {
    let within = |passage: u32| allowed.is_none_or(|a| a.passages.contains(passage));
    let filter: Option<&dyn Fn(u32) -> bool> = if allowed.is_some() {
        Some(&within)
    } else {
        None
    };
    let hits = search(segments, &terms.query, depth, filter)?
        .into_iter()
        .map(|hit| LaneHit {
            passage: hit.passage,
            score: hit.score,
            strength: 1.0,
        })
        .collect();
    Ok(LaneResult::new(Lane::Text, LaneState::Ok, hits))
}

/// The best passage of one note for these terms; its first, where none has any of them.
pub(crate) fn best_passage_of(
    snapshot: &Snapshot,
    segments: &[Live<'_>],
    terms: &Terms,
    note: u32,
) -> Result<Option<u32>, RetrievalError> {
    let passages = snapshot.passages_of(note)?;
    let (Some(first), Some(last)) = (passages.first().copied(), passages.last().copied()) else {
        return Ok(None);
    };
    if first == last || terms.query.is_empty() {
        return Ok(Some(first));
    }
    // A note's passages bear consecutive numbers.
    let within = |passage: u32| (first..=last).contains(&passage);
    let hits = search(segments, &terms.query, 1, Some(&within))?;
    Ok(Some(hits.first().map_or(first, |hit| hit.passage)))
}
