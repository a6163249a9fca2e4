//! Words that go together: what other terms the passages of a term have.

use std::cell::Cell;
use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use crate::dictionary::find;
use crate::error::SegmentError;
use crate::forward::{ordinals, terms_at};
use crate::score::{dead_docs, live_count};
use crate::search::{QueryTerm, search};
use crate::segment::{Live, Segment, place};

thread_local! {
    /// How often each term of a segment was met, all 0 between calls.
    static COUNTS: Cell<Vec<u32>> = const { Cell::new(Vec::new()) };
}

/// The passages of a term that were looked at, and what else they have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// How many passages were looked at.
    pub passages: u32,
    /// Other terms that they have, the worthiest first.
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
    /// What it is worth.
    pub worth: f32,
}

/// Which neighbours are wanted.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// So many passages of the term are looked at: its best by BM25.
    pub passages: usize,
    /// A neighbour stands in so many of them at least.
    pub together: u32,
    /// And in so many passages in all at most.
    pub common: u32,
    /// So many neighbours at most.
    pub neighbours: usize,
}

/// The worthiest terms that stand in passages of `term`. `worth`, of how many passages have both,
/// how many were looked at, and the other's document frequency, must grow with the first and not
/// grow with the last; what is worth nothing is left out. Equal ones are in byte order.
///
/// What is returned depends on the live passages alone, not on how they are spread over segments.
///
/// # Errors
/// If a block that must be read is damaged.
pub fn neighbours(
    segments: &[Live<'_>],
    term: &str,
    wanted: Wanted,
    worth: impl Fn(u32, u32, u32) -> f32,
) -> Result<Sample, SegmentError> {
    let asked = QueryTerm {
        term: term.to_string(),
        weight: 1.0,
    };
    let hits = search(
        segments,
        std::slice::from_ref(&asked),
        wanted.passages,
        None,
    )?;
    let mut places: Vec<Vec<u32>> = vec![Vec::new(); segments.len()];
    for hit in &hits {
        if let Some((segment, doc)) = place(segments, hit.passage)?
            && let Some(places) = places.get_mut(segment)
        {
            places.push(doc);
        }
    }
    let mut search = Search {
        segments,
        dead: segments.iter().map(dead_docs).collect(),
        term,
        wanted,
        passages: hits.len() as u32,
        worth,
        best: Vec::new(),
    };
    search.run(&places)?;
    Ok(Sample {
        passages: search.passages,
        neighbours: search.best,
    })
}

/// A term that was met.
#[derive(Clone, Copy, Debug)]
struct Met {
    /// A segment that has it, and its ordinal there.
    segment: usize,
    ordinal: u32,
    /// In how many of the passages that are looked at.
    together: u32,
    /// In at least so many live passages in all.
    frequency: u32,
}

/// One search for neighbours.
struct Search<'a, W> {
    segments: &'a [Live<'a>],
    /// The dead documents of each segment.
    dead: Vec<Vec<u32>>,
    term: &'a str,
    wanted: Wanted,
    passages: u32,
    worth: W,
    /// The worthiest so far.
    best: Vec<Neighbour>,
}

