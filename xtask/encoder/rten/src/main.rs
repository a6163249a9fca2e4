//! How fast rten computes an ONNX model: `rten-speed MODEL.onnx TOKENS.json BATCH...`.
//!
//! `TOKENS.json` holds lists of token numbers, the first of them a question, the others passages,
//! shortest first. Prints one line of JSON: passages a second at the best of the batch sizes, and
//! milliseconds of a warm question. `RTEN_NUM_THREADS` says on how many threads.

use std::error::Error;
use std::time::Instant;

use rten::{Model, ModelOptions};
use rten_tensor::NdTensor;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, tokens, batches @ ..] = &arguments[..] else {
        return Err("usage: rten-speed MODEL.onnx TOKENS.json BATCH...".into());
    };
    let model = ModelOptions::with_all_ops().prepack_weights(true).load_file(model)?;
    let tokens: Vec<Vec<i32>> = serde_json::from_slice(&std::fs::read(tokens)?)?;
    let (question, passages) = tokens.split_first().ok_or("no tokens")?;
    let mut best = (0.0, 0);
    for batch in batches {
        let batch: usize = batch.parse()?;
        let start = Instant::now();
        for texts in passages.chunks(batch) {
            compute(&model, texts)?;
        }
        let rate = passages.len() as f64 / start.elapsed().as_secs_f64();
        if rate > best.0 {
            best = (rate, batch);
        }
    }
    let mut warm = f64::MAX;
    for _ in 0..60 {
        let start = Instant::now();
        compute(&model, std::slice::from_ref(question))?;
        warm = warm.min(start.elapsed().as_secs_f64() * 1e3);
    }
    let (rate, batch) = best;
    println!("{{\"passages_s\":{rate:.1},\"batch\":{batch},\"question_ms\":{warm:.2}}}");
    Ok(())
}

/// The states of one batch, padded to its longest text.
fn compute(model: &Model, texts: &[Vec<i32>]) -> Outcome<()> {
    let longest = texts.iter().map(Vec::len).max().unwrap_or(0);
    let shape = [texts.len(), longest];
    let at = |[row, column]: [usize; 2]| texts[row].get(column).copied();
    let ids = NdTensor::from_fn(shape, |place| at(place).unwrap_or(0));
    let mask = NdTensor::from_fn(shape, |place| i32::from(at(place).is_some()));
    let types = NdTensor::<i32, 2>::zeros(shape);
    let mut inputs = Vec::new();
    for (name, tensor) in [("input_ids", ids), ("attention_mask", mask), ("token_type_ids", types)] {
        // A model that needs no types was exported without them.
        if let Some(node) = model.find_node(name) {
            inputs.push((node, tensor.into()));
        }
    }
    model.run(inputs, model.output_ids(), None)?;
    Ok(())
}
