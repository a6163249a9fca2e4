//! Nearness of notes by the vectors that the plugin Smart Connections left in the vault.

use std::sync::Arc;

use lorewell_embed::Embedded;
use lorewell_index::IndexError;
use lorewell_retrieval::{Answer, LaneReport, LaneState, NearNotes, Request, WantedModel};
use lorewell_smart::{Likeness, SmartVectors};

use crate::View;

/// Whose vectors they are.
const PLUGIN: &str = "Smart Connections";
/// What is said where the vault has none of them.
const NO_VECTORS: &str = "the vault holds no vectors of Smart Connections";
/// So many notes are told.
const MOST: usize = 32;
/// Of so many it is looked up whether the index has them.
const LOOKED_UP: usize = 256;
/// Less near than this, as a cosine without what all have in common, says nothing of a question.
const NEAR: f32 = 0.4;
/// The same of a question by the plugin's own model. With MiniLM on three English vaults 13 notes are
/// that near to a question, and of the right notes among the first 32 three of four.
const NEAR_TO_QUESTION: f32 = 0.2;
/// A question is where the notes are that its words find first: so many.
const FOUND_FIRST: usize = 3;

/// What the plugin's vectors can do for a question that the model had nothing to say of.
pub(crate) enum StandIn {
    /// They are not wanted, or the model answered.
    Unasked,
    /// Notes that stand in for the dense lane.
    Notes(NearNotes),
    /// Nothing; why, for people.
    No(String),
}

/// What came of asking the plugin's own model.
enum Asked {
    /// The notes that are near to the question, and the model's name here.
    Near(Likeness, &'static str),
    /// Nothing; why, if the model is here.
    Not(String),
}

impl View<'_> {
    /// The plugin's vectors, where the settings ask for them.
    fn plugin(&self) -> Option<Option<Arc<SmartVectors>>> {
        let folder = self.host.smart.as_ref()?;
        Some(folder.vectors(self.totals().generation))
    }

    /// Notes near to a note, by the plugin's vectors; nothing where it has none of the note as it
    /// is now.
    pub(crate) fn near_by_plugin(&self, path: &str) -> Result<Option<NearNotes>, IndexError> {
        match self.plugin().flatten() {
            Some(vectors) => {
                let likeness = vectors.near(&[path], LOOKED_UP);
                self.near_notes(&vectors, likeness, "the note")
            }
            None => Ok(None),
        }
    }

    /// Notes near to a question that the model had nothing to say of: to the question itself, where
    /// the plugin's own model is here, and else to the notes that an answer found first.
    pub(crate) fn near_to_question(
        &self,
        request: &Request,
        answer: &Answer,
    ) -> Result<StandIn, IndexError> {
        if request.near.is_some() || request.exact || !answer.lanes.iter().any(is_silent) {
            return Ok(StandIn::Unasked);
        }
        let vectors = match self.plugin() {
            None => return Ok(StandIn::Unasked),
            Some(None) => return Ok(StandIn::No(NO_VECTORS.to_string())),
            Some(Some(vectors)) => vectors,
        };
        let (likeness, to, least) = match self.question_by_plugins_model(&vectors, request) {
            Asked::Near(likeness, model) => {
                let to = format!("the question, as {model} embeds it here");
                (likeness, to, NEAR_TO_QUESTION)
            }
            Asked::Not(why) => {
                let likeness = vectors.near(&first_notes(answer), LOOKED_UP);
                if likeness.of == 0 {
                    let none = match answer.passages.is_empty() {
                        true => "stands in from what the words find, and they find nothing",
                        false => "has no vector of the notes that the words find first",
                    };
                    return Ok(StandIn::No(format!("{PLUGIN} {none}{why}")));
                }
                let to = format!("the notes that the words find first{why}");
                (likeness, to, NEAR)
            }
        };
        let near = self.near_notes(&vectors, likeness, &to)?;
        Ok(near.map_or(StandIn::Unasked, |mut near| {
            near.notes.retain(|(_, cosine)| *cosine >= least);
            StandIn::Notes(near)
        }))
    }

