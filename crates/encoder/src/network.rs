//! The network: embeddings, layers, pooling. Texts of a pack stand one after another without
//! padding; only attention knows where one ends.

use std::ops::Range;

use crate::attention::{self, Room as AttentionRoom, Text};
use crate::config::Shape;
use crate::container::Container;
use crate::machine::{Kernel, Work, floats};
use crate::numbers::{add, from_halves, normalize, scale, squares};
use crate::prepare::PRODUCTS;
use crate::product::{Product, ProductRoom, Then};
use crate::{EncoderError, Pooling, Precision};

/// Tokens that go through a product together.
const ROWS: usize = 128;

/// A model's network with its weights.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) shape: Shape,
    precision: Precision,
    container: Container,
    layers: Vec<Layer>,
    norm: Norm,
    positions: Range<usize>,
    words: Range<usize>,
}

#[derive(Debug)]
struct Layer {
    qkv: Product,
    out: Product,
    up: Product,
    down: Product,
    norm1: Norm,
    norm2: Norm,
}

#[derive(Debug)]
struct Norm {
    weight: Vec<f32>,
    bias: Vec<f32>,
}

/// Buffers of one thread, kept between packs.
#[derive(Default)]
pub(crate) struct Room {
    hidden: Vec<f32>,
    qkv: Vec<f32>,
    context: Vec<f32>,
    inner: Vec<f32>,
    result: Vec<f32>,
    products: ProductRoom,
    attention: AttentionRoom,
}

/// Two texts in one, the second of which begins at a token and has another token type.
#[derive(Clone, Copy)]
pub(crate) struct Segments<'a> {
    pub(crate) second: usize,
    /// What is added to each of its tokens: the difference of the types.
    pub(crate) added: &'a [f32],
}

impl Network {
    /// Reads a prepared file.
    ///
    /// # Errors
    /// The file lacks a tensor or has it in another shape.
    pub(crate) fn load(
        container: Container,
        shape: Shape,
        precision: Precision,
    ) -> Result<Self, EncoderError> {
        let hidden = shape.hidden;
        let norm = |name: &str| -> Result<Norm, EncoderError> {
            Ok(Norm {
                weight: container.floats(&format!("{name}.weight"), &[hidden])?,
                bias: container.floats(&format!("{name}.bias"), &[hidden])?,
            })
        };
        let sizes = [
            (3 * hidden, hidden),
            (hidden, hidden),
            (shape.intermediate, hidden),
            (hidden, shape.intermediate),
        ];
        let mut layers = Vec::with_capacity(shape.layers);
        for layer in 0..shape.layers {
            let product = |index: usize| {
                let (width, depth) = sizes[index];
                Product::load(
                    &container,
                    &format!("{layer}.{}", PRODUCTS[index]),
                    width,
                    depth,
                    precision,
                )
            };
            layers.push(Layer {
                qkv: product(0)?,
                out: product(1)?,
                up: product(2)?,
                down: product(3)?,
                norm1: norm(&format!("{layer}.norm1"))?,
                norm2: norm(&format!("{layer}.norm2"))?,
            });
        }
        let norm = norm("norm")?;
        let positions = container
            .get("positions", &[shape.positions, hidden])?
            .place;
        let words = container.get("words", &[shape.vocabulary, hidden])?.place;
        Ok(Self {
            shape,
            precision,
            container,
            layers,
            norm,
            positions,
            words,
        })
    }

    /// A hash of the weights that it was prepared from.
    pub(crate) fn revision(&self) -> &str {
        self.container.note("weights").unwrap_or_default()
    }

    /// The vector of each text, of unit length. `ids` are the tokens of all texts one after
    /// another, each text being one of `spans`, which are not empty and follow each other.
    pub(crate) fn run(
        &self,
        kernel: Kernel,
        ids: &[u32],
        spans: &[Range<usize>],
        pooling: Pooling,
        room: &mut Room,
    ) -> Vec<Vec<f32>> {
        self.embed(kernel, ids, spans, None, room);
        for (index, layer) in self.layers.iter().enumerate() {
            let last = index + 1 == self.layers.len();
            self.layer(kernel, layer, spans, last && pooling == Pooling::Cls, room);
        }
        self.pool(spans, pooling, &room.hidden)
    }

