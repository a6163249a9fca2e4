//! A note's text.

use lorewell_capabilities::ReadOutput;

use crate::style::{self, inert};

pub(crate) fn text(read: &ReadOutput) -> String {
    let mut out = inert(&read.text).into_owned();
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
    // Talk about the text is not part of it: `lorewell read Note > file` is the note.
    for degraded in &read.degraded {
        style::warn(degraded);
    }
    if let Some(next) = &read.next {
        let [first, last] = read.line_range;
        style::note(&format!("lines {first}–{last}; more with --cursor {next}"));
    }
    out
}
