//! Why a passage has its score.

use crate::error::SegmentError;
use crate::length;
use crate::score::Params;
use crate::search::{QueryTerm, Question};
use crate::segment::{Live, place};

/// What one term of a question adds to the score of a passage.
#[derive(Clone, Debug, PartialEq)]
pub struct TermScore {
    /// The term.
    pub term: String,
    /// Its weight in the question.
    pub weight: f32,
    /// How often it occurs in the passage, weighted by field; 0 if it does not.
    pub tf: u8,
    /// In how many live passages it occurs.
    pub document_frequency: u32,
    /// Its inverse document frequency.
    pub idf: f32,
    /// The passage's length in weighted words, as the segment keeps it.
    pub length: u32,
    /// The mean length of the live passages.
    pub average_length: f32,
    /// What it adds to the score.
    pub contribution: f32,
}

/// One entry for each term of the question, in its order; empty if the passage is not live in any
/// segment. Added up in this order, the contributions are exactly the score that
/// [`search`](crate::search()) gives.
///
/// # Errors
/// If a block that must be read is damaged.
pub fn explain(
    segments: &[Live<'_>],
    terms: &[QueryTerm],
    passage: u32,
) -> Result<Vec<TermScore>, SegmentError> {
    explain_with(Params::default(), segments, terms, passage)
}

/// [`explain`], with the constants of the formula.
///
/// # Errors
/// See [`explain`].
pub fn explain_with(
    params: Params,
    segments: &[Live<'_>],
    terms: &[QueryTerm],
    passage: u32,
) -> Result<Vec<TermScore>, SegmentError> {
    let Some((index, doc)) = place(segments, passage)? else {
        return Ok(Vec::new());
    };
    let segment = segments[index].segment;
    let length = segment.lengths(doc as usize..doc as usize + 1)?[0];
    let question = Question::new(params, segments, terms)?;
    let mut scores = Vec::with_capacity(terms.len());
    for (term, found) in terms.iter().zip(&question.terms) {
        let tf = match &found.postings[index] {
            Some(postings) => postings
                .frequency(doc)
                .ok_or_else(|| segment.damaged("postings"))?,
            None => 0,
        };
        let contribution = if tf == 0 {
            0.0
        } else {
            question.formula.contribution(found.factor, tf, length)
        };
        scores.push(TermScore {
            term: term.term.clone(),
            weight: term.weight,
            tf,
            document_frequency: found.document_frequency,
            idf: found.idf,
            length: length::decode(length),
            average_length: question.average_length,
            contribution,
        });
    }
    Ok(scores)
}
