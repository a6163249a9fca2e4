//! The walk of one question: terms → lanes → fusion → passages with reasons.

use lorewell_embed::Embedder;
use lorewell_index::{Snapshot, StoredNote, StoredPassage};
use lorewell_lexical::{Live, TermScore};
use lorewell_text::Question;
use rustc_hash::FxHashMap;

use crate::fusion::{Fused, FusionInput, fuse};
use crate::lane::{Lane, LaneReport, LaneResult, LaneState};
use crate::lanes::text::Terms;
use crate::lanes::{Allowed, dense, text, title};
use crate::{Request, RetrievalError, copies, exact, score};

/// An answer, as plain data.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Best first.
    pub passages: Vec<AnswerPassage>,
    /// Whether the notes answer the question at all.
    pub confidence: Confidence,
    /// Every lane, in the order of [`Lane::ALL`].
    pub lanes: Vec<LaneReport>,
    /// What did not run, or ran on a part: for people.
    pub degraded: Vec<String>,
    /// Something to know about the question.
    pub notice: Option<String>,
    /// Whether there are more passages behind these.
    pub more: bool,
}

/// A passage of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerPassage {
    /// From 1, counted over all pages.
    pub rank: usize,
    /// Its note.
    pub note: StoredNote,
    /// The passage itself.
    pub passage: StoredPassage,
    /// How good it is, 0 to 1; see the module `score` for the rule.
    pub score: f32,
    /// Why it was found.
    pub signals: Vec<Signal>,
    /// What kind of evidence it is.
    pub evidence: Evidence,
    /// Paths of other notes with a passage of the same words.
    pub copies: Vec<String>,
    /// What each term of the question adds to its lexical score.
    pub terms: Vec<TermScore>,
    /// Where its place comes from: each lane's part, and the sum.
    pub fused: Fused,
}

/// Why a passage was found.
#[derive(Clone, Debug, PartialEq)]
pub enum Signal {
    /// It has words of the question.
    Text {
        /// Its rank in the lexical lane.
        rank: usize,
    },
    /// The question names its note.
    Title,
    /// It is near in meaning.
    Dense {
        /// Its rank in the dense lane.
        rank: usize,
    },
}

/// Whether the notes answer a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// Nothing in these notes answers it; the nearest passages are shown all the same.
    None,
    /// Perhaps.
    Weak,
    /// Yes.
    Strong,
}

/// What kind of evidence a note is, and the rule that says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The class.
    pub class: &'static str,
    /// The rule.
    pub rule: String,
}

/// Answers a question from one generation.
///
/// # Errors
/// Only if the index cannot be read; no question is an error.
pub fn search(
    snapshot: &Snapshot,
    embedder: &dyn Embedder,
    request: &Request,
) -> Result<Answer, RetrievalError> {
    Search::new(snapshot, embedder, request)?.run()
}

struct Search<'a> {
    snapshot: &'a Snapshot,
    embedder: &'a dyn Embedder,
    request: &'a Request,
    segments: Vec<Live<'a>>,
    question: Question,
    terms: Terms,
    allowed: Option<Allowed>,
    vector: Option<Vec<f32>>,
}

