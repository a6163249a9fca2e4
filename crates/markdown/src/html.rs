//! Finds what carries no words in a piece of HTML: tags, comments, and all of a script or style.

use std::ops::Range;

/// Calls `hide(range, comment)` for each piece of `text[range]` without words, in order. `comment` is true for comments,
/// scripts and styles, which nobody sees, and false for tags, around which text is seen.
pub(crate) fn hidden_pieces(
    text: &str,
    range: Range<usize>,
    mut hide: impl FnMut(Range<usize>, bool),
) {
    let bytes = &text.as_bytes()[..range.end];
    let mut at = range.start;
    while let Some(found) = memchr::memchr(b'<', &bytes[at..]) {
        let open = at + found;
        let rest = &bytes[open..];
        if rest.starts_with(b"<!--") {
            let end = find(bytes, open + 4, b"-->").unwrap_or(range.end);
            hide(open..end, true);
            at = end;
        } else if let Some(name) = unseen_element(rest) {
            let end = closing_tag(bytes, open, name).unwrap_or(range.end);
            hide(open..end, true);
            at = end;
        } else if rest
            .get(1)
            .is_some_and(|b| b.is_ascii_alphabetic() || matches!(b, b'/' | b'!' | b'?'))
        {
            let Some(end) = tag_end(bytes, open) else {
                // No end: the rest of the piece is the inside of a tag.
                hide(open..range.end, false);
                return;
            };
            hide(open..end, false);
            at = end;
        } else {
            at = open + 1;
        }
    }
}

/// The name of the element if nothing inside it is seen.
pub(crate) fn unseen_element(tag: &[u8]) -> Option<&'static [u8]> {
    [b"script".as_slice(), b"style"].into_iter().find(|name| {
        tag.get(1..=name.len())
            .is_some_and(|found| found.eq_ignore_ascii_case(name))
            && tag
                .get(name.len() + 1)
                .is_none_or(|b| !b.is_ascii_alphanumeric() && *b != b'-')
    })
}

/// Behind `</name>`, looked for from `at` on.
fn closing_tag(bytes: &[u8], at: usize, name: &[u8]) -> Option<usize> {
    let mut at = at;
    loop {
        let open = find(bytes, at, b"</")?;
        if bytes
            .get(open..open + name.len())
            .is_some_and(|found| found.eq_ignore_ascii_case(name))
        {
            return Some(
                memchr::memchr(b'>', &bytes[open..]).map_or(bytes.len(), |end| open + end + 1),
            );
        }
        at = open;
    }
}

/// Behind the `>` that ends the tag at `open`, one in quotes not counted.
fn tag_end(bytes: &[u8], open: usize) -> Option<usize> {
    let mut at = open + 1;
    loop {
        at += memchr::memchr3(b'>', b'"', b'\'', bytes.get(at..)?)?;
        let sign = bytes[at];
        at += 1;
        if sign == b'>' {
            return Some(at);
        }
        // An apostrophe without a partner is a slip: then it does not count.
        if let Some(end) = memchr::memchr(sign, bytes.get(at..)?) {
            let inside = bytes.get(at..at + end)?;
            if memchr::memchr2(b'<', b'\n', inside).is_none() {
                at += end + 1;
            }
        }
    }
}

/// Behind the first `needle` at or after `at`.
fn find(bytes: &[u8], at: usize, needle: &[u8]) -> Option<usize> {
    memchr::memmem::find(bytes.get(at..)?, needle).map(|found| at + found + needle.len())
}
