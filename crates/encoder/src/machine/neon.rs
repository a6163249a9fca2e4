//! Sums of bytes and products of floats in the vector instructions of aarch64.

use std::arch::aarch64::*;
use std::arch::asm;

use super::{Bytes, Floats, GROUP, PANEL};

/// Bytes of a panel for four inputs.
const STEP: usize = PANEL * GROUP;

/// Rows computed at a time.
const ROWS: usize = 4;

/// Sums of bytes by products in 16 bits, which are added up in pairs: exact, since inputs are taken
/// 128 lower, where a product is at most 128 × 127.
pub(super) fn sums(a: Bytes<'_>, panels: &[u8], columns: &[i32], out: &mut [i32]) {
    let width = columns.len();
    for (panel, weights) in panels.chunks_exact(a.depth * PANEL).enumerate() {
        for row in 0..a.rows {
            let inputs = &a.values[row * a.stride..][..a.depth];
            let out = &mut out[row * width + panel * PANEL..][..PANEL];
            let columns = &columns[panel * PANEL..][..PANEL];
            // SAFETY: NEON is part of aarch64; the slices have the lengths that are read.
            unsafe { row_of_sums(inputs, weights, columns, out) };
        }
    }
}

#[target_feature(enable = "neon")]
unsafe fn row_of_sums(inputs: &[u8], weights: &[u8], columns: &[i32], out: &mut [i32]) {
    // SAFETY: `weights` holds 64 bytes for each four inputs, `columns` and `out` 16 numbers.
    unsafe {
        // Two halves of each column's sum lie beside each other until the end.
        let mut sums = [vdupq_n_s32(0); 8];
        let middle = vdup_n_u8(128);
        for (group, four) in inputs.as_chunks::<GROUP>().0.iter().enumerate() {
            let four = vreinterpret_u8_u32(vdup_n_u32(u32::from_le_bytes(*four)));
            let four = vreinterpret_s8_u8(veor_u8(four, middle));
            for (part, sum) in sums.iter_mut().enumerate() {
                let w = vld1_s8(weights.as_ptr().add(group * STEP + part * 8).cast());
                *sum = vpadalq_s16(*sum, vmull_s8(four, w));
            }
        }
        for part in 0..4 {
            let sum = vpaddq_s32(sums[2 * part], sums[2 * part + 1]);
            let taken = vshlq_n_s32::<7>(vld1q_s32(columns.as_ptr().add(4 * part)));
            vst1q_s32(out.as_mut_ptr().add(4 * part), vaddq_s32(sum, taken));
        }
    }
}

/// Sums of bytes by the dot product instruction.
///
/// # Safety
/// The processor has it.
#[target_feature(enable = "neon,dotprod")]
pub(super) unsafe fn sums_dot(a: Bytes<'_>, panels: &[u8], columns: &[i32], out: &mut [i32]) {
    for panel in 0..columns.len() / PANEL {
        let weights = &panels[panel * a.depth * PANEL..][..a.depth * PANEL];
        let mut row = 0;
        while row + ROWS <= a.rows {
            // SAFETY: rows and panel lie in the slices, as `Kernel::sums` checked.
            unsafe { tile_dot::<ROWS>(a, weights, (row, panel * PANEL), columns, out) };
            row += ROWS;
        }
        while row < a.rows {
            // SAFETY: as above.
            unsafe { tile_dot::<1>(a, weights, (row, panel * PANEL), columns, out) };
            row += 1;
        }
    }
}

#[target_feature(enable = "neon,dotprod")]
unsafe fn tile_dot<const R: usize>(
    a: Bytes<'_>,
    weights: &[u8],
    (row, column): (usize, usize),
    columns: &[i32],
    out: &mut [i32],
) {
    // SAFETY: rows `row..row + R` of `depth` bytes lie in `a`, a panel in `weights`, 16 columns at
    // `column` in `columns` and `out`.
    unsafe {
        let mut sums = [[vdupq_n_s32(0); 4]; R];
        let middle = vdupq_n_u8(128);
        let inputs = a.values.as_ptr().add(row * a.stride);
        for group in 0..a.depth / GROUP {
            let w = weights.as_ptr().add(group * STEP).cast::<i8>();
            let w = [0, 16, 32, 48].map(|at| vld1q_s8(w.add(at)));
            for (r, sums) in sums.iter_mut().enumerate() {
                let four = inputs.add(r * a.stride + group * GROUP).cast::<u32>();
                let four = vreinterpretq_u8_u32(vdupq_n_u32(four.read_unaligned()));
                let four = vreinterpretq_s8_u8(veorq_u8(four, middle));
                for (sum, w) in sums.iter_mut().zip(w) {
                    *sum = dot(*sum, w, four);
                }
            }
        }
        for (r, sums) in sums.iter().enumerate() {
            for (part, sum) in sums.iter().enumerate() {
                let taken = vshlq_n_s32::<7>(vld1q_s32(columns.as_ptr().add(column + 4 * part)));
                let place = (row + r) * columns.len() + column + 4 * part;
                vst1q_s32(out.as_mut_ptr().add(place), vaddq_s32(*sum, taken));
            }
        }
    }
}

/// `SDOT`, which has no stable function yet.
#[target_feature(enable = "neon,dotprod")]
#[inline]
fn dot(sum: int32x4_t, a: int8x16_t, b: int8x16_t) -> int32x4_t {
    let mut sum = sum;
    // SAFETY: works on registers only; the caller's processor has the instruction.
    unsafe {
        asm!(
            "sdot {sum:v}.4s, {a:v}.16b, {b:v}.16b",
            sum = inout(vreg) sum,
            a = in(vreg) a,
            b = in(vreg) b,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    sum
}

/// Products of floats.
pub(super) fn products(a: Floats<'_>, panels: &[f32], width: usize, out: &mut [f32]) {
    for (panel, weights) in panels.chunks_exact(a.depth * PANEL).enumerate() {
        let mut row = 0;
        while row + ROWS <= a.rows {
            // SAFETY: NEON is part of aarch64; rows and panel lie in the slices.
            unsafe { tile_f32::<ROWS>(a, weights, (row, panel * PANEL), width, out) };
            row += ROWS;
        }
        while row < a.rows {
            // SAFETY: as above.
            unsafe { tile_f32::<1>(a, weights, (row, panel * PANEL), width, out) };
            row += 1;
        }
    }
}

#[target_feature(enable = "neon")]
unsafe fn tile_f32<const R: usize>(
    a: Floats<'_>,
    weights: &[f32],
    (row, column): (usize, usize),
    width: usize,
    out: &mut [f32],
) {
    // SAFETY: rows `row..row + R` of `depth` floats lie in `a`, a panel in `weights`, 16 columns at
    // `column` in `out`.
    unsafe {
        let mut sums = [[vdupq_n_f32(0.0); 4]; R];
        let inputs = a.values.as_ptr().add(row * a.stride);
        for at in 0..a.depth {
            let w = weights.as_ptr().add(at * PANEL);
            let w = [0, 4, 8, 12].map(|part| vld1q_f32(w.add(part)));
            for (r, sums) in sums.iter_mut().enumerate() {
                let input = *inputs.add(r * a.stride + at);
                for (sum, w) in sums.iter_mut().zip(w) {
                    *sum = vfmaq_n_f32(*sum, w, input);
                }
            }
        }
        for (r, sums) in sums.iter().enumerate() {
            for (part, sum) in sums.iter().enumerate() {
                let place = (row + r) * width + column + 4 * part;
                vst1q_f32(out.as_mut_ptr().add(place), *sum);
            }
        }
    }
}
