//! What other settings would give: one setting at a time against the defaults, with intervals.

use anyhow::Result;
use clap::ValueEnum;
use lorewell_engine::{EngineSettings, FieldWeights, Fusion};
use lorewell_evaluation::System;

use crate::comparison::{Measure, Variant, table};
use crate::data::{Data, ENGLISH};
use crate::sets::chosen;

/// Which settings are varied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kinds {
    /// Those of searching and those of the index.
    All,
    /// Those of searching: passages are embedded once.
    Search,
    /// What a reranker's judgement counts (with `--reranker`).
    Rerank,
    /// The weight of the dense lane alone, which belongs to its model.
    Model,
}

/// Prints what every variant gives on the sets and collections, as difference from the defaults.
///
/// # Errors
/// Data that cannot be read, an index that cannot be made.
pub fn run(
    data: &Data,
    sets: &[String],
    collections: &[String],
    sample: Option<usize>,
    kinds: Kinds,
) -> Result<()> {
    let search = match kinds {
        Kinds::All | Kinds::Search => search_variants(),
        Kinds::Model => model_variants(),
        Kinds::Rerank => rerank_variants(),
    };
    let index = match kinds {
        Kinds::All => index_variants(),
        Kinds::Search | Kinds::Model | Kinds::Rerank => Vec::new(),
    };
    let variants: Vec<Variant> = search.into_iter().map(Variant::of).chain(index).collect();
    let mut measures = of_sets(data, &chosen(sets), &variants)?;
    for name in collections {
        eprintln!("{name} …");
        measures.push(Measure::of_collection(data, name, sample, &variants)?);
    }
    print!("{}", table(&variants, &measures).markdown());
    Ok(())
}

/// Passage recall and note MRR of the sets, each alone and the English ones together, which stand
/// before the others.
///
/// # Errors
/// See [`run`].
pub fn of_sets(data: &Data, sets: &[String], variants: &[Variant]) -> Result<Vec<Measure>> {
    let mut alone = Vec::new();
    for name in sets {
        eprintln!("{name} …");
        alone.push((name, Measure::of_set(data, name, variants)?));
    }
    let english = |index: usize, what: &str| {
        let those = alone.iter().filter(|(n, _)| ENGLISH.contains(&n.as_str()));
        let those: Vec<&Measure> = those.map(|(_, measures)| &measures[index]).collect();
        Measure::joined(&format!("English sets {what}"), &those)
    };
    let mut all = vec![english(0, "recall@6"), english(1, "MRR")];
    all.retain(|measure| measure.questions() > 0);
    all.extend(alone.into_iter().flat_map(|(_, measures)| measures));
    Ok(all)
}

/// The first is the defaults.
fn search_variants() -> Vec<System> {
    let mut all = vec![System::with("defaults", |_| {})];
    for weight in [0.0, 0.1, 0.2, 0.25, 0.4, 0.5, 0.7, 1.0] {
        all.push(System::with(format!("dense {weight}"), move |s| {
            s.weights.dense = Some(weight)
        }));
    }
    for weight in [0.0, 0.1, 0.3, 0.5] {
        all.push(System::with(format!("vocab {weight}"), move |s| {
            s.weights.vocab = weight
        }));
    }
    for weight in [0.0, 0.25, 1.0] {
        all.push(System::with(format!("title {weight}"), move |s| {
            s.weights.title = weight
        }));
    }
    for weight in [0.0, 0.05, 0.15, 0.2, 0.3] {
        all.push(System::with(format!("side by side {weight}"), move |s| {
            s.side_by_side = weight
        }));
    }
    for k in [10.0, 20.0, 30.0, 60.0, 100.0] {
        all.push(System::with(format!("rrf k {k}"), move |s| {
            s.fusion = Fusion::Rrf { k }
        }));
    }
    for depth in [30, 50, 200, 400] {
        all.push(System::with(format!("depth {depth}"), move |s| {
            s.depth = depth
        }));
    }
    for (name, count) in [("per note 1", 1), ("per note 3", 3), ("per note 6", 6)] {
        all.push(System::with(name, move |s| s.max_per_note = count));
    }
    all
}

/// The first is without.
fn rerank_variants() -> Vec<System> {
    let share = |share: f32| System::with(format!("rerank {share}"), move |s| s.rerank = share);
    [0.0, 0.2, 0.35, 0.5, 0.7, 1.0].map(share).into()
}

/// The first is the defaults.
fn model_variants() -> Vec<System> {
    let mut all = vec![System::with("defaults", |_| {})];
    for weight in [0.33, 0.4, 0.5, 0.6, 0.8, 1.0, 1.5, 2.0] {
        all.push(System::with(format!("dense {weight}"), move |s| {
            s.weights.dense = Some(weight)
        }));
    }
    all
}

/// Those that ask for an index of their own.
fn index_variants() -> Vec<Variant> {
    type Change = fn(&mut FieldWeights, u8);
    let changes: [(&str, Change, &[u8]); 5] = [
        ("field title", |w, n| w.title = n, &[0, 1, 2, 5]),
        ("field path", |w, n| w.path = n, &[0, 1, 3]),
        ("field headings", |w, n| w.headings = n, &[0, 1, 3]),
        ("field tags", |w, n| w.tags = n, &[0, 2]),
        ("field body", |w, n| w.body = n, &[2]),
    ];
    let mut all = Vec::new();
    for (name, change, values) in changes {
        for value in values {
            let mut settings = EngineSettings::default();
            change(&mut settings.index.weights, *value);
            all.push(Variant::indexed(format!("{name} {value}"), settings));
        }
    }
    for chars in [500, 800, 1600, 2000] {
        let mut settings = EngineSettings::default();
        settings.index.passages.passage_chars = chars;
        all.push(Variant::indexed(format!("passages {chars}"), settings));
    }
    all
}
