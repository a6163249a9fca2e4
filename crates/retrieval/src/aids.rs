//! What the caller may add to a question: paraphrases and passages to be like. Each has lists of
//! its own, which count less than the question's.

use std::ops::Range;

use lorewell_embed::Embedder;
use lorewell_text::Question;

use crate::copies;
use crate::error::RetrievalError;
use crate::fusion::{FusionInput, Voice, aid_factor};
use crate::lane::{Lane, LaneHit};
use crate::lanes::text::Terms;
use crate::lanes::{Ground, dense, text};
use crate::phrases::Phrases;
use crate::request::{Request, SearchSettings};

/// One paraphrase or passage, looked up.
pub(crate) struct Aid {
    pub(crate) voice: Voice,
    asked: String,
    /// Passages that the asker knows: they are the place that others should be like.
    known: Vec<u32>,
    pub(crate) terms: Terms,
    /// Its vector, once the dense lane has run.
    pub(crate) vector: Option<Vec<f32>>,
}

impl Aid {
    /// Those that came with a question.
    pub(crate) fn all(ground: &Ground<'_>, request: &Request) -> Result<Vec<Aid>, RetrievalError> {
        let also = request.also.iter().enumerate();
        let like = request.like.iter().enumerate();
        let voices = also
            .map(|(item, text)| (Voice::Also(item), text, &None))
            .chain(like.map(|(item, like)| (Voice::Like(item), &like.text, &like.place)));
        voices
            .filter(|(_, text, _)| !text.trim().is_empty())
            .map(|(voice, text, place)| {
                Ok(Aid {
                    voice,
                    known: known(ground, place.as_ref())?,
                    asked: text.clone(),
                    terms: Terms::new(&ground.segments, &Question::new(text), text)?,
                    vector: None,
                })
            })
            .collect()
    }

    /// Its lists, weighted against those of the question.
    pub(crate) fn lists(
        &mut self,
        ground: &Ground<'_>,
        embedder: &dyn Embedder,
        lanes: &[Lane],
        settings: &SearchSettings,
        depth: usize,
        question: &[FusionInput],
    ) -> Result<Vec<FusionInput>, RetrievalError> {
        let weight = |lane| settings.weights.of(lane, embedder.weight());
        let mut lists = Vec::new();
        if lanes.contains(&Lane::Text) {
            let found = text::run(ground, &self.terms, &Phrases::default(), depth)?;
            lists.push(self.input(ground, Lane::Text, weight(Lane::Text), found.hits)?);
        }
        if lanes.contains(&Lane::Dense) {
            let found = dense::run(ground, embedder, &self.asked, depth)?;
            self.vector = found.question;
            lists.push(self.input(ground, Lane::Dense, weight(Lane::Dense), found.result.hits)?);
        }
        let factor = aid_factor(settings.fusion, question, &lists);
        for list in &mut lists {
            list.weight *= factor;
        }
        Ok(lists)
    }

    fn input(
        &self,
        ground: &Ground<'_>,
        lane: Lane,
        weight: f32,
        hits: Vec<LaneHit>,
    ) -> Result<FusionInput, RetrievalError> {
        let mut kept = Vec::with_capacity(hits.len());
        for (place, hit) in hits.iter().enumerate() {
            let known = self.known.contains(&hit.passage);
            if known || (place < SAME_LOOKED_AT && self.is_same(ground, hit.passage)?) {
                continue;
            }
            kept.push((hit.passage, hit.score, hit.strength));
        }
        Ok(FusionInput {
            lane,
            voice: self.voice,
            weight,
            hits: kept,
        })
    }

    /// Whether a passage is the very one that others should be like: it is known to the asker.
    fn is_same(&self, ground: &Ground<'_>, passage: u32) -> Result<bool, RetrievalError> {
        let Voice::Like(_) = self.voice else {
            return Ok(false);
        };
        let own = copies::fingerprint(&self.asked);
        let stored = ground.snapshot.passage(passage)?;
        Ok(own.is_some() && stored.is_some_and(|p| copies::fingerprint(&p.text) == own))
    }
}

/// The passages of a place in a note.
fn known(
    ground: &Ground<'_>,
    place: Option<&(String, Range<u64>)>,
) -> Result<Vec<u32>, RetrievalError> {
    let snapshot = ground.snapshot;
    let Some((path, bytes)) = place else {
        return Ok(Vec::new());
    };
    let Some(note) = snapshot.note_at(path)? else {
        return Ok(Vec::new());
    };
    let mut known = Vec::new();
    for number in snapshot.passages_of(note.id)? {
        let passage = snapshot.passage(number)?;
        known.extend(passage.and_then(|passage| {
            let range = passage.byte_range;
            (range.start < bytes.end && bytes.start < range.end).then_some(number)
        }));
    }
    Ok(known)
}

/// The passage that a text is taken from is among the first of its own lists.
const SAME_LOOKED_AT: usize = 5;
