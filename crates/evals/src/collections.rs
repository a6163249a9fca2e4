//! Test collections in the BEIR layout: every document becomes a note, every query is searched.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use lorewell_engine::{Answer, EngineSettings, Fusion, Lane, Scope};
use lorewell_evaluation::{System, Table, mean, ndcg_at_10};
use serde::Deserialize;
use tempfile::TempDir;

use crate::data::{Data, lines};
use crate::results::write;
use crate::workbench::Workbench;

/// What is measured when none is named; the first nine stand for all where time is short.
pub(crate) const USUAL: &[&str] = &[
    "scifact",
    "cranfield",
    "cisi",
    "locomo-turn",
    "locomo-session",
    "jaquad",
    "cmrc2018",
    "xquad/en",
    "xquad/de",
    "xquad/es",
    "xquad/ru",
    "xquad/zh",
    "xquad/tr",
    "xquad/vi",
    "xquad/ar",
    "xquad/el",
    "xquad/hi",
    "xquad/th",
    "xquad/ro",
];

const HEAD: [&str; 5] = ["collection", "system", "queries", "nDCG@10", "recall@10"];

#[derive(Deserialize)]
struct Document {
    _id: String,
    #[serde(default)]
    title: String,
    text: String,
}

#[derive(Deserialize)]
struct QueryLine {
    _id: String,
    text: String,
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Default, Deserialize)]
struct Metadata {
    conversation: Option<String>,
}

/// A query with its relevant documents.
pub struct Query {
    text: String,
    scope: Scope,
    /// Positive gains by the document's note.
    relevant: HashMap<String, f64>,
}

/// nDCG@10 and recall@10 of one query.
pub type Figures = (f64, f64);

/// A collection, indexed.
pub struct Collection {
    /// The queries that have relevant documents.
    pub queries: Vec<Query>,
    bench: Workbench,
    _notes: TempDir,
}

/// Measures the named collections (the usual ones, if none is named), prints a table and writes
/// it to `page`, where rows of other collections stay.
///
/// # Errors
/// Data that cannot be read, an index that cannot be made, a page that cannot be written.
pub fn run(data: &Data, names: &[String], sample: Option<usize>, page: &Path) -> Result<()> {
    let usual: Vec<String> = USUAL.iter().map(|name| (*name).to_string()).collect();
    let mut table = Table::new(&HEAD);
    for name in if names.is_empty() { &usual } else { names } {
        eprintln!("{name} …");
        let collection = Collection::build(data, name, sample, EngineSettings::default())?;
        for system in systems() {
            let figures = collection.ask(&system)?;
            let (ndcg, recall): (Vec<f64>, Vec<f64>) = figures.into_iter().unzip();
            table.row(vec![
                name.clone(),
                system.name.clone(),
                ndcg.len().to_string(),
                format!("{:.4}", mean(&ndcg)),
                format!("{:.4}", mean(&recall)),
            ]);
        }
    }
    print!("{}", table.markdown());
    table.keep_rows_of(&fs::read_to_string(page).unwrap_or_default(), 2);
    let date = jiff::Timestamp::now().strftime("%Y-%m-%d");
    let text = format!(
        "# Test collections\n\nWritten by `lorewell-evals collections` on {date} (rows that were not measured then are \
         older). Every document is a note, titled by its `title`; a query's ten best distinct notes count; gains are \
         linear. Queries without a relevant document are left out; a smaller number of queries than the collection \
         has is a sample at even distances. LoCoMo is searched within the conversation.\n\n{}",
        table.markdown()
    );
    write(page, &text)
}

fn systems() -> Vec<System> {
    vec![
        System::new("text", |r| r.lanes = vec![Lane::Text]),
        System::new("dense", |r| r.lanes = vec![Lane::Dense]),
        System::fused(),
        System::with("rrf", |s| s.fusion = Fusion::Rrf { k: 60.0 }),
    ]
}

