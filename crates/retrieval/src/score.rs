//! `score` and `confidence`: the stated rule that holds until they are calibrated.
//!
//! `score` is the greater of two readings of a passage, both 0 to 1: *words*, the share of the
//! question's content (in inverse document frequency, absent words included) that the passage
//! has; and *meaning*, its cosine to the question, stretched from [`FAR`] to [`NEAR`]. Where both
//! speak, the weaker one adds a tenth of itself. A note that the question names scores at least how
//! sure the name is: 1 where the whole question is the name, up to one half where it is nearly so.
//!
//! `confidence` follows the best score of the answer: `strong`, `weak`, `none`.

use crate::Confidence;

/// Cosines up to this mean nothing.
pub(crate) const FAR: f32 = 0.25;
/// Cosines from this on mean the same.
pub(crate) const NEAR: f32 = 0.85;
/// From this score on an answer is strong.
pub(crate) const STRONG: f32 = 0.7;
/// From this score on an answer is weak; below there is none.
pub(crate) const WEAK: f32 = 0.2;
/// Below this a passage has nothing of the question: the nearest that there was.
pub(crate) const PADDING: f32 = 0.05;

/// The score of a passage. `words`: share of the question's content, 0 to 1. `cosine`: nearness
/// of meaning where it is known. `name`: how surely the question names the note, where it does.
pub(crate) fn score(words: f32, cosine: Option<f32>, name: Option<f32>) -> f32 {
    let meaning = cosine.map_or(0.0, |c| ((c - FAR) / (NEAR - FAR)).clamp(0.0, 1.0));
    let (more, less) = if words > meaning {
        (words, meaning)
    } else {
        (meaning, words)
    };
    (more + 0.1 * less).max(name.unwrap_or(0.0)).clamp(0.0, 1.0)
}

/// The confidence of an answer, from the best score in it.
pub(crate) fn confidence(best: Option<f32>) -> Confidence {
    match best {
        Some(best) if best >= STRONG => Confidence::Strong,
        Some(best) if best >= WEAK => Confidence::Weak,
        _ => Confidence::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stated_rule() {
        for (words, cosine, name, expected) in [
            (0.0, None, None, 0.0),
            (0.5, None, None, 0.5),
            (0.5, Some(FAR), None, 0.5),
            (0.5, Some(NEAR), None, 1.0),
            (0.0, Some(0.55), None, 0.5),
            (0.4, Some(0.55), None, 0.54),
            (0.0, None, Some(1.0), 1.0),
            (0.7, None, Some(0.5), 0.7),
        ] {
            let got = score(words, cosine, name);
            assert!(
                (got - expected).abs() < 1e-5,
                "{words} {cosine:?} {name:?}: {got}"
            );
        }
        assert_eq!(confidence(None), Confidence::None);
        assert_eq!(
            [0.19, 0.2, 0.69, 0.7].map(|s| confidence(Some(s))),
            [
                Confidence::None,
                Confidence::Weak,
                Confidence::Weak,
                Confidence::Strong
            ]
        );
    }
}
