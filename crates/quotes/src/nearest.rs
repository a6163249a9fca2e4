//! The nearest text to a quotation that does not stand in a text.
//!
//! Two steps. A window of one and a half times the quotation's length slides over the text, and
//! the places where it holds most of the quotation's words are kept. There the quotation is
//! fitted in by dynamic programming over words (Smith and Waterman's recurrence, the whole of the
//! quotation against any stretch of the text), which finds the stretch. How alike the two are is
//! measured on their [`Difference`].

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::difference::{Side, difference, loose_ends};
use crate::quote::Piece;
use crate::words::Words;
use crate::{Difference, Original, Quote};

/// From this likeness on (Dice over weighted words) a text is the quotation, changed. Two of five
/// words may be others; a stop word counts a third of a word, a sign a tenth.
pub const CHANGED: f32 = 0.6;

/// A longer quotation (in words and signs) is not compared, only looked for.
pub const LONGEST: usize = 3000;

/// So many windows are fitted at most.
const WINDOWS: usize = 6;
/// Fitting looks at so many pairs of words at most.
const PAIRS: usize = 4_000_000;

/// A stretch of a text that is like a quotation.
#[derive(Clone, Debug, PartialEq)]
pub struct Nearest {
    /// Where it stands.
    pub range: Range<usize>,
    /// How alike they are, [`CHANGED`] to 1.
    pub likeness: f32,
    /// What differs.
    pub difference: Difference,
    /// Whether the pieces of the quotation all stand in the text, but in another order.
    pub other_order: bool,
    /// Whether only one of several pieces is meant.
    pub one_piece: bool,
}

impl Original<'_> {
    /// The stretch that is most like a quotation, if any is alike enough. Of one with ellipses the
    /// first piece that does not stand in its place is compared. Where two are equally alike, the
    /// one that touches `region` is it.
    #[must_use]
    pub fn nearest(&self, quote: &Quote, region: Option<&Range<usize>>) -> Option<Nearest> {
        let several = quote.pieces().len() > 1;
        let (piece, stands) = match quote.pieces() {
            [_, _, ..] => self.missing_piece(quote)?,
            [only] => (only, false),
            [] => return None,
        };
        let mut nearest = self.nearest_to(piece, region)?;
        nearest.one_piece = several;
        nearest.other_order = several && stands;
        Some(nearest)
    }

    fn nearest_to(&self, piece: &Piece, region: Option<&Range<usize>>) -> Option<Nearest> {
        let length = piece.words.len();
        if length == 0 || length > LONGEST {
            return None;
        }
        let aligned = Alignment::new(self, piece);
        let mut best: Option<(f32, Nearest)> = None;
        for window in aligned.windows() {
            let Some(stretch) = aligned.fit(window) else {
                continue;
            };
            let Some(nearest) = self.compared(piece, stretch) else {
                continue;
            };
            let here =
                region.is_some_and(|r| nearest.range.start < r.end && r.start < nearest.range.end);
            let rank = nearest.likeness + if here { 0.01 } else { 0.0 };
            if best.as_ref().is_none_or(|(known, _)| rank > *known) {
                best = Some((rank, nearest));
            }
        }
        best.map(|(_, nearest)| nearest)
    }

    fn compared(&self, piece: &Piece, stretch: Range<usize>) -> Option<Nearest> {
        let words = self.words();
        let quote = Side {
            text: &piece.read,
            folded: &piece.folded,
            words: &piece.words,
            first: 0,
            last: piece.words.len(),
        };
        let mut text = Side {
            text: self.text(),
            folded: self.folded(),
            words,
            first: stretch.start,
            last: stretch.end,
        };
        let (before, after) = loose_ends(quote, text);
        text.first += before;
        text.last -= after;
        let (difference, likeness) = difference(quote, text);
        let first = words.ranges.get(text.first)?;
        let last = words.ranges.get(text.last.checked_sub(1)?)?;
        (likeness >= CHANGED).then(|| Nearest {
            range: self.folded().range(first.start..last.end),
            likeness,
            difference,
            other_order: false,
            one_piece: false,
        })
    }
}

/// A quotation and a text as numbers: those of the quotation's words, 0 for every other.
struct Alignment<'a> {
    quote: Vec<u32>,
    quote_words: &'a Words,
    text: Vec<u32>,
    text_words: &'a Words,
    distinct: usize,
}

