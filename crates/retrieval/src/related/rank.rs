//! From reasons to one order of notes: a weighted sum, pure, with a trace.

use rustc_hash::FxHashMap;

/// Why two notes may be related.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RelatedReason {
    /// A link between the two.
    Link,
    /// Notes that are linked with both.
    Neighbour,
    /// Tags that both have.
    Tag,
    /// Rare words that both have.
    Words,
    /// Nearness of meaning, by vectors.
    Dense,
}

impl RelatedReason {
    /// All of them, in the order in which they are shown.
    pub const ALL: [RelatedReason; 5] = [
        RelatedReason::Link,
        RelatedReason::Neighbour,
        RelatedReason::Tag,
        RelatedReason::Words,
        RelatedReason::Dense,
    ];

    /// The name in answers.
    pub fn name(self) -> &'static str {
        match self {
            RelatedReason::Link => "link",
            RelatedReason::Neighbour => "neighbour",
            RelatedReason::Tag => "tag",
            RelatedReason::Words => "words",
            RelatedReason::Dense => "dense",
        }
    }
}

/// What the strength of a reason is multiplied with. The weights need not add up to 1: a score is
/// capped there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RelatedWeights {
    /// Of a link.
    pub link: f32,
    /// Of shared neighbours.
    pub neighbour: f32,
    /// Of shared tags.
    pub tag: f32,
    /// Of shared rare words.
    pub words: f32,
    /// Of meaning.
    pub dense: f32,
}

impl Default for RelatedWeights {
    fn default() -> Self {
        Self {
            link: 0.40,
            neighbour: 0.25,
            tag: 0.15,
            words: 0.40,
            dense: 0.25,
        }
    }
}

impl RelatedWeights {
    fn of(&self, reason: RelatedReason) -> f32 {
        match reason {
            RelatedReason::Link => self.link,
            RelatedReason::Neighbour => self.neighbour,
            RelatedReason::Tag => self.tag,
            RelatedReason::Words => self.words,
            RelatedReason::Dense => self.dense,
        }
    }
}

/// One reason for one note.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Finding {
    /// The note.
    pub note: u32,
    /// The reason.
    pub reason: RelatedReason,
    /// How strong it is, 0 to 1.
    pub strength: f32,
}

/// A note with its place in the order.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// The note.
    pub note: u32,
    /// `min(1, Σ weight(reason) · strength(reason))`.
    pub score: f32,
    /// What each reason added, in the order of [`RelatedReason::ALL`].
    pub trace: Vec<RelatedPart>,
}

/// One reason's part in a score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RelatedPart {
    /// The reason.
    pub reason: RelatedReason,
    /// How strong it is, 0 to 1.
    pub strength: f32,
    /// What it added to the score.
    pub added: f32,
}

/// Orders notes by the weighted sum of their reasons, best first; equal ones by note number. Of
/// several findings with one note and reason the strongest counts. What has strength 0, or a
/// strength that is no number, is nothing.
pub fn rank(findings: &[Finding], weights: &RelatedWeights) -> Vec<Ranked> {
    let mut notes: FxHashMap<u32, Vec<RelatedPart>> = FxHashMap::default();
    for finding in findings {
        let strength = finding.strength.clamp(0.0, 1.0);
        if strength.is_nan() || strength == 0.0 {
            continue;
        }
        let part = RelatedPart {
            reason: finding.reason,
            strength,
            added: weights.of(finding.reason) * strength,
        };
        let parts = notes.entry(finding.note).or_default();
        match parts.iter_mut().find(|known| known.reason == part.reason) {
            Some(known) if known.strength >= strength => {}
            Some(known) => *known = part,
            None => parts.push(part),
        }
    }
    let mut ranked: Vec<Ranked> = notes
        .into_iter()
        .map(|(note, mut trace)| {
            trace.sort_by_key(|part| part.reason);
            let sum: f32 = trace.iter().map(|part| part.added).sum();
            Ranked {
                note,
                score: sum.min(1.0),
                trace,
            }
        })
        .collect();
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.note.cmp(&b.note)));
    ranked
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(note: u32, reason: RelatedReason, strength: f32) -> Finding {
        Finding {
            note,
            reason,
            strength,
        }
    }

    #[test]
    fn reasons_add_up_and_are_traced() {
        use RelatedReason::{Dense, Link, Neighbour, Tag, Words};
        let weights = RelatedWeights {
            link: 0.5,
            neighbour: 0.25,
            tag: 0.25,
            words: 0.5,
            dense: 0.5,
        };
        let ranked = rank(
            &[
                finding(7, Dense, 0.5),
                finding(3, Link, 0.5),
                finding(9, Words, 1.0),
                finding(9, Link, 1.0),
                finding(9, Dense, 2.0),
                finding(3, Link, 0.25),
                finding(5, Tag, 0.0),
                finding(5, Neighbour, f32::NAN),
                finding(1, Words, 0.25),
                finding(1, Tag, 1.0),
            ],
            &weights,
        );
        let shown: Vec<(u32, f32)> = ranked.iter().map(|r| (r.note, r.score)).collect();
        assert_eq!(shown, [(9, 1.0), (1, 0.375), (3, 0.25), (7, 0.25)]);
        let trace: Vec<(&str, f32)> = ranked[1]
            .trace
            .iter()
            .map(|part| (part.reason.name(), part.added))
            .collect();
        assert_eq!(trace, [("tag", 0.25), ("words", 0.125)]);
        assert_eq!(rank(&[], &weights), []);
    }
}
