//! Notes that are related to a note, and why.
//!
//! Five reasons, each gathered by itself and normalised to 0..1: links ([`ties`]), shared
//! neighbours, shared tags, shared rare words ([`words`]) and meaning ([`meaning`]). One pure
//! function ([`rank()`]) joins them. What many notes have alike is no reason: lines of a template,
//! passages that repeat, common words and tags.

mod meaning;
mod rank;
mod subject;
mod ties;
mod words;

use std::collections::HashSet;

use lorewell_embed::Embedder;
use lorewell_index::{Scope, Snapshot, StoredNote};
use lorewell_lexical::{Bitmap, Live};
use lorewell_vectors::RowSet;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::RetrievalError;
use crate::lane::{Lane, LaneReport, LaneState};
use crate::request::NearNotes;
use meaning::{Meaning, Near, by_notes, meaning};
use subject::{Subject, lines, share};
use ties::{SharedTags, Ties, tags, ties};
use words::{Frequencies, RareWords, SharedWords, drop_repeated};

pub use rank::{Finding, Ranked, RelatedPart, RelatedReason, RelatedWeights, rank};

/// Notes with a lower score are not related.
const LEAST: f32 = 0.05;

/// The passages of so many notes, by words and by meaning each, tell which lines repeat.
const LOOKED_AT: usize = 24;

/// A line of the note that stands in so many other notes says nothing.
const REPEATS: usize = 2;

/// A passage that shares a larger part of its letters with many notes has no meaning of its own.
const MOSTLY_SHARED: f32 = 0.6;

/// Names of neighbours, tags and words that a signal holds.
const NAMED: usize = 5;

/// What is asked.
#[derive(Clone, Debug)]
pub struct RelatedRequest {
    /// The note.
    pub note: StoredNote,
    /// At most so many notes.
    pub limit: usize,
    /// Only notes within.
    pub scope: Scope,
    /// Only these reasons.
    pub reasons: Vec<RelatedReason>,
    /// What each reason weighs.
    pub weights: RelatedWeights,
    /// As if there were no link between the two: how it is measured whether the other reasons
    /// find what a person linked.
    pub apart: Option<u32>,
    /// Notes that are near in meaning by vectors that another program made, in the place of the
    /// model's.
    pub near: Option<NearNotes>,
}

/// A related note.
#[derive(Clone, Debug, PartialEq)]
pub struct RelatedNote {
    /// The note's number.
    pub note: u32,
    /// 0 to 1.
    pub score: f32,
    /// Why, the reasons that added most first.
    pub signals: Vec<RelatedSignal>,
    /// The passage that tells best why; none where only links and tags do.
    pub passage: Option<u32>,
    /// What each reason added.
    pub trace: Vec<RelatedPart>,
}

/// A reason, as it is told.
#[derive(Clone, Debug, PartialEq)]
pub enum RelatedSignal {
    /// A link.
    Link {
        /// The asked note links to it.
        out: bool,
        /// It links to the asked note.
        back: bool,
    },
    /// Paths of notes that are linked with both, those that say most first.
    Neighbour(Vec<String>),
    /// Tags that both have, the rarest first.
    Tag(Vec<String>),
    /// Words that both have, the rarest first.
    Words(Vec<String>),
    /// The cosine of the nearest passage.
    Dense(f32),
}

/// Related notes.
#[derive(Clone, Debug, PartialEq)]
pub struct Related {
    /// Best first.
    pub notes: Vec<RelatedNote>,
    /// How the comparison by meaning fared.
    pub dense: LaneReport,
    /// Why not all words could be compared, if so.
    pub words: Option<String>,
}

/// Finds the notes that are related to a note.
///
/// # Errors
/// Only if the index cannot be read.
pub fn related(
    snapshot: &Snapshot,
    embedder: &dyn Embedder,
    request: &RelatedRequest,
) -> Result<Related, RetrievalError> {
    let segments = snapshot.segments();
    let mut search = Search {
        snapshot,
        embedder,
        request,
        segments: &segments,
        frequencies: Frequencies::new(&segments),
        allowed: Allowed::of(snapshot, &request.scope)?,
    };
    let evidence = search.evidence()?;
    search.answer(evidence)
}

