//! The parts of the score: what is counted over all live passages, and the formula.

use crate::bitmap::Bitmap;
use crate::dictionary::find;
use crate::error::SegmentError;
use crate::length;
use crate::postings::{BLOCK_POSTINGS, END, Postings};
use crate::segment::{Live, Segment};

/// The constants of BM25.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// How slowly more occurrences stop to matter; 0 and up.
    pub k1: f32,
    /// How much length counts: 0 (not at all) to 1.
    pub b: f32,
}

impl Default for Params {
    fn default() -> Self {
        Self { k1: 1.2, b: 0.75 }
    }
}

/// What the score needs to know about all live passages together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Statistics {
    /// Live passages.
    pub passages: u64,
    /// Mean length of a live passage in weighted words, each length as its segment keeps it (5 bits
    /// of precision).
    pub average_length: f32,
}

/// Counts the live passages.
///
/// # Errors
/// If a block that must be read is damaged.
pub fn statistics(segments: &[Live<'_>]) -> Result<Statistics, SegmentError> {
    let dead = segments.iter().map(dead_docs).collect::<Vec<_>>();
    statistics_with(segments, &dead)
}

/// In how many live passages a term occurs.
///
/// # Errors
/// If a block that must be read is damaged.
pub fn document_frequency(segments: &[Live<'_>], term: &str) -> Result<u32, SegmentError> {
    let mut total = 0;
    for live in segments {
        if let Some(postings) = find(live.segment, term.as_bytes())? {
            total += live_count(live.segment, &postings, live.dead, &dead_docs(live))?;
        }
    }
    Ok(total)
}

/// The dead documents of a segment, ascending.
pub(crate) fn dead_docs(live: &Live<'_>) -> Vec<u32> {
    let len = live.segment.len();
    live.dead
        .map(|dead| dead.iter().take_while(|doc| *doc < len).collect())
        .unwrap_or_default()
}

/// [`statistics`], with the dead documents of each segment.
pub(crate) fn statistics_with(
    segments: &[Live<'_>],
    dead: &[Vec<u32>],
) -> Result<Statistics, SegmentError> {
    let (mut passages, mut total) = (0_u64, 0_u64);
    for (live, dead) in segments.iter().zip(dead) {
        let segment = live.segment;
        let mut dead_length = 0;
        if !dead.is_empty() {
            let lengths = segment.lengths(0..segment.len() as usize)?;
            dead_length = dead
                .iter()
                .map(|doc| u64::from(length::decode(lengths[*doc as usize])))
                .sum();
        }
        passages += u64::from(segment.len()) - dead.len() as u64;
        total += segment.total_length().saturating_sub(dead_length);
    }
    let average_length = if passages == 0 {
        0.0
    } else {
        (total as f64 / passages as f64) as f32
    };
    Ok(Statistics {
        passages,
        average_length,
    })
}

/// How many of the postings are of live passages. Looks the dead ones up if they are few, and else
/// reads everything.
pub(crate) fn live_count(
    segment: &Segment,
    postings: &Postings<'_>,
    dead: Option<&Bitmap>,
    dead_docs: &[u32],
) -> Result<u32, SegmentError> {
    /// A look-up costs about as much as reading so many postings.
    const LOOK_UP: usize = 64;
    let (Some(dead), false) = (dead, dead_docs.is_empty()) else {
        return Ok(postings.count());
    };
    let mut gone = 0;
    if dead_docs.len() * LOOK_UP < postings.count() as usize {
        for doc in dead_docs {
            let has = postings.contains(*doc);
            gone += u32::from(has.ok_or_else(|| segment.damaged("postings"))?);
        }
    } else {
        let mut cursor = postings.cursor();
        cursor.drain(u64::from(segment.len()), |docs, _| {
            gone += docs
                .iter()
                .map(|doc| u32::from(dead.contains(*doc)))
                .sum::<u32>();
        });
        if cursor.failed() || cursor.doc() != END {
            return Err(segment.damaged("postings"));
        }
    }
    Ok(postings.count() - gone)
}

/// The inverse document frequency: always above 0.
pub(crate) fn idf(passages: u64, frequency: u32) -> f32 {
    let (passages, frequency) = (passages as f64, f64::from(frequency));
    (1.0 + (passages - frequency + 0.5).max(0.5) / (frequency + 0.5)).ln() as f32
}

/// A query weight that cannot spoil a score: 0 for what is not a number, negative, or too small to
/// matter.
pub(crate) fn sane_weight(weight: f32) -> f32 {
    if weight >= 1e-6 { weight.min(1e6) } else { 0.0 }
}

/// The formula with everything but the posting filled in.
pub(crate) struct Formula {
    k1: f32,
    /// `k1 · (1 − b + b · length / average length)` for each encoded length.
    norms: [f32; 256],
}

impl Formula {
    pub(crate) fn new(params: Params, statistics: Statistics) -> Self {
        let average = if statistics.average_length > 0.0 {
            statistics.average_length
        } else {
            1.0
        };
        // A norm is never 0, so that nothing is ever divided by 0.
        let norms = std::array::from_fn(|byte| {
            let length = length::decode(byte as u8) as f32;
            (params.k1 * (1.0 - params.b + params.b * length / average)).max(1e-6)
        });
        Self {
            k1: params.k1,
            norms,
        }
    }

    /// The part of a contribution that is the same for every passage.
    pub(crate) fn factor(&self, weight: f32, idf: f32) -> f32 {
        sane_weight(weight) * idf * (self.k1 + 1.0)
    }

    /// What a term adds to the score of a passage.
    pub(crate) fn contribution(&self, factor: f32, tf: u8, length: u8) -> f32 {
        contribution(factor, tf, self.norms[usize::from(length)])
    }

    /// Adds what a term adds to the scores of passages: of those in `docs`, with these frequencies.
    /// `scores` and encoded `lengths` begin with the passage `start`.
    pub(crate) fn add(
        &self,
        factor: f32,
        docs: &[u32],
        frequencies: &[u8],
        start: usize,
        scores: &mut [f32],
        lengths: &[u8],
    ) {
        // Three loops, so that the divisions in the middle one are done several at a time.
        let mut parts = [0.0; BLOCK_POSTINGS];
        let parts = &mut parts[..docs.len()];
        for (part, doc) in parts.iter_mut().zip(docs) {
            *part = self.norms[usize::from(lengths[*doc as usize - start])];
        }
        for (part, tf) in parts.iter_mut().zip(frequencies) {
            *part = contribution(factor, *tf, *part);
        }
        for (part, doc) in parts.iter().zip(docs) {
            scores[*doc as usize - start] += part;
        }
    }
}

#[inline(always)]
fn contribution(factor: f32, tf: u8, norm: f32) -> f32 {
    let tf = f32::from(tf);
    factor * (tf / (tf + norm))
}
