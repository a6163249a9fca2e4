//! Runs of text between markup: tags, marks and what is read aloud, and HTML inside a line.

use std::ops::Range;

use super::{Kind, Walk};
use crate::inline::{self, Found};
use crate::{Tag, html};

impl Walk<'_> {
    /// Looks through the text that has gathered.
    pub(super) fn end_run(&mut self) {
        let run = std::mem::take(&mut self.run);
        if run.is_empty() {
            return;
        }
        let mut at = run.start;
        if self
            .open
            .last()
            .is_some_and(|open| open.kind == Kind::Paragraph)
        {
            at = self.callout_end(&run);
        }
        let id = inline::block_id(self.text, at..run.end, self.drawing);
        let end = id.as_ref().map_or(run.end, |id| id.start);
        let mut silent = Vec::new();
        let (text, tags) = (self.text, &mut self.out.tags);
        inline::scan(text, at..end, |found| match found {
            Found::Tag(range) => {
                let name = text
                    .get(range.start + 1..range.end)
                    .unwrap_or_default()
                    .to_owned();
                tags.push(Tag {
                    name,
                    range: Some(range),
                });
            }
            Found::Silent(range) => silent.push(range),
        });
        silent.sort_unstable_by_key(|range| range.start);
        for range in silent {
            self.speak(at..range.start.max(at));
            at = at.max(range.end);
        }
        self.speak(at..end);
        self.id = id;
    }

    /// Behind the `[!note]-` that begins a callout, if the run does.
    pub(super) fn callout_end(&self, run: &Range<usize>) -> usize {
        let quoted = self
            .open
            .iter()
            .rev()
            .nth(1)
            .is_some_and(|open| open.kind == Kind::Quote);
        let line = self.slice(run);
        if !quoted || !line.starts_with("[!") {
            return run.start;
        }
        let Some(close) = line.find(']') else {
            return run.start;
        };
        let rest = line.get(close + 1..).unwrap_or_default();
        run.start + close + 1 + usize::from(rest.starts_with(['+', '-']))
    }

    pub(super) fn inline_html(&mut self, range: Range<usize>) {
        self.end_run();
        self.id = None;
        let tag = self.slice(&range).as_bytes();
        match self.unseen {
            Some((begin, name)) => {
                if tag.starts_with(b"</")
                    && tag
                        .get(2..2 + name.len())
                        .is_some_and(|n| n.eq_ignore_ascii_case(name))
                {
                    self.out.hidden.push(begin..range.end);
                    self.unseen = None;
                }
            }
            None => self.unseen = html::unseen_element(tag).map(|name| (range.start, name)),
        }
        self.out.hidden.push(range);
    }
}
