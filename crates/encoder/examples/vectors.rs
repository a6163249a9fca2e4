//! The vectors of many texts: `vectors MODEL_DIR TEXTS.jsonl OUT [PRECISION [THREADS]]`.
//!
//! `TEXTS.jsonl` has one JSON string a line. `OUT` gets their vectors one after another, 32-bit
//! floats, little endian. Prints the dimension. `cargo xtask distill` asks its teacher this way.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use lorewell_encoder::{Encoder, Options};

/// Texts that are given to the model at once.
const BATCH: usize = 2048;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, texts, out, rest @ ..] = &arguments[..] else {
        return Err("usage: vectors MODEL_DIR TEXTS.jsonl OUT [PRECISION [THREADS]]".into());
    };
    let options = Options {
        precision: rest.first().map(|name| name.parse()).transpose()?,
        threads: rest.get(1).map(|count| count.parse()).transpose()?,
        ..Options::default()
    };
    let encoder = Encoder::open(Path::new(folder), &options)?;
    let texts = BufReader::new(File::open(texts)?)
        .lines()
        .map(|line| Ok(serde_json::from_str(&line?)?))
        .collect::<Result<Vec<String>, Box<dyn std::error::Error>>>()?;
    let mut out = BufWriter::new(File::create(out)?);
    let mut dimension = 0;
    for (done, batch) in (0..).step_by(BATCH).zip(texts.chunks(BATCH)) {
        let batch: Vec<&str> = batch.iter().map(String::as_str).collect();
        for one in encoder.encode(&batch) {
            dimension = one.vector.len();
            for value in one.vector {
                out.write_all(&value.to_le_bytes())?;
            }
        }
        if (done / BATCH).is_multiple_of(10) {
            eprintln!("    {} of {} texts", done + batch.len(), texts.len());
        }
    }
    out.flush()?;
    println!("{dimension}");
    Ok(())
}
