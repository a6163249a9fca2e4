//! How far `score` and `confidence` can be trusted: the models fitted anew, their error on vaults
//! that a fit has not seen, and what the thresholds in force make of it.

use anyhow::Result;
use lorewell_engine::Confidence;
use lorewell_evaluation::{Interval, Table, word};

use crate::calibration::{FEATURES, Judged, Models, as_engine, explained, held_out, in_force};
use crate::data::Data;
use crate::logistic::{self, Bin, auc, bins, brier, calibration_error};
use crate::readings::{self, Asked, Truth};
use crate::results::write;
use crate::sample;

const INTRODUCTION: &str = "\
# Score and confidence

Written by `lorewell-evals confidence`; docs/evaluation.md says what follows from it.

    cargo xtask eval confidence --data DIR      # DIR holds eval/ and vaults/
    cargo xtask eval readings --data DIR        # the rows themselves

Every question of the five sets is asked of its own vault, and of every other vault as a question
that nothing there answers (*foreign*; English questions are not asked of the Chinese vault nor the
other way round, which would be too easy). Six passages are shown. A question is *found* if a right
passage is among them, else *missed*; *unanswerable* if its own set says that nothing answers it.

`score` is a logistic regression over the passages that are shown: is it right? Foreign rows count
.1, ridge 1. `confidence` follows the best score of an answer. *Left out*: a vault is judged by a
model that has seen neither it nor its questions. AUC: how often right stands above wrong. Brier:
mean squared error. ECE: expected calibration error, ten bins. The constants in force were chosen on
all of these questions: their own figures flatter them, and only the left-out figures say what an
unseen vault may expect.
";

const THRESHOLDS: [f64; 17] = [
    0.05, 0.06, 0.07, 0.075, 0.09, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7,
];

const KINDS: [(Truth, &str); 4] = [
    (Truth::Found, "found"),
    (Truth::Missed, "missed"),
    (Truth::Unanswerable, "unanswerable"),
    (Truth::Foreign, "foreign"),
];

/// Measures, prints the page and writes it to docs/evals/confidence.md.
///
/// # Errors
/// Data that cannot be read, an index that cannot be made, a page that cannot be written.
pub fn run(data: &Data) -> Result<()> {
    let all = readings::all(data)?;
    let all: Vec<&Asked> = all
        .iter()
        .filter(|asked| !asked.is_across_languages())
        .collect();
    let of_engine = all.iter().map(|asked| as_engine(asked)).collect();
    let explained = 100.0 * explained(&all)?;
    let fitted = Models::fit(&all)?;
    let (left_out, fits) = held_out(&all)?;
    let date = jiff::Timestamp::now().strftime("%Y-%m-%d");
    let both = [("in force", &of_engine), ("left out", &left_out)];
    let page = format!(
        "{INTRODUCTION}\nMeasured on {date}.\n\n\
         ## Coefficients\n\n\
         The constants in force give {explained:.0} % of the engine's scores; the others follow the rules above them \
         (a note that is named, and what else `score.rs` says).\n\n{}\n\
         ## Error of `score`, over the passages of a vault's own questions\n\n{}\n\
         ## What was said and what was, left out\n\n{}\n\
         ## Whether the best score tells an answer\n\n\
         *Own regression*: another one over answers, told by the words and the cosine of the best \
         passage: what it would bring beside the best score.\n\n{}\n\
         ## Confidence by the thresholds in force\n\n{}\n\
         ## What the words promise, over own questions\n\n{}\n\
         ## The share of answers whose best score is below a threshold\n\n{}",
        coefficients(&fitted, &fits).markdown(),
        score_error(&both).markdown(),
        reliability(&left_out).markdown(),
        answer_error(&both).markdown(),
        shares(&all).markdown(),
        promises(&all).markdown(),
        thresholds(&both).markdown(),
    );
    print!("{page}");
    write(&sample::results_folder().join("confidence.md"), &page)
}

