//! The blocks of an answer, by the Markdown parser.

use pulldown_cmark::{CowStr, Event, LinkType, Options, Parser, Tag, TagEnd};

use super::citations::{self, note_target};
use super::{Block, Citation, Cited, Label, Leaf, Target};

/// The blocks in order, and the sources that definitions name (`[1]: Kiln.md`, `[^1]: [[Kiln]]`).
pub(crate) fn read(text: &str) -> (Vec<Block>, Vec<(String, Target)>) {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_WIKILINKS;
    let parser = Parser::new_ext(text, options);
    let mut walk = Walk::new();
    let mut definitions: Vec<(String, Target)> = parser
        .reference_definitions()
        .iter()
        .filter_map(|(label, definition)| {
            let target = note_target(&definition.dest)?;
            citations::is_label(label).then(|| (label.to_string(), target))
        })
        .collect();
    definitions.sort_by(|a, b| a.0.len().cmp(&b.0.len()).then_with(|| a.0.cmp(&b.0)));
    for (event, range) in parser.into_offset_iter() {
        walk.event(event, range.start, text.get(range).unwrap_or_default());
    }
    walk.flush();
    definitions.append(&mut walk.sources);
    (walk.blocks, definitions)
}

struct Walk {
    blocks: Vec<Block>,
    sources: Vec<(String, Target)>,
    leaf: Leaf,
    quotes: usize,
    /// Whether the next leaf of a quote opens a new one.
    opens: bool,
    code_block: bool,
    heading: bool,
    /// The footnote that is being defined.
    footnote: Option<String>,
    /// Open links: where the label begins, where it leads.
    links: Vec<(usize, Leads)>,
}

/// Where a link leads.
enum Leads {
    /// To a note, or a source.
    Cites(Citation),
    /// Out of the vault.
    Outside,
    /// To a picture, or a place in the answer.
    Aside,
}

impl Walk {
    fn new() -> Walk {
        Walk {
            blocks: Vec::new(),
            sources: Vec::new(),
            leaf: Leaf::default(),
            quotes: 0,
            opens: true,
            code_block: false,
            heading: false,
            footnote: None,
            links: Vec::new(),
        }
    }

    fn event(&mut self, event: Event<'_>, at: usize, source: &str) {
        match event {
            Event::Start(tag) => self.start(tag, source),
            Event::End(tag) => self.end(tag),
            Event::Text(_) if self.code_block => {}
            Event::Text(text) => self.text(&text, at),
            Event::Code(code) => {
                let start = self.leaf.text.len();
                self.text(&code, at);
                self.leaf.code.push(start..self.leaf.text.len());
            }
            Event::SoftBreak | Event::HardBreak => self.text("\n", at),
            Event::FootnoteReference(label) => {
                let start = self.leaf.text.len();
                self.text(source, at);
                self.leaf.cited.push(Cited {
                    range: start..self.leaf.text.len(),
                    citation: Citation {
                        written: source.to_string(),
                        target: Target::Source(format!("^{label}")),
                    },
                    label: Label::Mark,
                });
            }
            Event::Rule => self.flush(),
            _ => {}
        }
    }

    fn text(&mut self, text: &str, at: usize) {
        self.leaf.places.push((self.leaf.text.len(), at));
        self.leaf.text.push_str(text);
    }

