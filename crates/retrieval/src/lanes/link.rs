//! The link lane: notes that a hit links to, or that link to it, rise.

use rustc_hash::FxHashMap;

use super::{Ground, Seed};
use crate::error::RetrievalError;
use crate::lane::{Lane, LaneHit, LaneResult, LaneState, Reason};

/// So many notes of the first round pass something on to their neighbours.
const SEEDS: usize = 4;
/// So many notes between are named.
const NAMED: usize = 3;

/// Lifts the passages of the first round whose notes are linked with its best notes.
///
/// A note passes on its worth, divided by how many neighbours it has: a link of a page with
/// hundreds of them says little. Of a neighbour, each passage is lifted by that and by its own
/// worth.
pub(crate) fn run(ground: &Ground<'_>, seeds: &[Seed]) -> Result<LaneResult, RetrievalError> {
    let best = ground.notes_of(seeds, SEEDS)?;
    let worth: FxHashMap<u32, f32> = best.iter().map(|seed| (seed.note, seed.worth)).collect();
    let numbers: Vec<u32> = best.iter().map(|seed| seed.note).collect();
    let edges = ground.snapshot.link_neighbours(&numbers)?;
    let mut pairs: Vec<(u32, u32)> = edges
        .iter()
        .flat_map(|edge| [(edge.from, edge.to), (edge.to, edge.from)])
        .filter(|(seed, _)| worth.contains_key(seed))
        .collect();
    pairs.sort_unstable();
    pairs.dedup();
    let mut degree: FxHashMap<u32, f32> = FxHashMap::default();
    for (seed, _) in &pairs {
        *degree.entry(*seed).or_default() += 1.0;
    }
    let mut lifted: FxHashMap<u32, Vec<(f32, u32)>> = FxHashMap::default();
    for (seed, neighbour) in pairs {
        let share = worth.get(&seed).copied().unwrap_or_default()
            / degree.get(&seed).copied().unwrap_or(1.0);
        lifted.entry(neighbour).or_default().push((share, seed));
    }
    let mut result = LaneResult::new(Lane::Link, LaneState::Ok, Vec::new());
    for (note, seeds) in ground.by_note(seeds)? {
        let Some(via) = lifted.get_mut(&note) else {
            continue;
        };
        // Nothing may depend on the numbers of notes: neither which are named, nor the last digit
        // of a sum.
        let place = |note: u32| numbers.iter().position(|number| *number == note);
        via.sort_by(|a, b| {
            let places = || place(a.1).cmp(&place(b.1));
            b.0.total_cmp(&a.0).then_with(places)
        });
        let score: f32 = via.iter().map(|(share, _)| share).sum();
        let via: Vec<u32> = via.iter().take(NAMED).map(|(_, note)| *note).collect();
        for seed in seeds {
            let score = score * seed.worth;
            result.hits.push(LaneHit::new(seed.passage, score));
            result
                .reasons
                .insert(seed.passage, Reason::Via(via.clone()));
        }
    }
    result.in_order_of(seeds);
    Ok(result)
}
