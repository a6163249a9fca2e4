//! Attention of one text (Vaswani et al. 2017, section 3.2): every token looks at all tokens of its
//! text, in several heads. In floats, or in bytes with scales of the text's own, so that no result
//! depends on what other texts are computed beside it.

use crate::machine::{Bytes, Floats, GROUP, Kernel, PANEL};
use crate::numbers::{byte_shares, reach, shares, step_of, to_bytes, to_signed_byte};

/// Tokens whose scores are held at a time.
const ROWS: usize = 48;

/// Sums of bytes of the shares go over a multiple of so many tokens.
const DEPTH: usize = 64;

/// Queries, keys and values of one text, as one row for each token.
#[derive(Clone, Copy)]
pub(crate) struct Text<'a> {
    /// Three times `heads × head` numbers a row.
    pub(crate) rows: &'a [f32],
    pub(crate) tokens: usize,
    pub(crate) heads: usize,
    /// Numbers of a head.
    pub(crate) head: usize,
}

/// Buffers that are kept between texts.
#[derive(Default)]
pub(crate) struct Room {
    queries: Vec<u8>,
    query_steps: Vec<f32>,
    keys: Vec<u8>,
    key_sums: Vec<i32>,
    key_offsets: Vec<i32>,
    key_steps: Vec<f32>,
    values: Vec<u8>,
    value_sums: Vec<i32>,
    value_steps: Vec<f32>,
    sums: Vec<i32>,
    shares: Vec<u8>,
    share_steps: Vec<f32>,
    scores: Vec<f32>,
    float_keys: Vec<f32>,
    float_values: Vec<f32>,
    floats: Vec<f32>,
}

impl Text<'_> {
    fn hidden(&self) -> usize {
        self.heads * self.head
    }

    /// A token's query (part 0), key (1) or value (2) of a head.
    #[inline(always)]
    fn part(&self, token: usize, part: usize, head: usize) -> &[f32] {
        let start = token * 3 * self.hidden() + part * self.hidden() + head * self.head;
        &self.rows[start..start + self.head]
    }

    /// What scores are multiplied by: powers of two are taken of them.
    fn factor(&self) -> f32 {
        std::f32::consts::LOG2_E / (self.head as f32).sqrt()
    }
}

/// Writes the context of the first `count` tokens, `heads × head` numbers each, in floats.
pub(crate) fn in_floats(
    kernel: Kernel,
    text: Text<'_>,
    count: usize,
    room: &mut Room,
    out: &mut [f32],
) {
    let (width, size, hidden) = (
        text.tokens.next_multiple_of(PANEL),
        text.head,
        text.hidden(),
    );
    for head in 0..text.heads {
        room.float_keys.clear();
        room.float_keys.resize(width * size, 0.0);
        room.float_values.clear();
        room.float_values.resize(width * size, 0.0);
        for token in 0..text.tokens {
            let panel = token / PANEL * PANEL * size;
            for (at, value) in text.part(token, 1, head).iter().enumerate() {
                room.float_keys[panel + at * PANEL + token % PANEL] = *value;
            }
            for (at, values) in text.part(token, 2, head).chunks_exact(PANEL).enumerate() {
                room.float_values[(at * width + token) * PANEL..][..PANEL].copy_from_slice(values);
            }
        }
        for first in (0..count).step_by(ROWS) {
            let rows = ROWS.min(count - first);
            let queries = Floats {
                values: &text.rows[first * 3 * hidden + head * size..],
                stride: 3 * hidden,
                rows,
                depth: size,
            };
            room.scores.resize(ROWS * width, 0.0);
            kernel.products(queries, &room.float_keys, width, &mut room.scores);
            let (factor, scores) = (text.factor(), &mut room.scores);
            kernel.run(|| {
                for row in scores[..rows * width].chunks_exact_mut(width) {
                    crate::numbers::scale(row, factor);
                    shares(row, text.tokens);
                }
            });
            let all = Floats {
                values: &room.scores,
                stride: width,
                rows,
                depth: width,
            };
            room.floats.resize(ROWS * size, 0.0);
            kernel.products(all, &room.float_values, size, &mut room.floats);
            for (row, context) in room.floats[..rows * size].chunks_exact(size).enumerate() {
                let place = (first + row) * hidden + head * size;
                out[place..place + size].copy_from_slice(context);
            }
        }
    }
}

