//! Measures the built-in model on test collections and on plain text:
//!
//! ```text
//! cargo run --release -p lorewell-embed --example measure -- FOLDER...
//! ```
//!
//! A folder with `corpus.jsonl`, `queries.jsonl` and `qrels.tsv` (the BEIR layout) gives the share of
//! passages and questions that the model does not abstain on, and its nDCG@10 alone, where an
//! abstention finds nothing. Of any other folder the Markdown files below it are cut into pieces of 850
//! characters: speed and abstentions. Without a folder: the time from start to a question's vector.

use std::{
    collections::HashMap,
    error::Error,
    fs,
    path::Path,
    time::{Duration, Instant},
};

use lorewell_embed::{Embedded, Embedder, PassageInput, StaticModel};

/// Texts with their ids.
type Texts = Vec<(String, String, String)>;

fn main() -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let model = StaticModel::built_in();
    let ready = start.elapsed();
    let question = model.embed_question("how long does the second firing of the kiln take?");
    let (first, kind) = (start.elapsed(), matches!(question, Embedded::Vector(_)));
    println!("ready after {ready:?}, first question after {first:?} (a vector: {kind})");
    for folder in std::env::args().skip(1) {
        let folder = Path::new(&folder);
        if folder.join("qrels.tsv").exists() {
            collection(model, folder)?;
        } else {
            plain_text(model, folder)?;
        }
    }
    Ok(())
}

fn collection(model: &StaticModel, folder: &Path) -> Result<(), Box<dyn Error>> {
    let (corpus, queries) = (
        read(&folder.join("corpus.jsonl"))?,
        read(&folder.join("queries.jsonl"))?,
    );
    let mut relevant: HashMap<String, HashMap<String, f64>> = HashMap::new();
    for line in fs::read_to_string(folder.join("qrels.tsv"))?
        .lines()
        .skip(1)
    {
        let mut fields = line.split('\t');
        if let (Some(query), Some(document), Some(grade)) =
            (fields.next(), fields.next(), fields.next())
        {
            let grade: f64 = grade.trim().parse()?;
            relevant
                .entry(query.into())
                .or_default()
                .insert(document.into(), grade);
        }
    }
    let inputs: Vec<_> = corpus
        .iter()
        .map(|(_, title, text)| input(title, text))
        .collect();
    let documents = model.embed_passages(&inputs);
    let passages_kept = kept(&documents);
    let (mut sum, mut asked, mut questions_kept, mut fusable) = (0.0, 0, 0, 0.0);
    for (id, _, text) in &queries {
        let Some(grades) = relevant.get(id) else {
            continue;
        };
        asked += 1;
        let question = model.embed_question(text);
        let Embedded::Vector(question) = question else {
            continue;
        };
        questions_kept += 1;
        let mut ranked: Vec<(f32, &str)> = documents
            .iter()
            .zip(&corpus)
            .filter_map(|(document, (id, _, _))| match document {
                Embedded::Vector(vector) => Some((dot(&question, vector), id.as_str())),
                _ => None,
            })
            .collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        let score = ndcg(ranked.iter().map(|(_, id)| *id), grades);
        sum += score;
        fusable += 1.0;
    }
    println!(
        "{:44} passages kept {:5.1} % of {}, questions kept {:5.1} % of {}, nDCG@10 over all {:.4}, over kept questions {:.4}",
        folder.display(),
        100.0 * passages_kept as f64 / documents.len() as f64,
        documents.len(),
        100.0 * f64::from(questions_kept) / f64::from(asked),
        asked,
        sum / f64::from(asked),
        sum / f64::max(fusable, 1.0),
    );
    Ok(())
}

fn plain_text(model: &StaticModel, folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut pieces = Vec::new();
    collect(folder, &mut pieces)?;
    let inputs: Vec<_> = pieces
        .iter()
        .map(|(title, text)| input(title, text))
        .collect();
    let bytes: usize = pieces.iter().map(|(_, text)| text.len()).sum();
    let (mut best, mut embedded) = (Duration::MAX, Vec::new());
    for _ in 0..5 {
        let start = Instant::now();
        embedded = model.embed_passages(&inputs);
        best = best.min(start.elapsed());
    }
    println!(
        "{:44} {} pieces, {} bytes in {best:.1?} ({:.0} pieces/s, {:.0} MB/s), kept {:.1} %",
        folder.display(),
        pieces.len(),
        bytes,
        pieces.len() as f64 / best.as_secs_f64(),
        bytes as f64 / 1e6 / best.as_secs_f64(),
        100.0 * kept(&embedded) as f64 / pieces.len() as f64,
    );
    Ok(())
}

/// The Markdown files below a folder, in pieces under their file's name.
fn collect(folder: &Path, pieces: &mut Vec<(String, String)>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, pieces)?;
        } else if path.extension().is_some_and(|extension| extension == "md") {
            let text = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
            let title = path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            let chars: Vec<char> = text.chars().collect();
            for piece in chars.chunks(850) {
                pieces.push((title.clone(), piece.iter().collect()));
            }
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<Texts, Box<dyn Error>> {
    let mut texts = Vec::new();
    for line in fs::read_to_string(path)?.lines() {
        let object: serde_json::Value = serde_json::from_str(line)?;
        let field = |name: &str| object[name].as_str().unwrap_or_default().to_owned();
        texts.push((
            field("_id"),
            field("title").replace('_', " "),
            field("text"),
        ));
    }
    Ok(texts)
}

fn input<'a>(title: &'a str, prose: &'a str) -> PassageInput<'a> {
    PassageInput {
        title,
        headings: &[],
        aliases: &[],
        tags: &[],
        prose,
    }
}

fn kept(embedded: &[Embedded]) -> usize {
    embedded
        .iter()
        .filter(|one| matches!(one, Embedded::Vector(_)))
        .count()
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// nDCG@10 with graded gains, as trec_eval has it.
fn ndcg<'a>(ranked: impl Iterator<Item = &'a str>, grades: &HashMap<String, f64>) -> f64 {
    let discounted = |gains: Vec<f64>| -> f64 {
        gains
            .iter()
            .zip(2u32..)
            .map(|(gain, rank)| gain / f64::from(rank).log2())
            .sum()
    };
    let found = ranked
        .take(10)
        .map(|id| grades.get(id).copied().unwrap_or(0.0))
        .collect();
    let mut ideal: Vec<f64> = grades.values().copied().collect();
    ideal.sort_by(|a, b| b.total_cmp(a));
    ideal.truncate(10);
    let ideal = discounted(ideal);
    if ideal > 0.0 {
        discounted(found) / ideal
    } else {
        0.0
    }
}