impl<'a> Search<'a> {
    fn new(
        snapshot: &'a Snapshot,
        embedder: &'a dyn Embedder,
        request: &'a Request,
    ) -> Result<Search<'a>, RetrievalError> {
        let segments = snapshot.segments();
        let question = Question::new(&request.question);
        let terms = Terms::new(&segments, &question)?;
        let allowed = Allowed::of(snapshot, &request.scope)?;
        Ok(Search {
            snapshot,
            embedder,
            request,
            segments,
            question,
            terms,
            allowed,
            vector: None,
        })
    }

    fn run(mut self) -> Result<Answer, RetrievalError> {
        let lanes = self.lanes()?;
        let inputs: Vec<FusionInput> = lanes
            .iter()
            .map(|lane| FusionInput {
                lane: lane.report.lane,
                weight: self.request.settings.weights.of(lane.report.lane),
                hits: lane
                    .hits
                    .iter()
                    .map(|hit| (hit.passage, hit.score, hit.strength))
                    .collect(),
            })
            .collect();
        let fused = fuse(self.request.settings.fusion, &inputs);
        let (chosen, more) = self.choose(fused)?;
        let mut passages = Vec::with_capacity(chosen.len());
        for (index, candidate) in chosen.into_iter().enumerate() {
            passages.push(self.passage(self.request.offset + index + 1, candidate)?);
        }
        let best = passages.iter().map(|p| p.score).reduce(f32::max);
        let more = !drop_padding(&mut passages, best) && more;
        let reports: Vec<LaneReport> = lanes.into_iter().map(|lane| lane.report).collect();
        Ok(Answer {
            confidence: score::confidence(best),
            degraded: degraded(&reports),
            notice: self.notice(),
            lanes: reports,
            passages,
            more,
        })
    }

    /// Runs the lanes that are asked; the others are reported as off.
    fn lanes(&mut self) -> Result<Vec<LaneResult>, RetrievalError> {
        Lane::ALL.into_iter().map(|lane| self.lane(lane)).collect()
    }

    fn lane(&mut self, lane: Lane) -> Result<LaneResult, RetrievalError> {
        let (request, depth) = (
            self.request,
            self.request.settings.depth.max(self.request.limit),
        );
        let off = || LaneResult::new(lane, LaneState::Off, Vec::new());
        let allowed = self.allowed.as_ref();
        if request.exact {
            let asked = lane == Lane::Text && !request.question.trim().is_empty();
            return if asked {
                exact::run(
                    self.snapshot,
                    &self.segments,
                    &self.terms,
                    &request.question,
                    allowed,
                    depth,
                )
            } else {
                Ok(off())
            };
        }
        if !request.lanes.contains(&lane) {
            return Ok(off());
        }
        match lane {
            Lane::Text => text::run(&self.segments, &self.terms, allowed, depth),
            Lane::Title => title::run(
                self.snapshot,
                &self.segments,
                &self.terms,
                &request.question,
                allowed,
            ),
            Lane::Dense if self.question.is_empty() => {
                let reason = "the question has nothing to look for".to_string();
                let mut result = LaneResult::new(lane, LaneState::Abstained { reason }, Vec::new());
                result.report.model = Some(self.embedder.model().to_string());
                Ok(result)
            }
            Lane::Dense => {
                let found = dense::run(
                    self.snapshot,
                    self.embedder,
                    &request.question,
                    allowed,
                    depth,
                )?;
                self.vector = found.question;
                Ok(found.result)
            }
        }
    }

    /// One page: at most so many passages of a note, copies folded.
    fn choose(&self, fused: Vec<Fused>) -> Result<(Vec<Candidate>, bool), RetrievalError> {
        let wanted = self.request.offset + self.request.limit;
        let mut per_note: FxHashMap<u32, usize> = FxHashMap::default();
        let mut seen: FxHashMap<[u8; 32], usize> = FxHashMap::default();
        let mut kept: Vec<Candidate> = Vec::new();
        let mut more = false;
        for fused in fused {
            let Some(passage) = self.snapshot.passage(fused.passage)? else {
                continue;
            };
            let fingerprint = copies::fingerprint(&passage.text);
            if let Some(original) = fingerprint.and_then(|f| seen.get(&f)) {
                if let Some(candidate) = kept.get_mut(*original) {
                    candidate.copies.push(passage.note);
                }
                continue;
            }
            let count = per_note.entry(passage.note).or_default();
            if *count == self.request.settings.max_per_note {
                continue;
            }
            if kept.len() == wanted {
                more = true;
                break;
            }
            *count += 1;
            if let Some(fingerprint) = fingerprint {
                seen.insert(fingerprint, kept.len());
            }
            kept.push(Candidate {
                fused,
                passage,
                copies: Vec::new(),
            });
        }
        Ok((kept.split_off(self.request.offset.min(kept.len())), more))
    }

    fn passage(&self, rank: usize, candidate: Candidate) -> Result<AnswerPassage, RetrievalError> {
        let Candidate {
            fused,
            passage,
            copies,
        } = candidate;
        let note = self
            .snapshot
            .note(passage.note)?
            .ok_or_else(|| missing_note(self.snapshot))?;
        let mut paths = Vec::new();
        for copy in copies {
            let path = self
                .snapshot
                .note(copy)?
                .map(|n| n.path.as_str().to_string());
            paths.extend(path.filter(|p| p != note.path.as_str() && !paths.contains(p)));
        }
        let terms = lorewell_lexical::explain(&self.segments, &self.terms.query, passage.id)?;
        let words = self.share_of_content(&terms);
        let cosine = match (
            &self.vector,
            self.snapshot.vectors(),
            self.snapshot.row_of_passage(passage.id)?,
        ) {
            (Some(vector), Some((reader, _)), Some(row)) => Some(reader.cosine(row, vector)),
            _ => None,
        };
        let named = fused
            .trace
            .iter()
            .any(|c| c.lane == Lane::Title && c.score >= title::WHOLE);
        let score = if self.request.exact {
            1.0
        } else {
            score::score(words, cosine, named)
        };
        let signals = fused
            .trace
            .iter()
            .map(|c| match c.lane {
                Lane::Text => Signal::Text { rank: c.rank },
                Lane::Title => Signal::Title,
                Lane::Dense => Signal::Dense { rank: c.rank },
            })
            .collect();
        Ok(AnswerPassage {
            rank,
            terms,
            note,
            passage,
            score,
            signals,
            evidence: Evidence {
                class: "own",
                rule: "default".to_string(),
            },
            copies: paths,
            fused,
        })
    }

    /// How much of the question's content a passage has, 0 to 1.
    fn share_of_content(&self, terms: &[TermScore]) -> f32 {
        let total = self.terms.total_idf();
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

    fn notice(&self) -> Option<String> {
        let question = &self.question;
        if self
            .allowed
            .as_ref()
            .is_some_and(|allowed| allowed.notes.is_empty())
        {
            return Some("No note is in the folder and bears the tags that were asked for.".into());
        }
        if question.only_stop_words {
            return Some("The question holds only words that say nothing of a subject; name what it is about.".into());
        }
        if question.is_empty() && !self.request.exact {
            return Some("The question holds no words to look for.".into());
        }
        question.shortened.then(|| {
            format!(
                "The question is long; its first {} different words were looked for.",
                question.terms.len()
            )
        })
    }
}

struct Candidate {
    fused: Fused,
    passage: StoredPassage,
    copies: Vec<u32>,
}

fn missing_note(snapshot: &Snapshot) -> lorewell_index::IndexError {
    lorewell_index::IndexError::Damaged {
        path: snapshot.layout().folder().to_path_buf(),
        what: "a passage belongs to no note".to_string(),
    }
}

/// Where something answers, the last passages that have nothing of the question only fill places.
/// Whether any were dropped.
fn drop_padding(passages: &mut Vec<AnswerPassage>, best: Option<f32>) -> bool {
    let before = passages.len();
    if best.is_some_and(|best| best >= score::WEAK) {
        while passages
            .last()
            .is_some_and(|last| last.score < score::PADDING)
        {
            passages.pop();
        }
    }
    passages.len() < before
}

/// Every lane that fell short, in words.
fn degraded(reports: &[LaneReport]) -> Vec<String> {
    reports
        .iter()
        .filter_map(|report| match &report.state {
            LaneState::Ok | LaneState::Off => None,
            LaneState::Partial { reason, .. }
            | LaneState::Abstained { reason }
            | LaneState::Unavailable { reason } => Some(format!("{}: {reason}", report.lane)),
        })
        .collect()
}