impl<W: Fn(u32, u32, u32) -> f32> Search<'_, W> {
    /// `places`: the documents to look at in each segment.
    fn run(&mut self, places: &[Vec<u32>]) -> Result<(), SegmentError> {
        let mut levels: Vec<Vec<Met>> = vec![Vec::new(); self.passages as usize + 1];
        for met in self.met(places)? {
            if let Some(level) = levels.get_mut(met.together as usize) {
                level.push(met);
            }
        }
        // From the greatest count down, until no count can be worth enough any more.
        let least = self.wanted.together.max(1);
        for (count, level) in levels.into_iter().enumerate().rev() {
            let count = count as u32;
            if count < least || !self.could_take((self.worth)(count, self.passages, count)) {
                break;
            }
            for met in level {
                let most = (self.worth)(count, self.passages, met.frequency.max(count));
                if met.frequency <= self.wanted.common && most > 0.0 && self.could_take(most) {
                    let segment = self.segments[met.segment].segment;
                    for entry in terms_at(segment, &[met.ordinal])? {
                        self.consider(entry.term, count)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The terms of the documents, the same term of several segments as one.
    fn met(&self, places: &[Vec<u32>]) -> Result<Vec<Met>, SegmentError> {
        let mut all: Vec<Met> = Vec::new();
        let mut by_hash: FxHashMap<u64, usize> = FxHashMap::default();
        let alone = places.iter().filter(|docs| !docs.is_empty()).count() < 2;
        for (at, docs) in places.iter().enumerate() {
            let segment = self.segments[at].segment;
            for (ordinal, together) in Counts::of(segment, docs)?.all() {
                // Dead passages are counted in a segment: at least so many are left.
                let frequency = segment.frequency(ordinal)?;
                let met = Met {
                    segment: at,
                    ordinal,
                    together,
                    frequency: frequency.saturating_sub(self.dead[at].len() as u32),
                };
                if alone {
                    all.push(met);
                    continue;
                }
                match by_hash.entry(segment.hash(ordinal)?) {
                    Entry::Vacant(new) => {
                        new.insert(all.len());
                        all.push(met);
                    }
                    Entry::Occupied(known) => {
                        let known = &mut all[*known.get()];
                        known.together += met.together;
                        known.frequency += met.frequency;
                    }
                }
            }
        }
        Ok(all)
    }

    fn consider(&mut self, term: String, together: u32) -> Result<(), SegmentError> {
        if together < self.wanted.together || term == self.term {
            return Ok(());
        }
        let mut document_frequency = 0;
        for (live, dead) in self.segments.iter().zip(&self.dead) {
            if let Some(postings) = find(live.segment, term.as_bytes())? {
                document_frequency += live_count(live.segment, &postings, live.dead, dead)?;
            }
        }
        let worth = (self.worth)(together, self.passages, document_frequency);
        if document_frequency <= self.wanted.common && worth > 0.0 && self.could_take(worth) {
            self.offer(Neighbour {
                term,
                together,
                document_frequency,
                worth,
            });
        }
        Ok(())
    }

    /// Whether something of this worth would have a place.
    fn could_take(&self, worth: f32) -> bool {
        let full = self.best.len() >= self.wanted.neighbours;
        !full || self.best.last().is_some_and(|last| worth >= last.worth)
    }

    fn offer(&mut self, new: Neighbour) {
        let before = |known: &Neighbour| {
            let order = known.worth.total_cmp(&new.worth).reverse();
            order.then_with(|| known.term.cmp(&new.term)).is_lt()
        };
        let place = self.best.partition_point(before);
        self.best.insert(place, new);
        self.best.truncate(self.wanted.neighbours);
    }
}

/// How many of some documents have each term.
struct Counts {
    /// By ordinal; 0 where the term was not met. Given back, all 0, when this goes.
    counts: Vec<u32>,
    /// The ordinals that were met.
    met: Vec<u32>,
}

impl Counts {
    fn of(segment: &Segment, docs: &[u32]) -> Result<Counts, SegmentError> {
        let mut counted = Counts {
            counts: COUNTS.take(),
            met: Vec::new(),
        };
        let terms = segment.terms() as usize;
        counted.counts.resize(counted.counts.len().max(terms), 0);
        for doc in docs {
            ordinals(segment, *doc, |ordinal| {
                if let Some(count) = counted.counts.get_mut(ordinal as usize) {
                    if *count == 0 {
                        counted.met.push(ordinal);
                    }
                    *count += 1;
                }
            })?;
        }
        Ok(counted)
    }

    /// Every ordinal that was met, with its count.
    fn all(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let count = |ordinal: &u32| (*ordinal, self.counts[*ordinal as usize]);
        self.met.iter().map(count)
    }
}

impl Drop for Counts {
    fn drop(&mut self) {
        for ordinal in &self.met {
            self.counts[*ordinal as usize] = 0;
        }
        COUNTS.set(std::mem::take(&mut self.counts));
    }
}
