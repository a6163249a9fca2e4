//! Nearness of meaning: the note's own vectors against those of all other passages.

use lorewell_embed::Embedder;
use lorewell_index::Snapshot;
use lorewell_vectors::{RowSet, VectorReader};
use rustc_hash::FxHashMap;

use super::subject::Subject;
use crate::error::RetrievalError;
use crate::lane::LaneState;
use crate::lanes::dense;
use crate::request::NearNotes;

/// So many rows are looked at, besides the note's own.
const DEPTH: usize = 96;

/// The mean of all vectors is taken from about so many.
const SAMPLE: u32 = 512;

/// Less nearness than this is none, as a cosine of vectors without what all have in common.
const FAR: f32 = 0.25;

/// More than this is the same.
const NEAR: f32 = 0.75;

/// How near another note is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Near {
    /// Its nearest passage.
    pub(crate) passage: u32,
    /// The cosine of that passage.
    pub(crate) cosine: f32,
    /// 0 to 1.
    pub(crate) strength: f32,
}

/// What the vectors say.
pub(crate) struct Meaning {
    pub(crate) state: LaneState,
    pub(crate) notes: FxHashMap<u32, Near>,
}

/// Compares the mean of the subject's vectors, without what all vectors of the vault have in
/// common, with every passage of other notes that is in `within`.
pub(crate) fn meaning(
    snapshot: &Snapshot,
    embedder: &dyn Embedder,
    subject: &Subject,
    within: Option<&RowSet>,
) -> Result<Meaning, RetrievalError> {
    let silent = |state| Meaning {
        state,
        notes: FxHashMap::default(),
    };
    let Some((reader, live)) = snapshot.vectors() else {
        let reason = dense::why_no_vectors(snapshot, embedder);
        return Ok(silent(LaneState::Unavailable { reason }));
    };
    let mut own = Vec::new();
    for passage in &subject.passages {
        own.extend(snapshot.row_of_passage(passage.id)?);
    }
    if own.is_empty() {
        return Ok(silent(no_vector(snapshot, embedder, subject)));
    }
    if !own.iter().all(|row| reader.is_intact(*row)) {
        let reason = "vectors on disk are damaged; `lorewell rebuild` makes them anew".to_string();
        return Ok(silent(LaneState::Unavailable { reason }));
    }
    let question = difference(&mean(reader, &own), &mean(reader, &sample(reader, live)));
    let mut rows = live.clone();
    if let Some(within) = within {
        rows.intersect(within);
    }
    let mut notes: FxHashMap<u32, Near> = FxHashMap::default();
    for scored in reader.nearest(&question, DEPTH + own.len(), Some(&rows)) {
        if !reader.is_intact(scored.row) {
            let reason =
                "vectors on disk are damaged; `lorewell rebuild` makes them anew".to_string();
            return Ok(silent(LaneState::Unavailable { reason }));
        }
        for passage in snapshot.passages_of_row(scored.row)? {
            let Some(note) = snapshot.note_of_passage(passage)? else {
                continue;
            };
            // Rows come nearest first.
            if note != subject.note.id && scored.score > FAR {
                notes.entry(note).or_insert(Near {
                    passage,
                    cosine: scored.score,
                    strength: strength(scored.score),
                });
            }
        }
    }
    Ok(Meaning {
        state: dense::state(snapshot, embedder),
        notes,
    })
}

/// The same by vectors of whole notes that another program made. A note's first passage stands for
/// it.
pub(crate) fn by_notes(snapshot: &Snapshot, near: &NearNotes) -> Result<Meaning, RetrievalError> {
    let mut notes = FxHashMap::default();
    for (note, cosine) in near.notes.iter().filter(|(_, cosine)| *cosine > FAR) {
        let Some(passage) = snapshot.passages_of(*note)?.into_iter().next() else {
            continue;
        };
        let near = Near {
            passage,
            cosine: *cosine,
            strength: strength(*cosine),
        };
        notes.insert(*note, near);
    }
    let state = near.state.clone();
    Ok(Meaning { state, notes })
}

/// What a cosine is worth, 0 to 1.
fn strength(cosine: f32) -> f32 {
    ((cosine - FAR) / (NEAR - FAR)).min(1.0)
}

/// Why no passage of the note has a vector.
fn no_vector(snapshot: &Snapshot, embedder: &dyn Embedder, subject: &Subject) -> LaneState {
    let model = embedder.model();
    if subject.passages.is_empty() {
        let reason = "the note holds nothing that is its own".to_string();
        return LaneState::Abstained { reason };
    }
    if snapshot.model().is_some_and(|model| model.missing > 0) {
        let reason = format!("the note has no vector of {model} yet");
        return LaneState::Unavailable { reason };
    }
    let reason = format!("the note is in words that {model} does not know");
    LaneState::Abstained { reason }
}

/// The sum of unit vectors over their number. In the order that is given, and in double precision,
/// so that the same rows give the same mean.
fn mean(reader: &VectorReader, rows: &[u32]) -> Vec<f32> {
    let mut sum = vec![0.0f64; reader.dimension()];
    for row in rows {
        for (sum, value) in sum.iter_mut().zip(reader.vector(*row)) {
            *sum += f64::from(value);
        }
    }
    let count = rows.len().max(1) as f64;
    sum.into_iter().map(|sum| (sum / count) as f32).collect()
}

fn difference(one: &[f32], other: &[f32]) -> Vec<f32> {
    one.iter().zip(other).map(|(a, b)| a - b).collect()
}

/// Live rows that stand for all: chosen and ordered by their keys, so that it does not matter in
/// which order rows were written.
fn sample(reader: &VectorReader, live: &RowSet) -> Vec<u32> {
    let step = u64::from((live.count() / SAMPLE).max(1));
    let mut chosen: Vec<(lorewell_vectors::Key, u32)> = live
        .iter()
        .filter_map(|row| Some((reader.key(row)?, row)))
        .filter(|(key, _)| {
            let head = key
                .iter()
                .take(8)
                .fold(0u64, |head, byte| head << 8 | u64::from(*byte));
            head.is_multiple_of(step)
        })
        .collect();
    chosen.sort_unstable();
    chosen.into_iter().map(|(_, row)| row).collect()
}
