//! The outcome of a build.

use lorewell_capabilities::RebuildOutput;

use super::counted;
use crate::style::{TITLE, WARN, inert, styled};

pub(crate) fn text(output: &RebuildOutput) -> String {
    let mut out = format!(
        "{}: {} in {}\n",
        styled(TITLE, &inert(&output.vault)),
        counted(output.notes, "note"),
        counted(output.passages, "passage")
    );
    out += &format!(
        "read {}, removed {}, left out {}\n",
        counted(output.taken_in, "note"),
        counted(output.removed, "note"),
        counted(output.skipped, "file")
    );
    if let Some(reason) = &output.reason {
        let said = match output.pending {
            0 => reason.clone(),
            pending => format!("{} pending: {reason}", counted(pending, "note")),
        };
        out += &styled(WARN, &inert(&said));
        out.push('\n');
    }
    out
}
