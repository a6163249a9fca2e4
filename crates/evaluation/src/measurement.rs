//! Measuring one vault: every lane alone and the whole, over the user's questions and probes.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use lorewell_engine::{Confidence, EngineError, Host, Lane, SearchSettings};
use serde::Serialize;

use crate::advice::{Advice, advise};
use crate::asking::{SHOWN, each};
use crate::item::{Asked, Item};
use crate::measures::Interval;
use crate::outcome::Outcome;
use crate::probe::Probe;
use crate::question::Question;
use crate::system::System;

/// The system of the settings in force, all lanes together.
pub const FUSED: &str = "fused";

/// What is to be measured.
pub struct Task<'a> {
    /// Questions with known answers.
    pub questions: &'a [Question],
    /// Probes.
    pub probes: &'a [Probe],
    /// The constant of reciprocal rank fusion that is tried.
    pub rrf_k: f32,
    /// Whether other weights are tried too.
    pub advise: bool,
    /// Is told how many questions are done, of how many.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
}

/// The figures of one vault.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measurement {
    /// Of questions with known answers; nothing if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub questions: Option<QuestionFigures>,
    /// Of probes; nothing if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probes: Option<ProbeFigures>,
    /// What other weights would give; nothing if that was not wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<Advice>,
}

/// What questions with known answers show.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QuestionFigures {
    /// How many have an answer in the notes.
    pub answerable: usize,
    /// How many have none.
    pub unanswerable: usize,
    /// Ids of questions that were left out, because no note that they name is in the index.
    pub left_out: Vec<String>,
    /// Every lane alone, then the whole; of answerable questions.
    pub systems: Vec<SystemFigures>,
    /// Lanes that found nothing alone: they only add to others, or nothing was meant for them.
    pub found_nothing: Vec<String>,
    /// The whole by kind of question, where there are kinds.
    pub kinds: Vec<KindFigures>,
    /// How sure the whole is of answerable questions.
    pub confidence: ConfidenceFigures,
    /// How sure it is of those that nothing answers.
    pub confidence_unanswerable: ConfidenceFigures,
    /// Answerable questions of which something is not shown.
    pub misses: Vec<Miss>,
}

/// What probes show: how well the linked note is found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProbeFigures {
    /// How many there are.
    pub probes: usize,
    /// Every lane alone, then the whole.
    pub systems: Vec<SystemFigures>,
    /// Lanes that found nothing alone.
    pub found_nothing: Vec<String>,
    /// Probes whose note is not among the first five.
    pub misses: Vec<Miss>,
}

/// The figures of a lane, or of the whole.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SystemFigures {
    /// The lane's name, or [`FUSED`].
    pub system: String,
    /// Passage recall at 6; nothing of probes, which want a note.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passage_recall_at_6: Option<Interval>,
    /// The share of right notes that come first.
    pub note_at_1: Interval,
    /// The share of right notes among the first five.
    pub note_at_5: Interval,
    /// One over the rank of the first right note, on average.
    pub note_mrr: Interval,
    /// How many questions a lane abstained from or could not run for; 0 of the whole.
    #[serde(skip_serializing_if = "is_zero")]
    pub did_not_run: usize,
}

/// The whole on one kind of question.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KindFigures {
    /// The kind; empty where none was given.
    pub kind: String,
    /// How many there are.
    pub questions: usize,
    /// See [`SystemFigures`].
    pub passage_recall_at_6: Interval,
    /// See [`SystemFigures`].
    pub note_mrr: Interval,
}

/// How many answers were how sure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ConfidenceFigures {
    /// The notes answer it.
    pub strong: usize,
    /// Perhaps.
    pub weak: usize,
    /// Nothing in the notes answers it.
    pub none: usize,
}

/// A question that fell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Miss {
    /// Its id.
    pub id: String,
    /// What was asked.
    pub question: String,
    /// The notes that were wanted.
    pub notes: Vec<String>,
    /// The rank of the first right note, if it is among ten passages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note_rank: Option<usize>,
    /// The rank of the first right passage, likewise; nothing of probes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passage_rank: Option<usize>,
}

/// Items with what each system did: `rows[item][system]`.
struct Measured {
    items: Vec<Item>,
    rows: Vec<Vec<Asked>>,
}

