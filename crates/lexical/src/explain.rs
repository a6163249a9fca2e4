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

/// The terms of a question, looked up once to explain many passages.
pub struct Explainer<'a> {
    segments: &'a [Live<'a>],
    terms: &'a [QueryTerm],
    question: Question<'a>,
}

impl<'a> Explainer<'a> {
    /// Looks the terms up.
    ///
    /// # Errors
    /// If a block that must be read is damaged.
    pub fn new(
        params: Params,
        segments: &'a [Live<'a>],
        terms: &'a [QueryTerm],
    ) -> Result<Explainer<'a>, SegmentError> {
        Ok(Explainer {
            segments,
            terms,
            question: Question::new(params, segments, terms)?,
        })
    }

    /// One entry for each term of the question, in its order; empty if the passage is not live in
    /// any segment. Added up in this order, the contributions are exactly the score that
    /// [`search`](crate::search()) gives.
    ///
    /// # Errors
    /// If a block that must be read is damaged.
    pub fn explain(&self, passage: u32) -> Result<Vec<TermScore>, SegmentError> {
        let Some((index, doc)) = place(self.segments, passage)? else {
            return Ok(Vec::new());
        };
        let segment = self.segments[index].segment;
        let length = segment.lengths(doc as usize..doc as usize + 1)?[0];
        let mut scores = Vec::with_capacity(self.terms.len());
        for (term, found) in self.terms.iter().zip(&self.question.terms) {
            let tf = match &found.postings[index] {
                Some(postings) => postings
                    .frequency(doc)
                    .ok_or_else(|| segment.damaged("postings"))?,
                None => 0,
            };
            let contribution = if tf == 0 {
                0.0
            } else {
                self.question.formula.contribution(found.factor, tf, length)
            };
            scores.push(TermScore {
                term: term.term.clone(),
                weight: term.weight,
                tf,
                document_frequency: found.document_frequency,
                idf: found.idf,
                length: length::decode(length),
                average_length: self.question.average_length,
                contribution,
            });
        }
        Ok(scores)
    }
}

/// [`Explainer::explain`] of one passage, with the usual [`Params`].
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
    Explainer::new(params, segments, terms)?.explain(passage)
}
