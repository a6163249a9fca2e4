//! Small calculations with byte ranges of a text.

use std::ops::Range;

/// The range without the white space at its ends; empty at its start if it holds nothing else.
pub(crate) fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let Some(slice) = text.get(range.clone()) else {
        return range.start..range.start;
    };
    let start = range.start + (slice.len() - slice.trim_start().len());
    let end = range.start + slice.trim_end().len();
    if start < end {
        start..end
    } else {
        range.start..range.start
    }
}

/// Whether nothing but white space stands on the lines of the piece beside it.
pub(crate) fn stands_alone(text: &str, piece: &Range<usize>) -> bool {
    let before = text
        .get(..piece.start)
        .unwrap_or_default()
        .trim_end_matches([' ', '\t', '>', '\u{feff}']);
    let after = text
        .get(piece.end..)
        .unwrap_or_default()
        .trim_start_matches([' ', '\t']);
    let begins_line = before.is_empty() || before.ends_with(['\n', '\r']);
    begins_line && (after.is_empty() || after.starts_with(['\n', '\r']))
}

/// Sorts the ranges and joins those that touch or overlap; empty ones go.
pub(crate) fn joined(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.retain(|range| !range.is_empty());
    ranges.sort_unstable_by_key(|range| range.start);
    ranges.dedup_by(|next, kept| {
        let touches = next.start <= kept.end;
        if touches {
            kept.end = kept.end.max(next.end);
        }
        touches
    });
    ranges
}

/// The parts of sorted, separate `ranges` that lie inside `within`.
pub(crate) fn inside<'r>(
    ranges: &'r [Range<usize>],
    within: &Range<usize>,
) -> impl Iterator<Item = Range<usize>> + use<'r> {
    let first = ranges.partition_point(|range| range.end <= within.start);
    let within = within.clone();
    ranges[first..]
        .iter()
        .take_while(move |range| range.start < within.end)
        .map({
            let within = within.clone();
            move |range| range.start.max(within.start)..range.end.min(within.end)
        })
}

/// `ranges` without what `taken` covers. Both are sorted and apart.
pub(crate) fn without(ranges: &[Range<usize>], taken: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut rest = Vec::with_capacity(ranges.len());
    let mut first = 0;
    for range in ranges {
        while taken
            .get(first)
            .is_some_and(|piece| piece.end <= range.start)
        {
            first += 1;
        }
        let mut at = range.start;
        for piece in taken[first..]
            .iter()
            .take_while(|piece| piece.start < range.end)
        {
            if piece.start > at {
                rest.push(at..piece.start);
            }
            at = at.max(piece.end);
        }
        if at < range.end {
            rest.push(at..range.end);
        }
    }
    rest
}
