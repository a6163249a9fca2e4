//! What a link says: note, headings, block. Resolving it to a file is not done here.

use lorewell_text::split_note_extension;

/// The parts of a link's target.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) note: String,
    pub(crate) headings: Vec<String>,
    pub(crate) block: Option<String>,
}

/// Takes apart the inside of `[[…]]` up to the bar: `Note#Heading#Sub`, `Note#^block`, `#Heading`.
/// A backslash at the end is what escapes the bar in a table, and is no part of the name.
pub(crate) fn wiki(raw: &str) -> Option<Target> {
    let raw = raw.trim().trim_end_matches('\\');
    if is_external(raw) && raw.contains("://") {
        return None;
    }
    split(raw, |part| part.trim().to_owned())
}

/// Takes apart the destination of a Markdown link. `None` for what leads outside and for nothing at all.
pub(crate) fn markdown(destination: &str) -> Option<Target> {
    let raw = destination.trim();
    if is_external(raw) {
        return None;
    }
    split(raw, |part| percent_decoded(part.trim()))
}

fn split(raw: &str, decode: impl Fn(&str) -> String) -> Option<Target> {
    let mut parts = raw.split('#');
    let note = decode(parts.next().unwrap_or_default());
    let mut target = Target {
        note: split_note_extension(&note).0.to_owned(),
        ..Target::default()
    };
    for part in parts.map(decode).filter(|part| !part.is_empty()) {
        match part.strip_prefix('^') {
            Some(id) => target.block = Some(id.to_owned()),
            None => target.headings.push(part),
        }
    }
    let empty = target.note.is_empty() && target.headings.is_empty() && target.block.is_none();
    (!empty).then_some(target)
}

/// Whether the destination has a scheme (RFC 3986, section 3.1), or is `//host`.
fn is_external(destination: &str) -> bool {
    let scheme = destination
        .bytes()
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
        .count();
    let starts_with_letter = destination
        .bytes()
        .next()
        .is_some_and(|b| b.is_ascii_alphabetic());
    destination.starts_with("//")
        || starts_with_letter && destination.as_bytes().get(scheme) == Some(&b':')
}

/// Decodes `%20` and the like. A percent sign that begins no such triple stays, and so does all of a text that would
/// not be UTF-8 afterwards.
pub(crate) fn percent_decoded(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let pair = bytes.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        let value = pair.and_then(|pair| Some((hex(pair[0])? << 4) | hex(pair[1])?));
        decoded.push(value.unwrap_or(bytes[at]));
        at += if value.is_some() { 3 } else { 1 };
    }
    String::from_utf8(decoded).unwrap_or_else(|_| text.to_owned())
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit)
        .to_digit(16)
        .and_then(|value| u8::try_from(value).ok())
}