/// The coefficients in force, of a fit on everything, and between which bounds they lie where a
/// vault is left out.
fn coefficients(fitted: &Models, fits: &[Models]) -> Table {
    let mut table = Table::new(&["", "in force", "fit on all", "fits without one vault"]);
    let names = std::iter::once("constant").chain(FEATURES);
    for (index, (name, used)) in names.zip(in_force().0).enumerate() {
        let at = |models: &Models| models.score.0.get(index).copied().unwrap_or_default();
        let least = fits.iter().map(at).fold(f64::MAX, f64::min);
        let most = fits.iter().map(at).fold(f64::MIN, f64::max);
        table.row(vec![
            name.to_string(),
            format!("{used:.2}"),
            format!("{:.2}", at(fitted)),
            format!("{least:.2} to {most:.2}"),
        ]);
    }
    table
}

type Both<'a> = [(&'static str, &'a Vec<Judged<'a>>); 2];

/// Each vault's rows, then all.
fn by_vault<'a>(judged: &'a [Judged<'a>]) -> Vec<(String, Vec<&'a Judged<'a>>)> {
    let mut all: Vec<(String, Vec<&Judged>)> = Vec::new();
    for one in judged {
        match all.iter_mut().find(|(vault, _)| *vault == one.asked.vault) {
            Some((_, rows)) => rows.push(one),
            None => all.push((one.asked.vault.clone(), vec![one])),
        }
    }
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all.push(("all".to_string(), judged.iter().collect()));
    all
}

fn figure(value: Option<f64>) -> String {
    value.map_or("–".to_string(), |value| format!("{value:.3}"))
}

fn score_error(both: &Both<'_>) -> Table {
    let head = [
        "vault",
        "models",
        "passages",
        "right",
        "AUC",
        "Brier",
        "Brier of the mean",
        "ECE",
    ];
    let mut table = Table::new(&head);
    for (name, judged) in both {
        for (vault, rows) in by_vault(judged) {
            let passages = passages(&rows);
            let right = passages.iter().filter(|(_, is_right)| *is_right).count();
            let mean = right as f64 / passages.len().max(1) as f64;
            table.row(vec![
                vault,
                (*name).to_string(),
                passages.len().to_string(),
                right.to_string(),
                figure(auc(&passages)),
                figure(Some(brier(&passages))),
                figure(Some(mean * (1.0 - mean))),
                figure(Some(calibration_error(&passages))),
            ]);
        }
    }
    table
}

