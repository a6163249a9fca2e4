//! What is done to one row of numbers: plain code in steps of 16, which the compiler turns into
//! vectors. No operation is fused or put in another order, so every kernel gives the same bits.
//!
//! Everything here is inlined into [`Kernel::run`](crate::machine::Kernel::run). Rows have a
//! multiple of 16 numbers; what is left over would be passed by.

/// Numbers that are worked on side by side.
pub(crate) const LANES: usize = 16;

/// Added to a small number it leaves that number, rounded to the nearest integer (ties to even), in
/// the lowest bits: 1.5 × 2²³.
const ROUNDER: f32 = 12_582_912.0;

/// The largest byte that stands for a weight or an activation.
const MOST: f32 = 127.0;

type Lanes = [f32; LANES];

#[inline(always)]
fn each(mut lane: impl FnMut(usize) -> f32) -> Lanes {
    let mut lanes = [0.0; LANES];
    for (index, value) in lanes.iter_mut().enumerate() {
        *value = lane(index);
    }
    lanes
}

/// Halves are added until one number is left.
#[inline(always)]
fn total(mut lanes: Lanes) -> f32 {
    for half in [8, 4, 2, 1] {
        for index in 0..half {
            lanes[index] += lanes[index + half];
        }
    }
    lanes[0]
}

#[inline(always)]
fn most(mut lanes: Lanes) -> f32 {
    for half in [8, 4, 2, 1] {
        for index in 0..half {
            lanes[index] = larger(lanes[index], lanes[index + half]);
        }
    }
    lanes[0]
}

