//! Finds `%%comments%%`, which Obsidian hides and Markdown does not know.
//!
//! They have to be known before the Markdown is read, since a comment may hold half a fence. So this is a scan of its
//! own over lines, which knows as much of code as is needed to leave percent signs there alone.

use std::ops::Range;

use memchr::memmem;

use crate::lines::{Line, lines};
use crate::ranges;

/// What the scan found.
#[derive(Debug, Default)]
pub(crate) struct Comments {
    /// The comments with their marks, in order.
    pub(crate) found: Vec<Comment>,
    /// Where a comment that begins a line is never closed.
    pub(crate) unclosed: Option<usize>,
}

/// A comment.
#[derive(Debug)]
pub(crate) struct Comment {
    /// With both marks.
    pub(crate) range: Range<usize>,
    /// Whether nothing else stands on its lines.
    pub(crate) whole_lines: bool,
}

/// Finds the comments of `text` from `start` on. A comment that begins a line ends at the next `%%`, however far; one
/// in the middle of a line has to end in the same paragraph.
pub(crate) fn find(text: &str, start: usize) -> Comments {
    let mut comments = Comments::default();
    if memmem::find(text.as_bytes(), b"%%").is_none() {
        return comments;
    }
    let mut scan = Scan {
        text,
        comments: &mut comments,
        fence: None,
        resume: start,
        closable: true,
    };
    let mut paragraph: Vec<Line> = Vec::new();
    let mut code_may_follow = true;
    for line in lines(text, start) {
        if line.end <= scan.resume && line.start < scan.resume {
            continue;
        }
        let content = text
            .get(line.start.max(scan.resume)..line.end)
            .unwrap_or_default();
        let bare = content.trim_start_matches([' ', '\t', '>']);
        let indented = content.starts_with("    ") || content.starts_with('\t');
        if bare.trim().is_empty() {
            scan.paragraph(&paragraph);
            paragraph.clear();
            continue;
        }
        if scan.fence_line(content, bare) {
            scan.paragraph(&paragraph);
            paragraph.clear();
            // The paragraph may have held a comment that reaches beyond this line.
            if line.start < scan.resume {
                scan.fence = None;
            }
            continue;
        }
        if paragraph.is_empty() && indented && code_may_follow {
            continue;
        }
        code_may_follow = !is_list_item(bare) && (code_may_follow || !indented);
        if bare.starts_with("%%") {
            scan.paragraph(&paragraph);
            paragraph.clear();
            if line.end <= scan.resume {
                continue;
            }
            if scan.block(line.end - bare.len()) && scan.resume >= line.end {
                continue;
            }
        }
        paragraph.push(Line {
            start: line.start.max(scan.resume),
            ..line
        });
    }
    scan.paragraph(&paragraph);
    comments
}

fn is_list_item(bare: &str) -> bool {
    let rest = bare.trim_start_matches(|c: char| c.is_ascii_digit());
    matches!(
        rest.as_bytes(),
        [b'-' | b'*' | b'+' | b'.' | b')', b' ' | b'\t', ..]
    )
}

struct Scan<'t> {
    text: &'t str,
    comments: &'t mut Comments,
    /// The sign and length of the open fence, and whether it stands inside a list.
    fence: Option<(u8, usize, bool)>,
    /// Everything before is done with.
    resume: usize,
    /// Whether any `%%` may still follow: keeps the search for an end linear.
    closable: bool,
}

impl Scan<'_> {
    /// Whether the line belongs to a fence; opens and closes it.
    fn fence_line(&mut self, content: &str, bare: &str) -> bool {
        let inner = bare.trim_start_matches(['-', '*', '+', ' ', '\t']);
        let sign = inner.bytes().next().unwrap_or(0);
        let length = if matches!(sign, b'`' | b'~') {
            inner.bytes().take_while(|b| *b == sign).count()
        } else {
            0
        };
        let info = inner.get(length..).unwrap_or_default();
        match self.fence {
            Some((_, _, true))
                if bare.len() == content.len() && inner.len() == bare.len() && length == 0 =>
            {
                // Text at the margin ends the list, and the fence with it.
                self.fence = None;
                false
            }
            Some((open, least, _)) => {
                if open == sign && length >= least && info.trim().is_empty() {
                    self.fence = None;
                }
                true
            }
            None if length >= 3 && (sign == b'~' || !info.contains('`')) => {
                self.fence = Some((
                    sign,
                    length,
                    inner.len() < bare.len() || content.starts_with("  "),
                ));
                true
            }
            None => false,
        }
    }

    /// A comment that begins a line at `open`. False where it is not closed.
    fn block(&mut self, open: usize) -> bool {
        let after = open + 2;
        let close = self
            .closable
            .then(|| memmem::find(self.text.as_bytes().get(after..)?, b"%%"))
            .flatten();
        let Some(close) = close else {
            self.closable = false;
            self.comments.unclosed.get_or_insert(open);
            return false;
        };
        self.push(open..after + close + 2);
        true
    }

    fn push(&mut self, range: Range<usize>) {
        let whole_lines = ranges::stands_alone(self.text, &range);
        self.resume = range.end;
        self.comments.found.push(Comment { range, whole_lines });
    }

    /// Comments inside the lines of a paragraph, code spans left out.
    fn paragraph(&mut self, lines: &[Line]) {
        let (Some(first), Some(last)) = (lines.first(), lines.last()) else {
            return;
        };
        let bytes = &self.text.as_bytes()[..last.end];
        let mut at = first.start.max(self.resume);
        if at >= last.end || memmem::find(&bytes[at..], b"%%").is_none() {
            return;
        }
        let spans = code_spans(bytes, at);
        let mut open = None;
        while let Some(found) = memmem::find(&bytes[at..], b"%%") {
            let mark = at + found;
            let in_code = spans.partition_point(|span| span.end <= mark);
            if let Some(span) = spans
                .get(in_code)
                .filter(|span| span.start <= mark && open.is_none())
            {
                at = span.end;
                continue;
            }
            at = mark + 2;
            match open.take() {
                None => open = Some(mark),
                Some(open) => self.push(open..at),
            }
        }
    }
}

/// The code spans of `bytes` from `at` on: a run of backticks up to the next run of the same length.
fn code_spans(bytes: &[u8], at: usize) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for tick in memchr::memchr_iter(b'`', &bytes[at..]).map(|tick| tick + at) {
        match runs.last_mut() {
            Some(run) if run.end == tick => run.end += 1,
            _ => runs.push(tick..tick + 1),
        }
    }
    // From the back: the next run of each length, so that the search stays linear.
    let mut next_of_length = std::collections::HashMap::new();
    let mut partner = vec![None; runs.len()];
    for (i, run) in runs.iter().enumerate().rev() {
        partner[i] = next_of_length.insert(run.len(), i);
    }
    let mut spans = Vec::new();
    let mut i = 0;
    while i < runs.len() {
        match partner[i] {
            Some(end) => {
                spans.push(runs[i].start..runs[end].end);
                i = end + 1;
            }
            None => i += 1,
        }
    }
    spans
}
