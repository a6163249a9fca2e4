//! The tokens of many texts, as the built-in model counts them: `tokens TEXTS.jsonl OUT`.
//!
//! `TEXTS.jsonl` has one JSON string a line; `OUT` gets a line of numbers for each.
//! `cargo xtask distill` trains on these.

use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};

use lorewell_embed::StaticModel;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [texts, out] = &arguments[..] else {
        return Err("usage: tokens TEXTS.jsonl OUT".into());
    };
    let model = StaticModel::built_in();
    let mut out = BufWriter::new(File::create(out)?);
    for line in BufReader::new(File::open(texts)?).lines() {
        let text: String = serde_json::from_str(&line?)?;
        let tokens: Vec<String> = model.tokens(&text).iter().map(u16::to_string).collect();
        writeln!(out, "{}", tokens.join(" "))?;
    }
    out.flush()?;
    Ok(())
}
