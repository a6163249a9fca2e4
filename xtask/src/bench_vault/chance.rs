//! A small seeded generator of numbers, whole numbers only, so that every platform
//! makes the same vault. Not for secrets.

/// SplitMix64 (Steele, Lea, Flood 2014): one addition and three mixing steps a number.
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `end`, `end` out; 0 where `end` is 0.
    pub(super) fn below(&mut self, end: usize) -> usize {
        // The high half of the product: even enough for text, and no division.
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }

    /// A number from `low` to `high`, both in.
    pub(super) fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// True in `percent` of a hundred cases.
    pub(super) fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(super) fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len()))
    }
}

/// Ranks by Zipf's law as Mandelbrot bent it: the weight of rank r is 1/(r + 2.7).
pub(super) struct Zipf(Vec<u64>);

impl Zipf {
    pub(super) fn new(ranks: usize) -> Self {
        let weights = (0..ranks as u64).map(|rank| 10_000_000_000 / (10 * rank + 37));
        let sums = weights.scan(0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        });
        Self(sums.collect())
    }

    /// A rank from 0.
    pub(super) fn rank(&self, chance: &mut Chance) -> usize {
        let total = self.0.last().copied().unwrap_or(0);
        let point = chance.below(usize::try_from(total).unwrap_or(usize::MAX)) as u64;
        self.0.partition_point(|sum| *sum <= point)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_the_published_ones_and_ranks_follow_the_law() {
        // First outputs of SplitMix64 for the seed 1234567, from the reference code.
        let mut chance = Chance::new(1_234_567);
        assert_eq!(chance.next(), 6_457_827_717_110_365_317);
        assert_eq!(chance.next(), 3_203_168_211_198_807_973);
        let zipf = Zipf::new(1_000);
        let mut counts = vec![0_usize; 1_000];
        for _ in 0..100_000 {
            counts[zipf.rank(&mut chance)] += 1;
        }
        let ratio = counts[0] as f64 / counts[9] as f64;
        assert!((2.9..3.8).contains(&ratio), "12.7/3.7 = 3.4, not {ratio}");
        assert!(counts[999] < counts[0] / 50);
    }
}
