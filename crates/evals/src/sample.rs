//! The set over the sample vault: small, the project's own, checked on every change.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use lorewell_engine::{Confidence, EngineSettings};
use lorewell_evaluation::{Outcome, Question, SHOWN, System, mean};

use crate::data::lines;
use crate::results::Results;
use crate::workbench::Workbench;

/// Asks every question of the set over the sample vault.
///
/// # Errors
/// The repository's files cannot be read, or the index not be made.
pub fn measure() -> Result<Results> {
    let (questions, bench) = bench()?;
    let systems = System::all();
    let columns: Result<Vec<_>> = systems.iter().map(|s| bench.ask(&questions, s)).collect();
    let names = systems.iter().map(|system| system.name.clone()).collect();
    Ok(Results::new(names, &questions, &columns?))
}

/// The questions, and the sample vault to ask.
///
/// # Errors
/// See [`measure`].
pub fn bench() -> Result<(Vec<Question>, Workbench)> {
    let questions: Vec<Question> = lines(&root().join("crates/evals/sets/sample-vault.jsonl"))?;
    let vault = root().join("sample-vault");
    let bench = Workbench::build("sample-vault", &vault, EngineSettings::default())?;
    Ok((questions, bench))
}

/// Measures, and writes the committed file anew.
///
/// # Errors
/// See [`measure`]; or the file cannot be written.
pub fn write() -> Result<()> {
    let results = measure()?;
    results.write(&committed())?;
    println!("{}", summary(&results));
    println!("written: {}", committed().display());
    Ok(())
}

/// Measures, and compares with the committed file.
///
/// # Errors
/// See [`measure`]; or some question's outcome got worse.
pub fn check() -> Result<()> {
    let (new, old) = (measure()?, Results::read(&committed())?);
    println!("{}", summary(&new));
    let (worse, better) = compare(&old, &new);
    for line in &better {
        println!("better: {line}");
    }
    if !worse.is_empty() {
        bail!(
            "worse than {}:\n  {}\nIf the change is worth it, write the file anew: lorewell-evals sample",
            committed().display(),
            worse.join("\n  ")
        );
    }
    Ok(())
}

/// The questions that the usual answer now answers worse, and those that it answers better.
pub fn compare(old: &Results, new: &Results) -> (Vec<String>, Vec<String>) {
    let (mut worse, mut better) = (Vec::new(), Vec::new());
    let fused = |results: &Results, id: &str| {
        results
            .of("fused", |row| row.id == id)
            .first()
            .map(|outcome| (*outcome).clone())
    };
    for row in &old.rows {
        let Some(was) = fused(old, &row.id) else {
            continue;
        };
        let Some(is) = fused(new, &row.id) else {
            worse.push(format!("{}: no longer in the set", row.id));
            continue;
        };
        let line = format!(
            "{}: {} → {}",
            row.id,
            was.cells().join(" "),
            is.cells().join(" ")
        );
        let (was, is) = (standing(&was, &row.kind), standing(&is, &row.kind));
        if is.iter().zip(&was).any(|(is, was)| is < was) {
            worse.push(line);
        } else if is != was {
            better.push(line);
        }
    }
    (worse, better)
}

/// What must not fall: for a question with an answer, how many wanted passages are shown, whether
/// the first right note leads, is among five, or is there, and that it is not called unanswered;
/// for one without, how little the answer claims.
fn standing(outcome: &Outcome, kind: &str) -> [i64; 3] {
    if kind == "none" {
        return [-(outcome.confidence as i64), 0, 0];
    }
    let shown = outcome
        .passages
        .iter()
        .flatten()
        .filter(|rank| **rank <= SHOWN)
        .count();
    let note = match outcome.notes.iter().flatten().min() {
        Some(1) => 3,
        Some(2..=5) => 2,
        Some(_) => 1,
        None => 0,
    };
    [
        shown as i64,
        note,
        i64::from(outcome.confidence != Confidence::None),
    ]
}

fn summary(results: &Results) -> String {
    let recall = results.values("fused", None, |o| o.recall_at(SHOWN));
    let rank = results.values("fused", None, Outcome::reciprocal_rank);
    let none = results.of("fused", |row| row.kind == "none");
    let modest = none
        .iter()
        .filter(|o| o.confidence != Confidence::Strong)
        .count();
    format!(
        "sample-vault: {} answerable questions, passage recall@{SHOWN} {:.3}, note MRR {:.3}; {modest} of {} unanswerable ones not called strong",
        recall.len(),
        mean(&recall),
        mean(&rank),
        none.len()
    )
}

fn committed() -> PathBuf {
    results_folder().join("sample-vault.tsv")
}

/// Where results are committed.
pub fn results_folder() -> PathBuf {
    root().join("docs/evals")
}

fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Row;

    fn results(rows: &[(&str, [&str; 4])]) -> Results {
        let row = |(kind, cells): &(&str, [&str; 4])| Row {
            id: format!("q-{kind}"),
            kind: (*kind).to_string(),
            outcomes: vec![Outcome::from_cells(*cells).unwrap()],
        };
        Results {
            systems: vec!["fused".to_string()],
            rows: rows.iter().map(row).collect(),
        }
    }

    #[test]
    fn only_what_a_reader_would_notice_counts_as_worse() {
        let cases = [
            (
                "exact",
                ["1", "2", "0.9", "strong"],
                ["1", "6", "0.5", "weak"],
                0,
                0,
            ),
            (
                "exact",
                ["1", "2", "0.9", "strong"],
                ["1", "7", "0.9", "strong"],
                1,
                0,
            ),
            (
                "exact",
                ["1", "2", "0.9", "strong"],
                ["2", "2", "0.9", "strong"],
                1,
                0,
            ),
            (
                "exact",
                ["2", "2", "0.9", "weak"],
                ["2", "2", "0.1", "none"],
                1,
                0,
            ),
            (
                "multi",
                ["1,-", "1,-", "0.9", "weak"],
                ["1,3", "1,4", "0.9", "weak"],
                0,
                1,
            ),
            (
                "none",
                [".", ".", "0.1", "none"],
                [".", ".", "0.5", "weak"],
                1,
                0,
            ),
            (
                "none",
                [".", ".", "0.9", "strong"],
                [".", ".", "0.5", "weak"],
                0,
                1,
            ),
        ];
        for (kind, old, new, worse, better) in cases {
            let found = compare(&results(&[(kind, old)]), &results(&[(kind, new)]));
            assert_eq!(
                (found.0.len(), found.1.len()),
                (worse, better),
                "{old:?} → {new:?}"
            );
        }
        let gone = compare(
            &results(&[("exact", ["1", "1", "1", "weak"])]),
            &results(&[]),
        );
        assert_eq!(gone.0.len(), 1);
    }
}