/// The notes that may be in the answer, where not all may.
struct Allowed {
    notes: HashSet<u32>,
    passages: Bitmap,
    rows: RowSet,
}

impl Allowed {
    fn of(snapshot: &Snapshot, scope: &Scope) -> Result<Option<Allowed>, RetrievalError> {
        let Some(notes) = snapshot.notes_in(scope)? else {
            return Ok(None);
        };
        let (passages, rows) = snapshot.passages_of_notes(&notes)?;
        Ok(Some(Allowed {
            notes,
            passages,
            rows,
        }))
    }
}

struct Search<'a> {
    snapshot: &'a Snapshot,
    embedder: &'a dyn Embedder,
    request: &'a RelatedRequest,
    segments: &'a [Live<'a>],
    frequencies: Frequencies<'a>,
    allowed: Option<Allowed>,
}

/// Everything that was found, by note.
struct Evidence {
    ties: Ties,
    tags: FxHashMap<u32, SharedTags>,
    words: FxHashMap<u32, SharedWords>,
    meaning: Meaning,
}

impl Search<'_> {
    fn wants(&self, reason: RelatedReason) -> bool {
        self.request.reasons.contains(&reason)
    }

    fn evidence(&mut self) -> Result<Evidence, RetrievalError> {
        let note = self.request.note.id;
        let mut found = Ties::default();
        if self.wants(RelatedReason::Link) || self.wants(RelatedReason::Neighbour) {
            found = ties(self.snapshot, note, self.request.apart)?;
        }
        let mut tagged = FxHashMap::default();
        if self.wants(RelatedReason::Tag) {
            tagged = tags(self.snapshot, note)?;
        }
        let (words, meaning) = self.by_text()?;
        Ok(Evidence {
            ties: found,
            tags: tagged,
            words,
            meaning,
        })
    }

    /// Shared words and meaning, of what the note does not have in common with many.
    fn by_text(&mut self) -> Result<(FxHashMap<u32, SharedWords>, Meaning), RetrievalError> {
        let mut subject = Subject::load(self.snapshot, self.request.note.clone())?;
        drop_repeated(&mut subject, self.snapshot, &mut self.frequencies)?;
        // Whether lines repeat, notes outside of the scope tell as well.
        let mut words = self.words(&subject, None)?;
        let mut meaning = self.meaning(&subject, None)?;
        let repeated = self.repeated_lines(&subject, &words, &meaning)?;
        let own = 1.0 - subject.share_of(&repeated);
        let allowed = self.allowed.take();
        if allowed.is_some() {
            meaning = self.meaning(&subject, allowed.as_ref())?;
        }
        self.discount(&mut meaning.notes, &repeated, own)?;
        if allowed.is_some() || !repeated.is_empty() {
            subject.without(&repeated);
            words = self.words(&subject, allowed.as_ref())?;
        }
        self.allowed = allowed;
        Ok((words, meaning))
    }

    fn words(
        &mut self,
        subject: &Subject,
        allowed: Option<&Allowed>,
    ) -> Result<FxHashMap<u32, SharedWords>, RetrievalError> {
        if !self.wants(RelatedReason::Words) {
            return Ok(FxHashMap::default());
        }
        let passages = self.snapshot.totals().passages;
        let rare = RareWords::of(subject, &mut self.frequencies, passages)?;
        let own: FxHashSet<u32> = self
            .snapshot
            .passages_of(subject.note.id)?
            .into_iter()
            .collect();
        let may = |passage: u32| {
            !own.contains(&passage) && allowed.is_none_or(|a| a.passages.contains(passage))
        };
        rare.shared(self.snapshot, self.segments, &may)
    }

    fn meaning(
        &self,
        subject: &Subject,
        allowed: Option<&Allowed>,
    ) -> Result<Meaning, RetrievalError> {
        if !self.wants(RelatedReason::Dense) {
            return Ok(Meaning {
                state: LaneState::Off,
                notes: FxHashMap::default(),
            });
        }
        if let Some(near) = &self.request.near {
            return by_notes(self.snapshot, near);
        }
        let within = allowed.map(|allowed| &allowed.rows);
        meaning(self.snapshot, self.embedder, subject, within)
    }

    /// Lines of the note that several of the notes which seem nearest have as well: a template's.
    fn repeated_lines(
        &self,
        subject: &Subject,
        words: &FxHashMap<u32, SharedWords>,
        meaning: &Meaning,
    ) -> Result<FxHashSet<u64>, RetrievalError> {
        let mut candidates: Vec<u32> = best(words, |shared| shared.strength, |s| s.passage);
        candidates.extend(best(&meaning.notes, |near| near.strength, |n| n.passage));
        candidates.sort_unstable();
        candidates.dedup();
        let mut holders: FxHashMap<u64, FxHashSet<u32>> = FxHashMap::default();
        for line in subject.passages.iter().flat_map(|p| &p.lines) {
            if let Some(key) = line.key {
                holders.entry(key).or_default();
            }
        }
        for passage in candidates {
            let Some(passage) = self.snapshot.passage(passage)? else {
                continue;
            };
            for line in lines(&passage.text) {
                if let Some(holders) = line.key.and_then(|key| holders.get_mut(&key)) {
                    holders.insert(passage.note);
                }
            }
        }
        let repeated = holders
            .into_iter()
            .filter(|(_, notes)| notes.len() >= REPEATS);
        Ok(repeated.map(|(key, _)| key).collect())
    }

    /// Nearness counts as far as the nearest passage, and the note itself, say more than others.
    fn discount(
        &self,
        notes: &mut FxHashMap<u32, Near>,
        repeated: &FxHashSet<u64>,
        own: f32,
    ) -> Result<(), RetrievalError> {
        if repeated.is_empty() {
            return Ok(());
        }
        for near in notes.values_mut() {
            let Some(passage) = self.snapshot.passage(near.passage)? else {
                continue;
            };
            let shared = share(lines(&passage.text).iter(), repeated);
            if shared > 0.0 {
                let worth = own.min(1.0 - shared);
                near.strength *= if worth < 1.0 - MOSTLY_SHARED {
                    0.0
                } else {
                    worth
                };
            }
        }
        Ok(())
    }

    fn answer(&self, evidence: Evidence) -> Result<Related, RetrievalError> {
        let mut ranked = rank(&self.findings(&evidence), &self.request.weights);
        ranked.retain(|ranked| {
            let allowed = self.allowed.as_ref();
            ranked.score >= LEAST
                && ranked.note != self.request.note.id
                && allowed.is_none_or(|allowed| allowed.notes.contains(&ranked.note))
        });
        // Numbers of notes depend on the order in which they were taken in; paths do not.
        let last = self
            .request
            .limit
            .checked_sub(1)
            .and_then(|at| ranked.get(at));
        if let Some(least) = last.map(|last| last.score) {
            ranked.retain(|ranked| ranked.score >= least);
        }
        let mut placed = Vec::with_capacity(ranked.len());
        for ranked in ranked {
            placed.push((self.snapshot.path_of(ranked.note)?, ranked));
        }
        placed.sort_by(|(a_path, a), (b_path, b)| {
            b.score.total_cmp(&a.score).then_with(|| a_path.cmp(b_path))
        });
        placed.truncate(self.request.limit);
        let notes = placed
            .into_iter()
            .map(|(_, ranked)| self.note(ranked, &evidence))
            .collect::<Result<_, _>>()?;
        Ok(Related {
            notes,
            words: crate::lanes::why_words_lack(self.snapshot),
            dense: LaneReport {
                lane: Lane::Dense,
                state: evidence.meaning.state,
                model: Some(match &self.request.near {
                    Some(near) => near.model.clone(),
                    None => self.embedder.model().to_string(),
                }),
                wanted: None,
            },
        })
    }

    fn findings(&self, evidence: &Evidence) -> Vec<Finding> {
        let mut findings = Vec::new();
        let mut add = |reason, note: &u32, strength| {
            findings.push(Finding {
                note: *note,
                reason,
                strength,
            });
        };
        let ties = &evidence.ties;
        if self.wants(RelatedReason::Link) {
            for (note, tie) in &ties.links {
                add(RelatedReason::Link, note, tie.strength);
            }
        }
        if self.wants(RelatedReason::Neighbour) {
            for (note, shared) in &ties.shared {
                add(RelatedReason::Neighbour, note, shared.strength);
            }
        }
        for (note, tags) in &evidence.tags {
            add(RelatedReason::Tag, note, tags.strength);
        }
        for (note, words) in &evidence.words {
            add(RelatedReason::Words, note, words.strength);
        }
        for (note, near) in &evidence.meaning.notes {
            add(RelatedReason::Dense, note, near.strength);
        }
        findings
    }

    fn note(&self, ranked: Ranked, evidence: &Evidence) -> Result<RelatedNote, RetrievalError> {
        let mut parts: Vec<&RelatedPart> = ranked.trace.iter().collect();
        parts.sort_by(|a, b| b.added.total_cmp(&a.added).then(a.reason.cmp(&b.reason)));
        let signals = parts
            .into_iter()
            .map(|part| self.signal(part.reason, ranked.note, evidence))
            .collect::<Result<_, _>>()?;
        let by_words = evidence.words.get(&ranked.note).map(|words| words.passage);
        let by_meaning = evidence.meaning.notes.get(&ranked.note);
        Ok(RelatedNote {
            note: ranked.note,
            score: ranked.score,
            signals,
            passage: by_words.or(by_meaning.map(|near| near.passage)),
            trace: ranked.trace,
        })
    }

    fn signal(
        &self,
        reason: RelatedReason,
        note: u32,
        evidence: &Evidence,
    ) -> Result<RelatedSignal, RetrievalError> {
        Ok(match reason {
            RelatedReason::Link => {
                let tie = evidence.ties.links.get(&note).copied().unwrap_or_default();
                RelatedSignal::Link {
                    out: tie.out,
                    back: tie.back,
                }
            }
            RelatedReason::Neighbour => {
                let via = evidence.ties.shared.get(&note).map(|shared| &shared.via);
                let mut paths = Vec::new();
                for (worth, neighbour) in via.into_iter().flatten() {
                    paths.push((*worth, self.snapshot.path_of(*neighbour)?));
                }
                paths.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
                RelatedSignal::Neighbour(paths.into_iter().map(|(_, p)| p).take(NAMED).collect())
            }
            RelatedReason::Tag => {
                let tags = evidence.tags.get(&note).map(|shared| &shared.tags);
                RelatedSignal::Tag(first(tags))
            }
            RelatedReason::Words => {
                let words = evidence.words.get(&note).map(|shared| &shared.words);
                RelatedSignal::Words(first(words))
            }
            RelatedReason::Dense => {
                let near = evidence.meaning.notes.get(&note);
                RelatedSignal::Dense(near.map_or(0.0, |near| near.cosine))
            }
        })
    }
}

fn first(names: Option<&Vec<String>>) -> Vec<String> {
    names.into_iter().flatten().take(NAMED).cloned().collect()
}

/// The passages of the strongest notes; equal ones all or none, so that their order does not
/// matter.
fn best<T>(
    notes: &FxHashMap<u32, T>,
    strength: impl Fn(&T) -> f32,
    passage: impl Fn(&T) -> u32,
) -> Vec<u32> {
    let mut list: Vec<(f32, u32)> = notes.values().map(|v| (strength(v), passage(v))).collect();
    list.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    if let Some((least, _)) = list.get(LOOKED_AT) {
        let least = *least;
        let above = list
            .iter()
            .filter(|(strength, _)| *strength > least)
            .count();
        if above > 0 {
            list.truncate(above);
        }
    }
    list.into_iter().map(|(_, passage)| passage).collect()
}
