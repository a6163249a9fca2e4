//! What is said of a passage that is shown: its note, its score, its reasons; and of the question.

use lorewell_index::{IndexError, Snapshot, StoredNote, StoredPassage};
use lorewell_lexical::{Explainer, Params, TermScore};
use lorewell_text::Tokenizer;

use crate::answer::{AnswerPassage, Signal};
use crate::error::RetrievalError;
use crate::fusion::{Contribution, Voice};
use crate::lane::{Lane, Reason};
use crate::lanes::title;
use crate::page::Candidate;
use crate::score::{self, Reading};
use crate::walk::Search;

impl Search<'_> {
    pub(crate) fn present(
        &self,
        explainer: &Explainer<'_>,
        rank: usize,
        candidate: Candidate,
    ) -> Result<AnswerPassage, RetrievalError> {
        let Candidate {
            fused,
            passage,
            copies,
        } = candidate;
        let snapshot = self.ground.snapshot;
        let note = snapshot
            .note(passage.note)?
            .ok_or_else(|| missing_note(snapshot))?;
        let mut paths = Vec::new();
        for copy in copies {
            let path = snapshot.note(copy)?.map(|n| n.path.as_str().to_string());
            paths.extend(path.filter(|p| p != note.path.as_str() && !paths.contains(p)));
        }
        let terms = explainer.explain(passage.id)?;
        let signals = fused
            .trace
            .iter()
            .map(|c| self.signal(c, &note, &passage))
            .collect::<Result<Vec<_>, _>>()?;
        let reading = self.reading(passage.id, &terms, &fused.trace)?;
        let score = if self.request.exact || self.phrases.are_answered_by(passage.id) {
            1.0
        } else {
            self.score(passage.id, &reading, &fused.trace)?
        };
        Ok(AnswerPassage {
            rank,
            terms,
            evidence: note.evidence.clone(),
            superseded_by: snapshot.superseded_by(&note)?,
            note,
            passage,
            score,
            reading,
            signals,
            copies: paths,
            fused,
        })
    }

    /// The question's terms, looked up to explain many passages.
    pub(crate) fn explainer(&self) -> Result<Explainer<'_>, RetrievalError> {
        let (segments, terms) = (&self.ground.segments, &self.terms.query);
        Ok(Explainer::new(Params::default(), segments, terms)?)
    }

    fn signal(
        &self,
        found: &Contribution,
        note: &StoredNote,
        passage: &StoredPassage,
    ) -> Result<Signal, RetrievalError> {
        let mut signal = Signal {
            lane: found.lane,
            voice: found.voice,
            rank: found.rank,
            added: Vec::new(),
            via: Vec::new(),
            tags: Vec::new(),
        };
        match self.reasons.get(&(found.lane, passage.id)) {
            Some(Reason::Added(terms)) => signal.added = as_written(terms, note, passage),
            Some(Reason::Tags(tags)) => signal.tags.clone_from(tags),
            Some(Reason::Via(notes)) => {
                for note in notes {
                    signal.via.push(self.ground.snapshot.path_of(*note)?);
                }
            }
            None => {}
        }
        Ok(signal)
    }

    /// What is known of a passage.
    pub(crate) fn reading(
        &self,
        passage: u32,
        terms: &[TermScore],
        trace: &[Contribution],
    ) -> Result<Reading, RetrievalError> {
        let name = trace
            .iter()
            .find(|c| c.lane == Lane::Title)
            .map_or(0.0, |c| title::sureness(c.score));
        Ok(Reading {
            words: share_of_content(terms, self.terms.total_idf()),
            cosine: self.cosine(passage, self.vector.as_deref())?,
            terms: (matched(terms), self.terms.count()),
            name,
            text_rank: rank_in(trace, Lane::Text, Voice::Question),
            dense_rank: rank_in(trace, Lane::Dense, Voice::Question),
        })
    }

    /// The best score that the question or what came with it gives to a passage.
    fn score(
        &self,
        passage: u32,
        own: &Reading,
        trace: &[Contribution],
    ) -> Result<f32, RetrievalError> {
        let mut score = own.score();
        for aid in &self.aids {
            let terms =
                lorewell_lexical::explain(&self.ground.segments, &aid.terms.query, passage)?;
            let reading = Reading {
                words: share_of_content(&terms, aid.terms.total_idf()),
                cosine: self.cosine(passage, aid.vector.as_deref())?,
                terms: (matched(&terms), aid.terms.count()),
                name: 0.0,
                text_rank: rank_in(trace, Lane::Text, aid.voice),
                dense_rank: rank_in(trace, Lane::Dense, aid.voice),
            };
            score = score.max(score::OF_AID * reading.score());
        }
        Ok(score)
    }

    /// How near in meaning a passage is to a vector, where that is known.
    fn cosine(&self, passage: u32, vector: Option<&[f32]>) -> Result<Option<f32>, RetrievalError> {
        let snapshot = self.ground.snapshot;
        let (Some(vector), Some((reader, _))) = (vector, snapshot.vectors()) else {
            return Ok(None);
        };
        let row = snapshot.row_of_passage(passage)?;
        Ok(row
            .filter(|row| reader.is_intact(*row))
            .map(|row| reader.cosine(row, vector)))
    }

    /// Something to know about the question.
    pub(crate) fn notice(&self) -> Option<String> {
        let question = &self.question;
        let nothing_left = self
            .ground
            .allowed
            .as_ref()
            .is_some_and(|allowed| allowed.notes.is_empty());
        let why = || self.ground.snapshot.why_nothing_in(&self.request.scope);
        if nothing_left && let Ok(Some(why)) = why() {
            return Some(why);
        }
        if nothing_left {
            return Some(format!(
                "No passage has all that must be there: {}.",
                self.request.must.join(", ")
            ));
        }
        if !self.empty_must.is_empty() {
            return Some(format!(
                "Nothing in “{}” can be looked for; it was passed over.",
                self.empty_must.join("”, “")
            ));
        }
        if !self.phrases.missing.is_empty() {
            return Some(format!(
                "No passage has “{}” as it is quoted; its words were looked for one by one.",
                self.phrases.missing.join("”, “")
            ));
        }
        if !self.terms.respelled.is_empty() {
            return Some(format!(
                "No note has “{}”; words spelled nearly so were looked for.",
                self.terms.respelled.join("” or “")
            ));
        }
        if question.only_stop_words && !self.phrases.are_found() {
            return Some("The question holds only words that say nothing of a subject; name what it is about.".into());
        }
        if question.is_empty() && !self.request.exact && self.aids.is_empty() {
            return Some("The question holds no words to look for.".into());
        }
        question.shortened.then(|| {
            format!(
                "The question is long; only its beginning was looked for ({} terms).",
                question.terms.len()
            )
        })
    }
}

