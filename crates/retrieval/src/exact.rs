//! `exact`: passages that hold the question as it stands.

use lorewell_index::Snapshot;
use lorewell_lexical::{Live, search};
use lorewell_text::{fold, fold_white_space};

use crate::error::RetrievalError;
use crate::lane::{Lane, LaneHit, LaneResult, LaneState};
use crate::lanes::Allowed;
use crate::lanes::text::Terms;

/// So many passages with all the words are looked at for the phrase.
const LOOKED_AT: usize = 5_000;

/// Passages whose text holds the question: words in order, case, diacritics and white space
/// aside. Signs count. Best first by BM25; a question without words is looked for letter by
/// letter.
pub(crate) fn run(
    snapshot: &Snapshot,
    segments: &[Live<'_>],
    terms: &Terms,
    question: &str,
    allowed: Option<&Allowed>,
    depth: usize,
) -> Result<LaneResult, RetrievalError> {
    let within = |passage: u32| allowed.is_none_or(|a| a.passages.contains(passage));
    let phrase = fold(&fold_white_space(question));
    let candidates: Vec<(u32, f32)> = if terms.missing_idf > 0.0 {
        Vec::new()
    } else if terms.query.is_empty() {
        snapshot
            .passages_holding(question.trim(), LOOKED_AT)?
            .into_iter()
            .map(|p| (p, 1.0))
            .collect()
    } else {
        let hits = search(segments, &terms.query, LOOKED_AT, Some(&within))?;
        hits.into_iter()
            .map(|hit| (hit.passage, hit.score))
            .collect()
    };
    let mut hits = Vec::new();
    for (passage, score) in candidates {
        if hits.len() == depth {
            break;
        }
        if !within(passage) {
            continue;
        }
        let Some(stored) = snapshot.passage(passage)? else {
            continue;
        };
        if fold(&fold_white_space(&stored.text)).contains(&phrase) {
            hits.push(LaneHit {
                passage,
                score,
                strength: 1.0,
            });
        }
    }
    Ok(LaneResult::new(Lane::Text, LaneState::Ok, hits))
}
