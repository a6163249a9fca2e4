//! The recent lane: of the passages that the first round found, those of newer notes rise.

use lorewell_text::Day;

use super::{Ground, Seed};
use crate::error::RetrievalError;
use crate::lane::{Lane, LaneHit, LaneResult, LaneState};

/// After so many days a note counts half as much.
const HALF_LIFE: f32 = 180.0;
/// The time of a file says when it was touched, not when it was written: it counts so much.
const FILE_TIME: f32 = 0.5;

/// Scores the passages of the first round by the date of their notes.
///
/// The newest date that a property or a name gives, or `today` if that is later, is the day from
/// which ages count; a file's time in the future counts as today.
pub(crate) fn run(
    ground: &Ground<'_>,
    seeds: &[Seed],
    today: Option<Day>,
) -> Result<LaneResult, RetrievalError> {
    let mut dated = Vec::with_capacity(seeds.len());
    for (note, seeds) in ground.by_note(seeds)? {
        let Some(date) = ground.snapshot.date_of(note)? else {
            continue;
        };
        let told = date.source != "file time";
        if let Some(day) = Day::parse(&date.day) {
            dated.push((day.to_epoch(), told, seeds));
        }
    }
    let now = today.map(|day| day.to_epoch());
    let newest = dated.iter().filter(|d| d.1 || now.is_none()).map(|d| d.0);
    let newest = newest.chain(now).max().unwrap_or_default();
    let mut result = LaneResult::new(Lane::Recent, LaneState::Ok, Vec::new());
    for (day, told, seeds) in dated {
        let day = if told {
            day
        } else {
            day.min(now.unwrap_or(day))
        };
        let age = (newest - day).max(0) as f32;
        let weight = if told { 1.0 } else { FILE_TIME };
        let score = weight * 0.5_f32.powf(age / HALF_LIFE);
        let hits = seeds.iter().map(|seed| LaneHit::new(seed.passage, score));
        result.hits.extend(hits);
    }
    result.in_order_of(seeds);
    Ok(result)
}
