//! `score` and `confidence`: how likely a passage answers, and whether the notes answer at all.
//!
//! `score` is the probability that this very passage answers the question: a logistic regression
//! over what the passage has of the question's words, its cosine, and its ranks in both lanes,
//! fitted on the development questions (`lorewell-evals confidence` repeats the fit;
//! docs/evaluation.md has its error on vaults that were left out of it, and what it cannot tell).
//! Where no cosine is known the score is lower than that fit says, because little is known then. A
//! passage with one word of several is never strong, and a note that the question names scores at
//! least how sure the name is.
//!
//! `confidence` follows the best score of the first page: `strong` from [`STRONG`], `none` below
//! [`WEAK`].

use crate::Confidence;

/// Cosines up to this say nothing.
const FAR: f32 = 0.2;
/// From this cosine on texts are alike without a word in common.
const ALIKE: f32 = 0.65;
/// From this score on an answer is strong: the passage is more likely right than not.
pub(crate) const STRONG: f32 = 0.5;
/// A passage with one word of several scores no higher, and is never strong.
const ONE_WORD: f32 = 0.44;
const _: () = assert!(ONE_WORD < STRONG);
/// From this score on an answer is weak; below there is none.
pub(crate) const WEAK: f32 = 0.07;
/// What a paraphrase finds counts a little less than what the question finds.
pub(crate) const OF_AID: f32 = 0.9;

/// What is known of a passage when it is scored.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reading {
    /// The share of the question's content that it has, in inverse document frequency, 0 to 1.
    pub words: f32,
    /// Its cosine to the question, where that is known.
    pub cosine: Option<f32>,
    /// How many of the question's terms it has, and how many there are.
    pub terms: (usize, usize),
    /// How surely the question names its note, 0 to 1.
    pub name: f32,
    /// Its rank in the text lane, from 1, where it has one.
    pub text_rank: Option<usize>,
    /// Its rank in the dense lane.
    pub dense_rank: Option<usize>,
}

impl Reading {
    /// The probability that the passage answers the question, 0 to 1.
    pub(crate) fn score(&self) -> f32 {
        let near = |rank: Option<usize>| rank.map_or(0.0, |rank| 1.0 / rank.max(1) as f32);
        let (known, cosine) = self.meaning();
        let sum = -4.7 + 4.4 * self.words - 0.6 * known
            + 1.2 * cosine
            + 1.75 * near(self.text_rank)
            + 1.55 * near(self.dense_rank);
        let score = logistic(sum);
        let score = match self.is_one_word() {
            true => score.min(ONE_WORD),
            false => score,
        };
        score.max(self.name)
    }

    /// What the passage has of the question as a whole, wherever the lanes put it: the score
    /// without ranks, and how surely its note is named, each of which may be wrong by itself.
    pub(crate) fn whole(&self) -> f32 {
        let unnamed = Reading {
            text_rank: None,
            dense_rank: None,
            name: 0.0,
            ..*self
        };
        1.0 - (1.0 - unnamed.score()) * (1.0 - self.name)
    }

    /// Whether it has one word of several, and is not near in meaning either: a word has many
    /// senses, so that this is never strong.
    fn is_one_word(&self) -> bool {
        let (has, all) = self.terms;
        has < 2 && all > 1 && self.cosine.is_none_or(|cosine| cosine < ALIKE)
    }

    /// Whether it has nothing of the question: it only fills a place.
    pub(crate) fn is_padding(&self) -> bool {
        self.words == 0.0 && self.name == 0.0 && self.meaning().1 == 0.0
    }

    /// Whether a cosine is known (1 or 0), and what of it counts.
    fn meaning(&self) -> (f32, f32) {
        self.cosine
            .map_or((0.0, 0.0), |cosine| (1.0, (cosine - FAR).max(0.0)))
    }
}

fn logistic(sum: f32) -> f32 {
    1.0 / (1.0 + (-sum).exp())
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
    use proptest::prelude::*;

    use super::*;

    fn reading() -> impl Strategy<Value = Reading> {
        let rank = || prop::option::of(1..100_usize);
        let name = prop_oneof![3 => Just(0.0_f32), 1 => 0.0..1.0_f32];
        (
            0.0..1.0_f32,
            prop::option::of(-0.2..1.0_f32),
            name,
            rank(),
            rank(),
        )
            .prop_map(|(words, cosine, name, text_rank, dense_rank)| Reading {
                words,
                cosine,
                terms: (2, 4),
                name,
                text_rank,
                dense_rank,
            })
    }

    proptest! {
        #[test]
        fn more_of_the_question_never_scores_less(reading in reading(), more in 0.0..0.5_f32) {
            let words = Reading { words: reading.words + more, ..reading };
            let nearer = Reading { cosine: reading.cosine.map(|c| c + more), ..reading };
            let named = Reading { name: reading.name + more, ..reading };
            let higher = Reading { text_rank: reading.text_rank.map(|r| 1.max(r / 2)), ..reading };
            for better in [words, nearer, named, higher] {
                prop_assert!(better.score() >= reading.score());
            }
            prop_assert!((0.0..=1.5).contains(&reading.score()));
        }
    }

    #[test]
    fn what_has_nothing_is_none_and_a_name_is_strong() {
        let nothing = Reading::default();
        let far = Reading {
            cosine: Some(0.3),
            dense_rank: Some(1),
            ..nothing
        };
        let named = Reading {
            name: 1.0,
            ..nothing
        };
        let whole = Reading {
            words: 1.0,
            terms: (1, 1),
            text_rank: Some(1),
            ..nothing
        };
        let one = Reading {
            words: 0.7,
            terms: (1, 2),
            ..whole
        };
        let of = |reading: Reading| confidence(Some(reading.score()));
        assert_eq!(confidence(None), Confidence::None);
        assert_eq!(of(far), Confidence::None);
        assert_eq!(of(named), Confidence::Strong);
        assert_eq!(of(whole), Confidence::Strong);
        assert_eq!(of(one), Confidence::Weak);
        assert!(nothing.is_padding() && !far.is_padding());
    }
}
