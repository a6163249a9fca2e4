//! A second look at the first passages: what each has of the question as a whole counts as much
//! as where the lanes put it, and a note that another replaces steps back.
//!
//! BM25 can put a passage with one rare word, often, above one with two words once; the share of
//! the question's content and the cosine tell them apart. On the development sets this lifts what
//! is first a little and lowers nothing (docs/evals/ablation.md).

use crate::error::RetrievalError;
use crate::fusion::Fused;
use crate::walk::Search;

/// So many passages are looked at.
const LOOKED_AT: usize = 20;
/// What a note counts that another says it replaces.
const SUPERSEDED: f32 = 0.7;

impl Search<'_> {
    /// Orders the first passages anew, by the mean of their fused value, as a share of the best,
    /// and what they have of the question as a whole. What comes behind them stays.
    pub(crate) fn look_again(&self, fused: &mut [Fused]) -> Result<(), RetrievalError> {
        let best = fused.first().map_or(0.0, |first| first.value);
        let count = fused.len().min(LOOKED_AT);
        let head = &mut fused[..count];
        if best <= 0.0 {
            return Ok(());
        }
        let explainer = self.explainer()?;
        for passage in &mut *head {
            let terms = explainer.explain(passage.passage)?;
            let reading = self.reading(passage.passage, &terms, &passage.trace)?;
            let mut order = (passage.value / best + passage.standing * reading.whole()) / 2.0;
            if self.is_superseded(passage.passage)? {
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

    fn is_superseded(&self, passage: u32) -> Result<bool, RetrievalError> {
        let snapshot = self.ground.snapshot;
        let note = match snapshot.note_of_passage(passage)? {
            Some(note) => snapshot.note(note)?,
            None => None,
        };
        match note {
            Some(note) => Ok(!snapshot.superseded_by(&note)?.is_empty()),
            None => Ok(false),
        }
    }
}
