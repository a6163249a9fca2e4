//! The signs of Markdown that a reader does not see: who copies from the rendered note leaves
//! them out.
//!
//! This is no parser. It knows the marks one by one and looks little further than a line, so that a
//! quotation, which is a piece out of the middle of a note, is read as the note is.

use std::ops::Range;

/// A link's inside is looked for no further than this, in bytes.
const LINK: usize = 1024;

/// A stretch that is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Skip {
    pub(crate) range: Range<usize>,
    /// Whether it parts the words beside it.
    pub(crate) blank: bool,
}

/// What is not read of a text, in order, apart. Linear in the length of the text.
pub(crate) fn skips(text: &str) -> Vec<Skip> {
    let mut scan = Scan {
        bytes: text.as_bytes(),
        text,
        skips: Vec::new(),
        closing: None,
    };
    let mut start = 0;
    for line in text.split_inclusive(['\n', '\r']) {
        scan.line(start, start + line.len());
        start += line.len();
    }
    scan.skips
}

struct Scan<'t> {
    bytes: &'t [u8],
    text: &'t str,
    skips: Vec<Skip>,
    /// What stands between the label of an open link and its end: skipped once the label is read,
    /// perhaps on a later line.
    closing: Option<Range<usize>>,
}

impl Scan<'_> {
    fn skip(&mut self, range: Range<usize>, blank: bool) {
        if !range.is_empty() {
            self.skips.push(Skip { range, blank });
        }
    }

    fn line(&mut self, start: usize, end: usize) {
        let line = self.text[start..end].trim_end();
        let end = start + line.len();
        if is_drawn(line.trim_start()) {
            return self.skip(start..end, true);
        }
        let body = start + opening(line);
        self.skip(start..body, true);
        let end = start + without_block_id(line).len();
        self.inline(body, end.max(body));
        self.skip(end.max(body)..start + line.len(), true);
    }

    fn inline(&mut self, start: usize, end: usize) {
        self.closing.take_if(|close| close.start < start);
        let mut at = start;
        while at < end {
            if let Some(close) = self.closing.take_if(|close| close.start <= at) {
                self.skip(close.clone(), false);
                at = close.end;
                continue;
            }
            let rest = &self.text[at..end];
            at += match self.bytes[at] {
                b'[' => match link(&self.text[at..]).filter(|(open, _)| at + open <= end) {
                    Some((open, close)) if self.closing.is_none() => {
                        self.skip(at..at + open, false);
                        self.closing = close.map(|c| at + c.start..at + c.end);
                        open
                    }
                    _ => 1,
                },
                b'!' if rest.starts_with("![") && link(&self.text[at + 1..]).is_some() => {
                    self.mark(at, 1)
                }
                b'|' => {
                    self.skip(at..at + 1, true);
                    1
                }
                b'\\' if rest.as_bytes().get(1).is_some_and(u8::is_ascii_punctuation) => {
                    self.skip(at..at + 1, false);
                    // The sign behind it is a sign, not a mark.
                    2
                }
                b'`' => self.mark(at, run(rest, b'`')),
                b'*' if self.clings(at, run(rest, b'*')) => self.mark(at, run(rest, b'*')),
                b'_' if self.is_at_edge(at, run(rest, b'_')) => self.mark(at, run(rest, b'_')),
                b'~' if run(rest, b'~') == 2 => self.mark(at, 2),
                b'=' if run(rest, b'=') == 2 && self.clings(at, 2) => self.mark(at, 2),
                b'<' => match tag(rest) {
                    Some(length) => {
                        self.skip(at..at + length, rest[..length].starts_with("<br"));
                        length
                    }
                    None => 1,
                },
                byte if byte < 0x80 => 1,
                _ => rest.chars().next().map_or(1, char::len_utf8),
            };
        }
    }

    fn mark(&mut self, at: usize, length: usize) -> usize {
        self.skip(at..at + length, false);
        length
    }

    fn around(&self, at: usize, length: usize) -> (Option<char>, Option<char>) {
        let before = self.text[..at].chars().next_back();
        let after = self.text[at + length..].chars().next();
        (before, after)
    }

    /// Whether a mark touches something on exactly one side, or stands within a word.
    fn clings(&self, at: usize, length: usize) -> bool {
        let (before, after) = self.around(at, length);
        let touches = |c: Option<char>| c.is_some_and(|c| !c.is_whitespace());
        touches(before) || touches(after)
    }

    fn is_at_edge(&self, at: usize, length: usize) -> bool {
        let (before, after) = self.around(at, length);
        let in_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        self.clings(at, length) && !(in_word(before) && in_word(after))
    }
}

/// How often the sign stands here.
fn run(rest: &str, sign: u8) -> usize {
    rest.bytes().take_while(|byte| *byte == sign).count()
}

/// A rule, the underline of a heading, the second row of a table, a fence.
fn is_drawn(line: &str) -> bool {
    let drawn = |signs: &str| line.len() >= 2 && line.chars().all(|c| signs.contains(c));
    let dashes = line.matches('-').count();
    drawn("-= \t") && !line.contains("- ")
        || line.len() >= 3 && (drawn("*") || drawn("_"))
        || line.contains('|') && dashes >= 2 && drawn("|-: \t")
        || line.starts_with("```")
        || line.starts_with("~~~")
}

