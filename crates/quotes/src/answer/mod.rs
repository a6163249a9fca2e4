//! What a Markdown answer claims, and what it cites for it.
//!
//! A *quotation* is text in quotation marks of any style, or a blockquote. It bears the citations
//! that follow it in its sentence; else those before it there; else the next of its paragraph. A
//! blockquote bears those at its own end; else those that open the next paragraph; else the last
//! of the paragraph that leads to it. Links among the words of either are words, and its
//! citations only for want of any other. A link out of the vault ends the search: what it cites is
//! no note. A *sentence* with a citation and without a quotation is a
//! claim as well; of one with too few words only the citations count. Quotations without any
//! citation are listed and not judged.

mod bearing;
mod blockquote;
mod blocks;
mod citations;
mod claims;
mod quotations;

use std::ops::Range;

use lorewell_text::LineIndex;

/// An answer, read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Its claims in order.
    pub claims: Vec<Claim>,
    /// What the answer itself says that its numbers mean: `[1] Kiln.md`, `[1]: Kiln.md`.
    pub sources: Vec<(String, Target)>,
    /// Quotations that bear no citation, in order.
    pub uncited: Vec<Uncited>,
}

/// A quotation without a citation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uncited {
    /// The words, without their quotation marks.
    pub text: String,
    /// The line of the answer on which it begins, from 1.
    pub line: u32,
}

/// Something that an answer says, with what it cites for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Whose words these should be.
    pub kind: Kind,
    /// The words, without their quotation marks, citations and markup.
    pub text: String,
    /// Of a sentence that ends with a link, the words before it: the link may be no word of it.
    pub bare: Option<String>,
    /// At least one.
    pub citations: Vec<Citation>,
    /// The line of the answer on which it begins, from 1.
    pub line: u32,
}

/// Whose words a claim should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Those of the cited note.
    Quote,
    /// The answer's own, perhaps.
    Sentence,
    /// Nobody's: too few words to look for (`See [[Kiln]].`). Only whether its citations lead
    /// anywhere can be told.
    Pointer,
}

/// A citation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Citation {
    /// As it is written.
    pub written: String,
    /// What it names.
    pub target: Target,
}

/// What a citation names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// One of the sources that the answer was made from, by its number (`[1]`); a footnote of the
    /// answer, or (of a sentence) for want of one such a source, by its mark (`[^1]` is `^1`).
    Source(String),
    /// A note: `Note#Heading`, as between the brackets of a wiki-link, percent signs decoded.
    Note(String),
}

impl Target {
    /// Whether it is the mark of a footnote.
    pub(crate) fn is_footnote(&self) -> bool {
        matches!(self, Target::Source(label) if label.starts_with('^'))
    }
}

impl Answer {
    /// Reads an answer. Anything is one; the time is linear in its length.
    #[must_use]
    pub fn read(text: &str) -> Answer {
        let (blocks, mut sources) = blocks::read(text);
        let lines = LineIndex::new(text);
        let mut answer = claims::of(&blocks, &mut sources, &lines);
        answer.sources = sources;
        answer
    }
}

/// A piece of running text: a paragraph, an item of a list, a row of a table.
#[derive(Debug, Default)]
pub(crate) struct Leaf {
    /// Its text without markup.
    pub(crate) text: String,
    /// Where the pieces of the text stand in the answer: (place in `text`, place in the answer).
    pub(crate) places: Vec<(usize, usize)>,
    /// Citations, in order.
    pub(crate) cited: Vec<Cited>,
    /// Labels of links that lead out of the vault, and addresses in running text, in order.
    pub(crate) outside: Vec<Range<usize>>,
    /// Code, in which nothing is a quotation mark or a citation.
    pub(crate) code: Vec<Range<usize>>,
}

/// A citation in a leaf.
#[derive(Clone, Debug)]
pub(crate) struct Cited {
    /// What of the leaf's text it takes up: its label, or the brackets.
    pub(crate) range: Range<usize>,
    pub(crate) citation: Citation,
    pub(crate) label: Label,
}

/// What a citation's label is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Label {
    /// No word of the text: a number, nothing.
    Mark,
    /// A path or a heading, as bare wiki-links show it: no word of a sentence, but one of a
    /// quotation whose note has the link.
    Path,
    /// Words of the text.
    Words,
}

impl Cited {
    /// Whether its label is no word of a sentence of the answer's own.
    pub(crate) fn is_mark(&self) -> bool {
        self.label != Label::Words
    }
}

/// A block of an answer.
#[derive(Debug)]
pub(crate) enum Block {
    Text(Leaf),
    Quote(Vec<Leaf>),
    Heading,
}

impl Leaf {
    /// The place in the answer of a place in the text.
    fn place(&self, at: usize) -> usize {
        let next = self.places.partition_point(|(start, _)| *start <= at);
        let known = next.checked_sub(1).and_then(|known| self.places.get(known));
        known.map_or(0, |(start, place)| place + (at - start))
    }

    fn is_code(&self, at: usize) -> bool {
        let next = self.code.partition_point(|code| code.start <= at);
        next > 0 && at < self.code[next - 1].end
    }

    /// The citations that begin in a stretch of the text.
    fn cited_in(&self, range: &Range<usize>) -> &[Cited] {
        let before = |at: usize| self.cited.partition_point(|cited| cited.range.start < at);
        let first = before(range.start);
        &self.cited[first..before(range.end).max(first)]
    }

    /// The links out of the vault that begin in a stretch of the text.
    fn outside_in(&self, range: &Range<usize>) -> &[Range<usize>] {
        let before = |at: usize| self.outside.partition_point(|link| link.start < at);
        let first = before(range.start);
        &self.outside[first..before(range.end).max(first)]
    }

    /// What the citations in a stretch of the text and the links out of the vault take up, in
    /// order.
    fn links_in(&self, range: &Range<usize>) -> Vec<Range<usize>> {
        let cited = self.cited_in(range).iter().map(|cited| cited.range.clone());
        let mut links: Vec<Range<usize>> = cited.collect();
        links.extend_from_slice(self.outside_in(range));
        links.sort_by_key(|link| link.start);
        links
    }
}
