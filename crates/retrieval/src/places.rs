//! Places kept for what is nearest in meaning, and for what has most of the question's words.
//!
//! A passage that only the dense lane finds is worth half of the best at most, and would stand behind
//! everything that shares a common word with the question (docs/evaluation.md says what the places
//! bring).

use crate::fusion::{Fused, KeptPlace};
use crate::lane::Lane;

/// The first three of the dense lane stand no lower than these (from 1).
const PLACES: [usize; 3] = [4, 5, 6];

/// The first of the text lane stands no lower than here: who asks in the words of a passage sees it,
/// also where two others of its note are nearer in meaning. What stands back, by its class of evidence
/// or because another replaces it, has no such place; that is the caller's part.
const OF_WORDS: [usize; 1] = [2];

/// Moves the first passages of the text and the dense lane up to their places. Both best first.
pub(crate) fn keep_places(
    fused: &mut [Fused],
    by_words: impl Iterator<Item = u32>,
    nearest: impl Iterator<Item = u32>,
) {
    keep(fused, Lane::Text, by_words.zip(OF_WORDS));
    keep(fused, Lane::Dense, nearest.zip(PLACES));
}

fn keep(fused: &mut [Fused], lane: Lane, places: impl Iterator<Item = (u32, usize)>) {
    for (passage, place) in places {
        let at = fused.iter().position(|fused| fused.passage == passage);
        if let Some(at) = at.filter(|at| *at >= place) {
            // Those between move one down and stay in their order.
            if let Some(moved) = fused.get_mut(place - 1..=at) {
                moved.rotate_right(1);
            }
            if let Some(kept) = fused.get_mut(place - 1) {
                kept.place = Some(KeptPlace { place, lane });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(length: u32, nearest: &[u32]) -> Vec<u32> {
        with(length, &[], nearest)
    }

    fn with(length: u32, by_words: &[u32], nearest: &[u32]) -> Vec<u32> {
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
        keep_places(
            &mut fused,
            by_words.iter().copied(),
            nearest.iter().copied(),
        );
        fused.iter().map(|fused| fused.passage).collect()
    }

    #[test]
    fn the_nearest_stand_no_lower_than_their_places() {
        assert_eq!(order(9, &[8, 7]), [0, 1, 2, 8, 7, 3, 4, 5, 6]);
        assert_eq!(order(9, &[1, 8, 7]), [0, 1, 2, 3, 8, 7, 4, 5, 6]);
        assert_eq!(order(9, &[3, 4, 5, 8]), (0..9).collect::<Vec<_>>());
        assert_eq!(order(9, &[77]), (0..9).collect::<Vec<_>>());
        assert_eq!(order(3, &[2, 1]), [0, 1, 2]);
        assert_eq!(order(0, &[]), Vec::<u32>::new());
    }

    #[test]
    fn what_has_most_of_the_words_stands_second_at_least() {
        assert_eq!(with(5, &[3, 4], &[]), [0, 3, 1, 2, 4]);
        assert_eq!(with(5, &[0], &[]), [0, 1, 2, 3, 4]);
        assert_eq!(with(7, &[6], &[6]), [0, 6, 1, 2, 3, 4, 5]);
    }
}
