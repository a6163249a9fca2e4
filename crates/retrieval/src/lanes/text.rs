//! The lexical lane: BM25F, terms ORed.

use lorewell_lexical::{Live, QueryTerm, document_frequency, search};
use lorewell_text::{Question, TokenKind};

use super::Ground;
use crate::error::RetrievalError;
use crate::lane::{Lane, LaneHit, LaneResult, LaneState};
use crate::phrases::Phrases;

/// A word that no passage has is looked for as the beginning of longer words, at this weight:
/// `Mietvertrag` finds `Mietvertragsverlängerung`.
const PREFIX_WEIGHT: f32 = 0.5;
/// So short a word is no useful beginning, in bytes.
const PREFIX_MIN: usize = 4;
/// So many longer words are looked for at most.
const PREFIX_WORDS: usize = 8;

/// A word that no passage has, of so many letters, may be misspelled; of so many, twice.
const SLIP_MIN: usize = 5;
const TWO_SLIPS_MIN: usize = 8;
/// So many words are looked for in its place at most.
const SLIP_WORDS: usize = 2;

/// The terms that a question looks for, with what each is worth.
#[derive(Clone, Debug, Default)]
pub(crate) struct Terms {
    pub(crate) query: Vec<QueryTerm>,
    /// The same terms as the index knows them, in the same order.
    pub(crate) found: Vec<FoundTerm>,
    /// The inverse document frequency of each word of the question that no passage has.
    pub(crate) missing: Vec<f32>,
    /// Words of the question that no passage has, in place of which words that are spelled nearly
    /// so are looked for.
    pub(crate) respelled: Vec<String>,
}

/// A term that some passage has.
#[derive(Clone, Debug)]
pub(crate) struct FoundTerm {
    pub(crate) term: String,
    /// In how many passages it occurs.
    pub(crate) document_frequency: u32,
    /// Its inverse document frequency.
    pub(crate) idf: f32,
}

