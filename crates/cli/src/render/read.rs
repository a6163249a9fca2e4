//! A note's text.

use lorewell_capabilities::ReadOutput;

use crate::style::{FAINT, WARN, inert, styled};

pub(crate) fn text(read: &ReadOutput) -> String {
    let mut out = inert(&read.text).into_owned();
    if !out.ends_with('\n') {
        out.push('\n');
    }
    for degraded in &read.degraded {
        out += &styled(WARN, degraded);
        out.push('\n');
    }
    if let Some(next) = &read.next {
        let [first, last] = read.line_range;
        out += &styled(
            FAINT,
            &format!("lines {first}–{last}; more with --cursor {next}"),
        );
        out.push('\n');
    }
    out
}
