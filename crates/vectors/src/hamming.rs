//! Weighted Hamming distances of a question to the codes of many rows: the sum of the question's
//! magnitudes, in three bits each, over the places where its sign is not the row's. Magnitudes
//! matter: with a distance of one for each place, four times the candidates find fewer rows.
#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "an instruction that the baseline lacks")
)]

use crate::codes::code_of;

/// Bits of a magnitude.
const PLANES: usize = 3;

/// The greatest magnitude, and the distance of one place at most.
pub(crate) const GREATEST: u16 = (1 << PLANES) - 1;

/// A question, cut up for words of codes: its sign, and each bit of its magnitudes.
pub(crate) struct Weights {
    words: Vec<[u64; 1 + PLANES]>,
}

impl Weights {
    /// Of a question that has a direction; without one, every distance is 0.
    pub(crate) fn new(question: &[f32]) -> Self {
        let greatest = question
            .iter()
            .fold(0f32, |most, value| most.max(value.abs()));
        let magnitude = |value: &f32| (value.abs() / greatest * f32::from(GREATEST)).round() as u16;
        let dimension = question.len();
        let signs = code_of(question.iter().map(|value| *value < 0.0), dimension);
        let planes: [Vec<u64>; PLANES] = std::array::from_fn(|plane| {
            let bits = question
                .iter()
                .map(|value| magnitude(value) >> plane & 1 == 1);
            code_of(bits, dimension)
        });
        let word = |at: usize| [signs[at], planes[0][at], planes[1][at], planes[2][at]];
        Self {
            words: (0..signs.len()).map(word).collect(),
        }
    }

    /// Writes the distance to each row of `codes`, little endian words, as many a row as the question
    /// has; places for which there is no row stay as they were.
    pub(crate) fn distances(&self, codes: &[u8], into: &mut [u16]) {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx512vpopcntdq") && is_x86_feature_detected!("avx512vl") {
            // SAFETY: the processor has the instructions.
            unsafe { with_vectors(&self.words, codes, into) };
            return;
        } else if is_x86_feature_detected!("popcnt") {
            // SAFETY: the processor has the instruction.
            unsafe { with_popcnt(&self.words, codes, into) };
            return;
        }
        any_width(&self.words, codes, into);
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt,avx512f,avx512vl,avx512vpopcntdq")]
fn with_vectors(words: &[[u64; 1 + PLANES]], codes: &[u8], into: &mut [u16]) {
    any_width(words, codes, into);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt")]
fn with_popcnt(words: &[[u64; 1 + PLANES]], codes: &[u8], into: &mut [u16]) {
    any_width(words, codes, into);
}

/// The widths of common models are known to the compiler.
#[inline(always)]
fn any_width(words: &[[u64; 1 + PLANES]], codes: &[u8], into: &mut [u16]) {
    match words.len() {
        4 => fixed::<4>(words, codes, into),
        6 => fixed::<6>(words, codes, into),
        12 => fixed::<12>(words, codes, into),
        16 => fixed::<16>(words, codes, into),
        width => {
            for (row, distance) in codes.chunks_exact(width.max(1) * 8).zip(into) {
                *distance = between(words, row);
            }
        }
    }
}

#[inline(always)]
fn fixed<const WIDTH: usize>(words: &[[u64; 1 + PLANES]], codes: &[u8], into: &mut [u16]) {
    let Some(words) = words.first_chunk::<WIDTH>() else {
        return;
    };
    for (row, distance) in codes.chunks_exact(WIDTH * 8).zip(into) {
        *distance = between(words, row);
    }
}

#[inline(always)]
fn between(words: &[[u64; 1 + PLANES]], row: &[u8]) -> u16 {
    let mut distance = 0;
    for ([sign, planes @ ..], code) in words.iter().zip(row.as_chunks::<8>().0) {
        let differing = sign ^ u64::from_le_bytes(*code);
        for (bit, plane) in planes.iter().enumerate() {
            distance += (differing & plane).count_ones() << bit;
        }
    }
    distance as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plain(question: &[f32], row: &[bool]) -> u16 {
        let greatest = question
            .iter()
            .fold(0f32, |most, value| most.max(value.abs()));
        let differing = question
            .iter()
            .zip(row)
            .filter(|(q, below)| (**q < 0.0) != **below);
        differing
            .map(|(q, _)| (q.abs() / greatest * 7.0).round() as u16)
            .sum()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_distance_is_the_magnitude_of_what_differs(
            (question, rows) in prop_oneof![Just(1usize), Just(256), Just(384), Just(768), Just(1024), 1usize..300]
                .prop_flat_map(|dimension| (
                    proptest::collection::vec(-1f32..1.0, dimension),
                    proptest::collection::vec(proptest::collection::vec(any::<bool>(), dimension), 0..9),
                )),
        ) {
            let codes: Vec<u8> = rows
                .iter()
                .flat_map(|row| code_of(row.iter().copied(), question.len()))
                .flat_map(u64::to_le_bytes)
                .collect();
            let mut distances = vec![9; rows.len() + 2];
            Weights::new(&question).distances(&codes, &mut distances);
            let expected: Vec<u16> = rows.iter().map(|row| plain(&question, row)).collect();
            prop_assert_eq!(&distances[..rows.len()], &expected[..]);
            prop_assert_eq!(&distances[rows.len()..], [9, 9]);
        }
    }
}
