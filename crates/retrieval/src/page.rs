//! One page of an answer: which of the fused passages are shown.

use lorewell_index::{Snapshot, StoredPassage};
use rustc_hash::FxHashMap;

use crate::copies;
use crate::error::RetrievalError;
use crate::fusion::Fused;

/// A passage that is shown.
pub(crate) struct Candidate {
    pub(crate) fused: Fused,
    pub(crate) passage: StoredPassage,
    /// Notes with a passage of the same words.
    pub(crate) copies: Vec<u32>,
}

/// The first passages of an answer.
pub(crate) struct Page {
    /// Best first, from the first page on.
    pub(crate) candidates: Vec<Candidate>,
    /// Whether the list held more than that.
    pub(crate) more: bool,
}

impl Page {
    /// The first `wanted` passages of a fused list: at most `per_note` of a note, copies folded
    /// into the first of them.
    pub(crate) fn of(
        snapshot: &Snapshot,
        fused: &[Fused],
        wanted: usize,
        per_note: usize,
    ) -> Result<Page, RetrievalError> {
        let mut of_note: FxHashMap<u32, usize> = FxHashMap::default();
        let mut seen: FxHashMap<[u8; 32], usize> = FxHashMap::default();
        let mut candidates: Vec<Candidate> = Vec::new();
        for fused in fused {
            let Some(passage) = snapshot.passage(fused.passage)? else {
                continue;
            };
            let fingerprint = copies::fingerprint(&passage.text);
            if let Some(original) = fingerprint.and_then(|f| seen.get(&f)) {
                if let Some(candidate) = candidates.get_mut(*original) {
                    candidate.copies.push(passage.note);
                }
                continue;
            }
            let count = of_note.entry(passage.note).or_default();
            if *count == per_note {
                continue;
            }
            if candidates.len() == wanted {
                return Ok(Page {
                    candidates,
                    more: true,
                });
            }
            *count += 1;
            if let Some(fingerprint) = fingerprint {
                seen.insert(fingerprint, candidates.len());
            }
            candidates.push(Candidate {
                fused: fused.clone(),
                passage,
                copies: Vec::new(),
            });
        }
        Ok(Page {
            candidates,
            more: false,
        })
    }
}
