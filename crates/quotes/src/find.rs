//! Where a quotation stands in a text.

use std::ops::Range;

use memchr::memmem;

use crate::quote::Piece;
use crate::{Original, Quote};

/// Of a quotation that stands in a text many times, so many places are weighed.
const PLACES: usize = 1024;
/// So many places of its first piece are tried, where it has several.
const BEGINNINGS: usize = 16;

/// How the words stand there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wording {
    /// Character for character.
    Exact,
    /// But for white space, letter case, diacritics and forms of letters, the style of quotation
    /// marks and dashes, marks of Markdown, and the sign that ends the quotation.
    Normalized,
}

/// A place where a quotation stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// How.
    pub wording: Wording,
    /// From its first to its last byte in the text.
    pub range: Range<usize>,
    /// Where the pieces between its ellipses stand, in order; empty where it has none.
    pub pieces: Vec<Range<usize>>,
    /// Whether it stands where it was looked for (everywhere, if nowhere in particular).
    pub in_region: bool,
}

impl Original<'_> {
    /// The best place of a quotation: where it was cited (`region`, which it must touch) rather
    /// than elsewhere, character for character rather than nearly, at borders of words rather than
    /// within, and the first of those. `None` where it does not stand at all.
    #[must_use]
    pub fn find(&self, quote: &Quote, region: Option<&Range<usize>>) -> Option<Found> {
        if quote.is_empty() {
            return None;
        }
        let whole = self.find_whole(quote.whole(), region);
        let pieces = || match quote.pieces() {
            [_] if whole.is_some() => None,
            [only] => self.find_whole(only, region),
            pieces => self.find_pieces(pieces, region),
        };
        if whole.as_ref().is_some_and(|found| found.in_region) {
            return whole;
        }
        let pieces = pieces();
        match (&whole, &pieces) {
            (Some(_), Some(pieces)) if !pieces.in_region => whole,
            (_, Some(_)) => pieces,
            _ => whole,
        }
    }

    fn find_whole(&self, piece: &Piece, region: Option<&Range<usize>>) -> Option<Found> {
        let exact = self.choose(self.exact(piece, 0), Wording::Exact, region);
        if exact.as_ref().is_some_and(|found| found.in_region) {
            return exact;
        }
        let normalized = self.choose(self.normalized(piece, 0), Wording::Normalized, region);
        match exact {
            None => normalized,
            Some(_) => normalized.filter(|found| found.in_region).or(exact),
        }
    }

    fn choose(
        &self,
        places: impl Iterator<Item = Range<usize>>,
        wording: Wording,
        region: Option<&Range<usize>>,
    ) -> Option<Found> {
        let mut best: Option<((bool, bool), Range<usize>)> = None;
        for place in places.take(PLACES) {
            let rank = (touches(&place, region), self.at_borders(&place));
            if best.as_ref().is_none_or(|(known, _)| rank > *known) {
                best = Some((rank, place));
            }
            if rank == (true, true) {
                break;
            }
        }
        best.map(|((in_region, _), range)| Found {
            wording,
            range,
            pieces: Vec::new(),
            in_region,
        })
    }

    /// The closest places of all pieces, one behind the other.
    fn find_pieces(&self, pieces: &[Piece], region: Option<&Range<usize>>) -> Option<Found> {
        let (first, others) = pieces.split_first()?;
        let beginnings = [
            (
                Wording::Exact,
                self.exact(first, 0).take(BEGINNINGS).collect::<Vec<_>>(),
            ),
            (
                Wording::Normalized,
                self.normalized(first, 0).take(BEGINNINGS).collect(),
            ),
        ];
        let mut best: Option<Found> = None;
        for (wording, places) in beginnings {
            for place in places {
                let Some(found) = self.chain(place, wording, others, region) else {
                    // Nothing stands behind a later place either.
                    break;
                };
                let key = |f: &Found| (!f.in_region, f.wording, f.range.len());
                if best.as_ref().is_none_or(|best| key(&found) < key(best)) {
                    best = Some(found);
                }
            }
        }
        best
    }

    fn chain(
        &self,
        first: Range<usize>,
        wording: Wording,
        others: &[Piece],
        region: Option<&Range<usize>>,
    ) -> Option<Found> {
        let (mut wording, mut end) = (wording, first.end);
        let start = first.start;
        let mut places = vec![first];
        for piece in others {
            let exact = self.exact(piece, end).next();
            let place = match exact {
                Some(place) => place,
                None => {
                    wording = Wording::Normalized;
                    self.normalized(piece, end).next()?
                }
            };
            end = place.end;
            places.push(place);
        }
        let range = start..end;
        Some(Found {
            wording,
            in_region: touches(&range, region),
            range,
            pieces: places,
        })
    }

    /// The first piece that does not stand behind those before it, and whether it stands in the
    /// text at all.
    pub(crate) fn missing_piece<'q>(&self, quote: &'q Quote) -> Option<(&'q Piece, bool)> {
        let mut end = 0;
        for piece in quote.pieces() {
            let place = self.exact(piece, end).next();
            match place.or_else(|| self.normalized(piece, end).next()) {
                Some(place) => end = place.end,
                None => return Some((piece, self.find_whole(piece, None).is_some())),
            }
        }
        None
    }

    fn exact<'a>(
        &'a self,
        piece: &'a Piece,
        from: usize,
    ) -> impl Iterator<Item = Range<usize>> + 'a {
        let text = self.text().as_bytes().get(from..).unwrap_or_default();
        let sought = piece.text.as_bytes();
        memmem::find_iter(text, sought)
            .filter(|_| !sought.is_empty())
            .map(move |at| from + at..from + at + sought.len())
    }

    fn normalized<'a>(
        &'a self,
        piece: &'a Piece,
        from: usize,
    ) -> impl Iterator<Item = Range<usize>> + 'a {
        let whole = self.folded_places(piece.sought(), from);
        let bare = piece.unpunctuated().into_iter();
        whole.chain(bare.flat_map(move |bare| self.folded_places(bare, from)))
    }

    fn folded_places<'a>(
        &'a self,
        sought: &'a str,
        from: usize,
    ) -> impl Iterator<Item = Range<usize>> + 'a {
        let folded = self.folded();
        let begin = folded.begin_of(from);
        memmem::find_iter(&folded.text.as_bytes()[begin..], sought.as_bytes())
            .filter(|_| !sought.is_empty())
            .map(move |at| folded.range(begin + at..begin + at + sought.len()))
    }

    /// Whether a place begins and ends where words do.
    fn at_borders(&self, place: &Range<usize>) -> bool {
        let text = self.text();
        let (before, inside) = text.split_at(place.start);
        let (inside, after) = inside.split_at(place.len());
        let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let cut_before = is_word(before.chars().next_back()) && is_word(inside.chars().next());
        let cut_after = is_word(inside.chars().next_back()) && is_word(after.chars().next());
        !cut_before && !cut_after
    }
}

fn touches(place: &Range<usize>, region: Option<&Range<usize>>) -> bool {
    region.is_none_or(|region| place.start < region.end && region.start < place.end)
}
