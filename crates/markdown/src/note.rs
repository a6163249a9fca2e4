//! What a note is made of once it is read: plain data, without behaviour and without the text itself.

use std::ops::Range;

use serde_json::Value;

use crate::Passage;

/// How a note is cut into passages. Lengths are characters (Unicode scalar values), not bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// No passage is longer than this. Values below 16 count as 16.
    pub passage_chars: usize,
    /// A passage that goes on with the section of the one before it begins up to this many characters earlier. At most
    /// half of `passage_chars`; what exceeds that is cut off.
    pub overlap_chars: usize,
}

/// The outcome of reading a note: what it holds, and what was wrong with it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parsed {
    /// The note.
    pub note: Note,
    /// What could not be read as it stands, in order of lines.
    pub issues: Vec<Issue>,
}

/// Something in a note that could not be read as it stands. The note itself is never lost for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// The line, counted from 1.
    pub line: u32,
    /// What is wrong there and what was made of it.
    pub message: String,
}

/// A note as read from its text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Note {
    /// The properties in the order of the file; of two with one name, the later one counts. Values are JSON; nested
    /// maps and lists are kept.
    pub properties: Vec<(String, Value)>,
    /// The property block with both its fences, if there is one.
    pub properties_range: Option<Range<usize>>,
    /// The `title` property as it was typed (`0017` stays `0017`).
    pub title: Option<String>,
    /// The `aliases` (or `alias`) property: each as it was typed, in order, without blanks around it.
    pub aliases: Vec<String>,
    /// Tags of the properties, then of the text, each once (letter case does not count), in order of appearance.
    pub tags: Vec<Tag>,
    /// The headings of the text that open a section: those inside lists and quotes are left out.
    pub headings: Vec<Heading>,
    /// Links of the properties, then of the text, in order of appearance.
    pub links: Vec<Link>,
    /// What the block ids (`^id`) of the text name.
    pub blocks: Vec<Block>,
    /// All pieces of the text that are not searched: comments, HTML tags, data URIs, drawings, block ids, rules. Together
    /// with the property block, the passages and white space they are the whole note.
    pub hidden: Vec<Range<usize>>,
    /// The passages in order of the text.
    pub passages: Vec<Passage>,
}

/// A tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    /// As first written, without the leading `#`; `/` separates the levels of a nested tag.
    pub name: String,
    /// Where it stands, `#` included; `None` for a tag of the properties.
    pub range: Option<Range<usize>>,
}

/// A heading that opens a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// 1 to 6.
    pub level: u8,
    /// Its words, without markup.
    pub text: String,
    /// The whole heading, markers (or the underline) included.
    pub range: Range<usize>,
    /// The texts of the headings above it, outermost first, and its own; headings without words are left out.
    pub path: Vec<String>,
}

/// How a link is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LinkKind {
    /// `[[target]]`
    Wiki,
    /// `[label](target)`, also by reference.
    Markdown,
    /// `[[target]]` in the value of a property.
    Property,
}

/// A link to a note, or to another file of the folder. Links to the outside (any scheme) are not among them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// How it is written.
    pub kind: LinkKind,
    /// Whether it shows the target in place (`!` before it).
    pub embed: bool,
    /// The note or file that is meant: percent signs decoded (Markdown links only), a final `.md` or `.markdown` cut
    /// off whatever the kind, other extensions kept; empty for a link into the same note.
    pub target: String,
    /// The headings after `#`, outermost first (`A#B` gives two).
    pub headings: Vec<String>,
    /// The block id after `#^`, without the `^`.
    pub block: Option<String>,
    /// What is shown instead of the target, without markup.
    pub label: Option<String>,
    /// The whole link.
    pub range: Range<usize>,
}

/// A piece of the text that can be linked to by an id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Without the `^`.
    pub id: String,
    /// The paragraph, list item, list, table or quote that it names.
    pub range: Range<usize>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            passage_chars: 1200,
            overlap_chars: 0,
        }
    }
}