    /// Embeds a question with the model that made the plugin's vectors, where it is here.
    fn question_by_plugins_model(&self, vectors: &SmartVectors, request: &Request) -> Asked {
        let find = self.host.models_by_name.as_ref();
        let model = match find.map_or(Ok(None), |find| find(vectors.model())) {
            Ok(Some(model)) => model,
            Ok(None) => return Asked::Not(String::new()),
            Err(reason) => {
                return Asked::Not(format!("; its own model cannot be asked: {reason}"));
            }
        };
        let why = match model.embed_question(&request.question) {
            Embedded::Vector(vector) => match vectors.near_to_text(&vector, LOOKED_UP) {
                likeness if likeness.of > 0 => return Asked::Near(likeness, model.model()),
                _ => "its vectors are of another length".to_string(),
            },
            Embedded::Failed { reason } | Embedded::Refused { reason } => reason,
            Embedded::Empty | Embedded::OutsideVocabulary { .. } => {
                "it has nothing to say of the question".to_string()
            }
        };
        Asked::Not(format!("; {} was asked: {why}", model.model()))
    }

    fn near_notes(
        &self,
        vectors: &SmartVectors,
        likeness: Likeness,
        to: &str,
    ) -> Result<Option<NearNotes>, IndexError> {
        if likeness.of == 0 {
            return Ok(None);
        }
        let mut notes = Vec::with_capacity(likeness.neighbours.len());
        for neighbour in likeness.neighbours {
            // What is left out of the index is not named.
            if let Some(note) = self.snapshot.note_at(&neighbour.path)? {
                notes.push((note.id, neighbour.cosine));
            }
        }
        notes.truncate(MOST);
        let (having, all) = (vectors.len() as u64, self.totals().notes.max(1));
        let having = having.min(all);
        let reason = format!(
            "by vectors of {PLUGIN}, of {}, which {having} of {all} notes have as they are; near to {to}",
            vectors.model()
        );
        Ok(Some(NearNotes {
            model: format!("{} ({PLUGIN})", vectors.model()),
            state: LaneState::Partial {
                coverage: having as f32 / all as f32,
                reason,
            },
            notes,
        }))
    }

    /// Says in a report that the plugin's vectors were asked for and could not be used.
    pub(crate) fn say_plugin_is_away(&self, report: &mut LaneReport) {
        match self.plugin() {
            None => {}
            Some(None) => say_no_help(report, NO_VECTORS),
            Some(Some(_)) => {
                let why = format!("{PLUGIN} has no vector of the note as it is now");
                say_no_help(report, &why);
            }
        }
    }
}

/// Says in the report of a silent dense lane why the plugin's vectors could not stand in.
pub(crate) fn say_no_stand_in(answer: &mut Answer, why: &str) {
    let silent = answer.lanes.iter_mut().filter(|report| is_silent(report));
    silent.for_each(|report| say_no_help(report, why));
}

fn say_no_help(report: &mut LaneReport, why: &str) {
    let model = report.model.clone().unwrap_or_default();
    report.wanted.get_or_insert(WantedModel {
        model: PLUGIN.to_string(),
        coverage: None,
    });
    match &mut report.state {
        LaneState::Ok => {
            report.state = LaneState::Partial {
                coverage: 1.0,
                reason: format!("{why}; {model} compares in its place"),
            };
        }
        LaneState::Partial { reason, .. }
        | LaneState::Abstained { reason }
        | LaneState::Unavailable { reason } => *reason = format!("{reason}; {why}"),
        LaneState::Off => {}
    }
}

/// Whether the model had nothing to say of a question.
fn is_silent(report: &LaneReport) -> bool {
    let silent = matches!(
        report.state,
        LaneState::Abstained { .. } | LaneState::Unavailable { .. }
    );
    report.lane == lorewell_retrieval::Lane::Dense && silent
}

/// The notes that an answer found first.
fn first_notes(answer: &Answer) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    for passage in &answer.passages {
        let path = passage.note.path.as_str();
        if !found.contains(&path) && found.len() < FOUND_FIRST {
            found.push(path);
        }
    }
    found
}
