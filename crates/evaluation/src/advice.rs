//! Whether other weights would serve a vault better, said only where the questions show it.
//!
//! A few settings are tried, one thing at a time: the dense lane at [`DENSE`] times the text lane's
//! weight, the title lane at [`TITLE`] times, every further lane that runs at [`FURTHER`] times, and
//! the other fusion (reciprocal ranks for convex scores or the reverse) with the dense lane at
//! [`OTHER_FUSION_DENSE`] times. What is compared is the mean reciprocal rank of the first right note; after
//! a change another measurement shows the next step.
//!
//! The best of many settings looks better than it is on the very questions that chose it. So the
//! choice is made anew on nine tenths of the questions and judged on the tenth that had no say
//! (ten-fold cross-validation); the differences of all tenths together are bootstrapped. Other
//! settings are recommended only where that interval and the plain paired one exclude zero.

use std::sync::atomic::{AtomicUsize, Ordering};

use lorewell_engine::{EngineError, Fusion, Host, Lane, LaneWeights, SearchSettings};
use serde::Serialize;

use crate::asking::{SHOWN, each};
use crate::item::Item;
use crate::measures::{Difference, mean, questions_needed};
use crate::outcome::Outcome;
use crate::system::System;

/// The user's own questions decide from so many on; below, probes do.
pub const ENOUGH: usize = 20;

/// Weights of the dense lane that are tried, for each 1 of the text lane's.
pub const DENSE: [f32; 7] = [0.0, 0.1, 0.2, 0.33, 0.5, 0.75, 1.0];
/// Weights of the title lane that are tried.
pub const TITLE: [f32; 3] = [0.25, 0.5, 1.0];

/// Weights of the dense lane that are tried with the other fusion, which has a scale of its own.
pub const OTHER_FUSION_DENSE: [f32; 3] = [0.2, 0.5, 1.0];
/// Weights of every further lane that are tried.
pub const FURTHER: [f32; 4] = [0.0, 0.1, 0.2, 0.4];

const FOLDS: usize = 10;

/// What the questions say about other settings.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Advice {
    /// What is recommended.
    pub verdict: Verdict,
    /// What it was measured on.
    pub measured_on: Basis,
    /// How many of these there are.
    pub questions: usize,
    /// How many other settings were tried.
    pub tried: usize,
    /// The best of them; nothing if none was tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best: Option<Trial>,
    /// About how many questions it would take to tell the best from the settings in force; nothing
    /// where it is not better even on these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub questions_needed: Option<usize>,
}

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Change the settings to those of the best trial.
    Change,
    /// Nothing better was found, as far as these questions can tell.
    Keep,
    /// The best is better, and worse on the user's own questions.
    Contradicted,
    /// There are too few questions to try anything.
    TooFew,
}

/// What settings were compared on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Questions with known answers.
    Questions,
    /// Probes.
    Probes,
}

/// Other settings, with what they gave.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trial {
    /// The settings that differ from those in force.
    pub settings: Vec<SettingChange>,
    /// Note MRR against the settings in force, on all questions; flattering, because these
    /// questions chose it.
    pub difference: Difference,
    /// The same where the choice was made on other questions.
    pub held_out: Difference,
}

/// A line of the configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SettingChange {
    /// The setting.
    pub name: String,
    /// Its new value, as it would be typed.
    pub value: String,
}

/// Settings that are tried.
struct Variant {
    settings: SearchSettings,
    changes: Vec<SettingChange>,
}

