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
fn largest(row: &[f32]) -> f32 {
    // As integers floats are in order but for negative ones, which are turned around; the largest
    // of integers may be looked for in any order.
    let key = |bits: i32| bits ^ ((bits >> 31).cast_unsigned() >> 1).cast_signed();
    let mut most = i32::MIN;
    for value in row {
        most = most.max(key(value.to_bits().cast_signed()));
    }
    f32::from_bits(key(most).cast_unsigned())
}

#[inline(always)]
fn larger(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// The largest distance from zero.
#[inline(always)]
pub(crate) fn reach(row: &[f32]) -> f32 {
    let mut most = 0;
    for value in row {
        most = most.max(value.to_bits() & 0x7FFF_FFFF);
    }
    f32::from_bits(most)
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
    for (value, byte) in row.iter().zip(bytes) {
        *byte = (value * inverse + (ROUNDER + 128.0)).to_bits() as u8;
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
    let count = out.len();
    let (sums, offsets) = (&sums[..count], &offsets[..count]);
    let (scales, bias) = (&scales[..count], &bias[..count]);
    for at in 0..count {
        out[at] = (sums[at] - offsets[at]) as f32 * (step * scales[at]) + bias[at];
    }
}

/// Adds one row to another.
#[inline(always)]
pub(crate) fn add(row: &mut [f32], other: &[f32]) {
    for (value, other) in row.iter_mut().zip(other) {
        *value += other;
    }
}

/// Multiplies a row by a number.
#[inline(always)]
pub(crate) fn scale(row: &mut [f32], factor: f32) {
    for value in row {
        *value *= factor;
    }
}

/// The sum.
#[inline(always)]
fn sum(row: &[f32]) -> f32 {
    let mut lanes = [0.0; LANES];
    for values in row.as_chunks::<LANES>().0 {
        lanes = each(|lane| lanes[lane] + values[lane]);
    }
    total(lanes)
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
    let size = row.len() as f32;
    let mean = sum(row) / size;
    let mut lanes = [0.0; LANES];
    for values in row.as_chunks::<LANES>().0 {
        lanes = each(|lane| {
            let distance = values[lane] - mean;
            lanes[lane] + distance * distance
        });
    }
    let factor = 1.0 / (total(lanes) / size + epsilon).sqrt();
    let count = row.len();
    let (weight, bias) = (&weight[..count], &bias[..count]);
    for at in 0..count {
        row[at] = (row[at] - mean) * factor * weight[at] + bias[at];
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
    for value in row {
        let x = *value;
        let distance = x.abs();
        let t = if distance < 4.0 { distance } else { 4.0 };
        let mut r = R[7];
        for factor in R[..7].iter().rev() {
            r = r * t + factor;
        }
        *value = larger(x, 0.0) - r * t;
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
    for value in row {
        let x = *value;
        let distance = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
        let t = 1.0 / (1.0 + P * distance);
        let mut sum = A[4];
        for factor in A[..4].iter().rev() {
            sum = sum * t + factor;
        }
        // Half of what the error function lacks to one.
        let rest = 0.5 * sum * t * power(-distance * distance * std::f32::consts::LOG2_E);
        *value = x * if x < 0.0 { rest } else { 1.0 - rest };
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
    const C: [f32; 4] = [0.999_928_2, 0.693_261_1, 0.242_608_9, 0.055_169_75];
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
    let top = largest(row);
    for value in row.iter_mut() {
        *value = power(*value - top);
    }
    let factor = 1.0 / sum(row);
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
    let width = scores.len();
    let (sums, shares) = (&sums[..width], &mut shares[..width]);
    let (offsets, scales) = (&offsets[..width], &scales[..width]);
    for at in 0..width {
        scores[at] = (sums[at] - offsets[at]) as f32 * (step * scales[at]);
    }
    scores[count..].fill(NOTHING);
    let top = largest(scores);
    let mut all = 0u32;
    for (score, share) in scores.iter().zip(shares) {
        let byte = (power_coarse(*score - top) * 255.0 + ROUNDER).to_bits() & 0xFF;
        *share = byte as u8;
        all += byte;
    }
    1.0 / all as f32
}

/// Halves (IEEE 754 binary16, finite) to floats.
#[inline(always)]
pub(crate) fn from_halves(halves: &[u8], out: &mut [f32]) {
    // Moved into a float's place the exponent is 112 too small, for denormal numbers as well.
    const LIFT: f32 = f32::from_bits((127 + 112) << 23);
    for (half, out) in halves.as_chunks::<2>().0.iter().zip(out) {
        let half = u32::from(u16::from_le_bytes(*half));
        let size = f32::from_bits((half & 0x7FFF) << 13) * LIFT;
        *out = f32::from_bits(size.to_bits() | (half & 0x8000) << 16);
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
#[path = "numbers_tests.rs"]
mod tests;
