//! From drafts to passages: overlap, lines, and what of the structure lies inside each.

use std::ops::Range;

use lorewell_text::LineIndex;

use super::{Draft, count, visible};
use crate::Passage;
use crate::ranges;
use crate::structure::Structure;

/// Makes passages of the drafts: overlap, lines, and what of the structure lies inside each.
pub(super) fn finish(
    text: &str,
    structure: &Structure,
    drafts: &[Draft],
    limit: usize,
    overlap: usize,
) -> Vec<Passage> {
    let lines = LineIndex::new(text);
    let mut passages: Vec<Passage> = Vec::with_capacity(drafts.len());
    for (i, draft) in drafts.iter().enumerate() {
        let mut range = draft.range.clone();
        let before = i.checked_sub(1).and_then(|before| drafts.get(before));
        if let Some(before) = before.filter(|_| draft.continues && overlap > 0) {
            let start = visible(
                text,
                &structure.hidden,
                overlap_start(text, structure, &before.range, &range, overlap)..range.end,
            )
            .start;
            if count(text, &(start..range.end)) <= limit {
                range.start = start;
            }
        }
        let path = draft
            .heading
            .and_then(|heading| structure.headings.get(heading))
            .map(|heading| heading.path.clone());
        passages.push(Passage {
            heading_path: path.unwrap_or_default(),
            lines: lines.line(range.start)..=lines.line(range.end.saturating_sub(1)),
            hidden: ranges::inside(&structure.hidden, &range).collect(),
            spoken: ranges::inside(&structure.spoken, &range).collect(),
            context: header_row(text, structure, range.start, limit)
                .into_iter()
                .collect(),
            range,
        });
    }
    passages
}

/// Where a passage begins that goes back `overlap` characters at most, inside the passage before it: at a word, or at a
/// line (the first in reach, if any is) where the text is one of lines, such as a table or code.
fn overlap_start(
    text: &str,
    structure: &Structure,
    before: &Range<usize>,
    range: &Range<usize>,
    overlap: usize,
) -> usize {
    let reach = text.get(before.start..range.start).unwrap_or_default();
    let Some((least, _)) = reach.char_indices().rev().nth(overlap.saturating_sub(1)) else {
        return before.start;
    };
    let (passed, back) = reach.split_at(least);
    let block = structure
        .by_lines
        .partition_point(|block| block.end <= range.start);
    let by_lines = structure
        .by_lines
        .get(block)
        .is_some_and(|block| block.start < range.start);
    let is_edge = |c: char| {
        if by_lines {
            matches!(c, '\n' | '\r')
        } else {
            c.is_whitespace()
        }
    };
    if passed.chars().next_back().is_none_or(is_edge) {
        return before.start + least;
    }
    back.find(is_edge)
        .map_or(range.start, |edge| before.start + least + edge)
}

/// The header row of the table in whose body `start` lies.
fn header_row(
    text: &str,
    structure: &Structure,
    start: usize,
    limit: usize,
) -> Option<Range<usize>> {
    let table = structure
        .tables
        .partition_point(|(table, _)| table.end <= start);
    let (table, header) = structure.tables.get(table)?;
    let header = ranges::trimmed(text, header.clone());
    (table.start < start && start >= header.end && count(text, &header) <= limit).then_some(header)
}
