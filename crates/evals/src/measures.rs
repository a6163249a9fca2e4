//! Means, gains and intervals.

/// The mean; 0 of nothing.
pub fn mean(values: &[f64]) -> f64 {
    // The sum of nothing is -0 in floating point.
    values.iter().fold(0.0, |sum, value| sum + value) / values.len().max(1) as f64
}

/// nDCG at 10 with linear gain, `Σ gain / log2(rank + 1)` over that of the ideal order
/// (Järvelin and Kekäläinen, TOIS 2002, as trec_eval computes it). `found`: gains in order of
/// rank; `all`: every positive gain there is.
pub fn ndcg_at_10(found: &[f64], all: &[f64]) -> f64 {
    let mut best = all.to_vec();
    best.sort_by(|a, b| b.total_cmp(a));
    let ideal = discounted(&best);
    if ideal > 0.0 {
        discounted(found) / ideal
    } else {
        0.0
    }
}

fn discounted(gains: &[f64]) -> f64 {
    let ranked = gains.iter().take(10).enumerate();
    ranked.fold(0.0, |sum, (index, gain)| {
        sum + gain / ((index + 2) as f64).log2()
    })
}

/// The difference of two systems over the same questions, with a 95 % interval by bootstrap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// Mean of `a - b`.
    pub mean: f64,
    /// Where 2.5 % of the resampled means lie below.
    pub low: f64,
    /// Where 2.5 % lie above.
    pub high: f64,
}

impl Difference {
    /// Pairs the values of two systems. The same input gives the same interval.
    pub fn of(a: &[f64], b: &[f64]) -> Difference {
        const RESAMPLES: usize = 5_000;
        let pairs: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
        if pairs.is_empty() {
            return Difference {
                mean: 0.0,
                low: 0.0,
                high: 0.0,
            };
        }
        let mut chance = Chance::new(20);
        let mut means: Vec<f64> = (0..RESAMPLES)
            .map(|_| {
                let sum: f64 = (0..pairs.len())
                    .map(|_| pairs[chance.below(pairs.len())])
                    .sum();
                sum / pairs.len() as f64
            })
            .collect();
        means.sort_by(f64::total_cmp);
        Difference {
            mean: mean(&pairs),
            low: means[RESAMPLES / 40],
            high: means[RESAMPLES - 1 - RESAMPLES / 40],
        }
    }

    /// `+.031 [-.010, +.072]`.
    pub fn shown(&self) -> String {
        format!("{:+.3} [{:+.3}, {:+.3}]", self.mean, self.low, self.high)
    }
}

/// The value that `percent` of a hundred do not exceed (nearest rank); 0 of nothing.
pub fn percentile(values: &[f64], percent: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (sorted.len() as f64 * percent / 100.0).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
}

/// Pseudo-random numbers, the same on every machine (splitmix64).
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    /// A stream that the seed decides.
    pub fn new(seed: u64) -> Chance {
        Chance(seed)
    }

    /// A number below `limit`, which must not be 0.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(mixed ^ (mixed >> 31)) * limit as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gains() {
        assert!((ndcg_at_10(&[1.0, 0.0, 1.0], &[1.0, 1.0]) - 1.5 / 1.630_93).abs() < 1e-4);
        assert_eq!(ndcg_at_10(&[3.0, 1.0], &[1.0, 3.0]), 1.0);
        assert_eq!(ndcg_at_10(&[], &[1.0]), 0.0);
    }

    #[test]
    fn intervals_hold_the_mean_and_shrink_to_it() {
        let none = Difference::of(&[0.5; 20], &[0.5; 20]);
        assert_eq!((none.mean, none.low, none.high), (0.0, 0.0, 0.0));
        let a: Vec<f64> = (0..40).map(|i| f64::from(i % 2)).collect();
        let some = Difference::of(&a, &[0.0; 40]);
        assert!(some.low < some.mean && some.mean < some.high && some.low > 0.3);
        assert_eq!(some, Difference::of(&a, &[0.0; 40]));
    }

    #[test]
    fn percentiles_by_nearest_rank() {
        let values: Vec<f64> = (1..=200).map(f64::from).collect();
        assert_eq!(percentile(&values, 50.0), 100.0);
        assert_eq!(percentile(&values, 99.0), 198.0);
        assert_eq!(percentile(&[], 50.0), 0.0);
    }
}
