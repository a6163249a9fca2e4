//! Packs the blocks of a note into passages: whole where they fit, cut where they must be.

mod finish;

use std::ops::Range;

use crate::cut::{self, Step};
use crate::ranges;
use crate::structure::{DEEPEST, Structure};
use crate::{Passage, Settings};

/// A section with fewer characters of words than this, its headings included, joins a neighbour. Signs of scripts
/// without blanks count double.
const TINY: usize = 32;

/// Cuts a note into passages. `structure.hidden`, `.walls`, `.spoken` and `.solid` are sorted and apart.
pub(crate) fn pack(text: &str, structure: &Structure, settings: &Settings) -> Vec<Passage> {
    let limit = settings.passage_chars.max(16);
    let overlap = settings.overlap_chars.min(limit / 2);
    let mut packer = Packer {
        text,
        structure,
        limit,
        overlap,
        section: 0,
        heading: None,
        open: None,
        done: Vec::new(),
        wall: false,
    };
    packer.run();
    let drafts = packer.join_sections();
    finish::finish(text, structure, &drafts, limit, overlap)
}

/// A passage in the making.
#[derive(Debug, Clone)]
struct Draft {
    range: Range<usize>,
    chars: usize,
    /// How long it may become.
    limit: usize,
    /// The number of its section, counted by headings.
    section: usize,
    /// The heading that its path is that of.
    heading: Option<usize>,
    only_headings: bool,
    /// Whether it goes on where the one before ended, in the same section.
    continues: bool,
    /// Whether something hidden stands between it and the one before.
    behind_wall: bool,
    /// Where its last piece begins.
    last_piece: usize,
}

struct Packer<'n> {
    text: &'n str,
    structure: &'n Structure,
    limit: usize,
    overlap: usize,
    section: usize,
    heading: Option<usize>,
    open: Option<Draft>,
    done: Vec<Draft>,
    /// Whether a hidden block was passed since the last draft was closed.
    wall: bool,
}

/// How a block may be cut next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Depth(u8),
    First,
    Second,
    Words,
    Characters,
}

impl Level {
    fn next(self) -> Self {
        match self {
            Self::Depth(depth) if depth < DEEPEST => Self::Depth(depth + 1),
            Self::Depth(_) => Self::First,
            Self::First => Self::Second,
            Self::Second => Self::Words,
            Self::Words | Self::Characters => Self::Characters,
        }
    }
}

