//! Keeps the k best of a stream of scored rows, in an order that does not depend on the stream's.

use std::cmp::Ordering;

use crate::{Key, Scored};

/// The k best so far. Better is a higher score, then the smaller key, then the smaller row, so that
/// ties come out the same in two indexes of the same notes built in different orders.
pub(crate) struct TopK<KeyOf> {
    k: usize,
    kept: Vec<Scored>,
    /// Rows below this score cannot be among the best.
    threshold: f32,
    key_of: KeyOf,
}

impl<KeyOf: Fn(u32) -> Key> TopK<KeyOf> {
    /// Keeps none yet of at most `k`, chosen from at most `rows`.
    pub(crate) fn new(k: usize, rows: usize, key_of: KeyOf) -> Self {
        let k = k.min(rows);
        Self {
            k,
            kept: Vec::with_capacity(room(k).min(rows)),
            threshold: f32::NEG_INFINITY,
            key_of,
        }
    }

    /// The score that a row must reach to be considered; it only rises.
    pub(crate) fn threshold(&self) -> f32 {
        self.threshold
    }

    /// Considers a row. A score that is not a number is passed over.
    pub(crate) fn offer(&mut self, row: u32, score: f32) {
        if score >= self.threshold && self.k > 0 {
            self.kept.push(Scored { row, score });
            if self.kept.len() >= room(self.k) {
                self.shrink();
            }
        }
    }

    /// The best, best first.
    pub(crate) fn into_sorted(mut self) -> Vec<Scored> {
        let key_of = &self.key_of;
        self.kept.sort_unstable_by(|a, b| order(key_of, a, b));
        self.kept.truncate(self.k);
        self.kept
    }

    fn shrink(&mut self) {
        let key_of = &self.key_of;
        let (_, last, _) = self
            .kept
            .select_nth_unstable_by(self.k - 1, |a, b| order(key_of, a, b));
        self.threshold = last.score;
        self.kept.truncate(self.k);
    }
}

/// How many are kept before the worst are thrown out: selecting seldom makes it cheap.
fn room(k: usize) -> usize {
    k.saturating_mul(2).max(k.saturating_add(64))
}

fn order(key_of: &impl Fn(u32) -> Key, a: &Scored, b: &Scored) -> Ordering {
    b.score
        .total_cmp(&a.score)
        .then_with(|| key_of(a.row).cmp(&key_of(b.row)))
        .then_with(|| a.row.cmp(&b.row))
}
