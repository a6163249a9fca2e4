//! Products with weights, bias and what follows at once: the bulk of the work.

use std::ops::Range;

use crate::container::Container;
use crate::machine::{Bytes, Floats, Kernel, PANEL, Work, floats};
use crate::numbers::{add, from_halves, from_sums, gelu, gelu_coarse, to_bytes};
use crate::{EncoderError, Precision};

/// Outputs of a product that are finished while they are in the nearest cache.
const COLUMNS: usize = 128;

/// Weights of a product, which stay in the file, and what belongs to each output.
#[derive(Debug)]
pub(crate) struct Product {
    pub(crate) place: Range<usize>,
    width: usize,
    depth: usize,
    bias: Vec<f32>,
    scales: Vec<f32>,
    columns: Vec<i32>,
    /// 128 × `columns`: what bytes that stand 128 too high give too much.
    offsets: Vec<i32>,
}

/// Buffers of one thread, kept between packs.
#[derive(Default)]
pub(crate) struct ProductRoom {
    bytes: Vec<u8>,
    steps: Vec<f32>,
    sums: Vec<i32>,
    panels: Vec<f32>,
    floats: Vec<f32>,
}

/// What is done to the outputs of a product.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Then {
    Nothing,
    Gelu,
}

impl Product {
    pub(crate) fn load(
        container: &Container,
        name: &str,
        width: usize,
        depth: usize,
        precision: Precision,
    ) -> Result<Self, EncoderError> {
        let bias = container.floats(&format!("{name}.bias"), &[width])?;
        let (mut scales, mut columns) = (Vec::new(), Vec::new());
        let place = match precision {
            Precision::Q8 => {
                scales = container.floats(&format!("{name}.scales"), &[width])?;
                columns = container.integers(&format!("{name}.columns"), &[width])?;
                container
                    .get(name, &[width / PANEL, depth / 4, PANEL, 4])?
                    .place
            }
            Precision::F16 | Precision::F32 => {
                container.get(name, &[width / PANEL, depth, PANEL])?.place
            }
        };
        let offsets = columns
            .iter()
            .map(|column| column.wrapping_mul(128))
            .collect();
        Ok(Self {
            place,
            width,
            depth,
            bias,
            scales,
            columns,
            offsets,
        })
    }

    pub(crate) fn in_bytes(
        &self,
        kernel: Kernel,
        weights: &[u8],
        input: &[f32],
        then: Then,
        out: &mut [f32],
        room: &mut ProductRoom,
    ) {
        let (depth, rows) = (self.depth, input.len() / self.depth);
        room.bytes.resize(rows * depth, 0);
        room.steps.resize(rows, 0.0);
        kernel.run(BytesOfRows(input, &mut room.bytes[..], &mut room.steps[..]));
        let a = Bytes {
            values: &room.bytes,
            stride: depth,
            rows,
            depth,
        };
        for first in (0..self.width).step_by(COLUMNS) {
            let columns = first..self.width.min(first + COLUMNS);
            let panels = &weights[columns.start * depth..columns.end * depth];
            room.sums.resize(rows * columns.len(), 0);
            kernel.sums(a, panels, &self.columns[columns.clone()], &mut room.sums);
            let steps = &room.steps[..];
            kernel.run(FinishBytes(
                self, columns, &room.sums, steps, then, &mut *out,
            ));
        }
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "what `in_bytes` has, and the precision"
    )]
    pub(crate) fn in_floats(
        &self,
        kernel: Kernel,
        precision: Precision,
        weights: &[u8],
        input: &[f32],
        then: Then,
        out: &mut [f32],
        room: &mut ProductRoom,
    ) {
        let (depth, rows) = (self.depth, input.len() / self.depth);
        let a = Floats {
            values: input,
            stride: depth,
            rows,
            depth,
        };
        for first in (0..self.width).step_by(COLUMNS) {
            let columns = first..self.width.min(first + COLUMNS);
            let numbers = columns.start * depth..columns.end * depth;
            let panels = if precision == Precision::F16 {
                room.panels.resize(numbers.len(), 0.0);
                let halves = &weights[2 * numbers.start..2 * numbers.end];
                kernel.run(AllFromHalves(halves, &mut room.panels[..]));
                &room.panels[..]
            } else {
                &floats(weights).unwrap_or_default()[numbers]
            };
            room.floats.resize(rows * columns.len(), 0.0);
            kernel.products(a, panels, columns.len(), &mut room.floats);
            kernel.run(FinishFloats(self, columns, &room.floats, then, &mut *out));
        }
    }
}

struct BytesOfRows<'a>(&'a [f32], &'a mut [u8], &'a mut [f32]);

impl Work for BytesOfRows<'_> {
    type Result = ();

    #[inline(always)]
    fn run(self) {
        let Self(input, bytes, steps) = self;
        let depth = (input.len() / steps.len().max(1)).max(1);
        let rows = input.chunks_exact(depth).zip(bytes.chunks_exact_mut(depth));
        for ((row, bytes), step) in rows.zip(steps) {
            *step = to_bytes(row, bytes);
        }
    }
}

struct FinishBytes<'a>(
    &'a Product,
    Range<usize>,
    &'a [i32],
    &'a [f32],
    Then,
    &'a mut [f32],
);

impl Work for FinishBytes<'_> {
    type Result = ();

    #[inline(always)]
    fn run(self) {
        let Self(product, columns, sums, steps, then, out) = self;
        let rows = out
            .chunks_exact_mut(product.width)
            .zip(sums.chunks_exact(columns.len()));
        for ((out, sums), step) in rows.zip(steps) {
            let out = &mut out[columns.clone()];
            from_sums(
                sums,
                &product.offsets[columns.clone()],
                &product.scales[columns.clone()],
                &product.bias[columns.clone()],
                *step,
                out,
            );
            if then == Then::Gelu {
                gelu_coarse(out);
            }
        }
    }
}

struct FinishFloats<'a>(&'a Product, Range<usize>, &'a [f32], Then, &'a mut [f32]);

impl Work for FinishFloats<'_> {
    type Result = ();

    #[inline(always)]
    fn run(self) {
        let Self(product, columns, sums, then, out) = self;
        let rows = out
            .chunks_exact_mut(product.width)
            .zip(sums.chunks_exact(columns.len()));
        for (out, sums) in rows {
            let out = &mut out[columns.clone()];
            out.copy_from_slice(sums);
            add(out, &product.bias[columns.clone()]);
            if then == Then::Gelu {
                gelu(out);
            }
        }
    }
}

struct AllFromHalves<'a>(&'a [u8], &'a mut [f32]);

impl Work for AllFromHalves<'_> {
    type Result = ();

    #[inline(always)]
    fn run(self) {
        let Self(halves, out) = self;
        from_halves(halves, out);
    }
}
