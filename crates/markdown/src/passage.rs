//! A passage: the piece of a note that is searched, ranked and cited as one.

use std::borrow::Cow;
use std::ops::{Range, RangeInclusive};

/// A piece of a note. Its text is `text[passage.range]`, always; the other fields say what of it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// The headings above its first content, outermost first, without markup.
    pub heading_path: Vec<String>,
    /// Where it stands. It begins and ends with something that is no white space; only the one passage of a note without
    /// text is empty.
    pub range: Range<usize>,
    /// Its lines, counted from 1, both ends in.
    pub lines: RangeInclusive<u32>,
    /// Pieces inside `range` that carry no words: comments, HTML tags, data URIs, block ids. In order, apart.
    pub hidden: Vec<Range<usize>>,
    /// Words from elsewhere in the note that belong to it, such as the header row of a table that was cut.
    pub context: Vec<Range<usize>>,
    /// Pieces inside `range` that a person would read aloud: no markup, link destinations or addresses. In order, apart.
    pub spoken: Vec<Range<usize>>,
}

impl Passage {
    /// The one passage of a note without text (nothing but properties, blanks or hidden pieces), so that it can be found
    /// by its names, tags and links: empty, at the note's end.
    pub(crate) fn nameplate(text: &str) -> Self {
        let line = crate::lines::line_of(text, text.len());
        Self {
            heading_path: Vec::new(),
            range: text.len()..text.len(),
            lines: line..=line,
            hidden: Vec::new(),
            context: Vec::new(),
            spoken: Vec::new(),
        }
    }

    /// The searchable text: the passage without what is hidden (a blank for each piece), the context after it.
    /// `text` is the text that the note was read from.
    #[must_use]
    pub fn words<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let whole = text.get(self.range.clone()).unwrap_or_default();
        if self.hidden.is_empty() && self.context.is_empty() {
            return Cow::Borrowed(whole);
        }
        let mut words = String::with_capacity(whole.len());
        let mut at = self.range.start;
        for hidden in &self.hidden {
            words.push_str(text.get(at..hidden.start).unwrap_or_default());
            words.push(' ');
            at = hidden.end;
        }
        words.push_str(text.get(at..self.range.end).unwrap_or_default());
        for context in &self.context {
            words.push('\n');
            words.push_str(text.get(context.clone()).unwrap_or_default());
        }
        Cow::Owned(words)
    }

    /// The text as a person would read it, for embedding: without hidden pieces, link destinations, bare addresses and
    /// Markdown's punctuation. `text` is the text that the note was read from.
    #[must_use]
    pub fn prose(&self, text: &str) -> String {
        let mut prose = String::with_capacity(self.range.len());
        for context in &self.context {
            prose.extend(
                text.get(context.clone())
                    .unwrap_or_default()
                    .split('|')
                    .map(str::trim)
                    .flat_map(|cell| [cell, " "]),
            );
            prose.push('\n');
        }
        let mut at = self.range.start;
        for spoken in &self.spoken {
            let gap = blank_for(text.get(at..spoken.start).unwrap_or_default());
            if gap == "\n" {
                prose.truncate(prose.trim_end_matches([' ', '\t']).len());
            }
            prose.push_str(gap);
            let words = text.get(spoken.clone()).unwrap_or_default();
            if prose.ends_with([' ', '\n']) {
                prose.truncate(
                    prose
                        .trim_end_matches(' ')
                        .len()
                        .max(prose.trim_end().len() + 1),
                );
                prose.push_str(words.trim_start_matches([' ', '\t']));
            } else {
                prose.push_str(words);
            }
            at = spoken.end;
        }
        prose.truncate(prose.trim_end().len());
        prose.drain(..prose.len() - prose.trim_start().len());
        prose
    }
}

/// What stands for a piece of markup between two spoken pieces: nothing inside a word, else a blank or a new line.
fn blank_for(gap: &str) -> &'static str {
    if gap.contains(['\n', '\r']) {
        "\n"
    } else if gap.is_empty()
        || gap.bytes().all(|b| b"*_~=`[]\\!".contains(&b))
        || is_around_label(gap)
    {
        ""
    } else {
        " "
    }
}

/// `](destination)` behind a label, or `[[target|` before one.
fn is_around_label(gap: &str) -> bool {
    gap.starts_with(']') && gap.ends_with(')') || gap.starts_with("[[") && gap.ends_with('|')
}
