//! Nearness of notes by the vectors that the plugin Smart Connections left in the vault.

use std::sync::Arc;

use lorewell_index::IndexError;
use lorewell_retrieval::{Answer, LaneReport, LaneState, NearNotes, Request, WantedModel};
use lorewell_smart::SmartVectors;

use crate::View;

/// Whose vectors they are.
const PLUGIN: &str = "Smart Connections";
/// So many notes are told.
const MOST: usize = 32;
/// Of so many it is looked up whether the index has them.
const LOOKED_UP: usize = 256;
/// Less near than this, as a cosine without what all have in common, says nothing of a question.
const NEAR: f32 = 0.4;
/// A question is where the notes are that its words find first: so many.
const FOUND_FIRST: usize = 3;

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
            Some(vectors) => self.near_notes(&vectors, &[path], "the note"),
            None => Ok(None),
        }
    }

    /// Notes near to those that an answer found first, where the model had nothing to say of the
    /// question.
    pub(crate) fn near_to_answer(
        &self,
        request: &Request,
        answer: &Answer,
    ) -> Result<Option<NearNotes>, IndexError> {
        let is_silent = |report: &LaneReport| {
            let state = &report.state;
            let silent = matches!(
                state,
                LaneState::Abstained { .. } | LaneState::Unavailable { .. }
            );
            report.lane == lorewell_retrieval::Lane::Dense && silent
        };
        if request.near.is_some() || request.exact || !answer.lanes.iter().any(is_silent) {
            return Ok(None);
        }
        let Some(vectors) = self.plugin().flatten() else {
            return Ok(None);
        };
        let mut found: Vec<&str> = Vec::new();
        for passage in &answer.passages {
            let path = passage.note.path.as_str();
            if !found.contains(&path) && found.len() < FOUND_FIRST {
                found.push(path);
            }
        }
        let near = self.near_notes(&vectors, &found, "the notes that the words find first")?;
        Ok(near.map(|mut near| {
            near.notes.retain(|(_, cosine)| *cosine >= NEAR);
            near
        }))
    }

    fn near_notes(
        &self,
        vectors: &SmartVectors,
        paths: &[&str],
        to: &str,
    ) -> Result<Option<NearNotes>, IndexError> {
        let likeness = vectors.near(paths, LOOKED_UP);
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
        let Some(vectors) = self.plugin() else {
            return;
        };
        let why = match vectors {
            None => format!("the vault holds no vectors of {PLUGIN}"),
            Some(_) => format!("{PLUGIN} has no vector of the note as it is now"),
        };
        let model = report.model.clone().unwrap_or_default();
        report.wanted.get_or_insert(WantedModel {
            model: PLUGIN.to_string(),
            coverage: None,
        });
        if report.state == LaneState::Ok {
            report.state = LaneState::Partial {
                coverage: 1.0,
                reason: format!("{why}; {model} compares in its place"),
            };
        }
    }
}
