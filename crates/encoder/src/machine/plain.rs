//! The products in plain code: what every kernel must give, and what runs where no other does.

use super::{Bytes, Floats, GROUP, PANEL};

/// See [`Kernel::sums`](super::Kernel::sums).
pub(super) fn sums(a: Bytes<'_>, panels: &[u8], width: usize, out: &mut [i32]) {
    for (panel, weights) in panels.chunks_exact(a.depth * PANEL).enumerate() {
        for row in 0..a.rows {
            let values = &a.values[row * a.stride..][..a.depth];
            let mut sums = [0i32; PANEL];
            let groups = weights.as_chunks::<{ PANEL * GROUP }>().0;
            for (inputs, group) in values.as_chunks::<GROUP>().0.iter().zip(groups) {
                for (sum, weights) in sums.iter_mut().zip(group.as_chunks::<GROUP>().0) {
                    for (input, weight) in inputs.iter().zip(weights) {
                        *sum += i32::from(*input) * i32::from(weight.cast_signed());
                    }
                }
            }
            out[row * width + panel * PANEL..][..PANEL].copy_from_slice(&sums);
        }
    }
}

/// See [`Kernel::products`](super::Kernel::products).
pub(super) fn products(a: Floats<'_>, panels: &[f32], width: usize, out: &mut [f32]) {
    for (panel, weights) in panels.chunks_exact(a.depth * PANEL).enumerate() {
        for row in 0..a.rows {
            let values = &a.values[row * a.stride..][..a.depth];
            let mut sums = [0f32; PANEL];
            for (input, weights) in values.iter().zip(weights.as_chunks::<PANEL>().0) {
                for (sum, weight) in sums.iter_mut().zip(weights) {
                    *sum += input * weight;
                }
            }
            out[row * width + panel * PANEL..][..PANEL].copy_from_slice(&sums);
        }
    }
}