/// Measures; nothing is measured of an empty task.
///
/// # Errors
/// The index cannot be read.
pub fn measure(host: &Host, task: &Task<'_>) -> Result<Measurement, EngineError> {
    let settings = &host.settings().search;
    let systems = systems(settings);
    let paths: BTreeSet<String> = host.view()?.note_paths()?.into_iter().collect();
    let (known, left_out): (Vec<&Question>, Vec<&Question>) = task
        .questions
        .iter()
        .partition(|question| is_askable(question, &paths));
    let own: Vec<Item> = known.into_iter().map(Item::of_question).collect();
    let probes: Vec<Item> = task.probes.iter().map(Item::of_probe).collect();
    let all = own.len() + probes.len();
    let done = AtomicUsize::new(0);
    let step = || (task.progress)(done.fetch_add(1, Ordering::Relaxed) + 1, all);
    let own = Measured::new(host, own, &systems, &step)?;
    let probes = Measured::new(host, probes, &systems, &step)?;
    let advice = if task.advise {
        let own = own.answerable();
        Some(advise(
            host,
            task.rrf_k,
            &own,
            &probes.items,
            task.progress,
        )?)
    } else {
        None
    };
    let left_out = left_out.into_iter().map(|q| q.id.clone()).collect();
    Ok(Measurement {
        questions: own.question_figures(&systems, left_out),
        probes: probes.probe_figures(&systems),
        advice,
    })
}

/// Every lane alone that is in use, then the whole.
fn systems(settings: &SearchSettings) -> Vec<System> {
    let lanes = Lane::ALL.into_iter().filter(|l| settings.lanes.contains(l));
    let alone = lanes.map(|lane| {
        let lanes = vec![lane];
        System::set(
            lane.name(),
            SearchSettings {
                lanes,
                ..settings.clone()
            },
        )
    });
    alone
        .chain([System::set(FUSED, settings.clone())])
        .collect()
}

/// Whether some note that the question names is there, or it wants none.
fn is_askable(question: &Question, paths: &BTreeSet<String>) -> bool {
    let wanted = question.wanted();
    let mut notes = wanted.iter().flat_map(|wanted| &wanted.notes);
    wanted.is_empty() || notes.any(|(path, _)| paths.contains(path))
}

impl Measured {
    fn new(
        host: &Host,
        items: Vec<Item>,
        systems: &[System],
        step: &(dyn Fn() + Sync),
    ) -> Result<Measured, EngineError> {
        let rows = each(host, &items, |view, item| {
            let asked = systems.iter().map(|system| {
                if system.name == FUSED {
                    item.ask_as_shown(view, system)
                } else {
                    item.ask(view, system)
                }
            });
            let asked: Result<Vec<Asked>, EngineError> = asked.collect();
            step();
            asked
        })?;
        Ok(Measured { items, rows })
    }

    fn answerable(&self) -> Vec<Item> {
        let wanting = self.items.iter().filter(|item| !item.wanted.is_empty());
        wanting.cloned().collect()
    }

    /// The outcomes of one system for the items that are wanted.
    fn of(&self, system: usize, wanted: impl Fn(&Item) -> bool) -> Vec<&Asked> {
        let rows = self.items.iter().zip(&self.rows);
        rows.filter(|(item, _)| wanted(item))
            .filter_map(|(_, row)| row.get(system))
            .collect()
    }

    fn question_figures(
        &self,
        systems: &[System],
        left_out: Vec<String>,
    ) -> Option<QuestionFigures> {
        if self.items.is_empty() && left_out.is_empty() {
            return None;
        }
        let fused = systems.len() - 1;
        let sure = |answerable: bool| {
            ConfidenceFigures::of(&self.of(fused, |item| item.wanted.is_empty() != answerable))
        };
        let answerable = self.answerable().len();
        let misses = self.misses(fused, |outcome| outcome.recall_at(SHOWN) < 1.0);
        Some(QuestionFigures {
            answerable,
            unanswerable: self.items.len() - answerable,
            left_out,
            found_nothing: self.found_nothing(systems),
            systems: self.system_figures(systems, true),
            kinds: self.kinds(fused),
            confidence: sure(true),
            confidence_unanswerable: sure(false),
            misses,
        })
    }

    fn probe_figures(&self, systems: &[System]) -> Option<ProbeFigures> {
        let fused = systems.len() - 1;
        let fell = |outcome: &Outcome| outcome.note_at(5) < 1.0;
        let misses = self.misses(fused, fell).into_iter();
        (!self.items.is_empty()).then(|| ProbeFigures {
            probes: self.items.len(),
            found_nothing: self.found_nothing(systems),
            systems: self.system_figures(systems, false),
            misses: misses
                .map(|miss| Miss {
                    passage_rank: None,
                    ..miss
                })
                .collect(),
        })
    }

