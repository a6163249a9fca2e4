//! What each lane and choice brings: the defaults with one of them taken away, added or changed.

use anyhow::Result;
use lorewell_engine::{EngineSettings, Fusion, Lane, Standing};
use lorewell_evaluation::System;

use crate::collections::USUAL;
use crate::comparison::{Measure, Variant, table};
use crate::data::Data;
use crate::names::{self, Writing};
use crate::results::write;
use crate::sweep::of_sets;
use crate::workbench::Workbench;
use crate::{sample, sets};

/// So many names of each vault are asked.
const NAMES: usize = 100;
/// So many of the usual collections are asked.
const COLLECTIONS: usize = 9;

const INTRODUCTION: &str = "\
# What each lane and choice brings

Written by `lorewell-evals ablation`; docs/evaluation.md says what follows from it.

    cargo xtask eval ablation --data DIR        # DIR holds eval/, vaults/ and collections/

The first row is the engine as it is: its value. Every other row changes one thing: the difference
from the first row over the same questions, with its 95 % interval (paired bootstrap). **Bold**:
the interval leaves out zero. `=`: not one question differs. With some hundred cells a few bold
ones are chance. *Asked by name*: the question is the file name of a note, as it is written or with
two letters in the middle swapped. The development sets were used to choose the weights, the collections were not,
except SciFact, Cranfield, CISI and LoCoMo for fusion (docs/decisions/0004-fusion.md).
";

/// Measures, prints the tables and writes them to docs/evals/ablation.md.
///
/// # Errors
/// Data that cannot be read, an index that cannot be made, a page that cannot be written.
pub fn run(data: &Data, queries: usize) -> Result<()> {
    let variants: Vec<Variant> = variants().into_iter().map(Variant::of).collect();
    let mut vaults = of_sets(data, &sets::chosen(&[]), &variants)?;
    eprintln!("sample-vault …");
    let (questions, bench) = sample::bench()?;
    vaults.extend(Measure::of_bench(
        "sample-vault",
        &questions,
        &bench,
        &variants,
    )?);
    let names = of_names(data, &variants)?;
    let (recall, rank): (Vec<Measure>, Vec<Measure>) = vaults
        .into_iter()
        .partition(|measure| measure.name.ends_with("recall@6"));
    let mut collections = Vec::new();
    for name in &USUAL[..COLLECTIONS] {
        eprintln!("{name} …");
        collections.push(Measure::of_collection(
            data,
            name,
            Some(queries),
            &variants,
        )?);
    }
    let date = jiff::Timestamp::now().strftime("%Y-%m-%d");
    let tables = [
        ("Passage recall@6", &recall),
        ("Note MRR", &rank),
        ("Asked by name, note MRR", &names),
        ("Test collections, nDCG@10", &collections),
    ]
    .map(|(title, measures)| section(title, &variants, measures));
    let page = format!(
        "{INTRODUCTION}\nMeasured on {date}; of each collection at most {queries} queries, at even distances.\n{}",
        tables.concat()
    );
    print!("{page}");
    write(&sample::results_folder().join("ablation.md"), &page)
}

/// Note MRR of the names of notes, written right and with a slip of the pen.
fn of_names(data: &Data, variants: &[Variant]) -> Result<Vec<Measure>> {
    let mut measures = Vec::new();
    for set in Data::set_names() {
        eprintln!("{set}, names …");
        let vault = data.vault(set)?;
        let bench = Workbench::build(set, &vault.root, EngineSettings::default())?;
        let paths = bench.host().view()?.note_paths()?;
        for (writing, what) in [(Writing::Right, "right"), (Writing::Slip, "with a slip")] {
            let questions = names::questions(&paths, writing, NAMES);
            let name = format!("{set}, {what}");
            let [_, rank] = Measure::of_bench(&name, &questions, &bench, variants)?;
            measures.push(rank);
        }
    }
    Ok(measures)
}

/// A table, with how many questions each column has.
fn section(title: &str, variants: &[Variant], measures: &[Measure]) -> String {
    let short = |measure: &Measure| {
        let name = measure.name.rsplit_once(' ').map_or("", |(name, _)| name);
        Measure {
            name: format!("{name} ({})", measure.questions()),
            columns: measure.columns.clone(),
        }
    };
    let measures: Vec<Measure> = measures.iter().map(short).collect();
    format!("\n## {title}\n\n{}", table(variants, &measures).markdown())
}

/// The first is the defaults.
fn variants() -> Vec<System> {
    let mut all = vec![System::new("defaults", |_| {})];
    for lane in Lane::DEFAULT {
        all.push(System::new(format!("without {lane}"), move |r| {
            r.lanes.retain(|kept| *kept != lane);
        }));
    }
    let optional = Lane::ALL
        .into_iter()
        .filter(|lane| !Lane::DEFAULT.contains(lane));
    for lane in optional {
        all.push(System::new(format!("with {lane}"), move |r| {
            r.lanes.push(lane);
        }));
    }
    all.push(System::new("text alone", |r| r.lanes = vec![Lane::Text]));
    for (name, dense, vocab) in [
        ("rrf, same weights", None, None),
        ("rrf, dense .5", Some(0.5), None),
        ("rrf, dense 1, vocab .1", Some(1.0), Some(0.1)),
    ] {
        all.push(System::with(name, move |s| {
            s.fusion = Fusion::Rrf { k: 60.0 };
            s.weights.dense = dense.or(s.weights.dense);
            s.weights.vocab = vocab.unwrap_or(s.weights.vocab);
        }));
    }
    all.push(System::with("without the second look", |s| {
        s.second_look = false;
    }));
    all.push(System::with("no places kept", |s| {
        s.keep_places = false;
    }));
    all.push(System::with("classes of evidence alike", |s| {
        s.standing = Standing::EQUAL;
    }));
    all
}