pub(crate) fn advise(
    host: &Host,
    rrf_k: f32,
    own: &[Item],
    probes: &[Item],
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Advice, EngineError> {
    let (measured_on, items) = if own.len() >= ENOUGH {
        (Basis::Questions, own)
    } else {
        (Basis::Probes, probes)
    };
    let current = &host.search_in_force();
    let variants = grid(current, rrf_k);
    if items.len() < ENOUGH || variants.is_empty() {
        return Ok(Advice {
            verdict: Verdict::TooFew,
            measured_on,
            questions: items.len(),
            tried: 0,
            best: None,
            questions_needed: Some(ENOUGH),
        });
    }
    let systems: Vec<System> = std::iter::once(current)
        .chain(variants.iter().map(|variant| &variant.settings))
        .map(|settings| System::set("", settings.clone()))
        .collect();
    let columns = columns(host, items, &systems, progress)?;
    let (now, tried) = (&columns[0], &columns[1..]);
    let chosen = best_of(tried, &|_| true);
    let difference = Difference::of(&tried[chosen], now);
    let held_out = Difference::of(&chosen_elsewhere(now, tried), now);
    let shown = difference.low > 0.0 && held_out.low > 0.0;
    let verdict = if !shown {
        Verdict::Keep
    } else if is_worse(host, own, &systems[chosen + 1], &systems[0])? {
        Verdict::Contradicted
    } else {
        Verdict::Change
    };
    let pairs: Vec<f64> = tried[chosen].iter().zip(now).map(|(a, b)| a - b).collect();
    Ok(Advice {
        verdict,
        measured_on,
        questions: items.len(),
        tried: variants.len(),
        questions_needed: questions_needed(&pairs).filter(|_| !shown && difference.mean > 0.0),
        best: Some(Trial {
            settings: variants[chosen].changes.clone(),
            difference,
            held_out,
        }),
    })
}

/// What is tried, without the settings in force; what changes least comes first.
fn grid(current: &SearchSettings, rrf_k: f32) -> Vec<Variant> {
    let weights = current.weights;
    let scale = if weights.text > 0.0 {
        weights.text
    } else {
        1.0
    };
    let runs = |lane| current.lanes.contains(&lane);
    let of = |lane, tried: &[f32]| -> Vec<f32> {
        if runs(lane) {
            tried.iter().map(|weight| weight * scale).collect()
        } else {
            vec![weight_of(&weights, lane)]
        }
    };
    let mut variants = Vec::new();
    for lane in Lane::ALL.into_iter().filter(|lane| *lane != Lane::Text) {
        let tried: &[f32] = match lane {
            Lane::Dense => &DENSE,
            Lane::Title => &TITLE,
            _ => &FURTHER,
        };
        for weight in of(lane, tried) {
            variants.push(Variant::of(current, current.fusion, &[(lane, weight)]));
        }
    }
    let other = match current.fusion {
        Fusion::Rrf { .. } => Fusion::Convex,
        Fusion::Convex => Fusion::Rrf { k: rrf_k },
    };
    for dense in of(Lane::Dense, &OTHER_FUSION_DENSE) {
        variants.push(Variant::of(current, other, &[(Lane::Dense, dense)]));
    }
    variants.retain(|variant| !variant.changes.is_empty());
    variants.sort_by_key(|variant| variant.changes.len());
    variants
}

impl Variant {
    fn of(current: &SearchSettings, fusion: Fusion, weights: &[(Lane, f32)]) -> Variant {
        let mut settings = SearchSettings {
            fusion,
            ..current.clone()
        };
        let mut changes = Vec::new();
        let mut change = |name: String, value: String| changes.push(SettingChange { name, value });
        if fusion != current.fusion {
            let name = match fusion {
                Fusion::Rrf { .. } => "rrf",
                Fusion::Convex => "convex",
            };
            change("fusion".to_string(), name.to_string());
        }
        for (lane, weight) in weights {
            let now = weight_mut(&mut settings.weights, *lane);
            if (weight - *now).abs() > 0.005 {
                *now = *weight;
                change(format!("weight_{lane}"), shown(*weight));
            }
        }
        Variant { settings, changes }
    }
}

/// What a lane's vote counts, in settings that say so of every lane
/// ([`Host::search_in_force`]).
pub fn weight_of(weights: &LaneWeights, lane: Lane) -> f32 {
    let mut weights = *weights;
    *weight_mut(&mut weights, lane)
}

fn weight_mut(weights: &mut LaneWeights, lane: Lane) -> &mut f32 {
    match lane {
        Lane::Text => &mut weights.text,
        Lane::Title => &mut weights.title,
        Lane::Dense => weights.dense.get_or_insert_default(),
        Lane::Vocab => &mut weights.vocab,
        Lane::Link => &mut weights.link,
        Lane::Tag => &mut weights.tag,
        Lane::Recent => &mut weights.recent,
    }
}

/// A weight as it is typed: two digits, and no zeros at the end.
fn shown(weight: f32) -> String {
    let text = format!("{weight:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// Reciprocal ranks of the first right note: for each system one list, in the order of the items.
fn columns(
    host: &Host,
    items: &[Item],
    systems: &[System],
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Vec<Vec<f64>>, EngineError> {
    let done = AtomicUsize::new(0);
    let rows: Vec<Vec<f64>> = each(host, items, |view, item| {
        let ranks = systems.iter().map(|system| {
            let asked = item.ask(view, system)?;
            Ok(asked.outcome.reciprocal_rank())
        });
        let ranks: Result<Vec<f64>, EngineError> = ranks.collect();
        progress(done.fetch_add(1, Ordering::Relaxed) + 1, items.len());
        ranks
    })?;
    let column = |system: usize| rows.iter().map(|row| row[system]).collect();
    Ok((0..systems.len()).map(column).collect())
}

/// The list with the greatest mean over the items that count; the first of equals.
fn best_of(columns: &[Vec<f64>], counts: &dyn Fn(usize) -> bool) -> usize {
    let mut best = (0, f64::MIN);
    for (index, column) in columns.iter().enumerate() {
        let total = total_of(column, counts);
        if total > best.1 + 1e-9 {
            best = (index, total);
        }
    }
    best.0
}

fn total_of(column: &[f64], counts: &dyn Fn(usize) -> bool) -> f64 {
    let counted = column.iter().enumerate().filter(|(item, _)| counts(*item));
    counted.map(|(_, value)| value).sum()
}

/// For each item the value that the settings give which are best on the other folds, those in
/// force among them. Neighbours share a fold, because probes of one note resemble one another.
fn chosen_elsewhere(now: &[f64], tried: &[Vec<f64>]) -> Vec<f64> {
    let count = now.len();
    let fold = |item: usize| item * FOLDS / count.max(1);
    let choices: Vec<Option<usize>> = (0..FOLDS)
        .map(|held_out| {
            let counts = |item| fold(item) != held_out;
            let best = best_of(tried, &counts);
            let gains = total_of(&tried[best], &counts) > total_of(now, &counts) + 1e-9;
            gains.then_some(best)
        })
        .collect();
    let value = |item: usize| choices[fold(item)].map_or(now[item], |best| tried[best][item]);
    (0..count).map(value).collect()
}

/// Whether the user's own questions fare worse with the one system than with the other.
fn is_worse(host: &Host, own: &[Item], new: &System, now: &System) -> Result<bool, EngineError> {
    let values = |system: &System| -> Result<[f64; 2], EngineError> {
        let outcomes: Vec<Outcome> = each(host, own, |view, item| {
            Ok::<_, EngineError>(item.ask(view, system)?.outcome)
        })?;
        let of = |measure: &dyn Fn(&Outcome) -> f64| -> f64 {
            mean(&outcomes.iter().map(measure).collect::<Vec<_>>())
        };
        Ok([of(&|o| o.recall_at(SHOWN)), of(&Outcome::reciprocal_rank)])
    };
    let (new, now) = (values(new)?, values(now)?);
    Ok(new.iter().zip(now).any(|(new, now)| *new < now - 1e-9))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_names_what_it_changes_and_leaves_out_what_is_in_force() {
        let current = SearchSettings {
            lanes: vec![Lane::Text, Lane::Title, Lane::Dense],
            weights: LaneWeights {
                dense: Some(0.33),
                ..SearchSettings::default().weights
            },
            ..SearchSettings::default()
        };
        let variants = grid(&current, 60.0);
        // Those in force are one of the grid.
        let tried = DENSE.len() - 1 + TITLE.len() - 1 + OTHER_FUSION_DENSE.len();
        assert_eq!(variants.len(), tried);
        for variant in &variants {
            assert_ne!(variant.settings, current);
            assert!(variant.settings.weights.text == current.weights.text);
        }
        let lines: Vec<String> = variants[0]
            .changes
            .iter()
            .map(|change| format!("{} {}", change.name, change.value))
            .collect();
        assert_eq!(lines, ["weight_title 0.25"]);
        let with_links = SearchSettings {
            lanes: vec![Lane::Text, Lane::Title, Lane::Dense, Lane::Link],
            ..current.clone()
        };
        let others = FURTHER
            .iter()
            .filter(|w| (*w - current.weights.link).abs() > 0.005);
        let more = grid(&with_links, 60.0).len() - variants.len();
        assert_eq!(more, others.count());
        let words_only = SearchSettings {
            lanes: vec![Lane::Text],
            ..current
        };
        assert_eq!(grid(&words_only, 60.0).len(), 1);
    }

    #[test]
    fn what_only_fits_the_questions_that_chose_it_gains_nothing_elsewhere() {
        // Each of twenty settings is right about one question of its own and wrong about nothing.
        let now = vec![0.5; 20];
        let lucky: Vec<Vec<f64>> = (0..20)
            .map(|own| (0..20).map(|i| if i == own { 1.0 } else { 0.5 }).collect())
            .collect();
        let plain = Difference::of(&lucky[best_of(&lucky, &|_| true)], &now);
        assert!(plain.mean > 0.0);
        let held_out = Difference::of(&chosen_elsewhere(&now, &lucky), &now);
        assert_eq!(held_out.mean, 0.0);
        // One that is better everywhere is chosen everywhere.
        let better = vec![vec![0.5; 20], vec![0.8; 20]];
        let held_out = Difference::of(&chosen_elsewhere(&now, &better), &now);
        assert!((held_out.low - 0.3).abs() < 1e-9);
        // Where none is better, what is in force stays.
        let worse = vec![vec![0.4; 20]];
        assert_eq!(chosen_elsewhere(&now, &worse), now);
    }
}