    /// The answerable items that count in a system's figures; none of a lane that found nothing.
    fn counted(&self, index: usize, system: &System) -> Vec<&Asked> {
        let asked = self.of(index, |item| !item.wanted.is_empty());
        let any = asked.iter().any(|asked| asked.found || asked.silent);
        if any || system.name == FUSED {
            asked
        } else {
            Vec::new()
        }
    }

    fn found_nothing(&self, systems: &[System]) -> Vec<String> {
        let systems = systems.iter().enumerate();
        systems
            .filter(|(index, system)| {
                system.name != FUSED && self.counted(*index, system).is_empty()
            })
            .map(|(_, system)| system.name.clone())
            .collect()
    }

    fn system_figures(&self, systems: &[System], passages: bool) -> Vec<SystemFigures> {
        let mut figures = Vec::new();
        for (index, system) in systems.iter().enumerate() {
            let asked = self.counted(index, system);
            if asked.is_empty() {
                continue;
            }
            let silent = asked.iter().filter(|asked| asked.silent).count();
            let is_fused = system.name == FUSED;
            let interval = |measure: &dyn Fn(&Outcome) -> f64| {
                let values: Vec<f64> = asked.iter().map(|a| measure(&a.outcome)).collect();
                Interval::of(&values)
            };
            figures.push(SystemFigures {
                system: system.name.clone(),
                passage_recall_at_6: passages.then(|| interval(&|o| o.recall_at(SHOWN))),
                note_at_1: interval(&|o| o.note_at(1)),
                note_at_5: interval(&|o| o.note_at(5)),
                note_mrr: interval(&Outcome::reciprocal_rank),
                did_not_run: if is_fused { 0 } else { silent },
            });
        }
        figures
    }

    fn kinds(&self, fused: usize) -> Vec<KindFigures> {
        let answerable = self.items.iter().filter(|item| !item.wanted.is_empty());
        let kinds: BTreeSet<&str> = answerable.map(|item| item.kind.as_str()).collect();
        if kinds.iter().all(|kind| kind.is_empty()) {
            return Vec::new();
        }
        let figures = |kind: &str| {
            let asked = self.of(fused, |item| !item.wanted.is_empty() && item.kind == kind);
            let values = |measure: &dyn Fn(&Outcome) -> f64| -> Vec<f64> {
                asked.iter().map(|a| measure(&a.outcome)).collect()
            };
            KindFigures {
                kind: kind.to_string(),
                questions: asked.len(),
                passage_recall_at_6: Interval::of(&values(&|o| o.recall_at(SHOWN))),
                note_mrr: Interval::of(&values(&Outcome::reciprocal_rank)),
            }
        };
        kinds.into_iter().map(figures).collect()
    }

    fn misses(&self, fused: usize, fell: impl Fn(&Outcome) -> bool) -> Vec<Miss> {
        let rows = self.items.iter().zip(&self.rows);
        let wanting = rows.filter(|(item, _)| !item.wanted.is_empty());
        let outcomes = wanting.filter_map(|(item, row)| Some((item, &row.get(fused)?.outcome)));
        outcomes
            .filter(|(_, outcome)| fell(outcome))
            .map(|(item, outcome)| Miss {
                id: item.id.clone(),
                question: item.question.clone(),
                notes: item
                    .wanted
                    .iter()
                    .filter_map(|wanted| Some(wanted.notes.first()?.0.clone()))
                    .collect(),
                note_rank: outcome.notes.iter().flatten().min().copied(),
                passage_rank: outcome.passages.iter().flatten().min().copied(),
            })
            .collect()
    }
}

impl ConfidenceFigures {
    fn of(asked: &[&Asked]) -> ConfidenceFigures {
        let count = |wanted: Confidence| {
            let those = asked.iter().filter(|a| a.outcome.confidence == wanted);
            those.count()
        };
        ConfidenceFigures {
            strong: count(Confidence::Strong),
            weak: count(Confidence::Weak),
            none: count(Confidence::None),
        }
    }

    /// How many there are in all.
    pub fn total(&self) -> usize {
        self.strong + self.weak + self.none
    }
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}
