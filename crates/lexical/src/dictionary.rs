//! Finds terms in the dictionary of a segment, where it lies.

use std::ops::Range;

use crate::error::SegmentError;
use crate::format::{GROUP, GROUP_ENTRY, read_u64, read_varint};
use crate::postings::Postings;
use crate::segment::Segment;

/// Reads terms in byte order. Before the first [`Terms::advance`] it stands on none.
pub(crate) struct Terms<'a> {
    segment: &'a Segment,
    /// The group that `bytes` are of; the groups before it are done.
    group: usize,
    bytes: &'a [u8],
    at: usize,
    in_group: usize,
    term: Vec<u8>,
    count: u32,
    postings: Range<usize>,
}

impl<'a> Terms<'a> {
    /// A cursor before the first term of the segment.
    pub(crate) fn all(segment: &'a Segment) -> Self {
        Self::at_group(segment, 0)
    }

    /// A cursor before the group that holds `term`, if any does.
    pub(crate) fn near(segment: &'a Segment, term: &[u8]) -> Result<Self, SegmentError> {
        let (mut low, mut high) = (0, segment.groups());
        while low < high {
            let middle = low + (high - low) / 2;
            if head(segment, middle)? <= term {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(Self::at_group(segment, low.saturating_sub(1)))
    }

    pub(crate) fn at_group(segment: &'a Segment, group: usize) -> Self {
        Self {
            segment,
            group,
            bytes: &[],
            at: 0,
            in_group: GROUP,
            term: Vec::new(),
            count: 0,
            postings: 0..0,
        }
    }

    /// Moves to the next term; false at the end.
    pub(crate) fn advance(&mut self) -> Result<bool, SegmentError> {
        if self.in_group == GROUP
            || (self.at == self.bytes.len() && self.group == self.segment.groups())
        {
            if self.group == self.segment.groups() {
                return Ok(false);
            }
            let (bytes, postings) = group(self.segment, self.group)?;
            self.bytes = bytes;
            self.postings = postings..postings;
            (self.at, self.in_group) = (0, 0);
            self.group += 1;
            self.term.clear();
        }
        self.read()
            .ok_or_else(|| self.segment.damaged("dictionary"))?;
        self.in_group += 1;
        Ok(true)
    }

    /// The bytes of the term that it stands on.
    pub(crate) fn term(&self) -> &[u8] {
        &self.term
    }

    /// In how many passages the term occurs, dead ones included.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// The postings of the term that it stands on.
    pub(crate) fn postings(&self) -> Result<Postings<'a>, SegmentError> {
        let bytes = self.segment.postings(self.postings.clone())?;
        Postings::new(bytes, self.count).ok_or_else(|| self.segment.damaged("postings"))
    }

    fn read(&mut self) -> Option<()> {
        let shared = if self.in_group == 0 {
            0
        } else {
            length(self.bytes, &mut self.at)?
        };
        let rest = length(self.bytes, &mut self.at)?;
        let end = self.at.checked_add(rest)?;
        let rest = self.bytes.get(self.at..end)?;
        (shared <= self.term.len()).then(|| self.term.truncate(shared))?;
        self.term.extend_from_slice(rest);
        self.at = end;
        self.count = u32::try_from(read_varint(self.bytes, &mut self.at)?).ok()?;
        let bytes = length(self.bytes, &mut self.at)?;
        self.postings = self.postings.end..self.postings.end.checked_add(bytes)?;
        Some(())
    }
}

/// The postings of a term, if the segment has it.
pub(crate) fn find<'a>(
    segment: &'a Segment,
    term: &[u8],
) -> Result<Option<Postings<'a>>, SegmentError> {
    let mut terms = Terms::near(segment, term)?;
    for _ in 0..GROUP {
        if !terms.advance()? || terms.term() > term {
            return Ok(None);
        }
        if terms.term() == term {
            return terms.postings().map(Some);
        }
    }
    Ok(None)
}

/// The first term of a group.
fn head(segment: &Segment, index: usize) -> Result<&[u8], SegmentError> {
    let (bytes, _) = group(segment, index)?;
    let mut at = 0;
    length(bytes, &mut at)
        .and_then(|length| bytes.get(at..at.checked_add(length)?))
        .ok_or_else(|| segment.damaged("dictionary"))
}

/// The dictionary bytes of a group, and where its postings start.
fn group(segment: &Segment, index: usize) -> Result<(&[u8], usize), SegmentError> {
    let table = segment.group_entries(index)?;
    let number = |at: usize| read_u64(table, at).and_then(|number| usize::try_from(number).ok());
    let start = number(0).ok_or_else(|| segment.damaged("dictionary groups"))?;
    let postings = number(8).ok_or_else(|| segment.damaged("dictionary groups"))?;
    let end = number(GROUP_ENTRY);
    Ok((segment.dictionary(start, end)?, postings))
}

fn length(bytes: &[u8], at: &mut usize) -> Option<usize> {
    usize::try_from(read_varint(bytes, at)?).ok()
}