impl Packer<'_> {
    fn run(&mut self) {
        let mut walls = self.structure.walls.iter().peekable();
        for part in &self.structure.parts {
            if let Some(heading) = part.heading {
                if self.open.as_ref().is_some_and(|open| !open.only_headings) {
                    self.close(true);
                }
                self.section += 1;
                self.heading = Some(heading);
            }
            let mut at = part.range.start;
            while let Some(wall) = walls.next_if(|wall| wall.start < part.range.end) {
                if wall.start > at {
                    self.place_block(at..wall.start, part.heading.is_some());
                }
                self.close(true);
                self.wall = true;
                at = at.max(wall.end);
            }
            if at < part.range.end {
                self.place_block(at..part.range.end, part.heading.is_some());
            }
        }
        self.close(true);
    }

    fn place_block(&mut self, range: Range<usize>, is_heading: bool) {
        let before = self.open.is_some();
        self.place(range, Level::Depth(1));
        if let Some(open) = &mut self.open {
            if !is_heading && open.only_headings {
                open.only_headings = false;
            } else if is_heading && !before {
                open.only_headings = true;
            }
            if is_heading && open.only_headings {
                open.heading = self.heading;
                open.section = self.section;
            }
        }
    }

    /// Adds the piece to the open passage, or begins a new one with it, or cuts it.
    fn place(&mut self, range: Range<usize>, level: Level) {
        let range = visible(self.text, &self.structure.hidden, range);
        if range.is_empty() {
            return;
        }
        let chars = count(self.text, &range);
        let Some(open) = &mut self.open else {
            return if chars <= self.new_limit() {
                self.begin(range, chars)
            } else {
                self.cut(range, level)
            };
        };
        let with_gap = count(self.text, &(open.range.end..range.start)) + chars;
        if open.chars + with_gap <= open.limit {
            open.range.end = range.end;
            open.chars += with_gap;
            open.last_piece = range.start;
        } else if !open.only_headings && chars <= self.limit - self.overlap {
            let lead = if level == Level::Depth(1) {
                self.take_lead(&range, chars)
            } else {
                None
            };
            self.close(false);
            match lead {
                Some(lead) => self.begin(
                    lead.start..range.end,
                    count(self.text, &(lead.start..range.end)),
                ),
                None => self.begin(range, chars),
            }
        } else {
            self.cut(range, level);
        }
    }

    /// Takes from the end of the open passage a short line that leads up to `next` (`There are three kinds:`).
    fn take_lead(&mut self, next: &Range<usize>, chars: usize) -> Option<Range<usize>> {
        let lead = self
            .open
            .as_ref()
            .map(|open| open.last_piece..open.range.end)?;
        let words = self.text.get(lead.clone())?;
        let ends_sentence = words.ends_with(['.', '!', '?', '。', '！', '？', '|']);
        let is_lead = words.ends_with([':', '：']) && words.len() < 200
            || !ends_sentence && self.is_tiny(&lead);
        let longer = count(self.text, &(lead.start..next.start)) + chars;
        let heading_end = self
            .heading
            .and_then(|heading| self.structure.headings.get(heading))
            .map_or(0, |heading| heading.range.end);
        let open = self.open.as_mut()?;
        let rest = open.range.start..lead.start;
        if !is_lead
            || longer > self.limit - self.overlap
            || rest.end <= heading_end
            || rest.is_empty()
        {
            return None;
        }
        let rest = visible(self.text, &self.structure.hidden, rest);
        if rest.is_empty() || rest.end <= heading_end {
            return None;
        }
        open.chars = count(self.text, &rest);
        open.range = rest;
        Some(lead)
    }

    fn continues(&self) -> bool {
        !self.wall
            && self
                .done
                .last()
                .is_some_and(|last| last.section == self.section && !last.only_headings)
    }

    fn new_limit(&self) -> usize {
        if self.continues() {
            self.limit - self.overlap
        } else {
            self.limit
        }
    }

    fn begin(&mut self, range: Range<usize>, chars: usize) {
        let is_heading = self.heading.is_some_and(|heading| {
            self.structure
                .headings
                .get(heading)
                .is_some_and(|heading| range.start < heading.range.end)
        });
        self.open = Some(Draft {
            last_piece: range.start,
            range,
            chars,
            limit: self.new_limit(),
            section: self.section,
            heading: self.heading,
            only_headings: is_heading,
            continues: self.continues(),
            behind_wall: std::mem::take(&mut self.wall),
        });
    }

    fn cut(&mut self, range: Range<usize>, level: Level) {
        if level == Level::Characters {
            return self.cut_characters(range);
        }
        for piece in self.pieces(&range, level) {
            self.place(piece, level.next());
            if let Some(open) = &mut self.open {
                // Any further piece is content: the passage may be closed.
                open.only_headings &= self
                    .heading
                    .and_then(|heading| self.structure.headings.get(heading))
                    .is_some_and(|heading| open.range.end <= heading.range.end);
            }
        }
    }

    fn pieces(&self, range: &Range<usize>, level: Level) -> Vec<Range<usize>> {
        let by_lines = {
            let blocks = &self.structure.by_lines;
            let next = blocks.partition_point(|block| block.end <= range.start);
            blocks
                .get(next)
                .is_some_and(|block| block.start < range.end)
        };
        let step = match (level, by_lines) {
            (Level::Depth(depth), _) => return self.pieces_at_depth(range, depth),
            (Level::First, true) | (Level::Second, false) => Step::Lines,
            (Level::First, false) | (Level::Second, true) => Step::Sentences,
            (Level::Words | Level::Characters, _) => Step::Words,
        };
        cut::pieces(self.text, range.clone(), step, &self.structure.solid)
    }

    fn pieces_at_depth(&self, range: &Range<usize>, depth: u8) -> Vec<Range<usize>> {
        let cuts = &self.structure.cuts;
        let first = cuts.partition_point(|cut| cut.at <= range.start);
        let mut start = range.start;
        let mut pieces = Vec::new();
        for cut in cuts[first..]
            .iter()
            .take_while(|cut| cut.at < range.end)
            .filter(|cut| cut.depth == depth)
        {
            pieces.push(start..cut.at);
            start = cut.at;
        }
        pieces.push(start..range.end);
        pieces
    }

    /// The last resort: fills passages to the brim.
    fn cut_characters(&mut self, range: Range<usize>) {
        let mut rest = range;
        while !rest.is_empty() {
            let room = match &self.open {
                Some(open) => open
                    .limit
                    .saturating_sub(open.chars + count(self.text, &(open.range.end..rest.start))),
                None => self.new_limit(),
            };
            if room == 0 {
                self.close(false);
                continue;
            }
            let at = cut::behind_chars(self.text, rest.clone(), room);
            let piece = rest.start..at;
            let chars = count(self.text, &piece);
            match &mut self.open {
                Some(open) => {
                    open.chars += count(self.text, &(open.range.end..piece.start)) + chars;
                    open.range.end = piece.end;
                    open.last_piece = piece.start;
                }
                None => self.begin(piece, chars),
            }
            rest = ranges::trimmed(self.text, at..rest.end);
            if !rest.is_empty() {
                self.close(false);
            }
        }
    }

    /// Closes the open passage; `section_ends` if nothing of its section follows.
    fn close(&mut self, section_ends: bool) {
        let Some(mut open) = self.open.take() else {
            return;
        };
        open.range = visible(self.text, &self.structure.hidden, open.range);
        if open.range.is_empty() {
            return;
        }
        if section_ends && open.continues {
            self.feed_tail(&mut open);
        }
        self.done.push(open);
    }

    /// A tiny end of a section takes the last piece of the passage before it.
    fn feed_tail(&mut self, tail: &mut Draft) {
        let is_small = self.is_tiny(&tail.range);
        let Some(before) = self
            .done
            .last_mut()
            .filter(|before| is_small && before.last_piece > before.range.start)
        else {
            return;
        };
        let longer = before.last_piece..tail.range.end;
        let rest = visible(
            self.text,
            &self.structure.hidden,
            before.range.start..before.last_piece,
        );
        let heading_end = before
            .heading
            .and_then(|heading| self.structure.headings.get(heading))
            .map_or(0, |heading| heading.range.end);
        let chars = count(self.text, &longer);
        if chars <= tail.limit && rest.end > heading_end && !rest.is_empty() {
            before.range = rest;
            tail.range = longer;
            tail.chars = chars;
        }
    }

    fn is_tiny(&self, range: &Range<usize>) -> bool {
        let mut words = 0;
        for spoken in ranges::inside(&self.structure.spoken, range) {
            for c in self.text.get(spoken).unwrap_or_default().chars() {
                words += if c >= '\u{2e80}' { 2 } else { 1 };
                if words >= TINY {
                    return false;
                }
            }
        }
        true
    }

    /// Joins the sections that are too small to stand alone with a neighbour: with the first part of their own section
    /// below them, else with what stands before them, else with what follows.
    fn join_sections(&mut self) -> Vec<Draft> {
        let drafts = std::mem::take(&mut self.done);
        let mut joined: Vec<Draft> = Vec::with_capacity(drafts.len());
        let mut drafts = drafts.into_iter().peekable();
        while let Some(draft) = drafts.next() {
            let next = drafts.peek();
            let is_whole_section = !draft.continues
                && next.is_none_or(|next| next.section != draft.section || next.behind_wall);
            if draft.only_headings || !is_whole_section || !self.is_tiny(&draft.range) {
                joined.push(draft);
                continue;
            }
            let fits_next = next.is_some_and(|next| !next.behind_wall && self.fits(&draft, next));
            let before = joined.last_mut().filter(|before| {
                !draft.behind_wall && !before.only_headings && self.fits(before, &draft)
            });
            let below = next.is_some_and(|next| self.is_below(next, &draft));
            match (before, drafts.peek_mut()) {
                (Some(before), _) if !(fits_next && below) => before.range.end = draft.range.end,
                (_, Some(next)) if fits_next => {
                    next.range.start = draft.range.start;
                    next.heading = draft.heading;
                    next.only_headings = false;
                    next.behind_wall = draft.behind_wall;
                }
                _ => joined.push(draft),
            }
        }
        joined
    }

    fn fits(&self, first: &Draft, second: &Draft) -> bool {
        first.chars + second.chars <= self.limit
            && count(self.text, &(first.range.start..second.range.end)) <= self.limit
    }

    fn is_below(&self, draft: &Draft, above: &Draft) -> bool {
        let path = |draft: &Draft| {
            draft
                .heading
                .and_then(|heading| self.structure.headings.get(heading))
                .map(|heading| heading.path.as_slice())
        };
        let above = path(above).unwrap_or_default();
        path(draft).is_some_and(|path| path.len() > above.len() && path.starts_with(above))
    }
}

fn count(text: &str, range: &Range<usize>) -> usize {
    let slice = text.get(range.clone()).unwrap_or_default();
    slice.chars().count()
}

/// The range without the white space and the hidden pieces at its ends.
fn visible(text: &str, hidden: &[Range<usize>], range: Range<usize>) -> Range<usize> {
    let mut range = ranges::trimmed(text, range);
    loop {
        let first = hidden.partition_point(|piece| piece.end <= range.start);
        let last = hidden
            .partition_point(|piece| piece.start < range.end)
            .checked_sub(1);
        let start = hidden
            .get(first)
            .filter(|piece| piece.start <= range.start)
            .map_or(range.start, |piece| piece.end);
        let end = last
            .and_then(|last| hidden.get(last))
            .filter(|piece| piece.end >= range.end)
            .map_or(range.end, |piece| piece.start);
        if start >= end {
            return range.start..range.start;
        }
        if start == range.start && end == range.end {
            return range;
        }
        range = ranges::trimmed(text, start..end);
        if range.is_empty() {
            return range;
        }
    }
}
