//! No question, but filters: the notes within them, newest first. Nothing is ranked.

use crate::RetrievalError;
use crate::answer::{Answer, AnswerPassage, Confidence};
use crate::fusion::Fused;
use crate::lane::{Lane, LaneReport, LaneState};
use crate::page::Candidate;
use crate::walk::Search;

/// Said of a list that answers no question.
const NOTICE: &str = "No question: the notes in scope, newest first.";

/// The first passage of each note in scope, the newest note first, of one date by path; `None`
/// where there is a question, or nothing that narrows which notes are asked. The score of each is 0:
/// nothing was asked that it could answer.
///
/// # Errors
/// Only if the index cannot be read.
pub(crate) fn run(search: &Search<'_>) -> Result<Option<Answer>, RetrievalError> {
    let request = search.request;
    let Some(allowed) = &search.ground.allowed else {
        return Ok(None);
    };
    if !request.question.trim().is_empty() || !search.aids.is_empty() {
        return Ok(None);
    }
    let notes = search.ground.snapshot.notes_newest_first()?;
    let mut notes = notes
        .into_iter()
        .filter(|note| allowed.notes.contains(note))
        .skip(request.offset);
    let mut passages = Vec::with_capacity(request.limit);
    for note in notes.by_ref().take(request.limit) {
        let rank = request.offset + passages.len() + 1;
        passages.extend(first_passage(search, note, rank)?);
    }
    let is_empty = request.offset == 0 && passages.is_empty();
    Ok(Some(Answer {
        confidence: if is_empty {
            Confidence::None
        } else {
            Confidence::Weak
        },
        lanes: Lane::ALL.into_iter().map(off).collect(),
        degraded: Vec::new(),
        reranked_by: None,
        notice: if is_empty {
            search.notice()
        } else {
            Some(NOTICE.to_string())
        },
        more: notes.next().is_some(),
        passages,
    }))
}

fn off(lane: Lane) -> LaneReport {
    LaneReport {
        lane,
        state: LaneState::Off,
        model: None,
        wanted: None,
    }
}

/// The first passage of a note that may be in the answer.
fn first_passage(
    search: &Search<'_>,
    note: u32,
    rank: usize,
) -> Result<Option<AnswerPassage>, RetrievalError> {
    let snapshot = search.ground.snapshot;
    let passages = snapshot.passages_of(note)?;
    let Some(first) = passages.into_iter().find(|id| search.ground.may(*id)) else {
        return Ok(None);
    };
    let Some(passage) = snapshot.passage(first)? else {
        return Ok(None);
    };
    let fused = Fused {
        order: None,
        relevance: None,
        place: None,
        passage: first,
        value: 0.0,
        standing: 1.0,
        trace: Vec::new(),
    };
    let candidate = Candidate {
        fused,
        passage,
        copies: Vec::new(),
    };
    let listed = search.present(&search.explainer()?, rank, candidate)?;
    Ok(Some(AnswerPassage {
        score: 0.0,
        ..listed
    }))
}
