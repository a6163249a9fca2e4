//! Byte offsets to line numbers.

/// Where the lines of a text begin.
///
/// A line ends at LF, CR LF or a lone CR. U+2028 and U+0085 do not end a line, because the
/// editors that show line numbers for Markdown do not count them.
#[derive(Clone, Debug)]
pub struct LineIndex {
    starts: Vec<usize>,
}

impl LineIndex {
    /// Reads the text once.
    pub fn new(text: &str) -> LineIndex {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for i in memchr::memchr2_iter(b'\n', b'\r', bytes) {
            if bytes[i] == b'\n' || bytes.get(i + 1) != Some(&b'\n') {
                starts.push(i + 1);
            }
        }
        LineIndex { starts }
    }

    /// The line that holds the byte at `offset`, counted from 1.
    pub fn line(&self, offset: usize) -> u32 {
        let line = self.starts.partition_point(|start| *start <= offset);
        u32::try_from(line.max(1)).unwrap_or(u32::MAX)
    }

    /// The byte offset at which the line (counted from 1) begins, if the text has that line.
    pub fn start(&self, line: u32) -> Option<usize> {
        self.starts.get((line as usize).checked_sub(1)?).copied()
    }

    /// How many lines the text has; an empty text has one.
    pub fn count(&self) -> u32 {
        u32::try_from(self.starts.len()).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_line_end_counts_once() {
        let text = "a\nb\r\nc\rd\u{2028}e";
        let lines = LineIndex::new(text);
        let line_of = |needle: char| lines.line(text.find(needle).expect("present"));
        assert_eq!(['a', 'b', 'c', 'd', 'e'].map(line_of), [1, 2, 3, 4, 4]);
        assert_eq!(lines.count(), 4);
        assert_eq!(lines.start(3), Some(5));
        assert_eq!((lines.start(0), lines.start(5)), (None, None));
    }
}
