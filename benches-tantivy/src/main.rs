//! Compares lorewell-lexical with tantivy on a folder of Markdown notes: time to build, size,
//! latency, agreement.
//!
//! Both index the same passages with the same tokenizer, in one thread, without positions and
//! without stored text. Tantivy has one field, to which the title is added three times and the path
//! twice: the same BM25F as ours. This is a comparison of two engines and not of two rankings, so
//! agreement should be nearly complete.
//!
//! Usage: `cargo run --release -- FOLDER [QUERIES]`

mod notes;
mod ours;
mod theirs;

use std::time::{Duration, Instant};

use crate::notes::Passage;

type Failure = Box<dyn std::error::Error>;

/// Results that are asked for, results that are compared, and passes of which the fastest counts.
const TOP: usize = 100;
const COMPARED: usize = 10;
const PASSES: usize = 4;

/// An engine with an index of the passages.
trait Engine {
    const NAME: &'static str;
    /// Builds the index in an empty folder, and syncs it to the disk.
    fn build(passages: &[Passage], folder: &std::path::Path) -> Result<Self, Failure>
    where
        Self: Sized;
    /// The numbers of the best passages, best first.
    fn search(&self, terms: &[String], limit: usize) -> Result<Vec<u32>, Failure>;
}

struct Outcome {
    row: String,
    answers: Vec<Vec<u32>>,
}

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments
        .next()
        .ok_or("usage: benches-tantivy FOLDER [QUERIES]")?;
    let count = arguments.next().map_or(Ok(500), |count| count.parse())?;
    let (notes, passages) = notes::read(folder.as_ref())?;
    let queries = notes::queries(&passages, count);
    let characters: usize = passages
        .iter()
        .map(|passage| passage.body.chars().count())
        .sum();
    println!(
        "{notes} notes, {} passages of {} characters on average; {} queries of {:.1} terms on average; top {TOP}",
        passages.len(),
        characters / passages.len().max(1),
        queries.len(),
        queries.iter().map(Vec::len).sum::<usize>() as f64 / queries.len().max(1) as f64,
    );
    println!(
        "tokenizing alone: {:.2} CPU s (part of both builds)",
        tokenizing(&passages)
    );
    let ours = measure::<ours::Ours>(&passages, &queries)?;
    let theirs = measure::<theirs::Theirs>(&passages, &queries)?;
    println!(
        "\n| engine | build, CPU s | build, wall s | size, MB | query p50, ms | query p99, ms |"
    );
    println!(
        "| --- | --- | --- | --- | --- | --- |\n{}\n{}",
        ours.row, theirs.row
    );
    println!(
        "\nAgreement of the top {COMPARED}: {:.1} %",
        100.0 * agreement(&ours.answers, &theirs.answers)
    );
    Ok(())
}

/// Builds and asks; the index is removed afterwards.
fn measure<E: Engine>(passages: &[Passage], queries: &[Vec<String>]) -> Result<Outcome, Failure> {
    let folder = tempfile::tempdir()?;
    let (started, cpu) = (Instant::now(), cpu_seconds());
    let engine = E::build(passages, folder.path())?;
    let (wall, cpu) = (started.elapsed().as_secs_f64(), cpu_seconds() - cpu);
    let mut best = vec![Duration::MAX; queries.len()];
    let mut answers = Vec::new();
    for _ in 0..PASSES {
        answers.clear();
        for (query, best) in queries.iter().zip(&mut best) {
            let started = Instant::now();
            let answer = engine.search(query, TOP)?;
            *best = started.elapsed().min(*best);
            answers.push(answer);
        }
    }
    best.sort_unstable();
    let at = |share: f64| best[((best.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    let mut size = 0;
    for entry in std::fs::read_dir(folder.path())? {
        size += entry?.metadata()?.len();
    }
    let row = format!(
        "| {} | {cpu:.2} | {wall:.2} | {:.1} | {:.3} | {:.3} |",
        E::NAME,
        size as f64 / 1e6,
        at(0.5),
        at(0.99)
    );
    Ok(Outcome { row, answers })
}

/// The mean share of the first results of one that are among the first of the other.
fn agreement(ours: &[Vec<u32>], theirs: &[Vec<u32>]) -> f64 {
    let first = |answer: &[u32]| answer[..answer.len().min(COMPARED)].to_vec();
    let shares = ours
        .iter()
        .zip(theirs)
        .filter(|(ours, _)| !ours.is_empty())
        .map(|(ours, theirs)| {
            let (ours, theirs) = (first(ours), first(theirs));
            ours.iter()
                .filter(|passage| theirs.contains(passage))
                .count() as f64
                / ours.len() as f64
        });
    let shares: Vec<f64> = shares.collect();
    shares.iter().sum::<f64>() / shares.len().max(1) as f64
}

/// CPU seconds for cutting every text into terms once.
fn tokenizing(passages: &[Passage]) -> f64 {
    let started = cpu_seconds();
    let mut tokenizer = lorewell_text::Tokenizer::new();
    for passage in passages {
        for text in [&passage.title, &passage.path, &passage.body] {
            tokenizer.tokens(text, &mut |token| _ = std::hint::black_box(token));
        }
    }
    cpu_seconds() - started
}

/// CPU time of this process so far, all threads; Linux only, and 0 elsewhere.
fn cpu_seconds() -> f64 {
    let Ok(stat) = std::fs::read_to_string("/proc/self/stat") else {
        return 0.0;
    };
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    // Fields 14 and 15 of proc(5), in ticks of 1/100 s.
    let ticks: u64 = after_name
        .split_whitespace()
        .skip(11)
        .take(2)
        .filter_map(|field| field.parse::<u64>().ok())
        .sum();
    ticks as f64 / 100.0
}
