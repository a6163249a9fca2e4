//! The walk of one question: terms → lanes → fusion → passages with reasons.

use lorewell_embed::Embedder;
use lorewell_index::{IndexError, Snapshot};
use lorewell_lexical::{Live, TermScore};
use lorewell_text::Question;
use rustc_hash::FxHashSet;

use crate::answer::{Answer, AnswerPassage, Evidence, Signal};
use crate::fusion::{Fused, FusionInput, fuse};
use crate::lane::{Lane, LaneReport, LaneResult, LaneState};
use crate::lanes::text::Terms;
use crate::lanes::{Allowed, dense, text, title};
use crate::page::{Candidate, Page};
use crate::{Request, RetrievalError, exact, score};

/// No lane is asked for more passages than this, however far an answer is read on.
const DEEPEST: usize = 20_000;

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
        let (page, reports) = self.page()?;
        let (offset, limit) = (self.request.offset, self.request.limit);
        // Whether the notes answer is a matter of the best passages, whichever page is shown.
        let mut best: Option<f32> = None;
        let mut passages = Vec::with_capacity(limit);
        for (index, candidate) in page.candidates.into_iter().enumerate() {
            if index >= limit && index < offset {
                continue;
            }
            let passage = self.passage(index + 1, candidate)?;
            if index < limit {
                best = Some(best.map_or(passage.score, |best| best.max(passage.score)));
            }
            if index >= offset {
                passages.push(passage);
            }
        }
        let padded = drop_padding(&mut passages, best);
        Ok(Answer {
            confidence: score::confidence(best),
            degraded: degraded(&reports),
            notice: self.notice(),
            lanes: reports,
            passages,
            more: page.more && !padded,
        })
    }

    /// Runs the lanes, deeper until the page is full or they have no more. What a deeper look
    /// adds stands behind what was there, so that the pages of an answer fit together.
    fn page(&mut self) -> Result<(Page, Vec<LaneReport>), RetrievalError> {
        let request = self.request;
        let wanted = request.offset + request.limit;
        // Who looks for a phrase wants every place where it stands.
        let per_note = if request.exact {
            usize::MAX
        } else {
            request.settings.max_per_note
        };
        let mut depth = request.settings.depth;
        let mut order: Vec<Fused> = Vec::new();
        let mut known: FxHashSet<u32> = FxHashSet::default();
        loop {
            let lanes = Lane::ALL
                .into_iter()
                .map(|lane| self.lane(lane, depth))
                .collect::<Result<Vec<LaneResult>, _>>()?;
            let exhausted = lanes.iter().all(|lane| lane.hits.len() < depth);
            let fused = fuse(request.settings.fusion, &self.inputs(&lanes));
            order.extend(
                fused
                    .into_iter()
                    .filter(|fused| known.insert(fused.passage)),
            );
            let page = Page::of(self.snapshot, &order, wanted, per_note)?;
            if page.more || exhausted || depth >= DEEPEST {
                let more = page.more || !exhausted;
                let reports = lanes.into_iter().map(|lane| lane.report).collect();
                return Ok((Page { more, ..page }, reports));
            }
            depth = (depth * 4).min(DEEPEST);
        }
    }

    fn inputs(&self, lanes: &[LaneResult]) -> Vec<FusionInput> {
        let input = |lane: &LaneResult| FusionInput {
            lane: lane.report.lane,
            weight: self.request.settings.weights.of(lane.report.lane),
            hits: lane
                .hits
                .iter()
                .map(|hit| (hit.passage, hit.score, hit.strength))
                .collect(),
        };
        lanes.iter().map(input).collect()
    }

    /// Runs a lane if it is asked; else it is reported as off.
    fn lane(&mut self, lane: Lane, depth: usize) -> Result<LaneResult, RetrievalError> {
        let request = self.request;
        let allowed = self.allowed.as_ref();
        if request.exact {
            return if lane == Lane::Text && !request.question.trim().is_empty() {
                exact::run(
                    self.snapshot,
                    &self.segments,
                    &self.question,
                    &request.question,
                    allowed,
                    depth,
                )
            } else {
                Ok(LaneResult::new(lane, LaneState::Off, Vec::new()))
            };
        }
        if !request.lanes.contains(&lane) {
            return Ok(LaneResult::new(lane, LaneState::Off, Vec::new()));
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
            Lane::Dense if self.question.is_empty() => Ok(dense::nothing_to_ask(self.embedder)),
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
        let name = fused
            .trace
            .iter()
            .find(|c| c.lane == Lane::Title)
            .map(|c| c.score);
        let score = if self.request.exact {
            1.0
        } else {
            score::score(
                self.share_of_content(&terms),
                self.cosine(passage.id)?,
                name.map(title::sureness),
            )
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

    /// How near in meaning a passage is to the question, where that is known.
    fn cosine(&self, passage: u32) -> Result<Option<f32>, RetrievalError> {
        let (Some(vector), Some((reader, _))) = (&self.vector, self.snapshot.vectors()) else {
            return Ok(None);
        };
        let row = self.snapshot.row_of_passage(passage)?;
        Ok(row
            .filter(|row| reader.is_intact(*row))
            .map(|row| reader.cosine(row, vector)))
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
                "The question is long; only its beginning was looked for ({} terms).",
                question.terms.len()
            )
        })
    }
}

fn missing_note(snapshot: &Snapshot) -> IndexError {
    IndexError::Damaged {
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
