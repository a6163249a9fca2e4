//! Sentences of prose in a passage: paragraphs and list items cut at the ends of sentences.
//! Headings, tables, quotes, code, properties and markup of other programs are no prose.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation as _;

/// The sentences of `text`, in bytes. `whole`: pieces that no sentence ends in, such as links.
pub(crate) fn sentences(text: &str, whole: &[Range<usize>]) -> Vec<Range<usize>> {
    let masked = masked(text, whole);
    let mut sentences = Vec::new();
    for block in blocks(&masked) {
        // The end of a line is a blank in a paragraph, and would be the end of a sentence.
        let flat = masked[block.clone()].replace('\n', " ");
        for (at, sentence) in flat.split_sentence_bound_indices() {
            let start = block.start + at;
            let range = trimmed(&masked, start..start + sentence.len());
            if !range.is_empty() {
                sentences.push(range);
            }
        }
    }
    sentences
}

/// The text with every byte of `whole` as a capital letter, so that a link is one word, which may
/// begin a sentence and holds nothing that ends one.
fn masked(text: &str, whole: &[Range<usize>]) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut at = 0;
    for piece in whole {
        let (Some(before), Some(_)) = (text.get(at..piece.start), text.get(piece.clone())) else {
            continue;
        };
        masked.push_str(before);
        masked.extend(std::iter::repeat_n('X', piece.len()));
        at = piece.end;
    }
    masked.push_str(text.get(at..).unwrap_or_default());
    if masked.contains('\r') {
        return masked.replace("\r\n", " \n").replace('\r', "\n");
    }
    masked
}

/// Paragraphs and list items: each a run of lines.
fn blocks(text: &str) -> Vec<Range<usize>> {
    let mut blocks = Vec::new();
    let mut open: Option<Range<usize>> = None;
    let mut fence: Option<&str> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let body = line.trim_start();
        let begin = start + (line.len() - body.len());
        if let Some(mark) = fence {
            fence = (!body.starts_with(mark)).then_some(mark);
            continue;
        }
        fence = ["```", "~~~"]
            .into_iter()
            .find(|mark| body.starts_with(mark));
        let columns = line[..line.len() - body.len()]
            .bytes()
            .map(|b| if b == b'\t' { 4 } else { 1 });
        match Line::of(body, columns.sum()) {
            Line::Goes if open.is_some() => {
                open = open.map(|block| block.start..at);
            }
            Line::Goes => open = Some(begin..at),
            Line::Indented if open.is_some() => open = open.map(|block| block.start..at),
            Line::Item(marker) => {
                blocks.extend(open.replace(begin + marker..at));
            }
            Line::Indented | Line::NoProse => blocks.extend(open.take()),
        }
    }
    blocks.extend(open);
    blocks
}

/// What a line is.
enum Line {
    /// It begins a paragraph or goes on with one.
    Goes,
    /// It begins a list item; its text begins after so many bytes.
    Item(usize),
    /// Code, unless it goes on with what is above.
    Indented,
    /// Anything else.
    NoProse,
}

impl Line {
    fn of(body: &str, indent: usize) -> Line {
        let text = body.trim_end();
        if let Some(marker) = item_marker(text) {
            return Line::Item(marker);
        }
        let is_rule = text
            .chars()
            .all(|c| matches!(c, '-' | '=' | '_' | '*' | '|' | ':' | ' '));
        let begins = |marks: &[&str]| marks.iter().any(|mark| text.starts_with(mark));
        let is_definition = text.starts_with('[') && text.contains("]:");
        let is_field = text
            .split_once("::")
            .is_some_and(|(name, _)| !name.contains(['.', ',', '`']));
        // `:LOGBOOK:`, `CLOCK: …`, `:END:`
        let is_drawer =
            (text.starts_with(':') && text.ends_with(':')) || text.starts_with("CLOCK:");
        if is_rule
            || is_drawer
            || begins(&["#", "|", ">", "<", "```", "~~~", "%%", "$$", "![", "[^"])
            || text.contains(" | ")
            || is_definition
            || is_field
        {
            return Line::NoProse;
        }
        if indent >= 4 {
            Line::Indented
        } else {
            Line::Goes
        }
    }
}

/// How long the sign of a list item is, with the box of a task and the blank after it.
fn item_marker(text: &str) -> Option<usize> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = match digits {
        0 => text.strip_prefix(['-', '*', '+']),
        1..=9 => text[digits..].strip_prefix(['.', ')']),
        _ => None,
    }?;
    let after = rest.strip_prefix([' ', '\t'])?.trim_start();
    let task = after.starts_with('[') && after.get(2..4) == Some("] ");
    let content = if task { after[4..].trim_start() } else { after };
    Some(text.len() - content.len())
}

fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let piece = &text[range.clone()];
    let start = range.start + (piece.len() - piece.trim_start().len());
    start..(range.start + piece.trim_end().len()).max(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_of_prose_only() {
        let text = "\
Fired slowly. The [[Kiln. Old]] was
cold, e.g. damp!

# A heading. With two.
- an item. And more
  of it
- [ ] a task
1. first
> a quote.
| a | table |
a | table
status:: done
:LOGBOOK:
```
code. here
```
[x]: http://a.example
![[Embedded]] picture.

    indented code

釉薬を塗る。窯に入れる。
";
        let link = text.find("[[").unwrap()..text.find("]]").unwrap() + 2;
        let found: Vec<&str> = sentences(text, &[link])
            .into_iter()
            .map(|range| &text[range])
            .collect();
        assert_eq!(
            found,
            [
                "Fired slowly.",
                "The [[Kiln. Old]] was\ncold, e.g. damp!",
                "an item.",
                "And more\n  of it",
                "a task",
                "first",
                "釉薬を塗る。",
                "窯に入れる。",
            ]
        );
    }
}
