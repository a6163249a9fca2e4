//! What the answers are meant to reach, against what was measured.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use lorewell_engine::{Confidence, EngineSettings};
use lorewell_evaluation::{Interval, Outcome, SHOWN, System, Table};

use crate::collections::Collection;
use crate::data::{Data, ENGLISH};
use crate::results::{Results, write};
use crate::sample;

/// The table stands between these lines of docs/evaluation.md.
const BEGIN: &str = "<!-- written by `lorewell-evals goals`: begin -->\n";
const END: &str = "<!-- written by `lorewell-evals goals`: end -->\n";

/// Collection, what plain BM25 gives there.
const LANGUAGES: [(&str, f64); 12] = [
    ("jaquad", 0.876),
    ("cmrc2018", 0.982),
    ("xquad/en", 0.965),
    ("xquad/de", 0.941),
    ("xquad/es", 0.961),
    ("xquad/ru", 0.955),
    ("xquad/zh", 0.967),
    ("xquad/tr", 0.934),
    ("xquad/ar", 0.936),
    ("xquad/el", 0.947),
    ("xquad/ro", 0.966),
    ("xquad/hi", 0.742),
];

/// Which way a goal lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bound {
    AtLeast,
    AtMost,
}

/// A goal with what was measured.
#[derive(Clone, Debug, PartialEq)]
struct Goal {
    what: String,
    bound: Bound,
    goal: f64,
    values: Vec<f64>,
}

impl Goal {
    fn at_least(what: impl Into<String>, goal: f64, values: Vec<f64>) -> Goal {
        Goal {
            what: what.into(),
            bound: Bound::AtLeast,
            goal,
            values,
        }
    }

    /// In a word.
    fn outcome(&self, interval: &Interval) -> &'static str {
        let (above, below) = (interval.low >= self.goal, interval.high < self.goal);
        match (self.bound, above, below) {
            (Bound::AtLeast, true, _) => "reached",
            (Bound::AtLeast, _, true) => "missed",
            (Bound::AtMost, _, _) if interval.high <= self.goal => "reached",
            (Bound::AtMost, _, _) if interval.low > self.goal => "missed",
            _ if self.is_met(interval.mean) => "open, on the right side",
            _ => "open, on the wrong side",
        }
    }

    fn is_met(&self, mean: f64) -> bool {
        match self.bound {
            Bound::AtLeast => mean >= self.goal,
            Bound::AtMost => mean <= self.goal,
        }
    }
}

/// Measures, prints the table and writes it into docs/evaluation.md.
///
/// # Errors
/// Data that cannot be read, an index that cannot be made, a page without a place for the table or
/// that cannot be written.
pub fn run(data: &Data) -> Result<()> {
    let folder = sample::results_folder();
    let mut goals = of_sets(&folder)?;
    goals.extend(of_collections(data)?);
    let mut table = Table::new(&["measure", "goal", "figure", "questions", ""]);
    for goal in &goals {
        let interval = Interval::of(&goal.values);
        let sign = match goal.bound {
            Bound::AtLeast => "≥",
            Bound::AtMost => "≤",
        };
        table.row(vec![
            goal.what.clone(),
            format!("{sign} {}", goal.goal),
            interval.shown(),
            goal.values.len().to_string(),
            goal.outcome(&interval).to_string(),
        ]);
    }
    let date = jiff::Timestamp::now().strftime("%Y-%m-%d");
    let text = format!("Measured on {date}.\n\n{}", table.markdown());
    print!("{text}");
    let path = folder.with_file_name("evaluation.md");
    let page = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let page = placed(&page, &text)
        .with_context(|| format!("{}: no lines `{}`", path.display(), BEGIN.trim()))?;
    write(&path, &page)
}

/// The page with the text in its place.
fn placed(page: &str, text: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}{text}{END}{after}"))
}

