//! Means, gains and intervals.

use serde::{Serialize, Serializer};

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

/// A mean with its 95 % interval by bootstrap over the values (percentile method; Efron and
/// Tibshirani, *An Introduction to the Bootstrap*, 1993, chapter 13).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Interval {
    /// The mean.
    #[serde(serialize_with = "rounded")]
    pub mean: f64,
    /// Where 2.5 % of the resampled means lie below.
    #[serde(serialize_with = "rounded")]
    pub low: f64,
    /// Where 2.5 % lie above.
    #[serde(serialize_with = "rounded")]
    pub high: f64,
}

const RESAMPLES: usize = 5_000;
const SEED: u64 = 20;

impl Interval {
    /// Of the values of a measure, one for each question; 0 of nothing. The same values in the
    /// same order give the same interval.
    pub fn of(values: &[f64]) -> Interval {
        if values.is_empty() {
            return Interval::default();
        }
        let mut chance = Chance::new(SEED);
        let mut means: Vec<f64> = (0..RESAMPLES)
            .map(|_| {
                let sum: f64 = (0..values.len())
                    .map(|_| values[chance.below(values.len())])
                    .sum();
                sum / values.len() as f64
            })
            .collect();
        means.sort_by(f64::total_cmp);
        Interval {
            mean: mean(values),
            low: means[RESAMPLES / 40],
            high: means[RESAMPLES - 1 - RESAMPLES / 40],
        }
    }

    /// `.531 [.410, .672]`.
    pub fn shown(&self) -> String {
        format!("{:.3} [{:.3}, {:.3}]", self.mean, self.low, self.high)
    }
}

/// The difference of two systems over the same questions, with a 95 % interval by bootstrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Difference {
    /// Mean of `a - b`.
    #[serde(serialize_with = "rounded")]
    pub mean: f64,
    /// Where 2.5 % of the resampled means lie below.
    #[serde(serialize_with = "rounded")]
    pub low: f64,
    /// Where 2.5 % lie above.
    #[serde(serialize_with = "rounded")]
    pub high: f64,
}

impl Difference {
    /// Pairs the values of two systems. The same input gives the same interval.
    pub fn of(a: &[f64], b: &[f64]) -> Difference {
        let pairs: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
        let Interval { mean, low, high } = Interval::of(&pairs);
        Difference { mean, low, high }
    }

    /// `+.031 [-.010, +.072]`.
    pub fn shown(&self) -> String {
        format!("{:+.3} [{:+.3}, {:+.3}]", self.mean, self.low, self.high)
    }
}

/// More than three digits of such a figure would pretend.
fn rounded<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    // Adding 0 turns -0 into 0.
    serializer.serialize_f64((value * 1e3).round() / 1e3 + 0.0)
}

/// About how many questions it takes to tell a difference of this mean and spread from nothing:
/// `((1.96 + 0.84) · s / mean)²`, a two-sided test at 5 % that succeeds four times out of five.
/// Nothing where the mean is 0 or there are fewer than two differences.
pub fn questions_needed(differences: &[f64]) -> Option<usize> {
    let (count, mean) = (differences.len(), mean(differences));
    if count < 2 || mean == 0.0 {
        return None;
    }
    let squares: f64 = differences.iter().map(|d| (d - mean).powi(2)).sum();
    let spread = (squares / (count - 1) as f64).sqrt();
    let needed = (2.8 * spread / mean).powi(2).ceil();
    Some((needed as usize).max(count))
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
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        /// Over shares and reciprocal ranks, in any order and number.
        #[test]
        fn an_interval_holds_its_mean_and_hangs_on_the_values_alone(
            values in prop::collection::vec(0u8..=12, 1..60),
        ) {
            let values: Vec<f64> = values.into_iter().map(|v| f64::from(v) / 12.0).collect();
            let interval = Interval::of(&values);
            prop_assert!(interval.low <= interval.mean + 1e-9);
            prop_assert!(interval.mean <= interval.high + 1e-9);
            let least = values.iter().copied().fold(f64::MAX, f64::min);
            let most = values.iter().copied().fold(f64::MIN, f64::max);
            prop_assert!(least - 1e-9 <= interval.low && interval.high <= most + 1e-9);
            prop_assert_eq!(interval, Interval::of(&values));
            // A difference of equal pairs is nothing, and that of two systems is paired.
            prop_assert_eq!(Difference::of(&values, &values), Difference::default());
            let more: Vec<f64> = values.iter().map(|v| v + 0.25).collect();
            let gain = Difference::of(&more, &values);
            prop_assert!((gain.low - 0.25).abs() < 1e-9 && (gain.high - 0.25).abs() < 1e-9);
        }
    }

    #[test]
    fn how_many_questions_would_tell() {
        assert_eq!(questions_needed(&[0.1]), None);
        assert_eq!(questions_needed(&[0.1, -0.1]), None);
        // A mean of 0.1 and a standard deviation of 0.5: (2.8 · 5)².
        let differences: Vec<f64> = (0..200)
            .map(|i| if i % 2 == 0 { 0.6 } else { -0.4 })
            .collect();
        assert_eq!(questions_needed(&differences), Some(200));
        assert_eq!(questions_needed(&differences[..20]), Some(207));
    }

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
