//! Block ids: which block a `^id` names.

use std::ops::Range;

use super::{Kind, Walk};
use crate::Block;
use crate::ranges;

impl Walk<'_> {
    /// The block id that ended the text before this point names a block, now that nothing follows it.
    pub(super) fn settle_id(&mut self) {
        let Some(id) = self.id.take() else { return };
        self.out.hidden.push(id.clone());
        let name = self
            .text
            .get(id.start + 1..id.end)
            .unwrap_or_default()
            .to_owned();
        if let Some(range) = self.named_block(&id) {
            let range = ranges::trimmed(self.text, range);
            self.out.blocks.push(Block { id: name, range });
        }
    }

    pub(super) fn named_block(&self, id: &Range<usize>) -> Option<Range<usize>> {
        let innermost = self.open.last()?;
        let line_before = self.text.get(..id.start)?.trim_end_matches([' ', '\t']);
        let at_margin =
            line_before.len() == id.start && (id.start == 0 || line_before.ends_with('\n'));
        if innermost.kind == Kind::Cell || at_margin && self.open.len() > 1 {
            // On a line of its own right under a table, list or quote, which Markdown takes for a part of it.
            let outermost = self.open.first()?;
            let row = self
                .open
                .iter()
                .rev()
                .find(|open| open.kind == Kind::Row)
                .map_or(id.start..id.end, |row| row.range.clone());
            if at_margin {
                return Some(outermost.range.start..id.start);
            }
            return Some(row);
        }
        let parent = self
            .open
            .len()
            .checked_sub(2)
            .and_then(|parent| self.open.get(parent));
        if innermost.kind == Kind::Paragraph && innermost.range.start == id.start {
            // A paragraph of its own: it names what stands before it.
            return match parent {
                Some(parent) => parent.last.clone(),
                None => self.last.clone(),
            };
        }
        match parent {
            Some(item) if innermost.kind == Kind::Paragraph && item.kind == Kind::Item => {
                Some(item.range.clone())
            }
            _ => Some(innermost.range.clone()),
        }
    }
}
