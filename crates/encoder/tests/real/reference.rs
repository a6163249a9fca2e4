//! The network as it is written down (Devlin et al. 2019; Vaswani et al. 2017), in 64 bits, one
//! text at a time, from the model's own files. Slow and plain on purpose.

use std::collections::HashMap;
use std::path::Path;

use serde_json::Value;
use tokenizers::Tokenizer;

/// A model, read by other code than the one that is tested.
pub(crate) struct Reference {
    tensors: HashMap<String, Vec<f32>>,
    config: Value,
    tokenizer: Tokenizer,
}

impl Reference {
    pub(crate) fn open(folder: &Path) -> Reference {
        let bytes = std::fs::read(folder.join("model.safetensors")).unwrap();
        let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        let header: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
        let data = &bytes[8 + length..];
        let mut tensors = HashMap::new();
        for (name, entry) in header.as_object().unwrap() {
            if entry["dtype"] == "F32" {
                let at = |index: usize| entry["data_offsets"][index].as_u64().unwrap() as usize;
                let numbers = data[at(0)..at(1)].chunks_exact(4);
                let floats = numbers.map(|four| f32::from_le_bytes(four.try_into().unwrap()));
                tensors.insert(name.clone(), floats.collect());
            }
        }
        let config = std::fs::read(folder.join("config.json")).unwrap();
        let mut tokenizer = Tokenizer::from_file(folder.join("tokenizer.json")).unwrap();
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).unwrap();
        Reference {
            tensors,
            config: serde_json::from_slice(&config).unwrap(),
            tokenizer,
        }
    }

    /// The tokens of a text, with the special ones, cut to at most so many.
    pub(crate) fn tokens(&self, text: &str, longest: usize) -> Vec<u32> {
        let mut ids = self
            .tokenizer
            .encode_fast(text, true)
            .unwrap()
            .get_ids()
            .to_vec();
        if ids.len() > longest {
            let last = ids[ids.len() - 1];
            ids.truncate(longest - 1);
            ids.push(last);
        }
        ids
    }

    /// The vector of a text from its tokens.
    pub(crate) fn vector(&self, ids: &[u32], mean: bool) -> Vec<f64> {
        let states = self.states(ids);
        let last = states.last().unwrap();
        let mut vector = if mean {
            let mut sum = vec![0.0; last[0].len()];
            for row in last {
                sum.iter_mut()
                    .zip(row)
                    .for_each(|(sum, value)| *sum += value);
            }
            sum
        } else {
            last[0].clone()
        };
        let length = vector.iter().map(|value| value * value).sum::<f64>().sqrt();
        vector.iter_mut().for_each(|value| *value /= length);
        vector
    }

    /// Every token's state after the embeddings and after each layer.
    pub(crate) fn states(&self, ids: &[u32]) -> Vec<Vec<Vec<f64>>> {
        let count = |key: &str| self.config[key].as_u64().unwrap() as usize;
        let (hidden, heads) = (count("hidden_size"), count("num_attention_heads"));
        let first = match self.config["model_type"].as_str() {
            Some("xlm-roberta") => count("pad_token_id") + 1,
            _ => 0,
        };
        let row = |name: &str, index: usize| {
            self.tensor(&format!("embeddings.{name}_embeddings.weight"))
                [index * hidden..(index + 1) * hidden]
                .to_vec()
        };
        let mut state: Vec<Vec<f64>> = ids
            .iter()
            .enumerate()
            .map(|(position, id)| {
                let parts = [
                    row("word", *id as usize),
                    row("position", first + position),
                    row("token_type", 0),
                ];
                let sum = (0..hidden).map(|at| parts.iter().map(|part| f64::from(part[at])).sum());
                self.normalized(&sum.collect::<Vec<_>>(), "embeddings.LayerNorm")
            })
            .collect();
        let mut states = vec![state.clone()];
        for layer in 0..count("num_hidden_layers") {
            let base = format!("encoder.layer.{layer}");
            let context = self.attention(&state, &base, heads);
            let attended = self.product(&context, &format!("{base}.attention.output.dense"));
            let state_after = self.joined(
                &state,
                &attended,
                &format!("{base}.attention.output.LayerNorm"),
            );
            let mut inner = self.product(&state_after, &format!("{base}.intermediate.dense"));
            for value in inner.iter_mut().flatten() {
                *value = 0.5 * *value * (1.0 + erf(*value / std::f64::consts::SQRT_2));
            }
            let outer = self.product(&inner, &format!("{base}.output.dense"));
            state = self.joined(&state_after, &outer, &format!("{base}.output.LayerNorm"));
            states.push(state.clone());
        }
        states
    }

    fn attention(&self, state: &[Vec<f64>], base: &str, heads: usize) -> Vec<Vec<f64>> {
        let part = |name: &str| self.product(state, &format!("{base}.attention.self.{name}"));
        let (queries, keys, values) = (part("query"), part("key"), part("value"));
        let size = state[0].len() / heads;
        let mut context = vec![vec![0.0; state[0].len()]; state.len()];
        for head in 0..heads {
            let range = head * size..(head + 1) * size;
            for (query, context) in queries.iter().zip(&mut context) {
                let scores: Vec<f64> = keys
                    .iter()
                    .map(|key| {
                        let pairs = query[range.clone()].iter().zip(&key[range.clone()]);
                        pairs.map(|(a, b)| a * b).sum::<f64>() / (size as f64).sqrt()
                    })
                    .collect();
                let top = scores.iter().copied().fold(f64::MIN, f64::max);
                let shares: Vec<f64> = scores.iter().map(|score| (score - top).exp()).collect();
                let whole: f64 = shares.iter().sum();
                for (share, value) in shares.iter().zip(&values) {
                    for at in range.clone() {
                        context[at] += share / whole * value[at];
                    }
                }
            }
        }
        context
    }

    fn product(&self, rows: &[Vec<f64>], name: &str) -> Vec<Vec<f64>> {
        let weights = self.tensor(&format!("{name}.weight"));
        let bias = self.tensor(&format!("{name}.bias"));
        rows.iter()
            .map(|row| {
                let outputs = weights.chunks_exact(row.len()).zip(bias);
                outputs
                    .map(|(weights, bias)| {
                        let mut sums = [0.0; 8];
                        for (row, weights) in row.chunks_exact(8).zip(weights.chunks_exact(8)) {
                            for lane in 0..8 {
                                sums[lane] += row[lane] * f64::from(weights[lane]);
                            }
                        }
                        sums.iter().sum::<f64>() + f64::from(*bias)
                    })
                    .collect()
            })
            .collect()
    }

    fn joined(&self, state: &[Vec<f64>], other: &[Vec<f64>], norm: &str) -> Vec<Vec<f64>> {
        let rows = state.iter().zip(other);
        rows.map(|(a, b)| {
            let sum: Vec<f64> = a.iter().zip(b).map(|(a, b)| a + b).collect();
            self.normalized(&sum, norm)
        })
        .collect()
    }

    fn normalized(&self, row: &[f64], name: &str) -> Vec<f64> {
        let count = row.len() as f64;
        let mean = row.iter().sum::<f64>() / count;
        let variance = row.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
        let epsilon = self.config["layer_norm_eps"].as_f64().unwrap();
        let weight = self.tensor(&format!("{name}.weight"));
        let bias = self.tensor(&format!("{name}.bias"));
        let rules = weight.iter().zip(bias);
        row.iter()
            .zip(rules)
            .map(|(value, (weight, bias))| {
                (value - mean) / (variance + epsilon).sqrt() * f64::from(*weight) + f64::from(*bias)
            })
            .collect()
    }

    fn tensor(&self, name: &str) -> &[f32] {
        self.tensors.get(name).unwrap_or_else(|| panic!("{name}"))
    }
}

/// The error function by its series near zero and its continued fraction beyond (Abramowitz and
/// Stegun 7.1.6 and 7.1.14).
fn erf(x: f64) -> f64 {
    let size = x.abs();
    let value = if size < 2.5 {
        let (mut term, mut sum) = (size, size);
        for n in 1..80 {
            term *= 2.0 * size * size / f64::from(2 * n + 1);
            sum += term;
        }
        sum * (-size * size).exp() * 2.0 / std::f64::consts::PI.sqrt()
    } else {
        let mut fraction = size;
        for n in (1..60).rev() {
            fraction = size + f64::from(n) / 2.0 / fraction;
        }
        1.0 - (-size * size).exp() / fraction / std::f64::consts::PI.sqrt()
    };
    value.copysign(x)
}

/// The cosine of the angle between two vectors.
pub(crate) fn cosine(a: &[f32], b: &[f64]) -> f64 {
    let length = |squares: f64| squares.sqrt();
    let dot: f64 = a.iter().zip(b).map(|(a, b)| f64::from(*a) * b).sum();
    let a = length(a.iter().map(|value| f64::from(*value).powi(2)).sum());
    let b = length(b.iter().map(|value| value * value).sum());
    dot / a / b
}