/// The passages of questions that were asked of their own vault.
fn passages(rows: &[&Judged<'_>]) -> Vec<logistic::Judged> {
    let own = rows
        .iter()
        .filter(|row| row.asked.truth() != Truth::Foreign);
    own.flat_map(|row| {
        let right = row.asked.passages.iter().map(|shown| shown.is_right);
        row.scores.iter().copied().zip(right)
    })
    .collect()
}

/// What is taken as the probability of an answer.
type Measure = fn(&Judged<'_>) -> f64;

/// Answers of the wanted truths: their probability, and whether a right passage is shown.
fn answers(rows: &[&Judged<'_>], wanted: &[Truth], measure: Measure) -> Vec<logistic::Judged> {
    let those = rows
        .iter()
        .filter(|row| wanted.contains(&row.asked.truth()));
    those
        .map(|row| (measure(row), row.asked.truth() == Truth::Found))
        .collect()
}

const OWN: [Truth; 3] = [Truth::Found, Truth::Missed, Truth::Unanswerable];

fn answer_error(both: &Both<'_>) -> Table {
    let head = [
        "vault",
        "model",
        "own questions",
        "found",
        "AUC found: missed",
        "found: unanswerable",
        "found: foreign",
    ];
    let mut table = Table::new(&head);
    let mut row = |vault: &str, model: &str, rows: &[&Judged<'_>], measure: Measure| {
        let own = answers(rows, &OWN, measure);
        let found = own.iter().filter(|(_, found)| *found).count();
        let against = |other| figure(auc(&answers(rows, &[Truth::Found, other], measure)));
        table.row(vec![
            vault.to_string(),
            model.to_string(),
            own.len().to_string(),
            found.to_string(),
            against(Truth::Missed),
            against(Truth::Unanswerable),
            against(Truth::Foreign),
        ]);
    };
    for (name, judged) in both {
        for (vault, rows) in by_vault(judged) {
            row(&vault, name, &rows, |one| one.best());
        }
    }
    let (_, left_out) = both[1];
    for (vault, rows) in by_vault(left_out) {
        let measure: Measure = |one| one.answer.unwrap_or_default();
        row(&vault, "left out, own regression", &rows, measure);
    }
    table
}

fn reliability(judged: &[Judged<'_>]) -> Table {
    let rows: Vec<&Judged> = judged.iter().collect();
    let (own, best) = (passages(&rows), answers(&rows, &OWN, |one| one.best()));
    let head = [
        "score",
        "passages",
        "mean score",
        "right",
        "answers by best score",
        "mean best score",
        "found",
    ];
    let mut table = Table::new(&head);
    for (index, (passage, answer)) in bins(&own).iter().zip(&bins(&best)).enumerate() {
        let cells = |bin: &Bin| {
            let mean = |value| figure((bin.cases > 0).then_some(value));
            vec![bin.cases.to_string(), mean(bin.said), mean(bin.was)]
        };
        let (from, to) = (index as f64 / 10.0, (index + 1) as f64 / 10.0);
        let range = vec![format!("{from:.1} to {to:.1}")];
        table.row([range, cells(passage), cells(answer)].concat());
    }
    table
}

/// What the engine said, by set and truth.
fn shares(all: &[&Asked]) -> Table {
    let mut table = Table::new(&["vault", "questions", "how many", "strong", "weak", "none"]);
    let mut vaults: Vec<&str> = all.iter().map(|asked| asked.vault.as_str()).collect();
    vaults.sort_unstable();
    vaults.dedup();
    for vault in vaults.into_iter().map(Some).chain([None]) {
        for (truth, name) in KINDS {
            let those = all.iter().filter(|asked| {
                vault.is_none_or(|vault| asked.vault == vault) && asked.truth() == truth
            });
            let said: Vec<Confidence> = those.map(|asked| asked.confidence).collect();
            if said.is_empty() {
                continue;
            }
            let share = |wanted| {
                let count = said.iter().filter(|said| **said == wanted).count();
                format!("{:.2}", count as f64 / said.len() as f64)
            };
            table.row(vec![
                vault.unwrap_or("all").to_string(),
                name.to_string(),
                said.len().to_string(),
                share(Confidence::Strong),
                share(Confidence::Weak),
                share(Confidence::None),
            ]);
        }
    }
    table
}

/// Of the answers of each confidence, the share that shows a right passage.
fn promises(all: &[&Asked]) -> Table {
    let mut table = Table::new(&[
        "confidence",
        "answers",
        "a right passage is shown, 95 % interval",
    ]);
    for confidence in [Confidence::Strong, Confidence::Weak, Confidence::None] {
        let those = all
            .iter()
            .filter(|asked| asked.confidence == confidence && asked.truth() != Truth::Foreign);
        let found: Vec<f64> = those
            .map(|asked| f64::from(u8::from(asked.truth() == Truth::Found)))
            .collect();
        table.row(vec![
            word(confidence).to_string(),
            found.len().to_string(),
            Interval::of(&found).shown(),
        ]);
    }
    table
}

/// The share of answers whose best score is below a threshold, by truth.
fn thresholds(both: &Both<'_>) -> Table {
    let mut head = vec!["below".to_string()];
    for (model, _) in both {
        head.extend(KINDS.map(|(_, kind)| format!("{kind}, {model}")));
    }
    let mut table = Table::new(&head.iter().map(String::as_str).collect::<Vec<_>>());
    for threshold in THRESHOLDS {
        let mut cells = vec![format!("{threshold:.3}")];
        for (_, judged) in both {
            let rows: Vec<&Judged> = judged.iter().collect();
            cells.extend(KINDS.map(|(truth, _)| {
                let those = answers(&rows, &[truth], |one| one.best());
                let below = those.iter().filter(|(best, _)| *best < threshold).count();
                format!("{:.2}", below as f64 / those.len().max(1) as f64)
            }));
        }
        table.row(cells);
    }
    table
}
