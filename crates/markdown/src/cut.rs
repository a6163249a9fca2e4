//! Where running text may be cut: between lines, sentences, words, and, if nothing else is left, between characters.

use std::ops::Range;

use unicode_segmentation::GraphemeCursor;

/// The ways to cut running text, from one that a reader hardly notices to the last resort.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Lines,
    Sentences,
    Words,
}

/// Cuts `text[range]` into pieces that cover it; one piece where there is nothing to cut at. No cut falls inside one of
/// the `solid` ranges, which are sorted and apart.
pub(crate) fn pieces(
    text: &str,
    range: Range<usize>,
    step: Step,
    solid: &[Range<usize>],
) -> Vec<Range<usize>> {
    let slice = text.get(range.clone()).unwrap_or_default();
    let mut pieces = Vec::new();
    let mut start = range.start;
    let mut next_solid = solid.partition_point(|solid| solid.end <= range.start);
    let mut add = |at: usize| {
        while solid.get(next_solid).is_some_and(|solid| solid.end <= at) {
            next_solid += 1;
        }
        let is_inside = solid.get(next_solid).is_some_and(|solid| solid.start < at);
        if at > start && at < range.end && !is_inside {
            pieces.push(start..at);
            start = at;
        }
    };
    match step {
        Step::Lines => {
            for newline in memchr::memchr2_iter(b'\n', b'\r', slice.as_bytes()) {
                add(range.start + newline + 1);
            }
        }
        Step::Sentences => sentence_ends(slice, |at| add(range.start + at)),
        Step::Words => {
            let mut before = ' ';
            for (at, c) in slice.char_indices() {
                if before.is_whitespace() && !c.is_whitespace() || is_wide_comma(before) {
                    add(range.start + at);
                }
                before = c;
            }
        }
    }
    pieces.push(start..range.end);
    pieces
}

fn is_wide_comma(c: char) -> bool {
    matches!(c, '，' | '、' | '；' | '：' | '。' | '！' | '？')
}

/// Calls `end` with the place behind each sentence of `text` and the blanks after it.
///
/// A full stop ends a sentence before a blank, unless it belongs to a number or a single letter (`1.`, `J.`) or what
/// follows begins in lower case. Signs of the unspaced scripts need no blank.
fn sentence_ends(text: &str, mut end: impl FnMut(usize)) {
    let mut chars = text.char_indices().peekable();
    let mut word_start = 0;
    while let Some((at, c)) = chars.next() {
        if c.is_whitespace() {
            word_start = at + c.len_utf8();
            continue;
        }
        let is_wide = matches!(c, '。' | '！' | '？' | '｡');
        if !is_wide && !matches!(c, '.' | '!' | '?' | '…' | '।' | '؟' | '۔' | '។' | '။' | '።')
        {
            continue;
        }
        let word = text.get(word_start..at).unwrap_or_default();
        while chars.next_if(|(_, c)| is_closing(*c)).is_some() {}
        let mut blank = false;
        while chars.next_if(|(_, c)| c.is_whitespace()).is_some() {
            blank = true;
        }
        let Some(&(next_at, next)) = chars.peek() else {
            return;
        };
        if blank {
            word_start = next_at;
        }
        let is_initial = word.chars().count() < 2 && !word.ends_with(char::is_lowercase);
        let is_short =
            c == '.' && (is_initial || word.bytes().all(|b| b.is_ascii_digit() || b == b'.'));
        if is_wide || blank && !is_short && !(c == '.' && next.is_lowercase()) {
            end(next_at);
        }
    }
}

fn is_closing(c: char) -> bool {
    matches!(
        c,
        '.' | '!'
            | '?'
            | '…'
            | '"'
            | '\''
            | ')'
            | ']'
            | '*'
            | '_'
            | '”'
            | '’'
            | '»'
            | '」'
            | '』'
            | '）'
            | '】'
            | '。'
            | '！'
            | '？'
    )
}

/// The place in `text[range]` behind at most `chars` characters (at least one), moved back to where no letter is parted
/// from its marks, if that is near.
pub(crate) fn behind_chars(text: &str, range: Range<usize>, chars: usize) -> usize {
    let slice = text.get(range.clone()).unwrap_or_default();
    let Some((cut, _)) = slice.char_indices().nth(chars.max(1)) else {
        return range.end;
    };
    let mut at = cut;
    for _ in 0..32 {
        let near: String = slice
            .get(at..)
            .unwrap_or_default()
            .chars()
            .take(1)
            .collect();
        let before_start = slice
            .get(..at)
            .unwrap_or_default()
            .char_indices()
            .rev()
            .nth(31)
            .map_or(0, |(at, _)| at);
        let before = slice.get(before_start..at).unwrap_or_default();
        if before.is_empty() {
            break;
        }
        let window = format!("{before}{near}");
        let is_boundary =
            GraphemeCursor::new(before.len(), window.len(), true).is_boundary(&window, 0);
        if is_boundary.unwrap_or(true) {
            return range.start + at;
        }
        at -= before.chars().next_back().map_or(0, char::len_utf8);
    }
    range.start + cut
}