    fn start(&mut self, tag: Tag<'_>, source: &str) {
        match tag {
            Tag::BlockQuote(_) => {
                self.flush();
                self.opens |= self.quotes == 0;
                self.quotes += 1;
            }
            Tag::CodeBlock(_) => {
                self.flush();
                self.code_block = true;
            }
            Tag::Heading { .. } => {
                self.flush();
                self.heading = true;
            }
            Tag::FootnoteDefinition(label) => {
                self.flush();
                self.footnote = Some(format!("^{label}"));
            }
            Tag::TableCell if !self.leaf.text.is_empty() => self.leaf.text.push_str(" | "),
            Tag::Link {
                link_type,
                dest_url,
                ..
            } => {
                let leads = match cited(link_type, &dest_url, source) {
                    Some(citation) => Leads::Cites(citation),
                    None if is_outside(link_type, &dest_url) => Leads::Outside,
                    None => Leads::Aside,
                };
                self.links.push((self.leaf.text.len(), leads));
            }
            Tag::Image {
                link_type,
                dest_url,
                ..
            } => {
                let is_wiki_link = matches!(link_type, LinkType::WikiLink { .. });
                let citation = cited(link_type, &dest_url, source)
                    .filter(|_| citations::is_note_embed(&dest_url, is_wiki_link));
                let leads = citation.map_or(Leads::Aside, Leads::Cites);
                self.links.push((self.leaf.text.len(), leads));
            }
            Tag::Paragraph
            | Tag::Item
            | Tag::List(_)
            | Tag::TableHead
            | Tag::TableRow
            | Tag::Table(_) => {
                self.flush();
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.quotes = self.quotes.saturating_sub(1);
                self.opens |= self.quotes == 0;
            }
            TagEnd::CodeBlock => self.code_block = false,
            TagEnd::Heading(_) => {
                self.leaf = Leaf::default();
                self.heading = false;
                self.blocks.push(Block::Heading);
            }
            TagEnd::FootnoteDefinition => {
                self.flush();
                self.footnote = None;
            }
            TagEnd::Link | TagEnd::Image => self.link(),
            TagEnd::Paragraph
            | TagEnd::Item
            | TagEnd::List(_)
            | TagEnd::TableHead
            | TagEnd::TableRow => {
                self.flush();
            }
            _ => {}
        }
    }

    fn link(&mut self) {
        let Some((start, leads)) = self.links.pop() else {
            return;
        };
        let range = start..self.leaf.text.len();
        let citation = match leads {
            Leads::Cites(citation) => citation,
            Leads::Outside => return self.leaf.outside.push(range),
            Leads::Aside => return,
        };
        let text = self.leaf.text[range.clone()].trim_matches(['[', ']']);
        let label = match &citation.target {
            _ if text.is_empty() || citations::is_number(text) => Label::Mark,
            Target::Note(note) if note == text && note.contains(['/', '#']) => Label::Path,
            _ => Label::Words,
        };
        self.leaf.cited.push(Cited {
            range,
            citation,
            label,
        });
    }

    /// Ends the piece of running text that is open.
    fn flush(&mut self) {
        self.links.clear();
        let mut leaf = std::mem::take(&mut self.leaf);
        if leaf.text.trim().is_empty() || self.heading {
            return;
        }
        citations::find(&mut leaf);
        if let Some(label) = &self.footnote {
            let first = leaf.cited.into_iter().next();
            let named = first.map(|cited| cited.citation.target);
            let named = named.or_else(|| citations::path(&leaf.text));
            self.sources
                .extend(named.map(|target| (label.clone(), target)));
            return;
        }
        if self.quotes == 0 {
            return self.blocks.push(Block::Text(leaf));
        }
        match self.blocks.last_mut() {
            Some(Block::Quote(leaves)) if !self.opens => leaves.push(leaf),
            _ => self.blocks.push(Block::Quote(vec![leaf])),
        }
        self.opens = false;
    }
}

fn is_outside(kind: LinkType, destination: &str) -> bool {
    match kind {
        LinkType::WikiLink { .. } => false,
        LinkType::Autolink | LinkType::Email => true,
        _ => citations::is_outside(destination),
    }
}

/// The citation that a link is, if it leads to a note.
fn cited(kind: LinkType, destination: &CowStr<'_>, source: &str) -> Option<Citation> {
    let target = match kind {
        LinkType::WikiLink { .. } if !destination.trim().is_empty() => {
            Target::Note(destination.trim().to_string())
        }
        LinkType::Reference | LinkType::Collapsed | LinkType::Shortcut => {
            let label = source.trim_matches(['[', ']']);
            let label = label.rsplit('[').next().unwrap_or(label);
            match citations::is_label(label) {
                true => Target::Source(label.to_string()),
                false => note_target(destination)?,
            }
        }
        LinkType::Autolink | LinkType::Email => return None,
        _ => note_target(destination)?,
    };
    Some(Citation {
        written: source.to_string(),
        target,
    })
}
