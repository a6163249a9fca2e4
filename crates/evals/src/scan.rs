//! The vector scan at scale: exact against two stages, in milliseconds, bytes a second and recall.
//!
//! The first vectors are of real texts; where more are wanted than there are, the rest lie between
//! two real ones, with noise, so that they crowd like the vectors of a larger vault.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result};
use lorewell_embed::{Embedded, Embedder, PassageInput, StaticModel};
use lorewell_vectors::{RowSet, VectorReader, VectorWriter};
use serde::Deserialize;

use crate::bench::machine;
use crate::data::{Data, lines};
use crate::model;
use crate::results::write;

/// Where texts and questions come from.
const COLLECTIONS: &[&str] = &[
    "scifact",
    "cranfield",
    "cisi",
    "locomo-turn",
    "nfcorpus-prep",
    "vaswani",
    "pubmedqa",
];

/// As long as a passage may be, in characters.
const LONGEST: usize = 1_200;

/// Rows whose recall is measured.
const K: usize = 50;

/// Questions that are asked.
const QUESTIONS: usize = 200;

/// How far a made vector may lie from the line between two real ones, for each number.
const NOISE: f32 = 0.02;

#[derive(Deserialize)]
struct Text {
    text: String,
}

/// Measures each count of vectors, of which at most `texts` are of real texts, and writes the page.
///
/// # Errors
/// The collections cannot be read; the disk cannot hold the vectors.
pub fn run(data: &Data, counts: &[usize], texts: usize, out: &Path) -> Result<()> {
    let page = page(data, counts, texts)?;
    print!("{page}");
    write(out, &page)
}

fn page(data: &Data, counts: &[usize], texts: usize) -> Result<String> {
    let chosen = model::chosen().map(|encoder| encoder as &dyn Embedder);
    let embedder = chosen.unwrap_or_else(|| StaticModel::built_in());
    let real = real_vectors(data, embedder, texts)?;
    let questions = questions(data, embedder)?;
    let bandwidth = bandwidth();
    let mut page = format!(
        "# The vector scan\n\nWritten by `lorewell-evals scan`. Machine: {}. Model {}, {} numbers a \
         vector; {} vectors of real texts, the others between two of them, with noise; {} questions, \
         the nearest {K}. One thread reads memory at {bandwidth:.1} GB/s here. Filtered: a tenth of \
         the rows is allowed, all over the file.\n\n| measured |",
        machine::described(),
        embedder.model(),
        embedder.dimension(),
        real.len(),
        questions.len(),
    );
    let mut columns = Vec::new();
    for &count in counts {
        eprintln!("{count} vectors");
        write!(page, " {count} |")?;
        columns.push(measure(&real, &questions, count)?);
    }
    writeln!(page, "\n| --- |{}", " --- |".repeat(counts.len()))?;
    let rows = columns.first().map_or(0, Vec::len);
    for row in 0..rows {
        let cells: Vec<&str> = columns
            .iter()
            .map(|column| column[row].1.as_str())
            .collect();
        writeln!(page, "| {} | {} |", columns[0][row].0, cells.join(" | "))?;
    }
    Ok(page)
}

/// One count of vectors: names of figures, and the figures.
fn measure(
    real: &[Vec<f32>],
    questions: &[Vec<f32>],
    count: usize,
) -> Result<Vec<(&'static str, String)>> {
    let folder = tempfile::tempdir()?;
    let dimension = real.first().context("no text could be embedded")?.len();
    write_vectors(real, folder.path(), dimension, count)?;
    let open = Instant::now();
    let reader = VectorReader::open(folder.path(), dimension, count as u64)?;
    let open = open.elapsed().as_secs_f64() * 1e3;
    let tenth: RowSet = (0..count as u32).filter(|row| row % 10 == 3).collect();
    let exact = timed(questions, |question| reader.scan(question, K, None));
    let staged = timed(questions, |question| reader.nearest(question, K, None));
    let narrow = timed(questions, |question| reader.scan(question, K, Some(&tenth)));
    let narrow_staged = timed(questions, |question| {
        reader.nearest(question, K, Some(&tenth))
    });
    let recalls: Vec<f64> = questions
        .iter()
        .map(|question| {
            let best: HashSet<u32> = reader
                .scan(question, K, None)
                .iter()
                .map(|hit| hit.row)
                .collect();
            let found = reader.nearest(question, K, None);
            found.iter().filter(|hit| best.contains(&hit.row)).count() as f64
                / best.len().max(1) as f64
        })
        .collect();
    let megabytes = |bytes: usize| format!("{:.1}", bytes as f64 / 1e6);
    let codes = if reader.has_codes() {
        dimension.div_ceil(64) * 8 * count
    } else {
        0
    };
    let rate =
        |bytes: usize, milliseconds: f64| format!("{:.1}", bytes as f64 / 1e6 / milliseconds);
    let bytes = count * (dimension + 24);
    Ok(vec![
        (
            "rows and keys / codes, MB",
            format!("{} / {}", megabytes(bytes), megabytes(codes)),
        ),
        ("opening, ms", format!("{open:.2}")),
        ("exact, ms: median / p99", exact.shown()),
        ("– GB/s", rate(bytes, exact.median())),
        ("as searched, ms: median / p99", staged.shown()),
        ("– recall@50 against exact: mean / least", recall(&recalls)),
        ("exact, filtered, ms: median / p99", narrow.shown()),
        (
            "as searched, filtered, ms: median / p99",
            narrow_staged.shown(),
        ),
    ])
}

