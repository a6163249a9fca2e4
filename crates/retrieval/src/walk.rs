//! The walk of one question: terms → lanes in two rounds → fusion → passages with reasons.

use lorewell_embed::{Embedder, Reranker};
use lorewell_index::Snapshot;
use lorewell_text::Question;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::aids::Aid;
use crate::answer::{Answer, AnswerPassage, Confidence};
use crate::fusion::{Fused, FusionInput, Voice, fuse};
use crate::lane::{Lane, LaneReport, LaneResult, LaneState, Reason};
use crate::lanes::text::Terms;
use crate::lanes::{Ground, Seed, dense, link, recent, tag, text, title, vocab, why_words_lack};
use crate::literal::keep_literal_first;
use crate::page::Page;
use crate::phrases::Phrases;
use crate::places::keep_places;
use crate::request::Standing;
use crate::{Request, RetrievalError, exact, listing, must, score, standing};

/// No lane is asked for more passages than this, however far an answer is read on.
const DEEPEST: usize = 20_000;
/// Confidence follows the best of so many passages, however many are shown.
const JUDGED: usize = 6;
/// The second round lifts so many passages of the first at most.
const SEEDS: usize = 100;

/// Answers a question from one generation.
///
/// # Errors
/// Only if the index cannot be read; no question is an error.
pub fn search(
    snapshot: &Snapshot,
    embedder: &dyn Embedder,
    request: &Request,
) -> Result<Answer, RetrievalError> {
    search_with(snapshot, embedder, None, request)
}

/// The same, with a model that looks at the first passages again, if there is one.
///
/// # Errors
/// As [`search`].
pub fn search_with(
    snapshot: &Snapshot,
    embedder: &dyn Embedder,
    reranker: Option<&dyn Reranker>,
    request: &Request,
) -> Result<Answer, RetrievalError> {
    let mut search = Search::new(snapshot, embedder, request)?;
    search.reranker = reranker;
    search.run()
}

/// A question on its way.
pub(crate) struct Search<'a> {
    pub(crate) ground: Ground<'a>,
    embedder: &'a dyn Embedder,
    pub(crate) reranker: Option<&'a dyn Reranker>,
    /// Why the reranker did not judge, where it was to.
    pub(crate) not_reranked: Option<String>,
    /// What the reranker judged, by passage.
    pub(crate) relevance: FxHashMap<u32, Option<f32>>,
    pub(crate) request: &'a Request,
    pub(crate) question: Question,
    pub(crate) terms: Terms,
    pub(crate) aids: Vec<Aid>,
    /// The question's vector, once the dense lane has run.
    pub(crate) vector: Option<Vec<f32>>,
    /// What the lanes have to say of their hits.
    pub(crate) reasons: FxHashMap<(Lane, u32), Reason>,
    /// Items of `must` that say nothing.
    pub(crate) empty_must: Vec<String>,
    /// What the question has in quotation marks.
    pub(crate) phrases: Phrases,
}