/// Terms as the passage writes them, or what is indexed with it, in small letters.
fn as_written(terms: &[String], note: &StoredNote, passage: &StoredPassage) -> Vec<String> {
    let mut written: Vec<Option<String>> = vec![None; terms.len()];
    let mut tokenizer = Tokenizer::new();
    let above = passage.heading_path.iter().chain(&note.aliases);
    let texts = [&passage.text, &note.title]
        .into_iter()
        .chain(above)
        .chain(&note.tags)
        .map(String::as_str)
        .chain([note.path.as_str()]);
    for text in texts {
        tokenizer.tokens(text, &mut |token| {
            let place = terms.iter().position(|term| term == token.term);
            if let Some(word) = place.and_then(|place| written.get_mut(place)) {
                let as_it_is = || text.get(token.range.clone()).map(str::to_lowercase);
                *word = word.take().or_else(as_it_is);
            }
        });
        if written.iter().all(Option::is_some) {
            break;
        }
    }
    let words = written.into_iter().zip(terms);
    words
        .map(|(word, term)| word.unwrap_or_else(|| term.clone()))
        .collect()
}

fn rank_in(trace: &[Contribution], lane: Lane, voice: Voice) -> Option<usize> {
    let found = trace.iter().find(|c| c.lane == lane && c.voice == voice);
    found.map(|c| c.rank)
}

/// How many of the terms a passage has.
fn matched(terms: &[TermScore]) -> usize {
    terms.iter().filter(|term| term.tf > 0).count()
}

/// How much of a question's content a passage has, 0 to 1.
fn share_of_content(terms: &[TermScore], total: f32) -> f32 {
    let share: f32 = terms
        .iter()
        .filter(|t| t.tf > 0)
        .map(|t| t.weight * t.idf)
        .sum();
    if total > 0.0 {
        (share / total).clamp(0.0, 1.0)
    } else {
        0.0
    }
}

fn missing_note(snapshot: &Snapshot) -> IndexError {
    IndexError::Damaged {
        path: snapshot.layout().folder().to_path_buf(),
        what: "a passage belongs to no note".to_string(),
    }
}