fn of_sets(folder: &Path) -> Result<Vec<Goal>> {
    let read = |name: &str| Results::read(&folder.join(format!("{name}.tsv")));
    let mut english = Results::default();
    for name in ENGLISH {
        let results = read(name)?;
        english.systems = results.systems;
        english.rows.extend(results.rows);
    }
    let (chinese, sample) = (read("oldwinter-zh")?, read("sample-vault")?);
    let recall = |results: &Results, kind| results.values("fused", kind, |o| o.recall_at(SHOWN));
    let mut goals = vec![
        Goal::at_least(
            "English vaults, passage recall@6",
            0.80,
            recall(&english, None),
        ),
        Goal::at_least(
            "English vaults, paraphrases, passage recall@6",
            0.60,
            recall(&english, Some("paraphrase")),
        ),
        Goal::at_least(
            "English vaults, note MRR",
            0.78,
            english.values("fused", None, Outcome::reciprocal_rank),
        ),
        Goal::at_least(
            "Chinese vault, passage recall@6",
            0.75,
            recall(&chinese, None),
        ),
    ];
    let mut vaults = english;
    vaults.rows.extend(chinese.rows);
    for (name, results) in [("four vaults", &vaults), ("sample vault", &sample)] {
        let share = |unanswerable: bool, is_so: fn(Confidence) -> bool| {
            let rows = results.of("fused", |row| (row.kind == "none") == unanswerable);
            let values = rows
                .iter()
                .map(|o| f64::from(u8::from(is_so(o.confidence))));
            values.collect::<Vec<f64>>()
        };
        goals.push(Goal::at_least(
            format!("{name}, unanswerable questions called none or weak"),
            0.85,
            share(true, |confidence| confidence != Confidence::Strong),
        ));
        goals.push(Goal {
            bound: Bound::AtMost,
            ..Goal::at_least(
                format!("{name}, answerable questions called none"),
                0.05,
                share(false, |confidence| confidence == Confidence::None),
            )
        });
    }
    Ok(goals)
}

fn of_collections(data: &Data) -> Result<Vec<Goal>> {
    let ask = |name: &str| -> Result<(Vec<f64>, Vec<f64>)> {
        eprintln!("{name} …");
        let collection = Collection::build(data, name, None, EngineSettings::default())?;
        Ok(collection.ask(&System::fused())?.into_iter().unzip())
    };
    let mut goals = vec![
        Goal::at_least("SciFact, nDCG@10 (BM25 .676)", 0.69, ask("scifact")?.0),
        Goal::at_least("LoCoMo, turns, recall@10", 0.72, ask("locomo-turn")?.1),
        Goal::at_least(
            "LoCoMo, sessions, recall@10",
            0.96,
            ask("locomo-session")?.1,
        ),
    ];
    for (name, bm25) in LANGUAGES {
        goals.push(Goal::at_least(
            format!("{name}, nDCG@10"),
            bm25,
            ask(name)?.0,
        ));
    }
    Ok(goals)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_takes_the_place_of_the_old_one() {
        let page = |text: &str| format!("# Page\n{BEGIN}{text}{END}end\n");
        assert_eq!(placed(&page("old\n"), "new\n"), Some(page("new\n")));
        assert_eq!(placed("# Page\n", "new\n"), None);
    }

    #[test]
    fn the_whole_interval_decides() {
        let interval = |low, mean, high| Interval { mean, low, high };
        let least = Goal::at_least("", 0.8, Vec::new());
        let most = Goal {
            bound: Bound::AtMost,
            ..least.clone()
        };
        let cases = [
            (
                interval(0.8, 0.85, 0.9),
                "reached",
                "open, on the wrong side",
            ),
            (interval(0.81, 0.85, 0.9), "reached", "missed"),
            (interval(0.6, 0.65, 0.7), "missed", "reached"),
            (
                interval(0.7, 0.79, 0.9),
                "open, on the wrong side",
                "open, on the right side",
            ),
            (
                interval(0.7, 0.81, 0.9),
                "open, on the right side",
                "open, on the wrong side",
            ),
        ];
        for (interval, at_least, at_most) in cases {
            assert_eq!(least.outcome(&interval), at_least, "{interval:?}");
            assert_eq!(most.outcome(&interval), at_most, "{interval:?}");
        }
    }
}