impl<'a> Search<'a> {
    fn new(
        snapshot: &'a Snapshot,
        embedder: &'a dyn Embedder,
        request: &'a Request,
    ) -> Result<Search<'a>, RetrievalError> {
        let mut ground = Ground::new(snapshot, &request.scope)?;
        let empty_must = must::narrow(&mut ground, &request.must)?;
        let phrases = match request.exact {
            true => Phrases::default(),
            false => Phrases::look_for(&mut ground, &request.question)?,
        };
        let question = Question::new(&request.question);
        let terms = Terms::new(&ground.segments, &question, &request.question)?;
        let aids = match request.exact {
            true => Vec::new(),
            false => Aid::all(&ground, request)?,
        };
        Ok(Search {
            ground,
            embedder,
            reranker: None,
            not_reranked: None,
            relevance: FxHashMap::default(),
            request,
            question,
            terms,
            aids,
            vector: None,
            reasons: FxHashMap::default(),
            empty_must,
            phrases,
        })
    }

    fn run(mut self) -> Result<Answer, RetrievalError> {
        if let Some(list) = listing::run(&self)? {
            return Ok(list);
        }
        let (page, reports) = self.page()?;
        let (offset, limit) = (self.request.offset, self.request.limit);
        let more = page.more || page.candidates.len() > offset + limit;
        // Whether the notes answer is a matter of the best passages, whichever are shown.
        let mut best: Option<f32> = None;
        let mut passages = Vec::with_capacity(limit);
        let explainer = self.explainer()?;
        for (index, candidate) in page.candidates.into_iter().enumerate() {
            let shown = (offset..offset + limit).contains(&index);
            if !shown && index >= JUDGED {
                continue;
            }
            let passage = self.present(&explainer, index + 1, candidate)?;
            if index < JUDGED {
                best = Some(best.map_or(passage.score, |best| best.max(passage.score)));
            }
            if shown {
                passages.push(passage);
            }
        }
        let padded = drop_padding(&mut passages, best, self.request.near.is_some());
        Ok(Answer {
            confidence: self.confidence(best),
            degraded: self.degraded(&reports),
            reranked_by: self
                .reranker
                .filter(|_| self.relevance.values().any(Option::is_some))
                .map(|reranker| reranker.model().to_string()),
            notice: self.notice(),
            lanes: reports,
            passages,
            more: more && !padded,
        })
    }

    /// Runs the lanes, deeper until the page is full or they have no more. What a deeper look
    /// adds stands behind what was there, so that the pages of an answer fit together.
    fn page(&mut self) -> Result<(Page, Vec<LaneReport>), RetrievalError> {
        let request = self.request;
        let wanted = (request.offset + request.limit).max(JUDGED);
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
            let (fused, lanes) = self.ranking(depth)?;
            let exhausted = lanes.iter().all(|lane| lane.hits.len() < depth);
            order.extend(
                fused
                    .into_iter()
                    .filter(|fused| known.insert(fused.passage)),
            );
            let page = Page::of(self.ground.snapshot, &order, wanted, per_note)?;
            if page.more || exhausted || depth >= DEEPEST {
                let more = page.more || !exhausted;
                let reports = lanes.into_iter().map(|lane| lane.report).collect();
                return Ok((Page { more, ..page }, reports));
            }
            depth = (depth * 4).min(DEEPEST);
        }
    }

    /// Both rounds of lanes, so many passages deep, and their lists as one.
    fn ranking(&mut self, depth: usize) -> Result<(Vec<Fused>, Vec<LaneResult>), RetrievalError> {
        let settings = &self.request.settings;
        let mut lanes = [Lane::Text, Lane::Title, Lane::Dense, Lane::Vocab]
            .into_iter()
            .map(|lane| {
                let result = self.first_round(lane, depth)?;
                Ok(self.without_lost_words(result))
            })
            .collect::<Result<Vec<LaneResult>, RetrievalError>>()?;
        let mut inputs: Vec<FusionInput> = lanes.iter().map(|lane| self.input(lane)).collect();
        let question = inputs.clone();
        let mut aids = std::mem::take(&mut self.aids);
        for aid in &mut aids {
            let lanes = &self.request.lanes;
            inputs.extend(aid.lists(
                &self.ground,
                self.embedder,
                lanes,
                settings,
                depth,
                &question,
            )?);
        }
        self.aids = aids;
        let share: FxHashMap<u32, f32> = lanes
            .iter()
            .filter(|lane| lane.report.lane == Lane::Text)
            .flat_map(|lane| lane.hits.iter().map(|hit| (hit.passage, hit.share)))
            .collect();
        let mut fused = fuse(settings.fusion, &inputs);
        keep_literal_first(&mut fused, &share);
        let seeds = seeds(&fused);
        for lane in [Lane::Link, Lane::Tag, Lane::Recent] {
            let result = self.second_round(lane, &seeds)?;
            inputs.push(self.input(&result));
            lanes.push(result);
        }
        if lanes.iter().skip(4).any(|lane| !lane.hits.is_empty()) {
            fused = fuse(settings.fusion, &inputs);
            keep_literal_first(&mut fused, &share);
        }
        for lane in &mut lanes {
            let name = lane.report.lane;
            let reasons = std::mem::take(&mut lane.reasons);
            self.reasons
                .extend(reasons.into_iter().map(|(p, reason)| ((name, p), reason)));
        }
        let standing = if self.request.scope.evidence.is_empty() {
            settings.standing
        } else {
            Standing::EQUAL
        };
        standing::apply(self.ground.snapshot, standing, &mut fused)?;
        if settings.second_look && !self.request.exact {
            self.look_again(&mut fused)?;
        }
        if settings.keep_places && !self.request.exact {
            let found = |wanted: Lane| {
                let lane = lanes.iter().find(move |lane| lane.report.lane == wanted);
                let hits = lane.into_iter().flat_map(|lane| &lane.hits);
                hits.map(|hit| hit.passage)
            };
            let mut by_words = found(Lane::Text).next();
            if let Some(passage) = by_words
                && self.stands_back(passage, &fused)?
            {
                by_words = None;
            }
            keep_places(&mut fused, by_words.into_iter(), found(Lane::Dense));
        }
        self.phrases.come_first(&mut fused);
        Ok((fused, lanes))
    }

    fn input(&self, lane: &LaneResult) -> FusionInput {
        FusionInput {
            lane: lane.report.lane,
            voice: Voice::Question,
            weight: self
                .request
                .settings
                .weights
                .of(lane.report.lane, self.embedder.weight()),
            hits: lane
                .hits
                .iter()
                .map(|hit| (hit.passage, hit.score, hit.strength))
                .collect(),
        }
    }

    /// A lane that looks words up says so where some of them are damaged.
    fn without_lost_words(&self, mut result: LaneResult) -> LaneResult {
        let snapshot = self.ground.snapshot;
        let report = &mut result.report;
        let by_words = matches!(report.lane, Lane::Text | Lane::Vocab);
        let Some(reason) = why_words_lack(snapshot).filter(|_| by_words) else {
            return result;
        };
        report.state = match &report.state {
            LaneState::Off => return result,
            _ if self.ground.segments.is_empty() => LaneState::Unavailable { reason },
            _ => LaneState::Partial {
                coverage: snapshot.share_of_words(),
                reason,
            },
        };
        result
    }

    /// Runs a lane of the first round if it is asked; else it is reported as off.
    fn first_round(&mut self, lane: Lane, depth: usize) -> Result<LaneResult, RetrievalError> {
        let (request, ground) = (self.request, &self.ground);
        let off = LaneResult::new(lane, LaneState::Off, Vec::new());
        if request.exact {
            return if lane == Lane::Text && !request.question.trim().is_empty() {
                exact::run(ground, &self.question, &request.question, depth)
            } else {
                Ok(off)
            };
        }
        if !request.lanes.contains(&lane) {
            return Ok(off);
        }
        match lane {
            Lane::Text => text::run(ground, &self.terms, &self.phrases, depth),
            Lane::Title => title::run(ground, &self.terms, &request.question, request.today),
            Lane::Vocab => vocab::run(ground, &self.terms, &request.question, depth),
            Lane::Dense if self.question.is_empty() => Ok(dense::nothing_to_ask(self.embedder)),
            Lane::Dense => {
                let found = dense::run(ground, self.embedder, &request.question, depth)?;
                self.vector = found.question;
                match &request.near {
                    Some(near) if has_nothing_to_say(&found.result) => {
                        dense::stand_in(ground, near, depth)
                    }
                    _ => Ok(found.result),
                }
            }
            Lane::Link | Lane::Tag | Lane::Recent => Ok(off),
        }
    }

    /// Runs a lane of the second round if it is asked.
    fn second_round(&self, lane: Lane, seeds: &[Seed]) -> Result<LaneResult, RetrievalError> {
        if self.request.exact || !self.request.lanes.contains(&lane) {
            return Ok(LaneResult::new(lane, LaneState::Off, Vec::new()));
        }
        let first = [Lane::Text, Lane::Title, Lane::Dense, Lane::Vocab];
        if !first.iter().any(|lane| self.request.lanes.contains(lane)) {
            let reason = "it lifts what the lanes text, title, dense and vocab find, and none of them was asked".to_string();
            return Ok(LaneResult::new(
                lane,
                LaneState::Abstained { reason },
                Vec::new(),
            ));
        }
        match lane {
            Lane::Link => link::run(&self.ground, seeds),
            Lane::Tag => tag::run(&self.ground, seeds),
            _ => recent::run(&self.ground, seeds, self.request.today),
        }
    }
}

