//! The page that sums the committed results of the question sets up.

use std::path::Path;

use anyhow::Result;
use lorewell_engine::Confidence;
use lorewell_evaluation::{Difference, Outcome, SHOWN, Table, mean};

use crate::data::ENGLISH;
use crate::results::Results;

const INTRODUCTION: &str = "\
# Retrieval quality

Written by `lorewell-evals sets`; the figures follow from the files beside this page, which hold
one line a question: for each system the rank of the first right note among the distinct notes and
of the first right passage, both among ten passages (one rank for each note that is wanted, `-` for
none), the best score and the confidence of the answer. Measured on the development halves of the
sets, on which the engine is also tuned: they show what a change moved, and prove nothing.

    cargo xtask eval sets --data DIR        # DIR holds eval/, vaults/ and collections/
    cargo xtask eval misses --data DIR --set NAME
    cargo xtask eval collections --data DIR
    cargo xtask eval ablation --data DIR    # what each lane and choice brings: ablation.md
    cargo xtask eval confidence --data DIR  # how far score and confidence can be trusted
    cargo xtask eval goals --data DIR       # goals against figures, after `sets` and `sample`
    cargo xtask eval sweep --data DIR
    cargo xtask eval scan --data DIR        # the vector scan at scale: scan.md
    cargo xtask eval sample                 # the sample vault; needs no data
    cargo xtask bench

*Passage recall@6*: among the first six passages one holds the wanted words (white space folded)
and comes from a right note; where several notes are wanted, the share of them so found. *note@k*:
the same for notes. *MRR*: one over the rank of the first right note, among ten passages.
";

const SYSTEMS: [&str; 5] = ["text", "title+text", "dense", "fused", "rrf"];
const KINDS: [&str; 4] = ["exact", "paraphrase", "deep", "multi"];

/// The page for the result files in `folder`.
///
/// # Errors
/// A file that is no table of results.
pub fn page(folder: &Path) -> Result<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)?
        .flatten()
        .filter_map(|entry| {
            Some(
                entry
                    .file_name()
                    .to_str()?
                    .strip_suffix(".tsv")?
                    .to_string(),
            )
        })
        .collect();
    names.sort();
    let mut sets = Vec::new();
    for name in names {
        let results = Results::read(&folder.join(format!("{name}.tsv")))?;
        sets.push((name, results));
    }
    let mut english = Results::default();
    for (name, results) in &sets {
        if ENGLISH.contains(&name.as_str()) {
            english.systems.clone_from(&results.systems);
            english.rows.extend(results.rows.iter().cloned());
        }
    }
    if !english.rows.is_empty() {
        sets.push(("the three English sets".to_string(), english));
    }
    let date = jiff::Timestamp::now().strftime("%Y-%m-%d");
    Ok(format!(
        "{INTRODUCTION}\nMeasured on {date}.\n\n## Systems\n\n{}\n## Passage recall@6 by kind, fused\n\n{}\n\
         ## Fused minus text: mean and 95 % interval (paired bootstrap)\n\n{}\n\
         ## Confidence, fused\n\n{}",
        systems(&sets).markdown(),
        kinds(&sets).markdown(),
        differences(&sets).markdown(),
        confidence(&sets).markdown(),
    ))
}

/// A measure, as it is shown.
pub fn figure(values: &[f64]) -> String {
    if values.is_empty() {
        "–".to_string()
    } else {
        format!("{:.3}", mean(values))
    }
}

fn systems(sets: &[(String, Results)]) -> Table {
    let head = [
        "set",
        "questions",
        "system",
        "note@1",
        "note@5",
        "passage recall@6",
        "note MRR",
    ];
    let mut table = Table::new(&head);
    for (name, results) in sets {
        for system in SYSTEMS {
            let values = |measure: fn(&Outcome) -> f64| results.values(system, None, measure);
            let recall = values(|o| o.recall_at(SHOWN));
            if recall.is_empty() {
                continue;
            }
            table.row(vec![
                name.clone(),
                recall.len().to_string(),
                system.to_string(),
                figure(&values(|o| o.note_at(1))),
                figure(&values(|o| o.note_at(5))),
                figure(&recall),
                figure(&values(Outcome::reciprocal_rank)),
            ]);
        }
    }
    table
}

fn kinds(sets: &[(String, Results)]) -> Table {
    let mut table = Table::new(&[&["set"][..], &KINDS].concat());
    for (name, results) in sets {
        let cell = |kind| {
            let values = results.values("fused", Some(kind), |o| o.recall_at(SHOWN));
            format!("{} ({})", figure(&values), values.len())
        };
        table.row(
            std::iter::once(name.clone())
                .chain(KINDS.map(cell))
                .collect(),
        );
    }
    table
}

fn differences(sets: &[(String, Results)]) -> Table {
    let mut table = Table::new(&["set", "passage recall@6", "note MRR"]);
    for (name, results) in sets {
        let difference = |measure: fn(&Outcome) -> f64| {
            let (fused, text) = (
                results.values("fused", None, measure),
                results.values("text", None, measure),
            );
            Difference::of(&fused, &text).shown()
        };
        table.row(vec![
            name.clone(),
            difference(|o| o.recall_at(SHOWN)),
            difference(Outcome::reciprocal_rank),
        ]);
    }
    table
}

fn confidence(sets: &[(String, Results)]) -> Table {
    let head = [
        "set",
        "questions",
        "strong",
        "weak",
        "none",
        "best score, mean",
        "least",
        "most",
    ];
    let mut table = Table::new(&head);
    for (name, results) in sets {
        for answerable in [true, false] {
            let outcomes = results.of("fused", |row| (row.kind != "none") == answerable);
            let share = |wanted: Confidence| {
                let those = outcomes.iter().filter(|o| o.confidence == wanted).count();
                format!("{:.2}", those as f64 / outcomes.len().max(1) as f64)
            };
            let scores: Vec<f64> = outcomes.iter().map(|o| f64::from(o.score)).collect();
            let kind = if answerable {
                "answerable"
            } else {
                "unanswerable"
            };
            table.row(vec![
                name.clone(),
                format!("{} {kind}", outcomes.len()),
                share(Confidence::Strong),
                share(Confidence::Weak),
                share(Confidence::None),
                figure(&scores),
                format!(
                    "{:.2}",
                    scores.iter().copied().reduce(f64::min).unwrap_or(0.0)
                ),
                format!(
                    "{:.2}",
                    scores.iter().copied().reduce(f64::max).unwrap_or(0.0)
                ),
            ]);
        }
    }
    table
}