#[inline(always)]
fn larger(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// The largest distance from zero.
#[inline(always)]
pub(crate) fn reach(row: &[f32]) -> f32 {
    let mut lanes = [0.0; LANES];
    for values in row.as_chunks::<LANES>().0 {
        lanes = each(|lane| larger(lanes[lane], values[lane].abs()));
    }
    most(lanes)
}

/// What one step of a byte is worth for values that reach so far, and its inverse.
#[inline(always)]
pub(crate) fn step_of(reach: f32) -> (f32, f32) {
    // Below this the inverse is no finite number; such a row is as good as zero.
    if reach < 1e-30 {
        (0.0, 0.0)
    } else {
        (reach / MOST, MOST / reach)
    }
}

/// Bytes of a row, each 128 above what it stands for; gives what a step is worth.
#[inline(always)]
pub(crate) fn to_bytes(row: &[f32], bytes: &mut [u8]) -> f32 {
    let (step, inverse) = step_of(reach(row));
    let chunks = bytes.as_chunks_mut::<LANES>().0.iter_mut();
    for (values, bytes) in row.as_chunks::<LANES>().0.iter().zip(chunks) {
        for (value, byte) in values.iter().zip(bytes) {
            *byte = (value * inverse + (ROUNDER + 128.0)).to_bits() as u8;
        }
    }
    step
}

/// A value as a signed byte, for the inverse of a step.
#[inline(always)]
pub(crate) fn to_signed_byte(value: f32, inverse: f32) -> u8 {
    (value * inverse + ROUNDER).to_bits() as u8
}

/// Sums of bytes to floats: `(sum − offset) × step × scale + bias`.
#[inline(always)]
pub(crate) fn from_sums(
    sums: &[i32],
    offsets: &[i32],
    scales: &[f32],
    bias: &[f32],
    step: f32,
    out: &mut [f32],
) {
    let columns = offsets
        .as_chunks::<LANES>()
        .0
        .iter()
        .zip(scales.as_chunks::<LANES>().0)
        .zip(bias.as_chunks::<LANES>().0);
    let rows = sums.as_chunks::<LANES>().0.iter().zip(columns);
    for ((sums, ((offsets, scales), bias)), out) in rows.zip(out.as_chunks_mut::<LANES>().0) {
        *out =
            each(|lane| (sums[lane] - offsets[lane]) as f32 * (step * scales[lane]) + bias[lane]);
    }
}

/// Adds one row to another.
#[inline(always)]
pub(crate) fn add(row: &mut [f32], other: &[f32]) {
    let others = other.as_chunks::<LANES>().0;
    for (values, other) in row.as_chunks_mut::<LANES>().0.iter_mut().zip(others) {
        *values = each(|lane| values[lane] + other[lane]);
    }
}

/// Multiplies a row by a number.
#[inline(always)]
pub(crate) fn scale(row: &mut [f32], factor: f32) {
    for values in row.as_chunks_mut::<LANES>().0 {
        *values = each(|lane| values[lane] * factor);
    }
}

/// The sum of the squares.
#[inline(always)]
pub(crate) fn squares(row: &[f32]) -> f32 {
    let mut lanes = [0.0; LANES];
    for values in row.as_chunks::<LANES>().0 {
        lanes = each(|lane| lanes[lane] + values[lane] * values[lane]);
    }
    total(lanes)
}

/// Layer normalization (Ba, Kiros and Hinton 2016): mean 0 and variance 1, then scaled and shifted.
#[inline(always)]
pub(crate) fn normalize(row: &mut [f32], weight: &[f32], bias: &[f32], epsilon: f32) {
    let count = row.len() as f32;
    let mut lanes = [0.0; LANES];
    for values in row.as_chunks::<LANES>().0 {
        lanes = each(|lane| lanes[lane] + values[lane]);
    }
    let mean = total(lanes) / count;
    let mut lanes = [0.0; LANES];
    for values in row.as_chunks::<LANES>().0 {
        lanes = each(|lane| {
            let distance = values[lane] - mean;
            lanes[lane] + distance * distance
        });
    }
    let factor = 1.0 / (total(lanes) / count + epsilon).sqrt();
    let rules = weight
        .as_chunks::<LANES>()
        .0
        .iter()
        .zip(bias.as_chunks::<LANES>().0);
    for (values, (weight, bias)) in row.as_chunks_mut::<LANES>().0.iter_mut().zip(rules) {
        *values = each(|lane| (values[lane] - mean) * factor * weight[lane] + bias[lane]);
    }
}

/// GELU, `x·Φ(x)` (Hendrycks and Gimpel 2016), for what becomes bytes: within 1.3e-4.
///
/// `max(x, 0) − r(|x|)`, where `r(t) = t·Φ(−t)` is a polynomial up to 4 and its end beyond; the
/// coefficients were fitted to the least maximal error.
#[inline(always)]
pub(crate) fn gelu_coarse(row: &mut [f32]) {
    const R: [f32; 8] = [
        4.966_781_4e-1,
        -3.706_244_8e-1,
        -8.139_08e-2,
        1.761_880_5e-1,
        -7.615_238_7e-2,
        1.523_999_6e-2,
        -1.439_580_4e-3,
        4.869_476_3e-5,
    ];
    for values in row.as_chunks_mut::<LANES>().0 {
        *values = each(|lane| {
            let x = values[lane];
            let distance = x.abs();
            let t = if distance < 4.0 { distance } else { 4.0 };
            let mut r = R[7];
            for factor in R[..7].iter().rev() {
                r = r * t + factor;
            }
            larger(x, 0.0) - r * t
        });
    }
}

/// GELU in full: the error function by formula 7.1.26 of Abramowitz and Stegun (1964), whose error
/// is below 1.5e-7.
#[inline(always)]
pub(crate) fn gelu(row: &mut [f32]) {
    const P: f32 = 0.327_591_1;
    const A: [f32; 5] = [
        0.254_829_6,
        -0.284_496_74,
        1.421_413_7,
        -1.453_152,
        1.061_405_4,
    ];
    for values in row.as_chunks_mut::<LANES>().0 {
        *values = each(|lane| {
            let x = values[lane];
            let distance = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
            let t = 1.0 / (1.0 + P * distance);
            let mut sum = A[4];
            for factor in A[..4].iter().rev() {
                sum = sum * t + factor;
            }
            // Half of what the error function lacks to one.
            let rest = 0.5 * sum * t * power(-distance * distance * std::f32::consts::LOG2_E);
            x * if x < 0.0 { rest } else { 1.0 - rest }
        });
    }
}

/// 2 to a power that is not positive, within 2e-7 of its value; 0 below 2⁻¹²⁶.
#[inline(always)]
fn power(exponent: f32) -> f32 {
    const C: [f32; 7] = [
        1.0,
        std::f32::consts::LN_2,
        2.402_264_7e-1,
        5.550_329e-2,
        9.618_489e-3,
        1.339_993_5e-3,
        1.534_572_1e-4,
    ];
    let kept = if exponent > -126.0 { exponent } else { -126.0 };
    let rounded = kept + ROUNDER;
    let rest = kept - (rounded - ROUNDER);
    let mut value = C[6];
    for factor in C[..6].iter().rev() {
        value = value * rest + factor;
    }
    let value = f32::from_bits(value.to_bits().wrapping_add(rounded.to_bits() << 23));
    if exponent > -126.0 { value } else { 0.0 }
}

/// 2 to a power of −24 to 0, within 8e-5 of its value: enough for what becomes a byte.
#[inline(always)]
fn power_coarse(exponent: f32) -> f32 {
    const C: [f32; 4] = [0.999_928_2, 0.693_261_07, 0.242_608_9, 0.055_169_75];
    let kept = larger(exponent, -24.0);
    let rounded = kept + ROUNDER;
    let rest = kept - (rounded - ROUNDER);
    let value = ((C[3] * rest + C[2]) * rest + C[1]) * rest + C[0];
    f32::from_bits(value.to_bits().wrapping_add(rounded.to_bits() << 23))
}

/// What a number must be lowered to for [`shares`] to give it nothing.
const NOTHING: f32 = -1e30;

/// Scores to shares (softmax): powers of two, brought to a sum of one. Only the first `count` of
/// the row take part; the others get 0.
#[inline(always)]
pub(crate) fn shares(row: &mut [f32], count: usize) {
    row[count..].fill(NOTHING);
    let mut lanes = [NOTHING; LANES];
    for values in row.as_chunks::<LANES>().0 {
        lanes = each(|lane| larger(lanes[lane], values[lane]));
    }
    let top = most(lanes);
    let mut lanes = [0.0; LANES];
    for values in row.as_chunks_mut::<LANES>().0 {
        *values = each(|lane| power(values[lane] - top));
        lanes = each(|lane| lanes[lane] + values[lane]);
    }
    let factor = 1.0 / total(lanes);
    scale(row, factor);
}

/// The same from sums of bytes to bytes: `(sum − offset) × step × scale` are the scores; a share
/// is a byte of 0 to 255 for the largest. Gives what a byte is worth, so that all shares together
/// are one. `scores` is room for as many floats as there are sums.
#[inline(always)]
pub(crate) fn byte_shares(
    sums: &[i32],
    offsets: &[i32],
    scales: &[f32],
    step: f32,
    count: usize,
    scores: &mut [f32],
    shares: &mut [u8],
) -> f32 {
    let columns = offsets
        .as_chunks::<LANES>()
        .0
        .iter()
        .zip(scales.as_chunks::<LANES>().0);
    let rows = sums.as_chunks::<LANES>().0.iter().zip(columns);
    let whole = count / LANES;
    let mut lanes = [NOTHING; LANES];
    for (index, ((sums, (offsets, scales)), scores)) in
        rows.zip(scores.as_chunks_mut::<LANES>().0).enumerate()
    {
        *scores = each(|lane| (sums[lane] - offsets[lane]) as f32 * (step * scales[lane]));
        if index >= whole {
            scores[count.saturating_sub(index * LANES).min(LANES)..].fill(NOTHING);
        }
        lanes = each(|lane| larger(lanes[lane], scores[lane]));
    }
    let top = most(lanes);
    let mut sums = [0u32; LANES];
    let bytes = shares.as_chunks_mut::<LANES>().0.iter_mut();
    for (scores, bytes) in scores.as_chunks::<LANES>().0.iter().zip(bytes) {
        for lane in 0..LANES {
            let byte = (power_coarse(scores[lane] - top) * 255.0 + ROUNDER).to_bits() & 0xFF;
            sums[lane] += byte;
            bytes[lane] = byte as u8;
        }
    }
    let sum: u32 = sums.iter().sum();
    1.0 / sum as f32
}

/// Halves (IEEE 754 binary16, finite) to floats.
#[inline(always)]
pub(crate) fn from_halves(halves: &[u8], out: &mut [f32]) {
    // Moved into a float's place the exponent is 112 too small, for denormal numbers as well.
    const LIFT: f32 = f32::from_bits((127 + 112) << 23);
    let chunks = halves.as_chunks::<{ 2 * LANES }>().0.iter();
    for (halves, out) in chunks.zip(out.as_chunks_mut::<LANES>().0) {
        let halves = halves.as_chunks::<2>().0;
        *out = each(|lane| {
            let half = u32::from(u16::from_le_bytes(halves[lane]));
            let size = f32::from_bits((half & 0x7FFF) << 13) * LIFT;
            f32::from_bits(size.to_bits() | (half & 0x8000) << 16)
        });
    }
}

/// A float as a half, rounded to the nearest (ties to even); too large ones become the largest.
pub(crate) fn to_half(value: f32) -> u16 {
    let sign = ((value.to_bits() >> 16) & 0x8000) as u16;
    let size = value.abs();
    if size >= 65_504.0 {
        return sign | 0x7BFF;
    }
    // Denormal halves are multiples of 2⁻²⁴.
    if size < 6.103_515_6e-5 {
        return sign | (size * 16_777_216.0).round_ties_even() as u16;
    }
    let bits = size.to_bits() - (112 << 23);
    let rounded = bits + 0xFFF + ((bits >> 13) & 1);
    sign | (rounded >> 13).min(0x7BFF) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Kernel;

    fn numbers(count: usize, reach: f32) -> Vec<f32> {
        (0..count)
            .map(|at| ((at * 7919 % 1009) as f32 / 504.5 - 1.0) * reach)
            .collect()
    }

    fn phi(x: f64) -> f64 {
        // Simpson's rule from far below.
        let (from, steps) = (-12.0_f64, 4000);
        let width = (x - from) / f64::from(steps);
        let density = |at: f64| (-at * at / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
        let inner: f64 = (1..steps)
            .map(|step| {
                density(from + width * f64::from(step)) * if step % 2 == 1 { 4.0 } else { 2.0 }
            })
            .sum();
        (density(from) + inner + density(x)) * width / 3.0
    }

    #[test]
    fn gelu_is_near_its_definition() {
        let inputs = numbers(512, 7.0);
        let (mut fine, mut coarse) = (inputs.clone(), inputs.clone());
        gelu(&mut fine);
        gelu_coarse(&mut coarse);
        for ((x, fine), coarse) in inputs.iter().zip(fine).zip(coarse) {
            let exact = f64::from(*x) * phi(f64::from(*x));
            assert!(
                (f64::from(fine) - exact).abs() < 2e-6,
                "{x}: {fine}, {exact}"
            );
            assert!((f64::from(coarse) - exact).abs() < 1.4e-4, "{x}: {coarse}");
        }
    }

    #[test]
    fn powers_are_near_theirs() {
        for x in numbers(2000, 60.0) {
            let exponent = x - 60.0;
            let exact = f64::from(exponent).exp2();
            assert!(
                (f64::from(power(exponent)) / exact - 1.0).abs() < 3e-7,
                "{exponent}"
            );
            if exponent > -24.0 {
                assert!((f64::from(power_coarse(exponent)) / exact - 1.0).abs() < 1e-4);
            }
        }
        assert_eq!(power(-1000.0), 0.0);
        assert!(power_coarse(-1000.0) * 255.0 < 0.01);
    }

    #[test]
    fn every_half_comes_back_and_floats_become_the_nearest() {
        let mut out = vec![0.0; LANES];
        for half in 0..=u16::MAX {
            if half & 0x7C00 == 0x7C00 {
                continue;
            }
            let bytes: Vec<u8> = std::iter::repeat_n(half.to_le_bytes(), LANES)
                .flatten()
                .collect();
            from_halves(&bytes, &mut out);
            assert_eq!(to_half(out[3]), half);
        }
        for value in numbers(500, 3.0) {
            from_halves(&to_half(value).to_le_bytes().repeat(LANES), &mut out);
            assert!(
                (out[0] - value).abs() <= value.abs() / 2048.0,
                "{value} {}",
                out[0]
            );
        }
        assert_eq!(to_half(1e9), 0x7BFF);
        assert_eq!(to_half(-65_519.9), 0xFBFF);
    }

    #[test]
    fn bytes_stand_within_half_a_step() {
        let row = numbers(64, 3.0);
        let mut bytes = vec![0; 64];
        let step = to_bytes(&row, &mut bytes);
        for (value, byte) in row.iter().zip(&bytes) {
            let back = (f32::from(*byte) - 128.0) * step;
            assert!((back - value).abs() <= step * 0.5001, "{value} {back}");
        }
        assert_eq!(to_bytes(&[0.0; 16], &mut bytes), 0.0);
        assert_eq!(bytes[..16], [128; 16]);
    }

    #[test]
    fn shares_are_those_of_the_definition_and_sum_to_one() {
        let sums: Vec<i32> = (0..48).map(|at| (at * 37 % 101) * 50).collect();
        let (offsets, scales) = (vec![100; 48], vec![0.01; 48]);
        for count in [1, 15, 16, 17, 40, 48] {
            let mut row: Vec<f32> = sums.iter().map(|sum| (sum - 100) as f32 * 0.005).collect();
            let exact: Vec<f64> = row[..count].iter().map(|x| f64::from(*x).exp2()).collect();
            let whole: f64 = exact.iter().sum();
            shares(&mut row, count);
            let (mut room, mut bytes) = (vec![0.0; 48], vec![9; 64]);
            let worth = byte_shares(
                &sums,
                &offsets,
                &scales,
                0.5,
                count,
                &mut room,
                &mut bytes[..48],
            );
            let most = exact.iter().fold(0.0, |most: f64, x| most.max(*x)) / whole;
            for at in 0..48 {
                let exact = exact.get(at).map_or(0.0, |share| share / whole);
                assert!((f64::from(row[at]) - exact).abs() < 1e-6);
                let byte = f64::from(bytes[at]) * f64::from(worth);
                assert!(
                    (byte - exact).abs() < most * 0.01,
                    "{count} {at}: {byte} {exact}"
                );
            }
            assert_eq!(bytes[48], 9);
        }
    }

    #[test]
    fn a_normalized_row_has_mean_zero_and_variance_one() {
        let mut row = numbers(64, 5.0);
        normalize(&mut row, &[1.0; 64], &[0.0; 64], 1e-12);
        assert!((squares(&row) / 64.0 - 1.0).abs() < 1e-5);
        assert!(row.iter().sum::<f32>().abs() < 1e-4);
    }

    #[test]
    fn every_kernel_gives_the_same_bits() {
        let work = || {
            let mut row = numbers(384, 4.0);
            normalize(&mut row, &numbers(384, 1.0), &numbers(384, 0.5), 1e-12);
            gelu(&mut row);
            gelu_coarse(&mut row[..128]);
            shares(&mut row[128..256], 100);
            let mut bytes = vec![0; 384];
            let step = to_bytes(&row, &mut bytes);
            let sums: Vec<i32> = bytes.iter().map(|byte| i32::from(*byte) * 321).collect();
            let mut scores = vec![0.0; 384];
            let mut shares = vec![0; 384];
            let scales = numbers(384, 0.02);
            let worth = byte_shares(
                &sums,
                &sums[..384],
                &scales,
                0.1,
                300,
                &mut scores,
                &mut shares,
            );
            let floats: Vec<u32> = row
                .iter()
                .chain(&scores)
                .map(|value| value.to_bits())
                .collect();
            (floats, bytes, shares, step.to_bits(), worth.to_bits())
        };
        let expected = work();
        for kernel in Kernel::available() {
            assert!(kernel.run(work) == expected, "{kernel}");
        }
    }
}
