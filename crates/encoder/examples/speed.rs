//! How fast a model is on this machine: `speed MODEL_DIR TEXTS.json [PRECISION [KERNEL [THREADS]]]`.
//!
//! `TEXTS.json` is a list of passages. Prints one line of JSON: milliseconds to open the model and
//! to the first question's vector, of a warm question, passages a second (best and median of
//! several rounds), tokens, and the most memory held.

use std::path::Path;
use std::time::{Duration, Instant};

use lorewell_encoder::{Encoder, Kernel, Options};

const QUESTION: &str = "How do I keep the embers of a wood stove alive overnight?";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let start = Instant::now();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, texts, rest @ ..] = &arguments[..] else {
        return Err("usage: speed MODEL_DIR TEXTS.json [PRECISION [KERNEL [THREADS]]]".into());
    };
    let precision = rest.first().map(|name| name.parse()).transpose()?;
    let kernel = match rest.get(1).map(String::as_str) {
        None | Some("best") => None,
        Some(name) => Some(
            Kernel::available()
                .into_iter()
                .find(|kernel| kernel.to_string() == name)
                .ok_or("this machine has no such kernel")?,
        ),
    };
    let threads = rest.get(2).map(|count| count.parse()).transpose()?;
    let options = Options {
        precision,
        kernel,
        threads,
        ..Options::default()
    };
    let encoder = Encoder::open(Path::new(folder), &options)?;
    let opened = start.elapsed();
    encoder.encode(&[QUESTION]);
    let first = start.elapsed();

    let texts: Vec<String> = serde_json::from_slice(&std::fs::read(texts)?)?;
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let questions = rounds(60, || drop(encoder.encode(&[QUESTION])));
    let passages = rounds(4, || drop(encoder.encode(&texts)));
    let tokens: usize = encoder.encode(&texts).iter().map(|one| one.tokens).sum();
    let rate = |time: Duration| texts.len() as f64 / time.as_secs_f64();
    println!(
        "{{\"engine\":\"lorewell {} {}\",\"open_ms\":{:.1},\"cold_ms\":{:.1},\"question_ms\":{:.2},\
         \"passages_s\":{:.1},\"passages_s_median\":{:.1},\"tokens\":{tokens},\"peak_mb\":{}}}",
        encoder.precision(),
        encoder.kernel(),
        opened.as_secs_f64() * 1e3,
        first.as_secs_f64() * 1e3,
        questions[0].as_secs_f64() * 1e3,
        rate(passages[0]),
        rate(passages[passages.len() / 2]),
        peak_mb(),
    );
    Ok(())
}

/// Times of so many rounds, shortest first.
fn rounds(count: usize, mut work: impl FnMut()) -> Vec<Duration> {
    let mut times: Vec<Duration> = (0..count)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .collect();
    times.sort();
    times
}

/// The most memory that was resident, in millions of bytes, where the system tells.
fn peak_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or_default() * 1024 / 1_000_000
}