/// Whether the lane could not look for what was asked.
fn has_nothing_to_say(dense: &LaneResult) -> bool {
    let state = &dense.report.state;
    matches!(
        state,
        LaneState::Abstained { .. } | LaneState::Unavailable { .. }
    )
}

/// The best of the first round, each with its share of the best value.
fn seeds(fused: &[Fused]) -> Vec<Seed> {
    let best = fused.first().map_or(0.0, |first| first.value);
    let worth = |value: f32| if best > 0.0 { value / best } else { 0.0 };
    fused
        .iter()
        .take(SEEDS)
        .map(|fused| Seed {
            passage: fused.passage,
            worth: worth(fused.value),
        })
        .collect()
}

/// Where something answers, the last passages that have nothing of the question only fill places.
/// Whether any were dropped. What is near `by_others`' vectors has no cosine to the question, and
/// stays.
fn drop_padding(passages: &mut Vec<AnswerPassage>, best: Option<f32>, by_others: bool) -> bool {
    let before = passages.len();
    if score::confidence(best) != Confidence::None && !by_others {
        let padding = |passage: &AnswerPassage| {
            let only_near = passage.signals.iter().all(|s| s.lane == Lane::Dense);
            only_near && passage.reading.is_padding()
        };
        while passages.last().is_some_and(padding) {
            passages.pop();
        }
    }
    passages.len() < before
}

impl Search<'_> {
    /// Whether the notes answer, as far as can be told: that nothing in them does cannot, where
    /// some of their words cannot be looked up.
    fn confidence(&self, best: Option<f32>) -> Confidence {
        let told = score::confidence(best);
        match self.ground.snapshot.lost_words() {
            Some(_) => told.max(Confidence::Weak),
            _ => told,
        }
    }

    /// Every lane that fell short, and `must` where it could not look at all words.
    fn degraded(&self, reports: &[LaneReport]) -> Vec<String> {
        let mut said = degraded(reports);
        if !self.request.must.is_empty()
            && let Some(reason) = why_words_lack(self.ground.snapshot)
        {
            said.push(format!("must: {reason}"));
        }
        if let Some(what) = self.ground.snapshot.damaged_passage() {
            said.push(format!(
                "passages: the index is damaged ({what}), and what is damaged is left out; \
                 `lorewell rebuild` makes it anew"
            ));
        }
        if let Some(reason) = &self.not_reranked {
            said.push(format!("rerank_unavailable: {reason}"));
        } else if let Some(reranker) = self.reranker
            && !self.relevance.is_empty()
            && self.relevance.values().all(Option::is_none)
        {
            said.push(format!(
                "rerank_unavailable: {} knows too little of the words of the question or the passages",
                reranker.model()
            ));
        }
        said
    }
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