impl Terms {
    /// Looks the question's terms up in the segments; those that no passage has are replaced by
    /// longer words that begin with them, where there are any.
    /// `text` is what `question` was made of.
    pub(crate) fn new(
        segments: &[Live<'_>],
        question: &Question,
        text: &str,
    ) -> Result<Terms, RetrievalError> {
        let passages = lorewell_lexical::statistics(segments)?.passages as f32;
        let idf = |df: u32| (1.0 + (passages - df as f32 + 0.5) / (df as f32 + 0.5)).ln();
        let mut terms = Terms::default();
        for term in &question.terms {
            let df = document_frequency(segments, &term.term)?;
            if df > 0 {
                terms.push(&term.term, 1.0, df, idf(df));
            } else if term.kind == TokenKind::Word && term.term.len() >= PREFIX_MIN {
                let mut instead = longer_words(segments, &term.term)?;
                if instead.is_empty() {
                    instead = near_words(segments, &term.term)?;
                    if instead.is_empty() {
                        terms.missing.push(idf(0));
                    } else {
                        terms.respelled.push(text[term.range.clone()].to_string());
                    }
                }
                for word in instead {
                    let df = document_frequency(segments, &word)?;
                    terms.push(&word, PREFIX_WEIGHT, df, idf(df));
                }
            } else if matches!(term.kind, TokenKind::Word | TokenKind::Bigram) {
                terms.missing.push(idf(0));
            } else if term.kind == TokenKind::Identifier {
                // Its parts may be there, and say less than the whole.
                terms.missing.push(0.5 * idf(0));
            }
        }
        Ok(terms)
    }

    fn push(&mut self, term: &str, weight: f32, document_frequency: u32, idf: f32) {
        if !self.query.iter().any(|known| known.term == term) {
            self.query.push(QueryTerm {
                term: term.to_string(),
                weight,
            });
            self.found.push(FoundTerm {
                term: term.to_string(),
                document_frequency,
                idf,
            });
        }
    }

    /// How many terms the question has, found or not.
    pub(crate) fn count(&self) -> usize {
        self.query.len() + self.missing.len()
    }

    /// The whole worth of the question's content.
    pub(crate) fn total_idf(&self) -> f32 {
        self.worth(|_| true) + self.missing.iter().sum::<f32>()
    }

    /// The share of the question's content that a passage has; bit `i` of `matched`: term `i`.
    pub(crate) fn share(&self, matched: u64) -> f32 {
        let total = self.total_idf();
        let has = self.worth(|place| place < 64 && matched >> place & 1 == 1);
        if total > 0.0 { has / total } else { 0.0 }
    }

    fn worth(&self, has: impl Fn(usize) -> bool) -> f32 {
        let terms = self.query.iter().zip(&self.found).enumerate();
        terms
            .filter(|(place, _)| has(*place))
            .map(|(_, (term, found))| term.weight * found.idf)
            .sum()
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

/// Words that living passages have and that differ from this one by a slip of the pen or two: the
/// nearest, and of equally near ones those that stand in most passages. Only words with the same
/// first two letters are looked at: a slip there is rare, and the others are many.
fn near_words(segments: &[Live<'_>], word: &str) -> Result<Vec<String>, RetrievalError> {
    if !word.bytes().all(|b| b.is_ascii_lowercase()) || word.len() < SLIP_MIN {
        return Ok(Vec::new());
    }
    let allowed = if word.len() < TWO_SLIPS_MIN { 1 } else { 2 };
    let mut near: Vec<(usize, u32, String)> = Vec::new();
    for live in segments {
        for entry in live.segment.terms_with_prefix(&word[..2], usize::MAX)? {
            if entry.term.len().abs_diff(word.len()) > allowed {
                continue;
            }
            let slips = strsim::osa_distance(&entry.term, word);
            if slips <= allowed && near.iter().all(|(.., known)| *known != entry.term) {
                let frequency = document_frequency(segments, &entry.term)?;
                near.push((slips, frequency, entry.term));
            }
        }
    }
    near.retain(|(_, frequency, _)| *frequency > 0);
    near.sort_by(|a, b| {
        a.0.cmp(&b.0)
            .then(b.1.cmp(&a.1))
            .then_with(|| a.2.cmp(&b.2))
    });
    near.truncate(SLIP_WORDS);
    Ok(near.into_iter().map(|(.., term)| term).collect())
}

/// Runs the lane.
pub(crate) fn run(
    ground: &Ground<'_>,
    terms: &Terms,
    phrases: &Phrases,
    depth: usize,
) -> Result<LaneResult, RetrievalError> {
    let hit = |hit: lorewell_lexical::Hit| LaneHit {
        share: terms.share(hit.matched),
        ..LaneHit::new(hit.passage, hit.score)
    };
    let hits = match phrases.are_found() {
        true => {
            let within = |passage: u32| ground.may(passage) && phrases.may(passage);
            let query = match terms.query.is_empty() {
                true => phrases.words(),
                false => &terms.query,
            };
            search(&ground.segments, query, depth, Some(&within))?
        }
        false => ground.find(&terms.query, depth)?,
    };
    let hits = hits.into_iter().map(hit).collect();
    Ok(LaneResult::new(Lane::Text, LaneState::Ok, hits))
}

/// The best passage of one note for these terms; its first, where none has any of them.
pub(crate) fn best_passage_of(
    ground: &Ground<'_>,
    terms: &Terms,
    note: u32,
) -> Result<Option<u32>, RetrievalError> {
    let passages = ground.snapshot.passages_of(note)?;
    let (Some(first), Some(last)) = (passages.first().copied(), passages.last().copied()) else {
        return Ok(None);
    };
    if first == last || terms.query.is_empty() {
        return Ok(Some(first));
    }
    // A note's passages bear consecutive numbers.
    let within = |passage: u32| (first..=last).contains(&passage) && ground.may(passage);
    let hits = search(&ground.segments, &terms.query, 1, Some(&within))?;
    Ok(Some(hits.first().map_or(first, |hit| hit.passage)))
}
