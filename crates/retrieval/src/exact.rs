//! `exact`: passages that hold the question as it stands.

use lorewell_index::Snapshot;
use lorewell_lexical::{Live, QueryTerm, search};
use lorewell_text::{Question, TokenKind, fold, fold_white_space};

use crate::error::RetrievalError;
use crate::lane::{Lane, LaneHit, LaneResult, LaneState};
use crate::lanes::Ground;

/// At most `depth` passages whose text holds the question: words in order, case, diacritics and
/// white space aside. Signs count. Best first by BM25; a question without words is looked for
/// letter by letter.
pub(crate) fn run(
    ground: &Ground<'_>,
    question: &Question,
    asked: &str,
    depth: usize,
) -> Result<LaneResult, RetrievalError> {
    let snapshot = ground.snapshot;
    let phrase = fold(&fold_white_space(asked));
    let mut hits = Vec::new();
    for (passage, score) in candidates(snapshot, &ground.segments, question, asked)? {
        if hits.len() == depth {
            break;
        }
        if !ground.may(passage) {
            continue;
        }
        let Some(stored) = snapshot.passage(passage)? else {
            continue;
        };
        if fold(&fold_white_space(&stored.text)).contains(&phrase) {
            hits.push(LaneHit::new(passage, score));
        }
    }
    Ok(LaneResult::new(Lane::Text, LaneState::Ok, hits))
}

/// Passages with every word of the question, best first; they alone can hold it as it stands.
fn candidates(
    snapshot: &Snapshot,
    segments: &[Live<'_>],
    question: &Question,
    asked: &str,
) -> Result<Vec<(u32, f32)>, RetrievalError> {
    let passages = snapshot.totals().passages as usize;
    // Other kinds of terms depend on what stands beside the words.
    let words = question.terms.iter().filter(|term| {
        matches!(
            term.kind,
            TokenKind::Word | TokenKind::Unigram | TokenKind::Bigram | TokenKind::Symbol
        )
    });
    let terms: Vec<QueryTerm> = words
        .map(|term| QueryTerm {
            term: term.term.clone(),
            weight: 1.0,
        })
        .take(64)
        .collect();
    if terms.is_empty() {
        let holding = snapshot.passages_holding(asked.trim(), passages)?;
        return Ok(holding.into_iter().map(|passage| (passage, 1.0)).collect());
    }
    let all = u64::MAX >> (64 - terms.len());
    let hits = search(segments, &terms, passages, None)?;
    let whole = hits.into_iter().filter(|hit| hit.matched == all);
    Ok(whole.map(|hit| (hit.passage, hit.score)).collect())
}
