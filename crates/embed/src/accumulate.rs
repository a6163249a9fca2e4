//! The inner loop: adding a scaled row of 4-bit numbers to a sum.
#![expect(unsafe_code, reason = "calling a function compiled for AVX2")]

/// Adds `factor × row` to the sum, number by number. A byte holds two numbers of −7 to 7, each plus 8:
/// one of the row's first half in its low four bits, one of its second half in the high ones. The
/// instructions that the machine has change the speed only: products and sums are rounded the same
/// way everywhere.
pub(crate) fn add_scaled(factor: f32, row: &[u8], sum: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        unsafe { add_avx2(factor, row, sum) };
        return;
    }
    add(factor, row, sum);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn add_avx2(factor: f32, row: &[u8], sum: &mut [f32]) {
    add(factor, row, sum);
}

/// A plain loop that the compiler turns into vector instructions.
#[inline(always)]
fn add(factor: f32, row: &[u8], sum: &mut [f32]) {
    let (first, second) = sum.split_at_mut(row.len().min(sum.len()));
    for ((first, second), byte) in first.iter_mut().zip(second).zip(row) {
        *first += factor * number(byte & 15);
        *second += factor * number(byte >> 4);
    }
}

/// The number that four bits stand for.
#[inline(always)]
fn number(bits: u8) -> f32 {
    f32::from(bits.cast_signed() - 8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn the_machine_does_not_change_a_bit(
            row in proptest::collection::vec(any::<u8>(), 0..70),
            factor in -3f32..3.0,
        ) {
            let mut fast: Vec<f32> = (0..2 * row.len()).map(|at| at as f32 / 7.0).collect();
            let mut plain = fast.clone();
            add_scaled(factor, &row, &mut fast);
            add(factor, &row, &mut plain);
            prop_assert_eq!(fast, plain);
        }
    }
}
