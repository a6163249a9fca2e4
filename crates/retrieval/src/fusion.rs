//! Fusion: several ranked lists to one, as a pure function with a trace.

use rustc_hash::FxHashMap;

use crate::lane::Lane;

/// How lists are joined.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fusion {
    /// Reciprocal rank fusion, `Σ weight · strength / (k + rank)`, ranks from 1 (Cormack, Clarke
    /// and Büttcher, SIGIR 2009).
    Rrf {
        /// Dampens the difference between the first ranks; 60 in the literature.
        k: f32,
    },
    /// Convex combination of scores, each list brought to 0..1 by its lane's rule: lexical
    /// scores divided by the best, cosines stretched between the least and the best of the list
    /// (Bruch, Gai and Ingber, TOIS 2023).
    Convex,
}

/// Whose words made a list: the question's, or those of an aid that came with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Voice {
    /// The question itself.
    #[default]
    Question,
    /// The paraphrase of this number, from 0.
    Also(usize),
    /// The passage of this number that answers should be like, from 0.
    Like(usize),
}

/// One list that takes part.
#[derive(Clone, Debug)]
pub struct FusionInput {
    /// Which lane made it.
    pub lane: Lane,
    /// For whose words.
    pub voice: Voice,
    /// What its vote counts.
    pub weight: f32,
    /// Passage, the lane's score, strength; best first.
    pub hits: Vec<(u32, f32, f32)>,
}

/// What one lane gave to a passage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contribution {
    /// The lane.
    pub lane: Lane,
    /// Whose words.
    pub voice: Voice,
    /// The passage's rank there, from 1.
    pub rank: usize,
    /// The lane's own score.
    pub score: f32,
    /// What it added to the fused value.
    pub added: f32,
}

/// A passage with its fused value and where that came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Fused {
    /// The passage.
    pub passage: u32,
    /// The sum of what was added, times its standing.
    pub value: f32,
    /// Of the first passages, what their order follows from after a second look, 0 to 1.
    pub order: Option<f32>,
    /// How well the reranker says that it answers, 0 to 1, where one judged it.
    pub relevance: Option<f32>,
    /// The place that was kept for it, where it would have stood lower.
    pub place: Option<KeptPlace>,
    /// What the class of evidence of its note counts: 1 for the person's own words.
    pub standing: f32,
    /// Each lane that found it.
    pub trace: Vec<Contribution>,
}

/// A place that is kept for what a lane has first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptPlace {
    /// From 1.
    pub place: usize,
    /// The lane: text, or dense for what is nearest in meaning.
    pub lane: Lane,
}

/// Joins lists. Best first; equal values in the order of the first list that has them, so that
/// the outcome depends on the lists alone.
pub fn fuse(fusion: Fusion, inputs: &[FusionInput]) -> Vec<Fused> {
    let mut order: Vec<u32> = Vec::new();
    let mut found: FxHashMap<u32, Vec<Contribution>> = FxHashMap::default();
    for input in inputs {
        let scale = Scale::of(input);
        for (index, (passage, score, strength)) in input.hits.iter().enumerate() {
            let unit = match fusion {
                Fusion::Rrf { k } => 1.0 / (k + index as f32 + 1.0),
                // A name is there or not; how sure the lane is of it is its strength.
                Fusion::Convex if input.lane == Lane::Title => 1.0,
                Fusion::Convex => scale.unit(*score),
            };
            let contribution = Contribution {
                lane: input.lane,
                voice: input.voice,
                rank: index + 1,
                score: *score,
                added: input.weight * strength * unit,
            };
            found.entry(*passage).or_insert_with(|| {
                order.push(*passage);
                Vec::with_capacity(2)
            });
            if let Some(trace) = found.get_mut(passage) {
                trace.push(contribution);
            }
        }
    }
    let mut fused: Vec<Fused> = order
        .into_iter()
        .filter_map(|passage| {
            let trace = found.remove(&passage)?;
            Some(Fused {
                passage,
                value: trace.iter().map(|c| c.added).sum(),
                order: None,
                relevance: None,
                place: None,
                standing: 1.0,
                trace,
            })
        })
        .collect();
    fused.sort_by(|a, b| b.value.total_cmp(&a.value));
    fused
}