impl<'a> Alignment<'a> {
    fn new(original: &'a Original<'_>, piece: &'a Piece) -> Alignment<'a> {
        let mut numbers: FxHashMap<&str, u32> = FxHashMap::default();
        let mut quote = Vec::with_capacity(piece.words.len());
        for range in &piece.words.ranges {
            let next = numbers.len() as u32 + 1;
            quote.push(
                *numbers
                    .entry(&piece.folded.text[range.clone()])
                    .or_insert(next),
            );
        }
        let (text_words, folded) = (original.words(), original.folded());
        let number = |range: &Range<usize>| {
            let known = numbers.get(&folded.text[range.clone()]);
            known.copied().unwrap_or(0)
        };
        Alignment {
            quote,
            quote_words: &piece.words,
            text: text_words.ranges.iter().map(number).collect(),
            text_words,
            distinct: numbers.len(),
        }
    }

    /// Windows that hold most of the quotation's words, best first, none the neighbour of another.
    fn windows(&self) -> Vec<Range<usize>> {
        let m = self.quote.len();
        let width = (m + m / 2 + 4).min(self.text.len());
        // The best window that begins in each stretch of half a width.
        let block = (width / 2).max(1);
        let mut best: Vec<(f32, usize)> = Vec::new();
        for (overlap, start) in self.overlaps(width) {
            match best.last_mut() {
                Some((known, at)) if *at / block == start / block => {
                    if overlap > *known + 1e-4 {
                        (*known, *at) = (overlap, start);
                    }
                }
                _ => best.push((overlap, start)),
            }
        }
        best.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let affordable = (PAIRS / (m * (width + m)).max(1)).clamp(1, WINDOWS);
        let mut windows: Vec<Range<usize>> = Vec::new();
        for (_, start) in best {
            if windows.len() == affordable {
                break;
            }
            let window = start.saturating_sub(m / 2)..(start + width + m / 2).min(self.text.len());
            let near = |known: &Range<usize>| known.start.abs_diff(window.start) < block;
            if !windows.iter().any(near) {
                windows.push(window);
            }
        }
        windows
    }

    /// The weight of the quotation's words that each window of a width holds, and where it begins;
    /// of windows that hold so little that they cannot be alike enough, nothing.
    fn overlaps(&self, width: usize) -> impl Iterator<Item = (f32, usize)> + '_ {
        let total: f32 = self.quote_words.weights.iter().sum();
        let least = CHANGED * total / (2.0 - CHANGED);
        let mut weight_of = vec![0.0; self.distinct + 1];
        let mut wanted = vec![0u32; self.distinct + 1];
        for (number, weight) in self.quote.iter().zip(&self.quote_words.weights) {
            wanted[*number as usize] += 1;
            weight_of[*number as usize] = *weight;
        }
        let mut held = vec![0u32; self.distinct + 1];
        let mut overlap = 0.0f32;
        (0..self.text.len()).filter_map(move |end| {
            let number = self.text[end] as usize;
            held[number] += 1;
            if held[number] <= wanted[number] {
                overlap += weight_of[number];
            }
            let start = (end + 1).saturating_sub(width);
            if let Some(before) = start.checked_sub(1) {
                let number = self.text[before] as usize;
                if held[number] <= wanted[number] {
                    overlap -= weight_of[number];
                }
                held[number] -= 1;
            }
            (overlap + 1e-3 >= least).then_some((overlap, start))
        })
    }

    /// The stretch of a window that fits the whole quotation best.
    fn fit(&self, window: Range<usize>) -> Option<Range<usize>> {
        let text = &self.text[window.clone()];
        let text_weights = &self.text_words.weights[window.clone()];
        // Row by row: the best value of a fit that ends at each word, and where that fit began.
        let mut row: Vec<(f32, usize)> = (0..=text.len()).map(|at| (0.0, at)).collect();
        let mut next = row.clone();
        for (number, weight) in self.quote.iter().zip(&self.quote_words.weights) {
            next[0] = (row[0].0 - weight, 0);
            for (at, (other, other_weight)) in text.iter().zip(text_weights).enumerate() {
                let (value, from) = row[at];
                let paired = if number == other {
                    (value + 2.0 * weight, from)
                } else {
                    (value - 0.45 * (weight + other_weight), from)
                };
                let lacking = (row[at + 1].0 - weight, row[at + 1].1);
                let more = (next[at].0 - other_weight, next[at].1);
                next[at + 1] = better(better(paired, lacking), more);
            }
            std::mem::swap(&mut row, &mut next);
        }
        let mut end = (f32::MIN, 0, 0);
        for (at, (value, from)) in row.iter().enumerate() {
            if *value > end.0 {
                end = (*value, *from, at);
            }
        }
        let (_, from, to) = end;
        (from < to).then(|| window.start + from..window.start + to)
    }
}

fn better(a: (f32, usize), b: (f32, usize)) -> (f32, usize) {
    if b.0 > a.0 { b } else { a }
}
