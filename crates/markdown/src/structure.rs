//! Reads the structure of a note's body: one walk over the events of the Markdown parser.
//!
//! What comes out is flat and in order of the text: the blocks of the top level, the places where they may be cut,
//! what carries no words, what is read aloud, and the links, tags, headings and block ids.

mod ids;
mod links;
mod text_runs;

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag as Element, TagEnd};

use links::OpenLink;

use crate::inline;
use crate::ranges;
use crate::{Block, Heading, Link, Tag, html};

/// The body of a note, taken apart.
#[derive(Debug, Default)]
pub(crate) struct Structure {
    pub(crate) headings: Vec<Heading>,
    pub(crate) links: Vec<Link>,
    pub(crate) tags: Vec<Tag>,
    pub(crate) blocks: Vec<Block>,
    /// The blocks of the top level, in order, apart.
    pub(crate) parts: Vec<Part>,
    /// Where a block may be cut, in order.
    pub(crate) cuts: Vec<Cut>,
    /// Blocks (of any depth) that are better cut between lines than between sentences, in order.
    pub(crate) by_lines: Vec<Range<usize>>,
    /// Tables: the whole and the header row.
    pub(crate) tables: Vec<(Range<usize>, Range<usize>)>,
    /// Links, code and formulas inside a line: not cut if it can be helped. In order of their ends.
    pub(crate) solid: Vec<Range<usize>>,
    /// Pieces without words.
    pub(crate) hidden: Vec<Range<usize>>,
    /// Hidden pieces that end a passage.
    pub(crate) walls: Vec<Range<usize>>,
    /// What is read aloud, in order.
    pub(crate) spoken: Vec<Range<usize>>,
}

/// A block of the top level.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) range: Range<usize>,
    /// The heading that it is, as an index.
    pub(crate) heading: Option<usize>,
}

/// A place before which a block may be cut.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cut {
    pub(crate) at: usize,
    /// How deep inside the block: 1 is between the items of a list, the rows of a table, the blocks of a quote.
    pub(crate) depth: u8,
}

/// Deeper than this, all cuts count alike.
pub(crate) const DEEPEST: u8 = 6;

/// Takes apart `text[start..]`. `drawing`: the note is an Excalidraw drawing, whose ids have a form of their own.
pub(crate) fn read(text: &str, start: usize, drawing: bool) -> Structure {
    let body = text.get(start..).unwrap_or_default();
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_MATH
        | Options::ENABLE_WIKILINKS;
    let mut walk = Walk::new(text, drawing);
    for (event, range) in Parser::new_ext(body, options).into_offset_iter() {
        walk.event(event, range.start + start..range.end + start);
    }
    walk.finish(start)
}

/// An open block.
struct Open {
    kind: Kind,
    range: Range<usize>,
    /// The last block inside it that is closed.
    last: Option<Range<usize>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Paragraph,
    Heading,
    Item,
    Cell,
    Table,
    Row,
    Code,
    Html,
    Quote,
    Other,
}

struct Walk<'t> {
    text: &'t str,
    drawing: bool,
    out: Structure,
    open: Vec<Open>,
    links: Vec<OpenLink>,
    /// Text events in a row, not yet looked through.
    run: Range<usize>,
    /// The block id at the end of the last run, if nothing has followed yet.
    id: Option<Range<usize>>,
    heading: Option<(u8, String)>,
    path: Vec<(u8, String)>,
    /// The last block of the top level.
    last: Option<Range<usize>>,
    /// Where a `<script>` or `<style>` inside a line began.
    unseen: Option<(usize, &'static [u8])>,
    line_start: usize,
    line_seen: usize,
}

impl<'t> Walk<'t> {
    fn new(text: &'t str, drawing: bool) -> Self {
        Self {
            text,
            drawing,
            out: Structure::default(),
            open: Vec::new(),
            links: Vec::new(),
            run: 0..0,
            id: None,
            heading: None,
            path: Vec::new(),
            last: None,
            unseen: None,
            line_start: 0,
            line_seen: 0,
        }
    }

    fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Text(words) => self.words(&words, range),
            Event::Start(element) => self.start(element, range),
            Event::End(end) => self.end(end, range),
            Event::Code(words) => {
                let ticks = self
                    .slice(&range)
                    .bytes()
                    .take_while(|b| *b == b'`')
                    .count();
                self.atom(&words, range, ticks);
            }
            Event::InlineMath(words) => self.atom(&words, range, 1),
            Event::DisplayMath(words) => self.atom(&words, range, 2),
            Event::SoftBreak | Event::HardBreak => {
                self.end_run();
                if self.drawing {
                    self.settle_id();
                }
                self.id = None;
                self.add_words(" ");
            }
            Event::InlineHtml(_) => self.inline_html(range),
            Event::Rule => {
                self.top_level(&range, None);
                self.cut(range.start);
                self.out.hidden.push(range);
            }
            Event::Html(_) | Event::FootnoteReference(_) | Event::TaskListMarker(_) => {
                self.end_run();
                self.id = None;
            }
        }
    }

    fn slice(&self, range: &Range<usize>) -> &'t str {
        self.text.get(range.clone()).unwrap_or_default()
    }

    /// Adds to the plain text of the open heading and of the open links.
    fn add_words(&mut self, words: &str) {
        if let Some((_, heading)) = &mut self.heading {
            heading.push_str(words);
        }
        if let Some(link) = self.links.last_mut().filter(|link| link.labelled) {
            link.label.push_str(words);
        }
    }

    fn words(&mut self, words: &str, range: Range<usize>) {
        let kind = self.open.last().map(|open| open.kind);
        if kind == Some(Kind::Code) {
            self.speak(range);
            return;
        }
        self.add_words(words);
        if let Some(link) = self.links.last_mut() {
            link.inner_end = range.end;
            if !link.bare {
                self.speak(range);
            }
            return;
        }
        if self.run.end == range.start && !self.run.is_empty() {
            self.run.end = range.end;
        } else {
            self.end_run();
            self.run = range;
        }
        self.id = None;
    }

    /// Code or a formula inside a line, between marks of `edge` bytes.
    fn atom(&mut self, words: &str, range: Range<usize>, edge: usize) {
        self.end_run();
        self.id = None;
        self.add_words(words);
        if let Some(link) = self.links.last_mut() {
            link.inner_end = range.end;
        }
        self.out.solid.push(range.clone());
        if range.len() > 2 * edge {
            self.speak(range.start + edge..range.end - edge);
        }
    }

    fn speak(&mut self, range: Range<usize>) {
        if let Some(last) = self.out.spoken.last_mut()
            && range.start >= last.end
            && (range.start == last.end || range.start - last.end <= 2)
            && self
                .text
                .get(last.end..range.start)
                .is_some_and(|gap| gap.chars().all(char::is_whitespace))
        {
            last.end = last.end.max(range.end);
        } else if !range.is_empty() {
            self.out.spoken.push(range);
        }
    }

    /// Begins a block of the top level, if no block is open.
    fn top_level(&mut self, range: &Range<usize>, heading: Option<usize>) {
        if self.open.is_empty() {
            self.out.parts.push(Part {
                range: range.clone(),
                heading,
            });
        }
    }

    /// Notes that the open block may be cut before the line of `at`.
    fn cut(&mut self, at: usize) {
        let Ok(depth) = u8::try_from(self.open.len().min(usize::from(DEEPEST))) else {
            return;
        };
        if depth == 0 {
            return;
        }
        let at = self.start_of_line(at);
        if self.out.cuts.last().is_none_or(|cut| cut.at < at) {
            self.out.cuts.push(Cut { at, depth });
        }
    }

    /// The beginning of the line that holds `at`. Each byte is looked at once, since places come in order.
    fn start_of_line(&mut self, at: usize) -> usize {
        if let Some(passed) = self.text.as_bytes().get(self.line_seen..at) {
            if let Some(newline) = memchr::memrchr(b'\n', passed) {
                self.line_start = self.line_seen + newline + 1;
            }
            self.line_seen = at;
        }
        self.line_start.min(at)
    }

    fn start(&mut self, element: Element<'_>, range: Range<usize>) {
        self.end_run();
        let kind = match element {
            Element::Link {
                link_type,
                dest_url,
                ..
            } => return self.start_link(link_type, &dest_url, range, false),
            Element::Image {
                link_type,
                dest_url,
                ..
            } => return self.start_link(link_type, &dest_url, range, true),
            Element::Emphasis
            | Element::Strong
            | Element::Strikethrough
            | Element::Superscript
            | Element::Subscript => {
                self.id = None;
                return;
            }
            Element::Paragraph => Kind::Paragraph,
            Element::Heading { level, .. } => {
                if self.open.is_empty() {
                    self.heading = Some((level as u8, String::new()));
                }
                Kind::Heading
            }
            Element::Item => Kind::Item,
            Element::TableCell => Kind::Cell,
            Element::Table(_) => Kind::Table,
            Element::TableHead | Element::TableRow => Kind::Row,
            Element::CodeBlock(ref code) => {
                if matches!(code, CodeBlockKind::Fenced(info) if info.starts_with("compressed-json"))
                {
                    self.out.walls.push(range.clone());
                }
                Kind::Code
            }
            Element::HtmlBlock => Kind::Html,
            Element::BlockQuote(_) => Kind::Quote,
            _ => Kind::Other,
        };
        self.settle_id();
        self.start_block(kind, range);
    }

    fn start_block(&mut self, kind: Kind, range: Range<usize>) {
        let heading =
            (kind == Kind::Heading && self.open.is_empty()).then_some(self.out.headings.len());
        self.top_level(&range, heading);
        match kind {
            Kind::Cell => {}
            Kind::Html => {
                self.cut(range.start);
                self.html_block(range.clone());
                self.by_lines(&range);
            }
            Kind::Code | Kind::Table | Kind::Quote => {
                self.cut(range.start);
                self.by_lines(&range);
            }
            Kind::Row => {
                self.cut(range.start);
                if let Some(table) = self
                    .open
                    .last()
                    .filter(|open| open.kind == Kind::Table && open.last.is_none())
                {
                    self.out.tables.push((table.range.clone(), range.clone()));
                }
            }
            _ => self.cut(range.start),
        }
        self.open.push(Open {
            kind,
            range,
            last: None,
        });
    }

    fn by_lines(&mut self, range: &Range<usize>) {
        if self
            .out
            .by_lines
            .last()
            .is_none_or(|last| last.end <= range.start)
        {
            self.out.by_lines.push(range.clone());
        }
    }

    fn html_block(&mut self, range: Range<usize>) {
        let (hidden, walls) = (&mut self.out.hidden, &mut self.out.walls);
        let mut at = range.start;
        let mut seen = Vec::new();
        html::hidden_pieces(self.text, range.clone(), |piece, unseen| {
            seen.push(at..piece.start);
            at = piece.end;
            if unseen && ranges::stands_alone(self.text, &piece) {
                walls.push(piece)
            } else {
                hidden.push(piece)
            }
        });
        seen.push(at..range.end);
        for piece in seen {
            if !self.slice(&piece).trim().is_empty() {
                self.speak(piece);
            }
        }
    }

    fn end(&mut self, end: TagEnd, range: Range<usize>) {
        self.end_run();
        match end {
            TagEnd::Link | TagEnd::Image => return self.end_link(range),
            TagEnd::Emphasis
            | TagEnd::Strong
            | TagEnd::Strikethrough
            | TagEnd::Superscript
            | TagEnd::Subscript => {
                if let Some(link) = self.links.last_mut() {
                    link.inner_end = range.end;
                }
                return;
            }
            _ => {}
        }
        self.settle_id();
        self.unseen = None;
        let Some(block) = self.open.pop() else { return };
        if block.kind == Kind::Heading && self.open.is_empty() {
            self.end_heading(range.clone());
        }
        match self.open.last_mut() {
            Some(parent) => parent.last = Some(block.range),
            None => self.last = Some(block.range),
        }
    }

    fn end_heading(&mut self, range: Range<usize>) {
        let Some((level, words)) = self.heading.take() else {
            return;
        };
        let words: String = words.chars().filter(|c| *c != '\u{1}').collect();
        let mut text = words.trim();
        if let Some(id) = inline::block_id(text, 0..text.len(), false) {
            text = text.get(..id.start).unwrap_or_default().trim_end();
        }
        while self.path.last().is_some_and(|(above, _)| *above >= level) {
            self.path.pop();
        }
        self.path.push((level, text.to_owned()));
        let path = self
            .path
            .iter()
            .map(|(_, text)| text)
            .filter(|text| !text.is_empty())
            .cloned()
            .collect();
        self.out.headings.push(Heading {
            level,
            text: text.to_owned(),
            range,
            path,
        });
    }

    fn finish(mut self, start: usize) -> Structure {
        self.end_run();
        self.settle_id();
        self.fill_gaps(start);
        self.out
    }

    /// Text that belongs to no block, such as the definitions of links, becomes one, so that no text is lost.
    fn fill_gaps(&mut self, start: usize) {
        let parts = std::mem::take(&mut self.out.parts);
        let mut at = start;
        let mut all = Vec::with_capacity(parts.len());
        let end = Part {
            range: self.text.len()..self.text.len(),
            heading: None,
        };
        for mut part in parts.into_iter().chain(std::iter::once(end)) {
            let gap = ranges::trimmed(self.text, at..part.range.start.max(at));
            if !gap.is_empty() {
                self.out.by_lines.push(gap.clone());
                all.push(Part {
                    range: gap,
                    heading: None,
                });
            }
            part.range = part.range.start.max(at)..part.range.end.max(at);
            at = part.range.end;
            part.range = ranges::trimmed(self.text, part.range);
            if !part.range.is_empty() || part.heading.is_some() {
                all.push(part);
            }
        }
        self.out.by_lines.sort_unstable_by_key(|range| range.start);
        self.out.parts = all;
    }
}
