//! The dense lane: cosine over int8 vectors; exact, and in two stages where there are many.

use lorewell_embed::{Embedded, Embedder};
use lorewell_index::Snapshot;

use super::Ground;
use crate::error::RetrievalError;
use crate::lane::{Lane, LaneHit, LaneResult, LaneState};
use crate::request::NearNotes;

/// What the lane found, with the question's vector for later scores.
pub(crate) struct DenseResult {
    pub(crate) result: LaneResult,
    pub(crate) question: Option<Vec<f32>>,
}

/// Runs the lane.
pub(crate) fn run(
    ground: &Ground<'_>,
    embedder: &dyn Embedder,
    question: &str,
    depth: usize,
) -> Result<DenseResult, RetrievalError> {
    let snapshot = ground.snapshot;
    let silent = |state| DenseResult {
        result: with_model(state, Vec::new(), embedder),
        question: None,
    };
    let vector = match embedder.embed_question(question) {
        Embedded::Vector(vector) => vector,
        Embedded::OutsideVocabulary { coverage } => {
            let reason = format!(
                "{} knows {:.0} % of the question's words",
                embedder.model(),
                coverage * 100.0
            );
            return Ok(silent(LaneState::Abstained { reason }));
        }
        Embedded::Refused { reason } | Embedded::Failed { reason } => {
            let reason = format!("{} did not take the question: {reason}", embedder.model());
            return Ok(silent(LaneState::Unavailable { reason }));
        }
        Embedded::Empty => {
            return Ok(DenseResult {
                result: nothing_to_ask(embedder),
                question: None,
            });
        }
    };
    let with_rows = snapshot.vectors().filter(|(_, live)| live.count() > 0);
    let Some((reader, live)) = with_rows else {
        let state = if snapshot.totals().passages == 0 {
            LaneState::Ok
        } else {
            LaneState::Unavailable {
                reason: why_no_vectors(snapshot, embedder),
            }
        };
        return Ok(silent(state));
    };
    let mut rows = live.clone();
    if let Some(allowed) = &ground.allowed {
        rows.intersect(&allowed.rows);
    }
    let mut hits = Vec::with_capacity(depth);
    for scored in reader.nearest(&vector, depth, Some(&rows)) {
        if !reader.is_intact(scored.row) {
            let reason =
                "vectors on disk are damaged; `lorewell rebuild` makes them anew".to_string();
            return Ok(silent(LaneState::Unavailable { reason }));
        }
        for passage in snapshot.passages_of_row(scored.row)? {
            if ground.may(passage) {
                hits.push(LaneHit::new(passage, scored.score));
            }
        }
    }
    hits.truncate(depth);
    Ok(DenseResult {
        result: with_model(state(snapshot, embedder), hits, embedder),
        question: Some(vector),
    })
}

/// Why a generation with passages has no vectors to look at.
pub(crate) fn why_no_vectors(snapshot: &Snapshot, embedder: &dyn Embedder) -> String {
    let model = embedder.model();
    match snapshot.lost_vectors() {
        Some(what) => format!(
            "the vectors of {model} are damaged ({what}); `lorewell rebuild` makes them anew"
        ),
        None => format!("no passage has a vector of {model}"),
    }
}

/// The lane by vectors of whole notes that another program made: of each note its first passage.
pub(crate) fn stand_in(
    ground: &Ground<'_>,
    near: &NearNotes,
    depth: usize,
) -> Result<LaneResult, RetrievalError> {
    let mut hits = Vec::new();
    for (note, cosine) in &near.notes {
        let passages = ground.snapshot.passages_of(*note)?;
        let first = passages.into_iter().find(|passage| ground.may(*passage));
        hits.extend(first.map(|passage| LaneHit::new(passage, *cosine)));
    }
    hits.truncate(depth);
    let mut result = LaneResult::new(Lane::Dense, near.state.clone(), hits);
    result.report.model = Some(near.model.clone());
    Ok(result)
}

/// The lane where the question has no words.
pub(crate) fn nothing_to_ask(embedder: &dyn Embedder) -> LaneResult {
    let reason = "the question has nothing to look for".to_string();
    with_model(LaneState::Abstained { reason }, Vec::new(), embedder)
}

/// How much of the passages the lane could see.
pub(crate) fn state(snapshot: &Snapshot, embedder: &dyn Embedder) -> LaneState {
    let Some(model) = snapshot.model() else {
        return LaneState::Ok;
    };
    let all = model.embedded + model.outside + model.missing + model.refused;
    let mut reasons = Vec::new();
    if model.missing > 0 {
        reasons.push(format!(
            "{} of {all} passages have no vector of {} yet",
            model.missing,
            embedder.model()
        ));
    }
    if model.refused > 0 {
        reasons.push(format!(
            "{} of {all} passages were refused by {}",
            model.refused,
            embedder.model()
        ));
    }
    if model.outside > 0 {
        reasons.push(format!(
            "{} of {all} passages are in words that {} does not know",
            model.outside,
            embedder.model()
        ));
    }
    if reasons.is_empty() {
        return LaneState::Ok;
    }
    let coverage = model.embedded as f32 / all as f32;
    let reason = reasons.join("; ");
    LaneState::Partial { coverage, reason }
}

fn with_model(state: LaneState, hits: Vec<LaneHit>, embedder: &dyn Embedder) -> LaneResult {
    let mut result = LaneResult::new(Lane::Dense, state, hits);
    result.report.model = Some(embedder.model().to_string());
    result
}
