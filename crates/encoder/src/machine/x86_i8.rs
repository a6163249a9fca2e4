//! Sums of bytes in the vector instructions of x86-64.
//!
//! Each function walks over panels (outer) and rows (inner), so that a pair of panels stays in the
//! nearest cache; a tile of rows and columns is kept in registers over the whole depth.

use std::arch::x86_64::*;

use super::{Bytes, GROUP, PANEL};

/// Bytes of a panel for four inputs.
const STEP: usize = PANEL * GROUP;

/// Rows, then columns: where a tile begins in the output.
type Place = (usize, usize);

/// Cuts rows into tiles of the sizes that are compiled, largest first.
macro_rules! each_tile {
    ($rows:expr, [$($size:literal),+], |$row:ident, $tile:ident| $body:expr) => {{
        let mut $row = 0;
        $(
            while $rows - $row >= $size {
                const $tile: usize = $size;
                $body;
                $row += $size;
            }
        )+
    }};
}

/// # Safety
/// The processor has these features, and the lengths are as `Kernel::sums` checks them.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")]
pub(super) unsafe fn avx512_vnni(a: Bytes<'_>, panels: &[u8], width: usize, out: &mut [i32]) {
    let panel_bytes = a.depth * PANEL;
    let pairs = width / PANEL / 2;
    for pair in 0..pairs {
        let weights = panels[2 * pair * panel_bytes..].as_ptr();
        let column = 2 * pair * PANEL;
        each_tile!(a.rows, [12, 6, 3, 2, 1], |row, R| {
            // SAFETY: the caller's lengths hold this tile.
            unsafe { tile_512::<R, 2>(a, weights, (row, column), width, out) }
        });
    }
    if !(width / PANEL).is_multiple_of(2) {
        let weights = panels[2 * pairs * panel_bytes..].as_ptr();
        let column = 2 * pairs * PANEL;
        each_tile!(a.rows, [12, 6, 3, 2, 1], |row, R| {
            // SAFETY: as above.
            unsafe { tile_512::<R, 1>(a, weights, (row, column), width, out) }
        });
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")]
#[inline]
unsafe fn tile_512<const R: usize, const P: usize>(
    a: Bytes<'_>,
    weights: *const u8,
    (row, column): Place,
    width: usize,
    out: &mut [i32],
) {
    let mut sums = [[_mm512_setzero_si512(); P]; R];
    let panel_bytes = a.depth * PANEL;
    // SAFETY: rows `row..row + R` of `depth` bytes lie in `a`, and P panels at `weights`.
    unsafe {
        let inputs = a.values.as_ptr().add(row * a.stride);
        for group in 0..a.depth / GROUP {
            let mut w = [_mm512_setzero_si512(); P];
            for (p, w) in w.iter_mut().enumerate() {
                *w = _mm512_loadu_si512(weights.add(p * panel_bytes + group * STEP).cast());
            }
            for (r, sums) in sums.iter_mut().enumerate() {
                let four = inputs.add(r * a.stride + group * GROUP);
                let four = _mm512_set1_epi32(four.cast::<i32>().read_unaligned());
                for (sum, w) in sums.iter_mut().zip(w) {
                    *sum = _mm512_dpbusd_epi32(*sum, four, w);
                }
            }
        }
        for (r, sums) in sums.iter().enumerate() {
            for (p, sum) in sums.iter().enumerate() {
                let place = (row + r) * width + column + p * PANEL;
                _mm512_storeu_si512(out.as_mut_ptr().add(place).cast(), *sum);
            }
        }
    }
}

/// # Safety
/// The processor has these features, and the lengths are as `Kernel::sums` checks them.
#[target_feature(enable = "avx2,avxvnni")]
pub(super) unsafe fn avx_vnni(a: Bytes<'_>, panels: &[u8], width: usize, out: &mut [i32]) {
    for panel in 0..width / PANEL {
        let weights = panels[panel * a.depth * PANEL..].as_ptr();
        each_tile!(a.rows, [6, 3, 2, 1], |row, R| {
            // SAFETY: the caller's lengths hold this tile.
            unsafe { tile_256::<R>(a, weights, (row, panel * PANEL), width, out) }
        });
    }
}

#[target_feature(enable = "avx2,avxvnni")]
#[inline]
unsafe fn tile_256<const R: usize>(
    a: Bytes<'_>,
    weights: *const u8,
    (row, column): Place,
    width: usize,
    out: &mut [i32],
) {
    let mut sums = [[_mm256_setzero_si256(); 2]; R];
    // SAFETY: rows `row..row + R` of `depth` bytes lie in `a`, and a panel at `weights`.
    unsafe {
        let inputs = a.values.as_ptr().add(row * a.stride);
        for group in 0..a.depth / GROUP {
            let w = weights.add(group * STEP);
            let w = [
                _mm256_loadu_si256(w.cast()),
                _mm256_loadu_si256(w.add(STEP / 2).cast()),
            ];
            for (r, sums) in sums.iter_mut().enumerate() {
                let four = inputs.add(r * a.stride + group * GROUP);
                let four = _mm256_set1_epi32(four.cast::<i32>().read_unaligned());
                for (sum, w) in sums.iter_mut().zip(w) {
                    *sum = _mm256_dpbusd_avx_epi32(*sum, four, w);
                }
            }
        }
        for (r, sums) in sums.iter().enumerate() {
            let place = out.as_mut_ptr().add((row + r) * width + column);
            _mm256_storeu_si256(place.cast(), sums[0]);
            _mm256_storeu_si256(place.add(8).cast(), sums[1]);
        }
    }
}

/// Without sums of bytes: two products of bytes are added in 16 bits, which would overflow for
/// inputs up to 255. So inputs are taken 128 lower and as distance and sign: the distance is at
/// most 128, a weight at most 127, and 2 × 128 × 127 fits. What was taken off is put back by the
/// sums of the columns.
///
/// # Safety
/// The processor has these features, and the lengths are as `Kernel::sums` checks them.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn avx2(a: Bytes<'_>, panels: &[u8], columns: &[i32], out: &mut [i32]) {
    for panel in 0..columns.len() / PANEL {
        let weights = panels[panel * a.depth * PANEL..].as_ptr();
        each_tile!(a.rows, [4, 2, 1], |row, R| {
            // SAFETY: the caller's lengths hold this tile.
            unsafe { tile_avx2::<R>(a, weights, (row, panel * PANEL), columns, out) }
        });
    }
}

#[target_feature(enable = "avx2")]
#[inline]
unsafe fn tile_avx2<const R: usize>(
    a: Bytes<'_>,
    weights: *const u8,
    (row, column): Place,
    columns: &[i32],
    out: &mut [i32],
) {
    let ones = _mm256_set1_epi16(1);
    let middle = _mm256_set1_epi8(-128);
    let mut sums = [[_mm256_setzero_si256(); 2]; R];
    // SAFETY: rows `row..row + R` of `depth` bytes lie in `a`, a panel at `weights`, and 16 columns
    // at `column`.
    unsafe {
        let inputs = a.values.as_ptr().add(row * a.stride);
        for group in 0..a.depth / GROUP {
            let w = weights.add(group * STEP);
            let w = [
                _mm256_loadu_si256(w.cast()),
                _mm256_loadu_si256(w.add(STEP / 2).cast()),
            ];
            for (r, sums) in sums.iter_mut().enumerate() {
                let four = inputs.add(r * a.stride + group * GROUP);
                let four = _mm256_set1_epi32(four.cast::<i32>().read_unaligned());
                let signed = _mm256_xor_si256(four, middle);
                let distance = _mm256_abs_epi8(signed);
                for (sum, w) in sums.iter_mut().zip(w) {
                    let pairs = _mm256_maddubs_epi16(distance, _mm256_sign_epi8(w, signed));
                    *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(pairs, ones));
                }
            }
        }
        let taken = [0, 8].map(|half| {
            let sums = _mm256_loadu_si256(columns.as_ptr().add(column + half).cast());
            _mm256_slli_epi32::<7>(sums)
        });
        for (r, sums) in sums.iter().enumerate() {
            let place = out.as_mut_ptr().add((row + r) * columns.len() + column);
            _mm256_storeu_si256(place.cast(), _mm256_add_epi32(sums[0], taken[0]));
            _mm256_storeu_si256(place.add(8).cast(), _mm256_add_epi32(sums[1], taken[1]));
        }
    }
}