/// The length of what opens a line: blanks, marks of quotes, headings, list items and tasks.
fn opening(line: &str) -> usize {
    let mut at = 0;
    loop {
        let rest = &line[at..];
        let blank = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let rest = &rest[blank..];
        let ends = |length: usize| {
            let after = rest[length..].chars().next();
            after.is_none_or(|c| c == ' ' || c == '\t')
        };
        let mark = match rest.as_bytes().first() {
            Some(b'>') => 1,
            Some(b'-' | b'*' | b'+') if ends(1) => 1,
            Some(b'#') if run(rest, b'#') <= 6 && ends(run(rest, b'#')) => run(rest, b'#'),
            Some(b'[') if at > 0 && is_task(rest) => 3,
            _ => return at,
        };
        at += blank + mark;
    }
}

/// `[ ]`, `[x]`, before a blank.
fn is_task(rest: &str) -> bool {
    let bytes = rest.as_bytes();
    bytes.len() > 3 && bytes[1].is_ascii() && bytes[2] == b']' && bytes[3] == b' '
}

/// A line without the block id that ends it.
fn without_block_id(line: &str) -> &str {
    let Some((before, id)) = line.rsplit_once('^') else {
        return line;
    };
    let is_id = !id.is_empty() && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    let stands_alone = before.is_empty() || before.ends_with([' ', '\t']);
    if is_id && stands_alone {
        before.trim_end()
    } else {
        line
    }
}

/// A link that begins here: the length of what opens its label, and where the label's end is
/// skipped (nothing for a mark of a footnote, which is skipped as a whole).
fn link(rest: &str) -> Option<(usize, Option<Range<usize>>)> {
    let near = &rest[..rest.floor_char_boundary(LINK)];
    let line = near.lines().next().unwrap_or_default();
    if let Some(inner) = line.strip_prefix("[[") {
        let end = inner.find("]]")?;
        let label = inner[..end].find('|').map_or(0, |bar| bar + 1);
        return Some((2 + label, Some(2 + end..2 + end + 2)));
    }
    if let Some(inner) = line.strip_prefix("[^") {
        let end = inner.find(']')?;
        let is_mark = !inner[..end].is_empty() && !inner[..end].contains(char::is_whitespace);
        return is_mark.then_some((2 + end + 1, None));
    }
    let close = near.find("](")?;
    let label = &near[1..close];
    let is_one = !label.contains('[') || label.contains("![");
    if !is_one || label.contains("\n\n") || label.contains("\n\r\n") {
        return None;
    }
    let mut depth = 0;
    for (at, byte) in near.bytes().enumerate().skip(close + 1) {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 1 => return Some((1, Some(close..at + 1))),
            b')' => depth -= 1,
            b'\n' | b'\r' => return None,
            _ => {}
        }
    }
    None
}

/// The length of an HTML tag that begins here.
fn tag(rest: &str) -> Option<usize> {
    let near = &rest[..rest.floor_char_boundary(LINK)];
    let end = near.find('>')?;
    let inner = near[1..end].trim_start_matches('/');
    let name = inner.bytes().take_while(u8::is_ascii_alphanumeric).count();
    let attributes = inner[name..].trim_end_matches('/').trim();
    let is_tag = inner
        .as_bytes()
        .first()
        .is_some_and(u8::is_ascii_alphabetic)
        && (attributes.is_empty() || inner[name..].starts_with(' ') && attributes.contains('='));
    is_tag.then_some(end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        let mut out = String::new();
        let mut at = 0;
        for Skip { range, blank } in skips(text) {
            out += &text[at..range.start];
            out += if blank { " " } else { "" };
            at = range.end;
        }
        out += &text[at..];
        out.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_a_reader_does_not_see() {
        for (text, seen) in [
            ("**Cone 6**, *slow* __and__ _even_", "Cone 6, slow and even"),
            ("snake_case 2 * 3 a == b ~5", "snake_case 2 * 3 a == b ~5"),
            ("==high== ~~gone~~ `code`", "high gone code"),
            (
                "see [[Kiln]] and [[A/Kiln#Firing|the kiln]].",
                "see Kiln and the kiln.",
            ),
            ("![[x.png]] [more](a(b).md) ![alt](x)", "x.png more alt"),
            (
                "a [long\nlabel](x.md) b [c\n\n](d)",
                "a long label b [c ](d)",
            ),
            ("claim[^1], a[0], [open", "claim, a[0], [open"),
            (
                "> [!note] x\n> - [x] done\n>> ## deep",
                "[!note] x done deep",
            ),
            ("- item ^slow\n# Head", "item Head"),
            ("2^10 and a ^b c", "2^10 and a ^b c"),
            ("| a | b |\n|---|--:|\n| 1 | 2 |", "a b 1 2"),
            (
                "Head\n====\ntext\n---\n```rust\nlet x;\n```",
                "Head text let x;",
            ),
            ("a <b>bold</b><br/>next 1 < 2 > 0", "a bold next 1 < 2 > 0"),
            ("\\*not\\* C:\\dir", "*not* C:\\dir"),
            ("takes > 5 hours, -5 °C", "takes > 5 hours, -5 °C"),
        ] {
            assert_eq!(read(text), seen, "{text}");
        }
    }
}
