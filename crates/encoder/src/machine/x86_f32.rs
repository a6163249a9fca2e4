//! Products of floats in the vector instructions of x86-64.

use std::arch::x86_64::*;

use super::{Floats, PANEL};

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
/// The processor has these features, and the lengths are as `Kernel::products` checks them.
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn avx512(a: Floats<'_>, panels: &[f32], width: usize, out: &mut [f32]) {
    let panel = a.depth * PANEL;
    let pairs = width / PANEL / 2;
    for pair in 0..pairs {
        let weights = panels[2 * pair * panel..].as_ptr();
        each_tile!(a.rows, [12, 6, 3, 2, 1], |row, R| {
            // SAFETY: the caller's lengths hold this tile.
            unsafe { tile_512::<R, 2>(a, weights, (row, 2 * pair * PANEL), width, out) }
        });
    }
    if !(width / PANEL).is_multiple_of(2) {
        let weights = panels[2 * pairs * panel..].as_ptr();
        each_tile!(a.rows, [12, 6, 3, 2, 1], |row, R| {
            // SAFETY: as above.
            unsafe { tile_512::<R, 1>(a, weights, (row, 2 * pairs * PANEL), width, out) }
        });
    }
}

#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn tile_512<const R: usize, const P: usize>(
    a: Floats<'_>,
    weights: *const f32,
    (row, column): (usize, usize),
    width: usize,
    out: &mut [f32],
) {
    let mut sums = [[_mm512_setzero_ps(); P]; R];
    let panel = a.depth * PANEL;
    // SAFETY: rows `row..row + R` of `depth` floats lie in `a`, and P panels at `weights`.
    unsafe {
        let inputs = a.values.as_ptr().add(row * a.stride);
        for at in 0..a.depth {
            let mut w = [_mm512_setzero_ps(); P];
            for (p, w) in w.iter_mut().enumerate() {
                *w = _mm512_loadu_ps(weights.add(p * panel + at * PANEL));
            }
            for (r, sums) in sums.iter_mut().enumerate() {
                let input = _mm512_set1_ps(*inputs.add(r * a.stride + at));
                for (sum, w) in sums.iter_mut().zip(w) {
                    *sum = _mm512_fmadd_ps(input, w, *sum);
                }
            }
        }
        for (r, sums) in sums.iter().enumerate() {
            for (p, sum) in sums.iter().enumerate() {
                let place = (row + r) * width + column + p * PANEL;
                _mm512_storeu_ps(out.as_mut_ptr().add(place), *sum);
            }
        }
    }
}

/// # Safety
/// The processor has these features, and the lengths are as `Kernel::products` checks them.
#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn avx2(a: Floats<'_>, panels: &[f32], width: usize, out: &mut [f32]) {
    for panel in 0..width / PANEL {
        let weights = panels[panel * a.depth * PANEL..].as_ptr();
        each_tile!(a.rows, [6, 3, 2, 1], |row, R| {
            // SAFETY: the caller's lengths hold this tile.
            unsafe { tile_256::<R>(a, weights, (row, panel * PANEL), width, out) }
        });
    }
}

#[target_feature(enable = "avx2,fma")]
#[inline]
unsafe fn tile_256<const R: usize>(
    a: Floats<'_>,
    weights: *const f32,
    (row, column): (usize, usize),
    width: usize,
    out: &mut [f32],
) {
    let mut sums = [[_mm256_setzero_ps(); 2]; R];
    // SAFETY: rows `row..row + R` of `depth` floats lie in `a`, and a panel at `weights`.
    unsafe {
        let inputs = a.values.as_ptr().add(row * a.stride);
        for at in 0..a.depth {
            let w = weights.add(at * PANEL);
            let w = [_mm256_loadu_ps(w), _mm256_loadu_ps(w.add(PANEL / 2))];
            for (r, sums) in sums.iter_mut().enumerate() {
                let input = _mm256_set1_ps(*inputs.add(r * a.stride + at));
                for (sum, w) in sums.iter_mut().zip(w) {
                    *sum = _mm256_fmadd_ps(input, w, *sum);
                }
            }
        }
        for (r, sums) in sums.iter().enumerate() {
            let place = out.as_mut_ptr().add((row + r) * width + column);
            _mm256_storeu_ps(place, sums[0]);
            _mm256_storeu_ps(place.add(PANEL / 2), sums[1]);
        }
    }
}
