//! A second look at the first passages: what each has of the question as a whole counts as much
//! as where the lanes put it, words that stand side by side in both count besides, and a note that
//! another replaces steps back.
//!
//! BM25 can put a passage with one rare word, often, above one with two words once; the share of
//! the question's content and the cosine tell them apart. On the development sets this lifts what
//! is first a little and lowers nothing for certain (docs/evals/ablation.md).

use rustc_hash::FxHashMap;

use crate::error::RetrievalError;
use crate::fusion::Fused;
use crate::side_by_side::Pairs;
use crate::walk::Search;

/// So many passages are looked at.
const LOOKED_AT: usize = 20;
/// What a note counts that another says it replaces.
const SUPERSEDED: f32 = 0.7;

impl Search<'_> {
    /// Orders the first passages anew, by the mean of their fused value, as a share of the best,
    /// and what they have of the question as a whole, and more for words that stand side by side
    /// as they do in the question. What comes behind them stays.
    pub(crate) fn look_again(&mut self, fused: &mut [Fused]) -> Result<(), RetrievalError> {
        self.judge(fused)?;
        let best = fused.first().map_or(0.0, |first| first.value);
        let count = fused.len().min(LOOKED_AT);
        let head = &mut fused[..count];
        if best <= 0.0 {
            return Ok(());
        }
        let explainer = self.explainer()?;
        let pairs = Pairs::of(&self.question, &self.request.question, &self.terms);
        let side_by_side = self.request.settings.side_by_side;
        let mut superseded: FxHashMap<u32, bool> = FxHashMap::default();
        for passage in &mut *head {
            let terms = explainer.explain(passage.passage)?;
            let reading = self.reading(passage.passage, &terms, &passage.trace)?;
            let mut order = (passage.value / best + passage.standing * reading.whole()) / 2.0;
            if side_by_side > 0.0
                && pairs.may_stand_in(&terms)
                && let Some(stored) = self.ground.snapshot.passage(passage.passage)?
            {
                let share = pairs.share_in(&stored.said());
                order += side_by_side * passage.standing * share;
            }
            if let Some(Some(relevance)) = self.relevance.get(&passage.passage) {
                let share = self.request.settings.rerank;
                order = (1.0 - share) * order + share * passage.standing * relevance;
                passage.relevance = Some(*relevance);
            }
            if self.is_superseded(passage.passage, &mut superseded)? {
                order *= SUPERSEDED;
            }
            passage.order = Some(order);
        }
        head.sort_by(|a, b| {
            let order = |fused: &Fused| fused.order.unwrap_or_default();
            order(b).total_cmp(&order(a))
        });
        Ok(())
    }

    /// Has the reranker judge the first passages, each once.
    fn judge(&mut self, fused: &[Fused]) -> Result<(), RetrievalError> {
        let asked = self.request.is_judged() && self.not_reranked.is_none();
        let Some(reranker) = self.reranker.filter(|_| asked) else {
            return Ok(());
        };
        let mut passages = Vec::new();
        for one in fused.iter().take(LOOKED_AT) {
            if !self.relevance.contains_key(&one.passage)
                && let Some(stored) = self.ground.snapshot.passage(one.passage)?
            {
                passages.push((one.passage, stored.said().into_owned()));
            }
        }
        if passages.is_empty() {
            return Ok(());
        }
        let texts: Vec<&str> = passages.iter().map(|(_, text)| text.as_str()).collect();
        match reranker.relevance(&self.request.question, &texts) {
            Ok(all) => {
                let judged = passages.iter().map(|(passage, _)| *passage).zip(all);
                self.relevance.extend(judged);
            }
            Err(reason) => {
                self.not_reranked = Some(format!("{} {reason}", reranker.model()));
            }
        }
        Ok(())
    }

    /// Whether a passage stands behind others by its class of evidence, or because another note
    /// replaces its own.
    pub(crate) fn stands_back(
        &self,
        passage: u32,
        fused: &[Fused],
    ) -> Result<bool, RetrievalError> {
        let one = fused.iter().find(|one| one.passage == passage);
        let counts_less = one.is_some_and(|one| one.standing < 1.0);
        Ok(counts_less || self.is_superseded(passage, &mut FxHashMap::default())?)
    }

    /// Whether another note replaces the note of a passage; each note is looked at once.
    fn is_superseded(
        &self,
        passage: u32,
        known: &mut FxHashMap<u32, bool>,
    ) -> Result<bool, RetrievalError> {
        let snapshot = self.ground.snapshot;
        let Some(number) = snapshot.note_of_passage(passage)? else {
            return Ok(false);
        };
        if let Some(known) = known.get(&number) {
            return Ok(*known);
        }
        let note = snapshot.note(number)?;
        let newer = note.map_or(Ok(Vec::new()), |note| snapshot.superseded_by(&note))?;
        known.insert(number, !newer.is_empty());
        Ok(!newer.is_empty())
    }
}
