//! Ranks passages for the terms of a question: term after term over windows of passages.
//!
//! Skipping by block maxima (WAND) does not pay for the 6 to 12 ORed words of a question. Adding up
//! all postings in windows that fit the first-level cache does, and keeps sums in query order,
//! whatever segment a passage is in.

use std::cell::Cell;

use crate::dictionary::find;
use crate::error::SegmentError;
use crate::postings::{Cursor, END, Postings};
use crate::score::{Formula, Params, dead_docs, idf, live_count, sane_weight, statistics_with};
use crate::segment::Live;
use crate::top::{Candidate, Top};

/// Passages of a window: their scores take 32 KiB.
const WINDOW: usize = 8 * 1024;
/// Scores that are compared with the threshold at once.
const LANE: usize = 32;

thread_local! {
    /// The scores of a window, all 0 between searches.
    static SCORES: Cell<Vec<f32>> = const { Cell::new(Vec::new()) };
}

/// A term of a question, as the tokenizer made it.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryTerm {
    /// The term.
    pub term: String,
    /// Multiplies what the term adds to a score. Not finite, negative or below 10⁻⁶: the term finds
    /// nothing, but is still reported in [`Hit::matched`].
    pub weight: f32,
}

/// A passage that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The passage's id.
    pub passage: u32,
    /// Its BM25 score, above 0.
    pub score: f32,
    /// What decides between equal scores.
    pub tie: u64,
    /// Bit `i`: term `i` of the question occurs in it. Only the first 64 terms are reported.
    pub matched: u64,
}

/// The best `k` live passages that have any of the terms, best first, with the usual [`Params`].
///
/// `allow` says of a passage id whether the passage may be in the answer. It changes no score. A
/// passage should be live in one segment only: it is found once for each.
///
/// # Errors
/// If a block that must be read is damaged.
pub fn search(
    segments: &[Live<'_>],
    terms: &[QueryTerm],
    k: usize,
    allow: Option<&dyn Fn(u32) -> bool>,
) -> Result<Vec<Hit>, SegmentError> {
    search_with(Params::default(), segments, terms, k, allow)
}

/// [`search`], with the constants of the formula.
///
/// # Errors
/// See [`search`].
pub fn search_with(
    params: Params,
    segments: &[Live<'_>],
    terms: &[QueryTerm],
    k: usize,
    allow: Option<&dyn Fn(u32) -> bool>,
) -> Result<Vec<Hit>, SegmentError> {
    if k == 0 || terms.is_empty() {
        return Ok(Vec::new());
    }
    let question = Question::new(params, segments, terms)?;
    let mut top = Top::new(k);
    let mut scores = SCORES.take();
    let result = segments
        .iter()
        .enumerate()
        .try_for_each(|(index, _)| question.rank(index, &mut scores, &mut top, allow));
    if result.is_err() {
        scores.fill(0.0);
    }
    SCORES.set(scores);
    result?;
    top.into_sorted()
        .into_iter()
        .map(|candidate| question.hit(&candidate))
        .collect()
}

/// The terms of a question, looked up everywhere.
pub(crate) struct Question<'a> {
    segments: &'a [Live<'a>],
    pub(crate) terms: Vec<Term<'a>>,
    pub(crate) formula: Formula,
    pub(crate) average_length: f32,
}

/// A term of a question, looked up.
pub(crate) struct Term<'a> {
    /// For each segment.
    pub(crate) postings: Vec<Option<Postings<'a>>>,
    pub(crate) document_frequency: u32,
    pub(crate) idf: f32,
    pub(crate) factor: f32,
}

