//! Attention of one text (Vaswani et al. 2017, section 3.2): every token looks at all tokens of its
//! text, in several heads. In floats, or in bytes with scales of the text's own, so that no result
//! depends on what other texts are computed beside it.

use crate::machine::{Bytes, Floats, GROUP, Kernel, PANEL, Work};
use crate::numbers::{byte_shares, reach, scale, shares, step_of, to_bytes, to_signed_byte};

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
    bytes: Vec<u8>,
    inverses: Vec<f32>,
    words: Vec<u32>,
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
            kernel.run(SharesOfRows(text, &mut room.scores[..rows * width]));
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
        kernel.run(Pack(text, head, count, depth, &mut *room));
        for first in (0..count).step_by(ROWS) {
            let rows = ROWS.min(count - first);
            let queries = Bytes {
                values: &room.queries[first * size..],
                stride: size,
                rows,
                depth: size,
            };
            kernel.sums(queries, &room.keys, &room.key_sums, &mut room.sums);
            kernel.run(ByteSharesOfRows(text, first, rows, &mut *room));
            let all = Bytes {
                values: &room.shares,
                stride: depth,
                rows,
                depth,
            };
            kernel.sums(all, &room.values, &room.value_sums, &mut room.sums);
            let out = &mut out[first * hidden..(first + rows) * hidden];
            kernel.run(ContextOfRows((hidden, head * size), &*room, out));
        }
    }
}

struct SharesOfRows<'a>(Text<'a>, &'a mut [f32]);

impl Work for SharesOfRows<'_> {
    type Result = ();

    #[inline(always)]
    fn run(self) {
        let Self(text, scores) = self;
        let factor = text.factor();
        for row in scores.chunks_exact_mut(text.tokens.next_multiple_of(PANEL)) {
            scale(row, factor);
            shares(row, text.tokens);
        }
    }
}

struct Pack<'a>(Text<'a>, usize, usize, usize, &'a mut Room);

impl Work for Pack<'_> {
    type Result = ();

    #[inline(always)]
    fn run(self) {
        let Self(text, head, count, depth, room) = self;
        pack_queries(&text, head, count, room);
        pack_keys(&text, head, room);
        pack_values(&text, head, depth, room);
    }
}

struct ByteSharesOfRows<'a>(Text<'a>, usize, usize, &'a mut Room);

impl Work for ByteSharesOfRows<'_> {
    type Result = ();

    #[inline(always)]
    fn run(self) {
        let Self(text, first, rows, room) = self;
        let width = text.tokens.next_multiple_of(PANEL);
        let depth = text.tokens.next_multiple_of(DEPTH);
        for row in 0..rows {
            room.share_steps[row] = byte_shares(
                &room.sums[row * width..][..width],
                &room.key_offsets,
                &room.key_steps,
                room.query_steps[first + row],
                text.tokens,
                &mut room.scores[..width],
                &mut room.shares[row * depth..][..width],
            );
        }
    }
}

/// Contexts of one head into their place in each row.
struct ContextOfRows<'a>((usize, usize), &'a Room, &'a mut [f32]);

impl Work for ContextOfRows<'_> {
    type Result = ();

    #[inline(always)]
    fn run(self) {
        let Self((hidden, place), room, out) = self;
        let size = room.value_steps.len();
        let rows = out
            .chunks_exact_mut(hidden)
            .zip(room.sums.chunks_exact(size));
        for ((out, sums), worth) in rows.zip(&room.share_steps) {
            let (out, steps) = (&mut out[place..place + size], &room.value_steps[..size]);
            for at in 0..size {
                out[at] = sums[at] as f32 * (worth * steps[at]);
            }
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
        self.inverses.resize(size, 0.0);
        self.words.resize(size, 0);
        self.bytes.resize(size, 0);
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
    let bytes = &mut room.bytes[..text.head];
    for token in 0..text.tokens {
        let key = text.part(token, 1, head);
        let (step, inverse) = step_of(reach(key));
        let mut sum = 0i32;
        for (byte, value) in bytes.iter_mut().zip(key) {
            *byte = to_signed_byte(*value, inverse);
            sum += i32::from(byte.cast_signed());
        }
        let panel = &mut room.keys[token / PANEL * PANEL * text.head..][..PANEL * text.head];
        let groups = panel.as_chunks_mut::<{ PANEL * GROUP }>().0.iter_mut();
        for (four, group) in bytes.as_chunks::<GROUP>().0.iter().zip(groups) {
            group[token % PANEL * GROUP..][..GROUP].copy_from_slice(four);
        }
        room.key_steps[token] = step;
        room.key_sums[token] = sum;
        room.key_offsets[token] = sum * 128;
    }
}

/// Values are the weights of a product over the tokens: a step for each of a head's numbers.
#[inline(always)]
fn pack_values(text: &Text<'_>, head: usize, depth: usize, room: &mut Room) {
    let size = text.head;
    let (steps, inverses) = (&mut room.value_steps[..size], &mut room.inverses[..size]);
    steps.fill(0.0);
    for token in 0..text.tokens {
        for (reach, value) in steps.iter_mut().zip(text.part(token, 2, head)) {
            let size = value.abs();
            *reach = if size > *reach { size } else { *reach };
        }
    }
    for (step, inverse) in steps.iter_mut().zip(inverses.iter_mut()) {
        (*step, *inverse) = step_of(*step);
    }
    let sums = &mut room.value_sums[..size];
    sums.fill(0);
    let words = &mut room.words[..size];
    for group in 0..depth / GROUP {
        words.fill(0);
        for member in 0..GROUP {
            let token = group * GROUP + member;
            if token >= text.tokens {
                break;
            }
            let values = &text.part(token, 2, head)[..size];
            for at in 0..size {
                let byte = to_signed_byte(values[at], inverses[at]);
                sums[at] += i32::from(byte.cast_signed());
                words[at] |= u32::from(byte) << (8 * member);
            }
        }
        for (panel, words) in words.chunks_exact(PANEL).enumerate() {
            let place = panel * PANEL * depth + group * PANEL * GROUP;
            let place = &mut room.values[place..place + PANEL * GROUP];
            for (four, word) in place.as_chunks_mut::<GROUP>().0.iter_mut().zip(words) {
                *four = word.to_le_bytes();
            }
        }
    }
}
