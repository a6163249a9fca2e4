//! Words that go together: what other terms the passages of a term have.

use rustc_hash::FxHashMap;

use crate::error::SegmentError;
use crate::forward::{ordinals, terms_at};
use crate::score::document_frequency;
use crate::search::{QueryTerm, search};
use crate::segment::Live;

/// The passages of a term that were looked at, and what else they have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// How many passages were looked at.
    pub passages: u32,
    /// Terms that at least `together` of them have, in byte order.
    pub neighbours: Vec<Neighbour>,
}

/// A term that stands in passages of another.
#[derive(Clone, Debug, PartialEq)]
pub struct Neighbour {
    /// The term.
    pub term: String,
    /// In how many of the passages that were looked at.
    pub together: u32,
    /// In how many live passages in all.
    pub document_frequency: u32,
}

/// The terms that stand in at least `least` of the best `most` passages of a term, and in at most
/// `common` passages in all. What is returned depends on the live passages alone, not on how they
/// are spread over segments.
///
/// # Errors
/// If a block that must be read is damaged.
pub fn neighbours(
    segments: &[Live<'_>],
    term: &str,
    most: usize,
    least: u32,
    common: u32,
) -> Result<Sample, SegmentError> {
    let asked = QueryTerm {
        term: term.to_string(),
        weight: 1.0,
    };
    let hits = search(segments, std::slice::from_ref(&asked), most, None)?;
    let mut counted: Vec<FxHashMap<u32, u32>> = vec![FxHashMap::default(); segments.len()];
    for hit in &hits {
        for (live, counted) in segments.iter().zip(&mut counted) {
            let doc = live.segment.doc_of(hit.passage)?;
            let alive = |doc: &u32| live.dead.is_none_or(|dead| !dead.contains(*doc));
            if let Some(doc) = doc.filter(alive) {
                ordinals(live.segment, doc, |ordinal| {
                    *counted.entry(ordinal).or_default() += 1;
                })?;
                break;
            }
        }
    }
    let mut together: FxHashMap<String, u32> = FxHashMap::default();
    let alone = counted.iter().filter(|counted| !counted.is_empty()).count() < 2;
    for (live, counted) in segments.iter().zip(counted) {
        // Only where several segments have passages must rare terms of one be counted on.
        let mut found: Vec<(u32, u32)> = counted
            .into_iter()
            .filter(|(_, count)| !alone || *count >= least)
            .collect();
        found.sort_unstable();
        let dead = live.dead.map_or(0, |dead| dead.count());
        let places: Vec<u32> = found.iter().map(|(ordinal, _)| *ordinal).collect();
        for (entry, (_, count)) in terms_at(live.segment, &places)?.into_iter().zip(found) {
            // Dead passages are counted in `passages`; what is too common even without them is
            // too common in all.
            if entry.passages.saturating_sub(dead) <= common {
                *together.entry(entry.term).or_default() += count;
            }
        }
    }
    let mut list = Vec::new();
    for (found, count) in together {
        if count < least || found == term {
            continue;
        }
        let document_frequency = document_frequency(segments, &found)?;
        if document_frequency <= common {
            list.push(Neighbour {
                term: found,
                together: count,
                document_frequency,
            });
        }
    }
    list.sort_unstable_by(|a, b| a.term.cmp(&b.term));
    Ok(Sample {
        passages: hits.len() as u32,
        neighbours: list,
    })
}
