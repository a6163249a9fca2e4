//! What a quotation has other than a text, word by word.

use std::fmt;
use std::ops::Range;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

use crate::folded::Folded;
use crate::words::Words;

/// A comparison that takes longer is finished coarsely.
const PATIENCE: Duration = Duration::from_millis(500);
/// So many words of what is the same are shown on each side of a change.
const CONTEXT: usize = 4;

/// What weighs less ties nothing to a quotation: a stop word, a few signs.
const LOOSE: f32 = 0.5;

/// A difference: the parts of both texts in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// What is the same, what only the quotation has and what only the text has.
    pub parts: Vec<Part>,
}

/// One stretch of a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Whose it is.
    pub change: Change,
    /// The words: as they stand in the text, or, where it lacks them, in the quotation.
    pub text: String,
}

/// Whose a stretch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// In both.
    Same,
    /// In the quotation only: to be removed from it, so that it becomes true.
    Removed,
    /// In the text only.
    Added,
}

impl Change {
    /// `same`, `removed`, `added`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Change::Same => "same",
            Change::Removed => "removed",
            Change::Added => "added",
        }
    }
}

/// Some words of a text.
#[derive(Clone, Copy)]
pub(crate) struct Side<'a> {
    pub(crate) text: &'a str,
    pub(crate) folded: &'a Folded,
    pub(crate) words: &'a Words,
    pub(crate) first: usize,
    pub(crate) last: usize,
}

impl<'a> Side<'a> {
    /// The folded words.
    fn folded_words(&self) -> Vec<&'a str> {
        let ranges = &self.words.ranges[self.first..self.last];
        ranges
            .iter()
            .map(|r| &self.folded.text[r.clone()])
            .collect()
    }

    /// The stretch of the original that some of the words make up.
    fn slice(&self, words: Range<usize>) -> &'a str {
        let ranges = &self.words.ranges[self.first..self.last];
        let (Some(first), Some(last)) = (
            ranges.get(words.start),
            words.end.checked_sub(1).and_then(|last| ranges.get(last)),
        ) else {
            return "";
        };
        let range = self.folded.range(first.start..last.end);
        self.text.get(range).unwrap_or_default()
    }

    fn weight(&self, words: Range<usize>) -> f32 {
        self.words.weights[self.first + words.start..self.first + words.end]
            .iter()
            .sum()
    }
}

/// What `quote` has other than `text`, and how alike the two are: twice the weight of the common
/// words through the weight of all (Dice), 0 to 1.
pub(crate) fn difference(quote: Side<'_>, text: Side<'_>) -> (Difference, f32) {
    let (old, new) = (quote.folded_words(), text.folded_words());
    let deadline = Instant::now().checked_add(PATIENCE);
    let ops = capture_diff_slices_deadline(Algorithm::Myers, &old, &new, deadline);
    let mut parts = Vec::new();
    let mut push = |change, text: &str| {
        if !text.is_empty() {
            let text = text.to_string();
            parts.push(Part { change, text });
        }
    };
    let mut common = 0.0;
    for op in &ops {
        let (old, new) = (op.old_range(), op.new_range());
        if let DiffOp::Equal { .. } = op {
            common += text.weight(new.clone());
            push(Change::Same, text.slice(new));
        } else {
            push(Change::Removed, quote.slice(old));
            push(Change::Added, text.slice(new));
        }
    }
    let all = quote.weight(0..old.len()) + text.weight(0..new.len());
    let likeness = if all > 0.0 { 2.0 * common / all } else { 0.0 };
    (Difference { parts }, likeness.clamp(0.0, 1.0))
}

/// How many words at both ends of `text` are there only for a stop word or a sign, which more words
/// that the quotation lacks part from the rest.
pub(crate) fn loose_ends(quote: Side<'_>, text: Side<'_>) -> (usize, usize) {
    let (old, new) = (quote.folded_words(), text.folded_words());
    let deadline = Instant::now().checked_add(PATIENCE);
    let mut ops = capture_diff_slices_deadline(Algorithm::Myers, &old, &new, deadline);
    let loose = |ops: &[DiffOp]| {
        // The quotation's own words at the end are no words of the text.
        let mut ops = ops.iter().filter(|op| !matches!(op, DiffOp::Delete { .. }));
        let (Some(tie), Some(gap)) = (ops.next(), ops.next()) else {
            return 0;
        };
        let (tied, lacked) = (tie.new_range(), gap.new_range());
        let is_loose = matches!(tie, DiffOp::Equal { .. })
            && matches!(gap, DiffOp::Insert { .. })
            && text.weight(tied.clone()) < LOOSE
            && text.weight(tied.clone()) <= text.weight(lacked.clone());
        if is_loose {
            tied.len() + lacked.len()
        } else {
            0
        }
    };
    let first = loose(&ops);
    ops.reverse();
    let last = loose(&ops);
    if first + last < new.len() {
        (first, last)
    } else {
        (0, 0)
    }
}

impl fmt::Display for Difference {
    /// On one line: `takes [-ten-] {+eleven+} hours`, long stretches of the same shortened.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let last = self.parts.len().saturating_sub(1);
        for (at, part) in self.parts.iter().enumerate() {
            if at > 0 {
                f.write_str(" ")?;
            }
            let words: Vec<&str> = part.text.split_whitespace().collect();
            match part.change {
                Change::Same => f.write_str(&shortened(&words, at > 0, at < last))?,
                Change::Removed => write!(f, "[-{}-]", words.join(" "))?,
                Change::Added => write!(f, "{{+{}+}}", words.join(" "))?,
            }
        }
        Ok(())
    }
}

/// Words that are the same, the ones far from a change left out.
fn shortened(words: &[&str], after_change: bool, before_change: bool) -> String {
    let head = if after_change { CONTEXT } else { 0 };
    let tail = if before_change { CONTEXT } else { 0 };
    if words.len() <= head + tail + 1 {
        return words.join(" ");
    }
    let mut shown: Vec<&str> = words[..head].to_vec();
    shown.push("…");
    shown.extend(&words[words.len() - tail..]);
    shown.join(" ")
}
