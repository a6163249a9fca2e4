//! Places kept for what is nearest in meaning, and for what has most of the question's words.
//!
//! A passage that only the dense lane finds is worth a third of the best at most, and would stand
//! behind everything that shares a common word with the question. On the development sets the
//! places lift passage recall@6 of the English vaults by .04 (docs/evaluation.md).

use crate::fusion::Fused;

/// The first of the dense lane stands no lower than here, the second no lower than there (from 1).
/// Higher places won no more on the development sets and cost more on the collections.
const PLACES: [usize; 2] = [5, 6];

/// The first of the text lane stands no lower than here: who asks in the words of a passage sees it,
/// also where two others of its note are nearer in meaning.
const OF_WORDS: [usize; 1] = [2];

/// Moves the first passages of the text and the dense lane up to their places. Both best first.
pub(crate) fn keep_places(
    fused: &mut [Fused],
    by_words: impl Iterator<Item = u32>,
    nearest: impl Iterator<Item = u32>,
) {
    keep(fused, by_words.zip(OF_WORDS));
    keep(fused, nearest.zip(PLACES));
}

fn keep(fused: &mut [Fused], places: impl Iterator<Item = (u32, usize)>) {
    for (passage, place) in places {
        let at = fused.iter().position(|fused| fused.passage == passage);
        if let Some(at) = at.filter(|at| *at >= place) {
            // Those between move one down and stay in their order.
            if let Some(moved) = fused.get_mut(place - 1..=at) {
                moved.rotate_right(1);
            }
            if let Some(kept) = fused.get_mut(place - 1) {
                kept.place = Some(place);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(length: u32, nearest: &[u32]) -> Vec<u32> {
        let passage = |passage| Fused {
            passage,
            value: 0.0,
            order: None,
            relevance: None,
            place: None,
            standing: 1.0,
            trace: Vec::new(),
        };
        let mut fused: Vec<Fused> = (0..length).map(passage).collect();
        keep(&mut fused, nearest.iter().copied().zip(PLACES));
        fused.iter().map(|fused| fused.passage).collect()
    }

    #[test]
    fn the_two_nearest_stand_no_lower_than_their_places() {
        assert_eq!(order(9, &[8, 7]), [0, 1, 2, 3, 8, 7, 4, 5, 6]);
        assert_eq!(order(9, &[1, 8]), [0, 1, 2, 3, 4, 8, 5, 6, 7]);
        assert_eq!(order(9, &[4, 5]), (0..9).collect::<Vec<_>>());
        assert_eq!(order(9, &[77]), (0..9).collect::<Vec<_>>());
        assert_eq!(order(3, &[2, 1]), [0, 1, 2]);
        assert_eq!(order(0, &[]), Vec::<u32>::new());
    }
}
