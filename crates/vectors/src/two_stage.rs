//! The two-stage scan: all codes first, then the rows that they leave.
//!
//! A code keeps only signs, but a row whose signs differ from the question's where the question has
//! its weight is seldom near it. The first stage leaves [`CANDIDATES`] rows for each that is wanted,
//! and at least one of [`SHARE`]; the second compares these exactly. Scores are exact; a row can be
//! missed, and docs/evals/scan.md tells how many are.

use crate::{
    RowSet, Scored, VectorReader,
    codes::CODES_FROM,
    format::Part,
    hamming::{GREATEST, Weights},
};

/// Rows left by the first stage for each that is wanted.
const CANDIDATES: usize = 80;

/// At least one row of so many is left by the first stage.
const SHARE: usize = 200;

/// Rows of a block: one word of a [`RowSet`].
const BLOCK: usize = 64;

impl VectorReader {
    /// The `k` rows nearest to the question, like [`scan`](Self::scan), in two stages where there are
    /// many rows and their codes: a few of the farther ones may be missing then.
    pub fn nearest(&self, question: &[f32], k: usize, allow: Option<&RowSet>) -> Vec<Scored> {
        let allowed = allow.map_or(self.rows(), RowSet::count);
        if allowed < CODES_FROM || !self.has_codes() {
            return self.scan(question, k, allow);
        }
        let wanted = k.saturating_mul(CANDIDATES).max(allowed as usize / SHARE);
        let candidates = self.candidates(question, wanted, allow);
        self.scan(question, k, candidates.as_ref().or(allow))
    }

    /// Whether a scan of all rows has a first stage.
    pub fn has_codes(&self) -> bool {
        !self.code_bytes().is_empty()
    }

    /// The rows whose codes are nearest to the question's: at least `wanted`, with all that are as
    /// near as the last. None for a question that is near to nothing.
    fn candidates(
        &self,
        question: &[f32],
        wanted: usize,
        allow: Option<&RowSet>,
    ) -> Option<RowSet> {
        if question.len() != self.dimension() {
            return None;
        }
        let weights = Weights::new(question);
        let mut all = vec![u16::MAX; self.rows() as usize];
        let mut counts = vec![0usize; self.dimension() * usize::from(GREATEST) + 1];
        let row_bytes = Part::Codes.row_bytes(self.dimension());
        let blocks = self.code_bytes().chunks(BLOCK * row_bytes);
        for (index, (codes, into)) in blocks.zip(all.chunks_mut(BLOCK)).enumerate() {
            let wanted = allow.map_or(u64::MAX, |set| set.word(index));
            if wanted == 0 {
                continue;
            }
            weights.distances(codes, into);
            for (bit, distance) in into.iter_mut().enumerate() {
                if wanted >> bit & 1 == 0 {
                    *distance = u16::MAX;
                } else if let Some(count) = counts.get_mut(usize::from(*distance)) {
                    *count += 1;
                }
            }
        }
        let farthest = farthest_of(&counts, wanted);
        let mut candidates = RowSet::new(self.rows());
        for (index, block) in all.chunks(BLOCK).enumerate() {
            let mut word = 0;
            for (bit, distance) in block.iter().enumerate() {
                word |= u64::from(*distance <= farthest) << bit;
            }
            candidates.put_word(index, word);
        }
        Some(candidates)
    }
}

/// The distance up to which there are at least `wanted` rows, by how many there are at each.
fn farthest_of(counts: &[usize], wanted: usize) -> u16 {
    let mut sum = 0;
    for (distance, count) in counts.iter().enumerate() {
        sum += count;
        if sum >= wanted {
            return distance as u16;
        }
    }
    counts.len() as u16
}
