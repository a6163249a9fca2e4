//! Finds files that are written into a note as `data:` addresses.

use std::ops::Range;

use memchr::memmem;

/// The `data:…;base64,…` addresses of `text` from `start` on, wherever they stand: in links, definitions, HTML or code.
/// With a definition (`[label]: data:…`) the whole definition is meant.
pub(crate) fn find(text: &str, start: usize) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut least = start;
    for at in memmem::find_iter(&bytes[start..], b";base64,").map(|at| at + start) {
        if at < least {
            continue;
        }
        let window = at.saturating_sub(128).max(least);
        let Some(scheme) =
            memmem::rfind(&bytes[window..at], b"data:").map(|scheme| window + scheme)
        else {
            continue;
        };
        if bytes[scheme..at]
            .iter()
            .any(|b| b.is_ascii_whitespace() || matches!(b, b'(' | b')' | b'"' | b'<' | b'>'))
        {
            continue;
        }
        let content = at + b";base64,".len();
        let length = bytes[content..]
            .iter()
            .take_while(|b| {
                b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b'-' | b'_' | b'%')
            })
            .count();
        let end = content + length;
        found.push(definition_start(bytes, least, scheme).unwrap_or(scheme)..end);
        least = end;
    }
    found
}

/// The beginning of the line if all that stands before `scheme` on it is `[label]: `.
fn definition_start(bytes: &[u8], least: usize, scheme: usize) -> Option<usize> {
    let line = bytes[least..scheme]
        .iter()
        .rposition(|b| matches!(b, b'\n' | b'\r'))
        .map_or(least, |newline| least + newline + 1);
    let before = bytes[line..scheme].trim_ascii();
    let label = before
        .strip_suffix(b"<")
        .unwrap_or(before)
        .strip_suffix(b"]:")?;
    (label.starts_with(b"[") && !label.contains(&b']')).then_some(line)
}