/// The same in bytes.
pub(crate) fn in_bytes(
    kernel: Kernel,
    text: Text<'_>,
    count: usize,
    room: &mut Room,
    out: &mut [f32],
) {
    let (width, depth) = (
        text.tokens.next_multiple_of(PANEL),
        text.tokens.next_multiple_of(DEPTH),
    );
    let (size, hidden) = (text.head, text.hidden());
    room.resize(&text, count, width, depth);
    for head in 0..text.heads {
        kernel.run(|| {
            pack_queries(&text, head, count, room);
            pack_keys(&text, head, room);
            pack_values(&text, head, depth, room);
        });
        for first in (0..count).step_by(ROWS) {
            let rows = ROWS.min(count - first);
            let queries = Bytes {
                values: &room.queries[first * size..],
                stride: size,
                rows,
                depth: size,
            };
            kernel.sums(queries, &room.keys, &room.key_sums, &mut room.sums);
            let steps = &room.query_steps[first..];
            let scores = &mut room.scores[..width];
            let (offsets, scales, sums) = (&room.key_offsets, &room.key_steps, &room.sums);
            let (shares, worth) = (&mut room.shares, &mut room.share_steps);
            kernel.run(|| {
                for row in 0..rows {
                    worth[row] = byte_shares(
                        &sums[row * width..][..width],
                        offsets,
                        scales,
                        steps[row],
                        text.tokens,
                        scores,
                        &mut shares[row * depth..][..width],
                    );
                }
            });
            let all = Bytes {
                values: &room.shares,
                stride: depth,
                rows,
                depth,
            };
            kernel.sums(all, &room.values, &room.value_sums, &mut room.sums);
            let (sums, scales, worth) = (&room.sums, &room.value_steps, &room.share_steps);
            kernel.run(|| {
                for row in 0..rows {
                    let place = (first + row) * hidden + head * size;
                    let sums = &sums[row * size..][..size];
                    for ((out, sum), scale) in
                        out[place..place + size].iter_mut().zip(sums).zip(scales)
                    {
                        *out = *sum as f32 * (worth[row] * scale);
                    }
                }
            });
        }
    }
}

impl Room {
    fn resize(&mut self, text: &Text<'_>, count: usize, width: usize, depth: usize) {
        let size = text.head;
        self.queries.resize(count.max(1) * size, 0);
        self.query_steps.resize(count, 0.0);
        self.keys.clear();
        self.keys.resize(width * size, 0);
        for sums in [&mut self.key_sums, &mut self.key_offsets] {
            sums.clear();
            sums.resize(width, 0);
        }
        self.key_steps.clear();
        self.key_steps.resize(width, 0.0);
        self.values.resize(depth * size, 0);
        self.value_sums.resize(size, 0);
        self.value_steps.resize(size, 0.0);
        self.sums.resize(ROWS * width.max(size), 0);
        // Tokens between width and depth never get a share.
        self.shares.clear();
        self.shares.resize(ROWS * depth, 0);
        self.share_steps.resize(ROWS, 0.0);
        self.scores.resize(width.max(ROWS), 0.0);
    }
}

#[inline(always)]
fn pack_queries(text: &Text<'_>, head: usize, count: usize, room: &mut Room) {
    let factor = text.factor();
    let bytes = room.queries.chunks_exact_mut(text.head);
    for (token, (bytes, step)) in bytes.zip(&mut room.query_steps).enumerate().take(count) {
        *step = to_bytes(text.part(token, 0, head), bytes) * factor;
    }
}

/// Keys are the columns of a product: panels of 16 tokens, a step for each token.
#[inline(always)]
fn pack_keys(text: &Text<'_>, head: usize, room: &mut Room) {
    let mut bytes = [0u8; PANEL];
    for token in 0..text.tokens {
        let key = text.part(token, 1, head);
        let (step, inverse) = step_of(reach(key));
        let panel = &mut room.keys[token / PANEL * PANEL * text.head..][..PANEL * text.head];
        let mut sum = 0i32;
        for (at, values) in key.as_chunks::<PANEL>().0.iter().enumerate() {
            for (byte, value) in bytes.iter_mut().zip(values) {
                *byte = to_signed_byte(*value, inverse);
                sum += i32::from(byte.cast_signed());
            }
            for (group, four) in bytes.as_chunks::<GROUP>().0.iter().enumerate() {
                let place = (at * GROUP + group) * PANEL * GROUP + token % PANEL * GROUP;
                panel[place..place + GROUP].copy_from_slice(four);
            }
        }
        room.key_steps[token] = step;
        room.key_sums[token] = sum;
        room.key_offsets[token] = sum * 128;
    }
}

/// Values are the weights of a product over the tokens: a step for each of a head's numbers.
#[inline(always)]
fn pack_values(text: &Text<'_>, head: usize, depth: usize, room: &mut Room) {
    for panel in 0..text.head / PANEL {
        let value =
            |token: usize| -> &[f32] { &text.part(token, 2, head)[panel * PANEL..][..PANEL] };
        let mut reach = [0f32; PANEL];
        for token in 0..text.tokens {
            for (reach, value) in reach.iter_mut().zip(value(token)) {
                let size = value.abs();
                *reach = if size > *reach { size } else { *reach };
            }
        }
        let (mut inverse, mut sums) = ([0f32; PANEL], [0i32; PANEL]);
        for column in 0..PANEL {
            let (step, one) = step_of(reach[column]);
            room.value_steps[panel * PANEL + column] = step;
            inverse[column] = one;
        }
        let bytes = &mut room.values[panel * PANEL * depth..][..PANEL * depth];
        for (group, bytes) in bytes
            .as_chunks_mut::<{ PANEL * GROUP }>()
            .0
            .iter_mut()
            .enumerate()
        {
            let mut words = [0u32; PANEL];
            for member in 0..GROUP {
                let token = group * GROUP + member;
                if token >= text.tokens {
                    break;
                }
                let values = value(token);
                for column in 0..PANEL {
                    let byte = to_signed_byte(values[column], inverse[column]);
                    sums[column] += i32::from(byte.cast_signed());
                    words[column] |= u32::from(byte) << (8 * member);
                }
            }
            for (four, word) in bytes.as_chunks_mut::<GROUP>().0.iter_mut().zip(words) {
                *four = word.to_le_bytes();
            }
        }
        room.value_sums[panel * PANEL..][..PANEL].copy_from_slice(&sums);
    }
}
