//! The lanes, one file each. A lane of the first round sees the question and the generation, and
//! nothing of the other lanes; one of the second round sees the best of the first as [`Seed`]s.

pub(crate) mod dense;
pub(crate) mod link;
pub(crate) mod recent;
pub(crate) mod tag;
pub(crate) mod text;
pub(crate) mod title;
pub(crate) mod vocab;

use lorewell_index::{IndexError, Scope, Snapshot};
use lorewell_lexical::{Bitmap, Hit, Live, QueryTerm, SegmentError};
use lorewell_vectors::RowSet;
use rustc_hash::FxHashMap;

/// Why not all words can be looked up, if a lexical segment is damaged.
pub(crate) fn why_words_lack(snapshot: &Snapshot) -> Option<String> {
    let what = snapshot.lost_words()?;
    Some(format!(
        "words of the index are damaged ({what}); `lorewell rebuild` makes them anew"
    ))
}

/// What every lane stands on: a generation, and what of it may be in the answer.
pub(crate) struct Ground<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) segments: Vec<Live<'a>>,
    pub(crate) allowed: Option<Allowed>,
}

/// The passages that may be in the answer, where not all may.
pub(crate) struct Allowed {
    pub(crate) passages: Bitmap,
    pub(crate) rows: RowSet,
    pub(crate) notes: std::collections::HashSet<u32>,
}

/// A passage that the first round put forward.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Seed {
    pub(crate) passage: u32,
    /// Its fused value, as a share of the best.
    pub(crate) worth: f32,
}

/// A note that the first round put forward, by its best passage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SeedNote {
    pub(crate) note: u32,
    /// See [`Seed::worth`].
    pub(crate) worth: f32,
}

impl<'a> Ground<'a> {
    pub(crate) fn new(snapshot: &'a Snapshot, scope: &Scope) -> Result<Ground<'a>, IndexError> {
        Ok(Ground {
            snapshot,
            segments: snapshot.segments(),
            allowed: Allowed::of(snapshot, scope)?,
        })
    }

    /// Whether a passage may be in the answer.
    pub(crate) fn may(&self, passage: u32) -> bool {
        self.allowed
            .as_ref()
            .is_none_or(|allowed| allowed.passages.contains(passage))
    }

    /// The best `depth` passages that may be in the answer and have any of the terms.
    pub(crate) fn find(&self, terms: &[QueryTerm], depth: usize) -> Result<Vec<Hit>, SegmentError> {
        let within = |passage: u32| self.may(passage);
        let filter: Option<&dyn Fn(u32) -> bool> = match self.allowed {
            Some(_) => Some(&within),
            None => None,
        };
        lorewell_lexical::search(&self.segments, terms, depth, filter)
    }

    /// The first `most` notes of a list of seeds.
    pub(crate) fn notes_of(
        &self,
        seeds: &[Seed],
        most: usize,
    ) -> Result<Vec<SeedNote>, IndexError> {
        let mut notes: Vec<SeedNote> = Vec::with_capacity(most);
        for seed in seeds {
            let Some(note) = self.snapshot.note_of_passage(seed.passage)? else {
                continue;
            };
            if notes.iter().all(|known| known.note != note) {
                notes.push(SeedNote {
                    note,
                    worth: seed.worth,
                });
            }
            if notes.len() == most {
                break;
            }
        }
        Ok(notes)
    }

    /// The seeds by their notes.
    pub(crate) fn by_note(&self, seeds: &[Seed]) -> Result<FxHashMap<u32, Vec<Seed>>, IndexError> {
        let mut notes: FxHashMap<u32, Vec<Seed>> = FxHashMap::default();
        for seed in seeds {
            if let Some(note) = self.snapshot.note_of_passage(seed.passage)? {
                notes.entry(note).or_default().push(*seed);
            }
        }
        Ok(notes)
    }
}

impl Allowed {
    /// `None` where every passage may.
    fn of(snapshot: &Snapshot, scope: &Scope) -> Result<Option<Allowed>, IndexError> {
        let Some(notes) = snapshot.notes_in(scope)? else {
            return Ok(None);
        };
        let (passages, rows) = snapshot.passages_of_notes(&notes)?;
        Ok(Some(Allowed {
            passages,
            rows,
            notes,
        }))
    }
}
