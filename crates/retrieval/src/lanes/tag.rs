//! The tag lane: notes that share rare tags with a hit rise.

use rustc_hash::FxHashMap;

use super::{Ground, Seed};
use crate::error::RetrievalError;
use crate::lane::{Lane, LaneHit, LaneResult, LaneState, Reason};

/// So many notes of the first round pass something on to those that share their tags.
const SEEDS: usize = 8;
/// A tag that a larger share of all notes bears says nothing.
const COMMONEST: f32 = 0.1;

/// Lifts the passages of the first round whose notes share tags with its best notes. A tag is
/// worth its inverse document frequency among notes; the note that gave it is not lifted by it
/// alone.
pub(crate) fn run(ground: &Ground<'_>, seeds: &[Seed]) -> Result<LaneResult, RetrievalError> {
    let snapshot = ground.snapshot;
    let best = ground.notes_of(seeds, SEEDS)?;
    let worth: FxHashMap<u32, f32> = best.iter().map(|seed| (seed.note, seed.worth)).collect();
    let by_note = ground.by_note(seeds)?;
    let numbers: Vec<u32> = by_note.keys().copied().collect();
    let mut bearers: FxHashMap<String, Vec<u32>> = FxHashMap::default();
    for tag in snapshot.tags_of(&numbers)? {
        bearers.entry(tag.key).or_default().push(tag.note);
    }
    let notes = snapshot.totals().notes as f32;
    let mut lifted: FxHashMap<u32, Vec<(f32, String)>> = FxHashMap::default();
    for (tag, bearers) in bearers {
        // In an order that does not depend on the numbers of notes, as sums do.
        let mut worths: Vec<f32> = { bearers.iter() }
            .filter_map(|note| worth.get(note).copied())
            .collect();
        worths.sort_by(f32::total_cmp);
        let given: f32 = worths.iter().sum();
        if bearers.len() < 2 || given == 0.0 {
            continue;
        }
        let frequency = snapshot.notes_with_tag_count(&tag)? as f32;
        if frequency > (notes * COMMONEST).max(3.0) {
            continue;
        }
        let idf = (1.0 + (notes - frequency + 0.5) / (frequency + 0.5)).ln();
        for note in bearers {
            let own = worth.get(&note).copied().unwrap_or_default();
            let score = idf * (given - own);
            if score > 0.0 {
                lifted.entry(note).or_default().push((score, tag.clone()));
            }
        }
    }
    let mut result = LaneResult::new(Lane::Tag, LaneState::Ok, Vec::new());
    for (note, seeds) in by_note {
        let Some(tags) = lifted.get_mut(&note) else {
            continue;
        };
        tags.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        let score: f32 = tags.iter().map(|(score, _)| score).sum();
        let tags: Vec<String> = tags.iter().map(|(_, tag)| tag.clone()).collect();
        for seed in seeds {
            result.hits.push(LaneHit::new(seed.passage, score));
            result
                .reasons
                .insert(seed.passage, Reason::Tags(tags.clone()));
        }
    }
    result.in_order_of(seeds);
    Ok(result)
}
