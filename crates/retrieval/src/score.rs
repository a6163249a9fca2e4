//! `score` and `confidence`: the stated rule that holds until they are calibrated.
//!
//! `score` is the greater of two readings of a passage, both 0 to 1: *words*, the share of the
//! question's content (in inverse document frequency, absent words included) that the passage
//! has; and *meaning*, its cosine to the question, stretched from [`FAR`] to [`NEAR`]. Where both
//! speak, the weaker one adds a tenth of itself. A note that the question names scores 1.
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
/// of meaning where it is known. `named`: the whole question is a name of the note.
pub(crate) fn score(words: f32, cosine: Option<f32>, named: bool) -> f32 {
    if named {
        return 1.0;
    }
    let meaning = cosine.map_or(0.0, |c| ((c - FAR) / (NEAR - FAR)).clamp(0.0, 1.0));
    let (more, less) = if words > meaning {
        (words, meaning)
    } else {
        (meaning, words)
    };
    (more + 0.1 * less).clamp(0.0, 1.0)
}

/// The confidence of an answer, from the best score in it.
pub(crate) fn confidence(best: Option<f32>) -> Confidence {
    match best {
        Some(best) if best >= STRONG => Confidence::Strong,
        Some(best) if best >= WEAK => Confidence::Weak,
        _ => Confidence::None,
    }
}