    /// The state of the first token of two texts in one, as it leaves the last layer.
    pub(crate) fn first_state(
        &self,
        kernel: Kernel,
        ids: &[u32],
        segments: Segments<'_>,
        room: &mut Room,
    ) -> Vec<f32> {
        let span = 0..ids.len();
        let spans = std::slice::from_ref(&span);
        self.embed(kernel, ids, spans, Some(segments), room);
        for (index, layer) in self.layers.iter().enumerate() {
            let last = index + 1 == self.layers.len();
            self.layer(kernel, layer, spans, last, room);
        }
        room.hidden[..self.shape.hidden].to_vec()
    }

    /// The state of every token after the embeddings and after each layer, for tests.
    #[cfg(test)]
    pub(crate) fn states(&self, kernel: Kernel, ids: &[u32]) -> Vec<Vec<f32>> {
        let mut room = Room::default();
        let span = 0..ids.len();
        self.embed(kernel, ids, std::slice::from_ref(&span), None, &mut room);
        let mut states = vec![room.hidden.clone()];
        for layer in &self.layers {
            self.layer(kernel, layer, std::slice::from_ref(&span), false, &mut room);
            states.push(room.hidden.clone());
        }
        states
    }

    fn embed(
        &self,
        kernel: Kernel,
        ids: &[u32],
        spans: &[Range<usize>],
        segments: Option<Segments<'_>>,
        room: &mut Room,
    ) {
        let hidden = self.shape.hidden;
        let words = &self.container.bytes()[self.words.clone()];
        let positions = floats(&self.container.bytes()[self.positions.clone()]).unwrap_or_default();
        room.hidden.resize(ids.len() * hidden, 0.0);
        let embedding = Embedding {
            words,
            positions,
            halves: self.precision != Precision::F32,
            first_position: self.shape.first_position,
            segments,
            norm: &self.norm,
            epsilon: self.shape.epsilon,
        };
        kernel.run(EmbedRows(embedding, ids, spans, &mut room.hidden[..]));
    }

    /// One layer. With `first_only`, `hidden` holds afterwards one row for each text: its first
    /// token's, which is all that is wanted of the last layer.
    fn layer(
        &self,
        kernel: Kernel,
        layer: &Layer,
        spans: &[Range<usize>],
        first_only: bool,
        room: &mut Room,
    ) {
        let hidden = self.shape.hidden;
        let Room {
            hidden: state,
            qkv,
            context,
            inner,
            result,
            products,
            attention,
        } = room;
        let tokens = state.len() / hidden;
        qkv.resize(tokens * 3 * hidden, 0.0);
        for first in (0..tokens).step_by(ROWS) {
            let rows = ROWS.min(tokens - first);
            let input = &state[first * hidden..][..rows * hidden];
            let out = &mut qkv[first * 3 * hidden..][..rows * 3 * hidden];
            self.product(kernel, &layer.qkv, input, Then::Nothing, out, products);
        }
        context.resize(tokens * hidden, 0.0);
        for (index, span) in spans.iter().enumerate() {
            let text = Text {
                rows: &qkv[span.start * 3 * hidden..span.end * 3 * hidden],
                tokens: span.len(),
                heads: self.shape.heads,
                head: self.shape.head(),
            };
            let (count, place) = if first_only {
                (1, index)
            } else {
                (span.len(), span.start)
            };
            let out = &mut context[place * hidden..][..count * hidden];
            match self.precision {
                Precision::Q8 => attention::in_bytes(kernel, text, count, attention, out),
                _ => attention::in_floats(kernel, text, count, attention, out),
            }
        }
        if first_only {
            for (index, span) in spans.iter().enumerate() {
                state.copy_within(
                    span.start * hidden..(span.start + 1) * hidden,
                    index * hidden,
                );
            }
            state.truncate(spans.len() * hidden);
        }
        let rows_in_all = state.len() / hidden;
        for first in (0..rows_in_all).step_by(ROWS) {
            let rows = ROWS.min(rows_in_all - first);
            let state = &mut state[first * hidden..][..rows * hidden];
            result.resize(rows * hidden, 0.0);
            let context = &context[first * hidden..][..rows * hidden];
            self.product(kernel, &layer.out, context, Then::Nothing, result, products);
            self.join(kernel, &layer.norm1, state, result);
            inner.resize(rows * self.shape.intermediate, 0.0);
            self.product(kernel, &layer.up, state, Then::Gelu, inner, products);
            self.product(kernel, &layer.down, inner, Then::Nothing, result, products);
            self.join(kernel, &layer.norm2, state, result);
        }
    }

