//! Places kept for what is nearest in meaning.
//!
//! A passage that only the dense lane finds is worth a third of the best at most, and would stand
//! behind everything that shares a common word with the question. On the development sets the
//! places lift passage recall@6 of the English vaults by .04 (docs/evaluation.md).

use crate::fusion::Fused;

/// The first of the dense lane stands no lower than here, the second no lower than there (from 1).
/// Higher places won no more on the development sets and cost more on the collections.
const PLACES: [usize; 2] = [5, 6];

/// Moves the first passages of the dense lane up to their places. `nearest`: best first.
pub(crate) fn keep_nearest(fused: &mut [Fused], nearest: impl Iterator<Item = u32>) {
    for (passage, place) in nearest.zip(PLACES) {
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
        keep_nearest(&mut fused, nearest.iter().copied());
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