fn recall(recalls: &[f64]) -> String {
    let mean = recalls.iter().sum::<f64>() / recalls.len().max(1) as f64;
    let least = recalls.iter().copied().fold(1.0, f64::min);
    format!("{mean:.4} / {least:.2}")
}

/// Milliseconds a question, sorted.
struct Times(Vec<f64>);

impl Times {
    fn median(&self) -> f64 {
        self.0.get(self.0.len() / 2).copied().unwrap_or(0.0)
    }

    fn shown(&self) -> String {
        let p99 = self.0.get(self.0.len() * 99 / 100).copied().unwrap_or(0.0);
        format!("{:.2} / {p99:.2}", self.median())
    }
}

/// The best of three for each question.
fn timed<T>(questions: &[Vec<f32>], mut ask: impl FnMut(&[f32]) -> T) -> Times {
    let mut times: Vec<f64> = questions
        .iter()
        .map(|question| {
            let once = |_| {
                let start = Instant::now();
                black_box(ask(question));
                start.elapsed().as_secs_f64() * 1e3
            };
            (0..3).map(once).fold(f64::INFINITY, f64::min)
        })
        .collect();
    times.sort_by(f64::total_cmp);
    Times(times)
}

fn write_vectors(real: &[Vec<f32>], folder: &Path, dimension: usize, count: usize) -> Result<()> {
    let mut writer = VectorWriter::open(folder, dimension, 0)?;
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for row in 0..count {
        let mut key = [0; 16];
        key[..8].copy_from_slice(&(row as u64).to_le_bytes());
        match real.get(row) {
            Some(vector) => writer.append(key, vector),
            None => writer.append(key, &between(real, &mut random)),
        };
    }
    writer.sync()?;
    Ok(())
}

/// A vector between two real ones.
fn between(real: &[Vec<f32>], random: &mut Random) -> Vec<f32> {
    let one = &real[random.below(real.len())];
    let other = &real[random.below(real.len())];
    let share = 0.5 + random.unit() / 2.0;
    let point =
        |(a, b): (&f32, &f32)| a * share + b * (1.0 - share) + (random.unit() - 0.5) * 2.0 * NOISE;
    one.iter().zip(other).map(point).collect()
}

/// Random enough, and the same in each run (xorshift64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u64 << 24) as f32
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() >> 11) as usize % bound
    }
}

fn real_vectors(data: &Data, embedder: &dyn Embedder, most: usize) -> Result<Vec<Vec<f32>>> {
    let mut pieces = Vec::new();
    for name in COLLECTIONS {
        for document in lines::<Text>(&data.collection(name).join("corpus.jsonl"))? {
            let letters: Vec<char> = document.text.chars().collect();
            pieces.extend(
                letters
                    .chunks(LONGEST)
                    .map(|piece| piece.iter().collect::<String>()),
            );
        }
    }
    // From all collections, where not all are wanted.
    let step = pieces.len().div_ceil(most.max(1)).max(1);
    let inputs: Vec<PassageInput<'_>> = pieces
        .iter()
        .step_by(step)
        .map(|prose| PassageInput {
            title: "",
            headings: &[],
            aliases: &[],
            tags: &[],
            prose,
        })
        .collect();
    Ok(inputs
        .chunks(256)
        .flat_map(|chunk| embedder.embed_passages(chunk))
        .filter_map(vector)
        .collect())
}

fn questions(data: &Data, embedder: &dyn Embedder) -> Result<Vec<Vec<f32>>> {
    let each = QUESTIONS.div_ceil(COLLECTIONS.len());
    let mut questions = Vec::new();
    for name in COLLECTIONS {
        let texts = lines::<Text>(&data.collection(name).join("queries.jsonl"))?;
        let vectors = texts
            .iter()
            .filter_map(|query| vector(embedder.embed_question(&query.text)));
        questions.extend(vectors.take(each));
    }
    Ok(questions)
}

fn vector(embedded: Embedded) -> Option<Vec<f32>> {
    match embedded {
        Embedded::Vector(vector) => Some(vector),
        _ => None,
    }
}

/// Gigabytes a second that one thread reads from memory.
fn bandwidth() -> f64 {
    let block = vec![1u64; 64 << 20];
    let best = (0..5)
        .map(|_| {
            let start = Instant::now();
            black_box(
                black_box(&block)
                    .iter()
                    .fold(0u64, |sum, word| sum.wrapping_add(*word)),
            );
            start.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min);
    (block.len() * 8) as f64 / 1e9 / best
}
