//! Keeps the best k of a stream of candidates.

use std::cmp::Ordering;

/// A passage that may be among the best.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) score: f32,
    pub(crate) tie: u64,
    pub(crate) passage: u32,
    pub(crate) segment: u32,
    pub(crate) doc: u32,
}

impl Candidate {
    /// Best first: higher score, smaller tie, smaller passage id.
    fn order(&self, other: &Self) -> Ordering {
        other
            .score
            .total_cmp(&self.score)
            .then(self.tie.cmp(&other.tie))
            .then(self.passage.cmp(&other.passage))
    }
}

/// The best `k` so far, and up to as many again, so that choosing among them is rare.
pub(crate) struct Top {
    k: usize,
    kept: Vec<Candidate>,
    threshold: f32,
}

impl Top {
    /// Keeps `k`, which is at least 1.
    pub(crate) fn new(k: usize) -> Self {
        Self {
            k: k.max(1),
            kept: Vec::new(),
            threshold: f32::MIN_POSITIVE,
        }
    }

    /// A candidate below this score is not among the best; one that equals it may be.
    pub(crate) fn threshold(&self) -> f32 {
        self.threshold
    }

    pub(crate) fn push(&mut self, candidate: Candidate) {
        self.kept.push(candidate);
        if self.kept.len() >= self.k.saturating_mul(2).max(64) {
            self.cut();
        }
    }

    /// The best, best first.
    pub(crate) fn into_sorted(mut self) -> Vec<Candidate> {
        self.cut();
        self.kept.sort_unstable_by(Candidate::order);
        self.kept
    }

    fn cut(&mut self) {
        if self.kept.len() > self.k {
            let (_, worst, _) = self
                .kept
                .select_nth_unstable_by(self.k - 1, Candidate::order);
            self.threshold = worst.score;
            self.kept.truncate(self.k);
        }
    }
}