    /// Adds a result to the state and normalizes it.
    fn join(&self, kernel: Kernel, norm: &Norm, state: &mut [f32], result: &[f32]) {
        kernel.run(JoinRows(norm, self.shape.epsilon, state, result));
    }

    fn product(
        &self,
        kernel: Kernel,
        product: &Product,
        input: &[f32],
        then: Then,
        out: &mut [f32],
        room: &mut ProductRoom,
    ) {
        let weights = &self.container.bytes()[product.place.clone()];
        match self.precision {
            Precision::Q8 => product.in_bytes(kernel, weights, input, then, out, room),
            Precision::F16 | Precision::F32 => {
                product.in_floats(kernel, self.precision, weights, input, then, out, room);
            }
        }
    }

    fn pool(&self, spans: &[Range<usize>], pooling: Pooling, state: &[f32]) -> Vec<Vec<f32>> {
        let hidden = self.shape.hidden;
        let each = spans.iter().enumerate().map(|(index, span)| {
            let mut vector = match pooling {
                Pooling::Cls => state[index * hidden..][..hidden].to_vec(),
                Pooling::Mean => {
                    let mut sum = vec![0.0; hidden];
                    for row in state[span.start * hidden..span.end * hidden].chunks_exact(hidden) {
                        add(&mut sum, row);
                    }
                    sum
                }
            };
            let length = squares(&vector).sqrt();
            scale(&mut vector, if length > 0.0 { 1.0 / length } else { 0.0 });
            vector
        });
        each.collect()
    }
}

/// What the state of a token is made of before the first layer.
struct Embedding<'a> {
    words: &'a [u8],
    positions: &'a [f32],
    halves: bool,
    first_position: usize,
    segments: Option<Segments<'a>>,
    norm: &'a Norm,
    epsilon: f32,
}

struct EmbedRows<'a>(Embedding<'a>, &'a [u32], &'a [Range<usize>], &'a mut [f32]);

impl Work for EmbedRows<'_> {
    type Result = ();

    #[inline(always)]
    fn run(self) {
        let Self(embedding, ids, spans, out) = self;
        let norm = embedding.norm;
        let hidden = norm.weight.len();
        for span in spans {
            for (position, token) in span.clone().enumerate() {
                let row = &mut out[token * hidden..][..hidden];
                let word = ids[token] as usize;
                if embedding.halves {
                    from_halves(&embedding.words[2 * word * hidden..][..2 * hidden], row);
                } else {
                    let words = floats(embedding.words).unwrap_or_default();
                    row.copy_from_slice(&words[word * hidden..][..hidden]);
                }
                if let Some(segments) = embedding.segments.filter(|two| token >= two.second) {
                    add(row, segments.added);
                }
                let position = embedding.first_position + position;
                add(row, &embedding.positions[position * hidden..][..hidden]);
                normalize(row, &norm.weight, &norm.bias, embedding.epsilon);
            }
        }
    }
}

struct JoinRows<'a>(&'a Norm, f32, &'a mut [f32], &'a [f32]);

impl Work for JoinRows<'_> {
    type Result = ();

    #[inline(always)]
    fn run(self) {
        let Self(norm, epsilon, state, result) = self;
        let hidden = norm.weight.len();
        let rows = state
            .chunks_exact_mut(hidden)
            .zip(result.chunks_exact(hidden));
        for (row, result) in rows {
            add(row, result);
            normalize(row, &norm.weight, &norm.bias, epsilon);
        }
    }
}
