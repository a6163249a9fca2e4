//! Added words never push a literal hit down.

use rustc_hash::FxHashMap;

use crate::fusion::Fused;
use crate::lane::Lane;

/// Holds back what the vocabulary lane gave to a passage, so that it does not pass one that stood
/// before it without that lane and has more of the question's own content.
///
/// `share`: of passages that have words of the question, the share of its content. Sorts again.
pub(crate) fn keep_literal_first(fused: &mut [Fused], share: &FxHashMap<u32, f32>) {
    let share = |passage: u32| share.get(&passage).copied().unwrap_or(0.0);
    let added = |fused: &Fused| -> f32 {
        let vocab = fused.trace.iter().filter(|c| c.lane == Lane::Vocab);
        vocab.map(|c| c.added).sum()
    };
    // Every passage by its value without the lane.
    let mut plain: Vec<(f32, u32)> = fused
        .iter()
        .map(|fused| (fused.value - added(fused), fused.passage))
        .collect();
    plain.sort_by(|a, b| b.0.total_cmp(&a.0));
    for fused in &mut *fused {
        let gain = added(fused);
        if gain <= 0.0 {
            continue;
        }
        let own = fused.value - gain;
        let before = plain.partition_point(|(value, _)| *value > own);
        let held = plain[..before]
            .iter()
            .rev()
            .take_while(|(value, _)| *value <= fused.value)
            .find(|(_, passage)| share(*passage) > share(fused.passage));
        if let Some((ceiling, _)) = held {
            hold(fused, own, *ceiling);
        }
    }
    fused.sort_by(|a, b| {
        let own = |fused: &Fused| fused.value - added(fused);
        b.value
            .total_cmp(&a.value)
            .then_with(|| own(b).total_cmp(&own(a)))
    });
}

/// Cuts what the lane added, so that the value is the ceiling.
fn hold(fused: &mut Fused, own: f32, ceiling: f32) {
    let left = (ceiling - own).max(0.0);
    for contribution in &mut fused.trace {
        if contribution.lane == Lane::Vocab {
            contribution.added = left;
        }
    }
    fused.value = own + left;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fusion::{Fusion, FusionInput, Voice, fuse};

    proptest! {
        #[test]
        fn nothing_with_more_of_the_question_is_passed_thanks_to_added_words(
            text in prop::collection::vec((0..30_u32, 0.01..1.0_f32, 0..4_u8), 1..30),
            vocab in prop::collection::vec((0..30_u32, 0.01..1.0_f32), 1..30),
            weight in 0.05..2.0_f32,
        ) {
            let mut share = FxHashMap::default();
            let mut hits: Vec<(u32, f32, f32)> = Vec::new();
            for (passage, score, quarter) in text {
                if share.insert(passage, f32::from(quarter) / 4.0).is_none() {
                    hits.push((passage, score, 1.0));
                }
            }
            let mut more: Vec<(u32, f32, f32)> = vocab.into_iter().map(|(p, s)| (p, s, 1.0)).collect();
            more.sort_by_key(|hit| hit.0);
            more.dedup_by_key(|hit| hit.0);
            let best_first = |hits: &mut Vec<(u32, f32, f32)>| hits.sort_by(|a, b| b.1.total_cmp(&a.1));
            best_first(&mut hits);
            best_first(&mut more);
            let voice = Voice::Question;
            let inputs = [
                FusionInput { lane: Lane::Text, voice, weight: 1.0, hits },
                FusionInput { lane: Lane::Vocab, voice, weight, hits: more },
            ];
            let before: Vec<u32> = fuse(Fusion::Convex, &inputs[..1]).iter().map(|f| f.passage).collect();
            let mut fused = fuse(Fusion::Convex, &inputs);
            keep_literal_first(&mut fused, &share);
            let after: Vec<u32> = fused.iter().map(|f| f.passage).collect();
            let share = |p: &u32| share.get(p).copied().unwrap_or(0.0);
            for (place, high) in before.iter().enumerate() {
                for low in &before[place + 1..] {
                    if share(high) > share(low) {
                        let at = |p: &u32| after.iter().position(|x| x == p);
                        prop_assert!(at(high) < at(low), "{low} passed {high}");
                    }
                }
            }
            for f in &fused {
                let sum: f32 = f.trace.iter().map(|c| c.added).sum();
                prop_assert!((sum - f.value).abs() < 1e-5);
            }
        }
    }
}