impl<'a> Question<'a> {
    pub(crate) fn new(
        params: Params,
        segments: &'a [Live<'a>],
        terms: &[QueryTerm],
    ) -> Result<Self, SegmentError> {
        let dead: Vec<Vec<u32>> = segments.iter().map(dead_docs).collect();
        let statistics = statistics_with(segments, &dead)?;
        let formula = Formula::new(params, statistics);
        let mut found = Vec::with_capacity(terms.len());
        for term in terms {
            let mut postings = Vec::with_capacity(segments.len());
            let mut document_frequency = 0;
            for (live, dead_docs) in segments.iter().zip(&dead) {
                let list = find(live.segment, term.term.as_bytes())?;
                if let Some(list) = &list
                    && sane_weight(term.weight) > 0.0
                {
                    document_frequency += live_count(live.segment, list, live.dead, dead_docs)?;
                }
                postings.push(list);
            }
            let idf = idf(statistics.passages, document_frequency);
            let factor = formula.factor(term.weight, idf);
            found.push(Term {
                postings,
                document_frequency,
                idf,
                factor,
            });
        }
        Ok(Self {
            segments,
            terms: found,
            formula,
            average_length: statistics.average_length,
        })
    }

    /// Ranks the passages of one segment.
    fn rank(
        &self,
        index: usize,
        scores: &mut Vec<f32>,
        top: &mut Top,
        allow: Option<&dyn Fn(u32) -> bool>,
    ) -> Result<(), SegmentError> {
        let segment = self.segments[index].segment;
        let len = segment.len() as usize;
        let mut cursors: Vec<(Cursor<'_>, f32)> = self
            .terms
            .iter()
            .filter(|term| term.factor > 0.0)
            .filter_map(|term| Some((term.postings[index].as_ref()?.cursor(), term.factor)))
            .collect();
        if scores.len() < len.min(WINDOW) {
            scores.resize(len.min(WINDOW), 0.0);
        }
        loop {
            let next = cursors
                .iter()
                .map(|(cursor, _)| cursor.doc())
                .min()
                .unwrap_or(END);
            if next >= len as u64 {
                break;
            }
            let start = next as usize / WINDOW * WINDOW;
            let end = (start + WINDOW).min(len);
            let window = &mut scores[..end - start];
            let lengths = segment.lengths(start..end)?;
            for (cursor, factor) in &mut cursors {
                cursor.drain(end as u64, |docs, frequencies| {
                    self.formula
                        .add(*factor, docs, frequencies, start, window, lengths);
                });
            }
            self.collect(index, start, window, top, allow)?;
            window.fill(0.0);
        }
        // A posting beyond the last passage, or an end of the bytes before the last posting.
        if cursors
            .iter()
            .any(|(cursor, _)| cursor.failed() || cursor.doc() != END)
        {
            return Err(segment.damaged("postings"));
        }
        Ok(())
    }

    /// Hands the passages of a window that may be among the best to `top`.
    fn collect(
        &self,
        index: usize,
        start: usize,
        window: &[f32],
        top: &mut Top,
        allow: Option<&dyn Fn(u32) -> bool>,
    ) -> Result<(), SegmentError> {
        let live = self.segments[index];
        let passages = live.segment.passages(start..start + window.len())?;
        for (lane, scores) in window.chunks(LANE).enumerate() {
            let threshold = top.threshold();
            if !scores
                .iter()
                .fold(false, |any, score| any | (*score >= threshold))
            {
                continue;
            }
            for (place, score) in scores.iter().enumerate() {
                let slot = lane * LANE + place;
                let doc = (start + slot) as u32;
                if *score < top.threshold() || live.dead.is_some_and(|dead| dead.contains(doc)) {
                    continue;
                }
                let passage = u32::from_le_bytes(passages[slot]);
                if allow.is_none_or(|allow| allow(passage)) {
                    let tie = live.segment.tie(doc)?;
                    let segment = index as u32;
                    top.push(Candidate {
                        score: *score,
                        tie,
                        passage,
                        segment,
                        doc,
                    });
                }
            }
        }
        Ok(())
    }

    /// A candidate with the terms that it has.
    fn hit(&self, candidate: &Candidate) -> Result<Hit, SegmentError> {
        let index = candidate.segment as usize;
        let mut matched = 0;
        for (bit, term) in self.terms.iter().take(64).enumerate() {
            if let Some(postings) = &term.postings[index] {
                let has = postings.contains(candidate.doc);
                let has = has.ok_or_else(|| self.segments[index].segment.damaged("postings"))?;
                matched |= u64::from(has) << bit;
            }
        }
        Ok(Hit {
            passage: candidate.passage,
            score: candidate.score,
            tie: candidate.tie,
            matched,
        })
    }
}
