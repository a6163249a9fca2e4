//! Lines of a text as byte positions: ended by LF, CR LF or a lone CR.

/// A line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line {
    /// Its first byte.
    pub(crate) start: usize,
    /// Behind its last byte, the line ending not included.
    pub(crate) end: usize,
    /// Where the next line begins.
    pub(crate) next: usize,
}

/// The lines of `text` from `start` on. No line follows an ending at the very end.
pub(crate) fn lines(text: &str, start: usize) -> impl Iterator<Item = Line> {
    let bytes = text.as_bytes();
    let mut at = start;
    std::iter::from_fn(move || {
        if at >= bytes.len() {
            return None;
        }
        let end = memchr::memchr2(b'\n', b'\r', &bytes[at..]).map_or(bytes.len(), |end| at + end);
        let next = match bytes.get(end..) {
            Some([b'\r', b'\n', ..]) => end + 2,
            Some([_, ..]) => end + 1,
            _ => end,
        };
        let line = Line {
            start: at,
            end,
            next,
        };
        at = next;
        Some(line)
    })
}

/// The line (from 1) that holds the byte at `offset`. For the odd message; passages use an index.
pub(crate) fn line_of(text: &str, offset: usize) -> u32 {
    let before = lines(text, 0)
        .take_while(|line| line.next <= offset)
        .count();
    u32::try_from(before + 1).unwrap_or(u32::MAX)
}
