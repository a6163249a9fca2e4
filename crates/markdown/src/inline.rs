//! What Markdown does not know inside a line of text: tags, marks, bare addresses and block ids.

use std::ops::Range;

/// Something found in a run of text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// `#tag`, the sign included.
    Tag(Range<usize>),
    /// The `==` at either end of a mark, or a bare address: not read aloud.
    Silent(Range<usize>),
}

/// Looks through `text[run]`, a piece of one line without code, links or math.
pub(crate) fn scan(text: &str, run: Range<usize>, mut found: impl FnMut(Found)) {
    let bytes = &text.as_bytes()[..run.end];
    let mut at = run.start;
    let mut mark: Option<usize> = None;
    while let Some(hit) = bytes
        .get(at..)
        .and_then(|rest| memchr::memchr3(b'#', b'=', b':', rest))
    {
        let sign = at + hit;
        at = sign + 1;
        match bytes[sign] {
            b'#' => {
                if let Some(end) = tag_end(text, sign, run.end) {
                    found(Found::Tag(sign..end));
                    at = end;
                }
            }
            b'=' if bytes.get(at) == Some(&b'=') => {
                at += 1;
                match mark.take() {
                    Some(open) => {
                        found(Found::Silent(open..open + 2));
                        found(Found::Silent(sign..at));
                    }
                    None => mark = Some(sign),
                }
            }
            b':' if bytes.get(at..at + 2) == Some(b"//") => {
                let begin = scheme_start(bytes, run.start, sign);
                if begin < sign {
                    at = address_end(text, at + 2, run.end);
                    found(Found::Silent(begin..at));
                }
            }
            _ => {}
        }
    }
}

fn scheme_start(bytes: &[u8], least: usize, colon: usize) -> usize {
    let before = &bytes[least.max(colon.saturating_sub(32))..colon];
    colon
        - before
            .iter()
            .rev()
            .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
            .count()
}

/// Where a bare address ends: at a blank, a bracket or wide punctuation; a full stop after it is not part of it.
fn address_end(text: &str, at: usize, end: usize) -> usize {
    let rest = text.get(at..end).unwrap_or_default();
    let stops = |c: char| {
        c.is_whitespace()
            || matches!(c, '<' | '>' | '"' | '|' | '`' | '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ff0f}')
    };
    let whole = rest
        .find(stops)
        .and_then(|stop| rest.get(..stop))
        .unwrap_or(rest);
    let mut address = whole.trim_end_matches(['.', ',', ';', ':', '!', '?', '\'', '*', '_', ']']);
    if !address.contains('(') {
        address = address.trim_end_matches(')');
    }
    at + address.len()
}

/// Where the tag whose `#` stands at `sign` ends, if it is one.
fn tag_end(text: &str, sign: usize, end: usize) -> Option<usize> {
    let before = text.get(..sign)?.chars().next_back();
    let may_begin = |c: char| {
        c.is_whitespace()
            || matches!(
                c,
                '(' | '['
                    | '{'
                    | '"'
                    | '\''
                    | '|'
                    | '*'
                    | '_'
                    | '~'
                    | '='
                    | '>'
                    | '\u{1}'
                    | '\u{feff}'
            )
            || matches!(c, '\u{3000}'..='\u{303f}' | '\u{ff01}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff1f}' | '“' | '‘')
    };
    if !before.is_none_or(may_begin) {
        return None;
    }
    let rest = text.get(sign + 1..end)?;
    let name = rest
        .find(|c| !is_tag_char(c))
        .and_then(|stop| rest.get(..stop))
        .unwrap_or(rest);
    let name = name.trim_end_matches('/');
    let is_one = crate::properties::is_tag_name(name) && !name.starts_with('/');
    is_one.then_some(sign + 1 + name.len())
}

/// Letters, digits, `_`, `-`, `/`, emoji (with joiner and selector) and other signs beyond ASCII; no punctuation, no blanks.
fn is_tag_char(c: char) -> bool {
    match c {
        '_' | '-' | '/' => true,
        _ if c.is_ascii() => c.is_ascii_alphanumeric(),
        '\u{200d}' => true,
        '\u{2000}'..='\u{206f}' | '\u{2e00}'..='\u{2e7f}' => false,
        '\u{3000}'..='\u{3004}' | '\u{3008}'..='\u{3020}' | '\u{30fb}' => false,
        '\u{ff01}'..='\u{ff0f}'
        | '\u{ff1a}'..='\u{ff20}'
        | '\u{ff3b}'..='\u{ff40}'
        | '\u{ff5b}'..='\u{ff65}' => false,
        '\u{80}'..='\u{bf}' => matches!(c, 'ª' | 'µ' | 'º'),
        _ => !c.is_whitespace() && !c.is_control(),
    }
}

/// The `^id` at the end of `text[run]`: at the very end or before blanks, and behind a blank or at the beginning.
/// `underscore`: whether an id may hold one (Excalidraw's may).
pub(crate) fn block_id(text: &str, run: Range<usize>, underscore: bool) -> Option<Range<usize>> {
    let line = text.get(run.clone())?.trim_end();
    let bytes = line.as_bytes();
    let length = bytes
        .iter()
        .rev()
        .take_while(|b| b.is_ascii_alphanumeric() || **b == b'-' || underscore && **b == b'_')
        .count();
    let caret = line.len().checked_sub(length + 1)?;
    let stands_apart = line
        .get(..caret)?
        .chars()
        .next_back()
        .is_none_or(char::is_whitespace);
    (length > 0 && bytes[caret] == b'^' && stands_apart)
        .then_some(run.start + caret..run.start + line.len())
}
