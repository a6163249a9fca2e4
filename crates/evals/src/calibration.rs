//! The model behind `score`, fitted anew, and what a fit says of a vault that it has not seen. The
//! model in force stands in `crates/retrieval/src/score.rs`.

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use lorewell_engine::Reading;

use crate::logistic::{Case, Model};
use crate::readings::{Asked, Shown, Truth};

/// What is known of a passage, in order.
pub const FEATURES: [&str; 5] = [
    "words",
    "cosine known",
    "cosine over .2",
    "1/text rank",
    "1/dense rank",
];
/// How many of them the model of a whole answer knows: of its best passage, not the ranks.
const OF_ANSWER: usize = 3;
/// Keeps coefficients of few cases small.
const RIDGE: f64 = 1.0;
/// A foreign question is easier than one that nothing answers at home, and there are many: so
/// much each counts in a fit.
const FOREIGN: f64 = 0.1;
/// Which passage is an answer's best depends on the model: it is fitted and chosen in turns.
const TURNS: usize = 6;
/// Cosines up to this say nothing.
const FAR: f32 = 0.2;

/// The constant and coefficients in force, as `crates/retrieval/src/score.rs` has them.
const IN_FORCE: [f64; 6] = [-4.7, 4.4, -0.6, 1.2, 1.75, 1.55];

/// So many of the engine's scores follow from them.
const ENOUGH: f64 = 0.8;

/// Two ways to tell whether an answer holds what was asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Models {
    /// How likely a passage answers. The engine has this one, and takes the best of an answer.
    pub score: Model,
    /// How likely an answer with such a passage holds what was asked. The engine had it once; it
    /// is kept to show what it would bring.
    pub answer: Model,
}

/// A question with what models make of the passages that were shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged<'a> {
    /// The question.
    pub asked: &'a Asked,
    /// The probability of every passage.
    pub scores: Vec<f64>,
    /// The probability of the answer by the model of its own; nothing where there is none.
    pub answer: Option<f64>,
}

impl Models {
    /// Fits both.
    ///
    /// # Errors
    /// See [`Model::fit`].
    pub fn fit(all: &[&Asked]) -> Result<Models> {
        let mut cases = Vec::new();
        for asked in all {
            for shown in &asked.passages {
                cases.push(case(&shown.reading, FEATURES.len(), shown.is_right, asked));
            }
        }
        let score = Model::fit(&cases, RIDGE)?;
        let mut answer = Model(score.0[..=OF_ANSWER].to_vec());
        for _ in 0..TURNS {
            let mut cases = Vec::new();
            for asked in all {
                if let Some(best) = best(&answer, &asked.passages) {
                    let found = asked.truth() == Truth::Found;
                    cases.push(case(&best.reading, OF_ANSWER, found, asked));
                }
            }
            answer = Model::fit(&cases, RIDGE)?;
        }
        Ok(Models { score, answer })
    }

    /// What these models give.
    pub fn judge<'a>(&self, asked: &'a Asked) -> Judged<'a> {
        let answers = asked
            .passages
            .iter()
            .map(|shown| probability(&self.answer, OF_ANSWER, &shown.reading));
        Judged {
            answer: Some(answers.fold(0.0, f64::max)),
            ..judge(&self.score, asked)
        }
    }
}

impl Judged<'_> {
    /// The best score, from which the confidence follows; 0 of nothing.
    pub fn best(&self) -> f64 {
        self.scores.iter().copied().fold(0.0, f64::max)
    }
}

/// The model in force.
pub fn in_force() -> Model {
    Model(IN_FORCE.to_vec())
}

/// The scores that the engine itself gave: the model in force, and the rules above it.
pub fn as_engine<'a>(asked: &'a Asked) -> Judged<'a> {
    let scores = asked.passages.iter().map(|shown| f64::from(shown.score));
    Judged {
        asked,
        scores: scores.collect(),
        answer: None,
    }
}

/// The share of passages whose score is the model's. The others follow rules of `score.rs` that
/// stand above it.
///
/// # Errors
/// It is so small that the constants here cannot be those of `score.rs`.
pub fn explained(all: &[&Asked]) -> Result<f64> {
    let model = in_force();
    let (mut same, mut count) = (0, 0);
    for shown in all.iter().flat_map(|asked| &asked.passages) {
        let score = probability(&model, FEATURES.len(), &shown.reading);
        same += usize::from((f64::from(shown.score) - score).abs() < 1e-3);
        count += 1;
    }
    let share = same as f64 / count.max(1) as f64;
    if share < ENOUGH {
        bail!(
            "the constants `IN_FORCE` in crates/evals/src/calibration.rs give only {:.0} % of the engine's \
             scores; bring them in line with crates/retrieval/src/score.rs",
            100.0 * share
        );
    }
    Ok(share)
}

fn judge<'a>(model: &Model, asked: &'a Asked) -> Judged<'a> {
    let shown = asked.passages.iter();
    let scores = shown.map(|shown| probability(model, FEATURES.len(), &shown.reading));
    Judged {
        asked,
        scores: scores.collect(),
        answer: None,
    }
}