impl Collection {
    /// Writes a collection's documents as notes into a temporary folder and indexes them.
    ///
    /// # Errors
    /// See [`run`].
    pub fn build(
        data: &Data,
        name: &str,
        sample: Option<usize>,
        settings: EngineSettings,
    ) -> Result<Collection> {
        let folder = data.collection(name);
        let notes = tempfile::tempdir()?;
        for document in lines::<Document>(&folder.join("corpus.jsonl"))? {
            let path = notes.path().join(note_path(&document._id));
            let text = format!(
                "---\ntitle: {}\n---\n{}\n",
                serde_json::json!(document.title),
                document.text
            );
            write(
                &path,
                if document.title.is_empty() {
                    &document.text
                } else {
                    &text
                },
            )?;
        }
        let mut relevant = judgements(&folder.join("qrels.tsv"))?;
        let queries = lines::<QueryLine>(&folder.join("queries.jsonl"))?;
        let queries = queries.into_iter().filter_map(|line| {
            let folders = line.metadata.conversation.into_iter().collect();
            Some(Query {
                relevant: relevant.remove(&line._id)?,
                scope: Scope {
                    folders,
                    ..Scope::default()
                },
                text: line.text,
            })
        });
        let queries = thinned(queries.collect(), sample);
        let bench = Workbench::build("collection", notes.path(), settings)?;
        Ok(Collection {
            queries,
            bench,
            _notes: notes,
        })
    }

    /// The figures of every query.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn ask(&self, system: &System) -> Result<Vec<Figures>> {
        self.bench.each(&self.queries, |view, query| {
            let mut request = system.request(&query.text, 10);
            request.scope = query.scope.clone();
            // Ten distinct notes are then the first ten passages.
            request.settings.max_per_note = 1;
            Ok(judge(&view.search(&request)?, &query.relevant))
        })
    }
}

fn judge(answer: &Answer, relevant: &HashMap<String, f64>) -> Figures {
    let mut seen = HashSet::new();
    let mut gains = Vec::new();
    for passage in &answer.passages {
        let own = passage.note.path.as_str();
        for path in std::iter::once(own).chain(passage.copies.iter().map(String::as_str)) {
            if seen.insert(path) {
                gains.push(relevant.get(path).copied().unwrap_or(0.0));
            }
        }
    }
    gains.truncate(10);
    let all: Vec<f64> = relevant.values().copied().collect();
    let found = gains.iter().filter(|gain| **gain > 0.0).count();
    (
        ndcg_at_10(&gains, &all),
        found as f64 / all.len().max(1) as f64,
    )
}

/// Positive gains by query and note.
fn judgements(path: &Path) -> Result<BTreeMap<String, HashMap<String, f64>>> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let mut all: BTreeMap<String, HashMap<String, f64>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        let [query, document, gain] = cells[..] else {
            continue;
        };
        let gain: f64 = gain
            .trim()
            .parse()
            .with_context(|| format!("{}: {line}", path.display()))?;
        if gain > 0.0 {
            all.entry(query.to_string())
                .or_default()
                .insert(note_path(document), gain);
        }
    }
    Ok(all)
}

/// The note of a document. A `/` in an id stays a folder; other signs that a file name may not
/// have everywhere are written as their number.
fn note_path(id: &str) -> String {
    let mut path = String::with_capacity(id.len() + 3);
    for c in id.chars() {
        match c {
            c if c.is_alphanumeric() || matches!(c, '-' | '_' | '/') => path.push(c),
            other => path += &format!("={:X}", u32::from(other)),
        }
    }
    path + ".md"
}

/// So many of the queries, at even distances.
pub(crate) fn thinned<T>(all: Vec<T>, sample: Option<usize>) -> Vec<T> {
    let (count, wanted) = (all.len(), sample.unwrap_or(usize::MAX).max(1));
    if wanted >= count {
        return all;
    }
    let kept = |index: usize| index * wanted / count != (index + 1) * wanted / count;
    all.into_iter()
        .enumerate()
        .filter(|(index, _)| kept(*index))
        .map(|(_, item)| item)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_become_names_of_their_own() {
        assert_eq!(note_path("conv-26/D1:3"), "conv-26/D1=3A3.md");
        assert_eq!(note_path("a.b"), "a=2Eb.md");
        assert_ne!(note_path("a:b"), note_path("a.b"));
    }

    #[test]
    fn samples_have_the_wanted_size() {
        for (count, wanted) in [(10, 3), (10, 10), (10, 20), (7, 1), (3935, 800)] {
            let kept = thinned((0..count).collect(), Some(wanted));
            assert_eq!(kept.len(), wanted.min(count));
            assert!(kept.windows(2).all(|w| w[0] < w[1]));
        }
    }
}
