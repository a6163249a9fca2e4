//! What is asked in one measurement, be it a question of a file or a probe.

use lorewell_engine::{Answer, EngineError, LaneState, View};

use crate::asking::SHOWN;
use crate::outcome::{DEPTH, Outcome};
use crate::probe::Probe;
use crate::question::{Question, Wanted};
use crate::system::System;

/// A question with what its answer should bring.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) id: String,
    pub(crate) question: String,
    pub(crate) kind: String,
    /// Nothing, where nothing answers it.
    pub(crate) wanted: Vec<Wanted>,
    /// Notes that are left out of the ranking.
    pub(crate) passed_over: Vec<String>,
}

/// What one system did with an item.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) outcome: Outcome,
    /// Whether it found anything at all.
    pub(crate) found: bool,
    /// Whether a lane abstained or could not run.
    pub(crate) silent: bool,
}

impl Item {
    pub(crate) fn of_question(question: &Question) -> Item {
        Item {
            id: question.id.clone(),
            question: question.question.clone(),
            kind: question.kind.clone(),
            wanted: question.wanted(),
            passed_over: Vec::new(),
        }
    }

    pub(crate) fn of_probe(probe: &Probe) -> Item {
        let target = (probe.target.clone(), String::new());
        Item {
            id: probe.id.clone(),
            question: probe.question.clone(),
            kind: String::new(),
            wanted: vec![Wanted {
                notes: vec![target],
            }],
            passed_over: probe.passed_over.clone(),
        }
    }

    /// Asks a system, deep enough that as many passages are left as are judged.
    pub(crate) fn ask(&self, view: &View<'_>, system: &System) -> Result<Asked, EngineError> {
        let mut request = system.request(&self.question, DEPTH);
        request.limit += self.passed_over.len() * request.settings.max_per_note;
        let mut answer = view.search(&request)?;
        let found = !answer.passages.is_empty();
        self.pass_over(&mut answer);
        let silent = answer.lanes.iter().any(|lane| {
            matches!(
                lane.state,
                LaneState::Abstained { .. } | LaneState::Unavailable { .. }
            )
        });
        Ok(Asked {
            outcome: Outcome::judge(&answer, &self.wanted),
            found,
            silent,
        })
    }

    /// The same with the score and confidence of the answer that people see.
    pub(crate) fn ask_as_shown(
        &self,
        view: &View<'_>,
        system: &System,
    ) -> Result<Asked, EngineError> {
        let mut asked = self.ask(view, system)?;
        let shown = view.search(&system.request(&self.question, SHOWN))?;
        asked.outcome.score = shown.passages.iter().map(|p| p.score).fold(0.0, f32::max);
        asked.outcome.confidence = shown.confidence;
        Ok(asked)
    }

    /// Takes the notes that are passed over out of the ranking. A passage of one that stands for
    /// copies in other notes stays, for these.
    fn pass_over(&self, answer: &mut Answer) {
        if self.passed_over.is_empty() {
            return;
        }
        let passed = |path: &str| self.passed_over.iter().any(|over| over == path);
        for passage in &mut answer.passages {
            passage.copies.retain(|copy| !passed(copy));
        }
        answer
            .passages
            .retain(|found| !passed(found.note.path.as_str()) || !found.copies.is_empty());
        answer.passages.truncate(DEPTH);
    }
}
