//! `must`: words that a passage has to have. It narrows what may be in the answer before anything
//! is ranked.

use lorewell_index::{IndexError, Snapshot};
use lorewell_lexical::{Bitmap, QueryTerm, search};
use lorewell_text::{TokenKind, Tokenizer};

use crate::error::RetrievalError;
use crate::lanes::{Allowed, Ground};

/// Leaves only passages that have every word of every item; returns the items that say nothing
/// that could be looked for.
pub(crate) fn narrow(
    ground: &mut Ground<'_>,
    must: &[String],
) -> Result<Vec<String>, RetrievalError> {
    let mut empty = Vec::new();
    for item in must {
        if terms_of(item).is_empty() {
            empty.push(item.clone());
            continue;
        }
        let passages = all_of(ground, item)?;
        ground.allowed = Some(allow(ground.snapshot, passages)?);
    }
    Ok(empty)
}

/// The passages that may be in the answer and have every word of a text; none, where it has none.
pub(crate) fn all_of(ground: &Ground<'_>, text: &str) -> Result<Bitmap, RetrievalError> {
    let mut passages = Bitmap::new();
    let terms = terms_of(text);
    if terms.is_empty() {
        return Ok(passages);
    }
    let all = u64::MAX >> (64 - terms.len());
    let depth = ground.snapshot.totals().passages as usize;
    let within = |passage: u32| ground.may(passage);
    let hits = search(&ground.segments, &terms, depth, Some(&within))?;
    for hit in hits.iter().filter(|hit| hit.matched == all) {
        passages.insert(hit.passage);
    }
    Ok(passages)
}

/// The words of an item, as many as can be looked for at once. Signs that make a name (`C++`)
/// count; other forms depend on what stands beside the words.
pub(crate) fn terms_of(item: &str) -> Vec<QueryTerm> {
    let mut terms: Vec<QueryTerm> = Vec::new();
    Tokenizer::new().tokens(item, &mut |token| {
        let wanted = match token.kind {
            TokenKind::Word | TokenKind::Unigram | TokenKind::Bigram | TokenKind::Symbol => true,
            TokenKind::Identifier => token.term.ends_with(['+', '#']),
            TokenKind::Spelling | TokenKind::Beginning => false,
        };
        if wanted && terms.len() < 64 && terms.iter().all(|known| known.term != token.term) {
            terms.push(QueryTerm {
                term: token.term.to_string(),
                weight: 1.0,
            });
        }
    });
    terms
}

/// What may be in the answer, if these passages are all.
pub(crate) fn allow(snapshot: &Snapshot, passages: Bitmap) -> Result<Allowed, IndexError> {
    let mut notes = std::collections::HashSet::new();
    for passage in passages.iter() {
        notes.extend(snapshot.note_of_passage(passage)?);
    }
    Ok(Allowed {
        rows: snapshot.rows_of_passages(&passages)?,
        passages,
        notes,
    })
}