/// At least how surely the note is named.
fn probability(model: &Model, size: usize, reading: &Reading) -> f64 {
    let probability = model.probability(&features(reading, size));
    probability.max(f64::from(reading.name))
}

/// Every question of every vault, judged by models that have seen neither this vault nor its
/// questions; and these models.
///
/// # Errors
/// See [`Models::fit`].
pub fn held_out<'a>(all: &[&'a Asked]) -> Result<(Vec<Judged<'a>>, Vec<Models>)> {
    let vaults: BTreeSet<&str> = all.iter().map(|asked| asked.vault.as_str()).collect();
    let (mut judged, mut fits) = (Vec::new(), Vec::new());
    for vault in vaults {
        let seen = |asked: &&&Asked| asked.vault != vault && asked.set != vault;
        let models = Models::fit(&all.iter().filter(seen).copied().collect::<Vec<_>>())?;
        let own = all.iter().filter(|asked| asked.vault == vault);
        judged.extend(own.map(|asked| models.judge(asked)));
        fits.push(models);
    }
    Ok((judged, fits))
}

/// The passage that the model thinks most of.
fn best<'a>(model: &Model, passages: &'a [Shown]) -> Option<&'a Shown> {
    let worth = |shown: &Shown| model.probability(&features(&shown.reading, OF_ANSWER));
    passages.iter().max_by(|a, b| worth(a).total_cmp(&worth(b)))
}

fn case(reading: &Reading, size: usize, is_so: bool, asked: &Asked) -> Case {
    Case {
        features: features(reading, size),
        is_so,
        weight: if asked.truth() == Truth::Foreign {
            FOREIGN
        } else {
            1.0
        },
    }
}

/// The first of [`FEATURES`].
fn features(reading: &Reading, size: usize) -> Vec<f64> {
    let near = |rank: Option<usize>| rank.map_or(0.0, |rank| 1.0 / rank.max(1) as f64);
    let mut all = vec![
        f64::from(reading.words),
        f64::from(u8::from(reading.cosine.is_some())),
        reading
            .cosine
            .map_or(0.0, |cosine| f64::from((cosine - FAR).max(0.0))),
        near(reading.text_rank),
        near(reading.dense_rank),
    ];
    all.truncate(size);
    all
}

#[cfg(test)]
mod tests {
    use lorewell_engine::Confidence;

    use super::*;

    /// Of `vault`: question `id` of `set`, answered by passages with these shares of its words.
    fn asked(vault: &str, set: &str, id: usize, words: &[(f32, bool)]) -> Asked {
        let shown = |(words, is_right): &(f32, bool)| Shown {
            reading: Reading {
                words: *words,
                ..Reading::default()
            },
            fused: 0.0,
            score: 0.0,
            is_right: *is_right,
        };
        Asked {
            vault: vault.to_string(),
            set: set.to_string(),
            id: id.to_string(),
            kind: "exact".to_string(),
            confidence: Confidence::Weak,
            passages: words.iter().map(shown).collect(),
        }
    }

    #[test]
    fn a_vault_is_judged_by_what_the_others_taught() {
        let mut all = Vec::new();
        for vault in ["a", "b", "c"] {
            for id in 0..20 {
                // In `c` the words mislead: its own fit would have to say the opposite.
                let (high, low) = if vault == "c" {
                    (false, true)
                } else {
                    (true, false)
                };
                all.push(asked(vault, vault, id, &[(0.9, high), (0.2, low)]));
                all.push(asked(vault, "z", id, &[(0.3, false)]));
            }
        }
        let all: Vec<&Asked> = all.iter().collect();
        let (judged, fits) = held_out(&all).unwrap();
        assert_eq!((judged.len(), fits.len()), (all.len(), 3));
        let c = judged
            .iter()
            .find(|j| j.asked.vault == "c" && j.asked.set == "c")
            .unwrap();
        assert!(c.scores[0] > 0.8 && c.scores[1] < 0.2, "{c:?}");
        // An answer is as likely as its best passage; without passages it is nothing.
        let models = &fits[2];
        let other = asked("c", "z", 0, &[(0.3, false)]);
        assert!(c.answer > models.judge(&other).answer && c.best() == c.scores[0]);
        let nothing = asked("c", "c", 0, &[]);
        let nothing = models.judge(&nothing);
        assert_eq!((nothing.best(), nothing.answer), (0.0, Some(0.0)));
    }

    #[test]
    fn other_constants_than_the_engine_s_are_noticed() {
        let mut one = asked("a", "a", 0, &[(0.9, true)]);
        assert!(explained(&[&one]).is_err());
        one.passages[0].score = judge(&in_force(), &one).scores[0] as f32;
        assert_eq!(explained(&[&one]).unwrap(), 1.0);
        // A rule above the model may change a few.
        let mut other = one.clone();
        other.passages[0].score = 0.44;
        assert_eq!(explained(&[&one, &one, &one, &one, &other]).unwrap(), 0.8);
        assert_eq!(as_engine(&other).best(), f64::from(0.44_f32));
    }
}