/// Cosines are stretched between the first and so many others; later ones count nothing.
const STRETCHED: usize = 100;

/// Brings the scores of one list to 0..1.
struct Scale {
    low: f32,
    high: f32,
}

impl Scale {
    fn of(input: &FusionInput) -> Scale {
        let high = input.hits.iter().map(|hit| hit.1).fold(f32::MIN, f32::max);
        let low = match input.lane {
            Lane::Dense => input
                .hits // The same however deep the lane was asked, so that pages of one answer fit.
                .iter()
                .take(STRETCHED)
                .map(|hit| hit.1)
                .fold(f32::MAX, f32::min),
            _ => 0.0,
        };
        Scale { low, high }
    }

    fn unit(&self, score: f32) -> f32 {
        if self.high > self.low {
            ((score - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
        } else {
            1.0
        }
    }
}

/// How much of the question's best value the best passage of one aid is worth: less than one,
/// so that what the question puts first is never outvoted by a single aid.
const AID: f32 = 0.5;

/// The factor on the weights of an aid's lists: its best passage gets [`AID`] times the value
/// of the question's best, however large its own sums are. Where the question finds nothing, the
/// aid stands alone.
pub(crate) fn aid_factor(fusion: Fusion, question: &[FusionInput], aid: &[FusionInput]) -> f32 {
    let best = |inputs: &[FusionInput]| fuse(fusion, inputs).first().map_or(0.0, |f| f.value);
    let (question, aid) = (best(question), best(aid));
    if aid > 0.0 && question > 0.0 {
        AID * question / aid
    } else {
        AID
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn input(lane: Lane, weight: f32, passages: &[u32]) -> FusionInput {
        let hits = passages
            .iter()
            .enumerate()
            .map(|(i, p)| (*p, 10.0 - i as f32, 1.0))
            .collect();
        FusionInput {
            lane,
            voice: Voice::Question,
            weight,
            hits,
        }
    }

    #[test]
    fn reciprocal_ranks_add_up() {
        let fused = fuse(
            Fusion::Rrf { k: 60.0 },
            &[
                input(Lane::Text, 1.0, &[7, 8]),
                input(Lane::Dense, 0.5, &[8, 9]),
            ],
        );
        let order: Vec<u32> = fused.iter().map(|f| f.passage).collect();
        assert_eq!(order, [8, 7, 9]);
        assert!((fused[0].value - (1.0 / 62.0 + 0.5 / 61.0)).abs() < 1e-6);
        assert_eq!(fused[0].trace.len(), 2);
    }

    proptest! {
        #[test]
        fn value_is_the_sum_of_the_trace_and_order_is_monotone(
            text in prop::sample::subsequence((0u32..40).collect::<Vec<_>>(), 0..30),
            dense in prop::sample::subsequence((0u32..40).collect::<Vec<_>>(), 0..30),
            convex in any::<bool>(),
        ) {
            let fusion = if convex { Fusion::Convex } else { Fusion::Rrf { k: 60.0 } };
            let fused = fuse(fusion, &[input(Lane::Text, 1.0, &text), input(Lane::Dense, 0.3, &dense)]);
            prop_assert!(fused.windows(2).all(|w| w[0].value >= w[1].value));
            for f in &fused {
                let sum: f32 = f.trace.iter().map(|c| c.added).sum();
                prop_assert!((sum - f.value).abs() < 1e-6);
                prop_assert!(text.contains(&f.passage) || dense.contains(&f.passage));
            }
            // A passage that is nowhere behind another and somewhere before it is not below it.
            let place = |list: &[u32], p: u32| list.iter().position(|x| *x == p).unwrap_or(usize::MAX);
            for a in &fused {
                for b in &fused {
                    let ahead = place(&text, a.passage) <= place(&text, b.passage)
                        && place(&dense, a.passage) <= place(&dense, b.passage);
                    if ahead {
                        prop_assert!(a.value >= b.value - 1e-6);
                    }
                }
            }
        }
    }
}
