//! The models of a vault, as `status` shows them.

use std::fmt::Write as _;

use lorewell_capabilities::{ModelJson, StatusOutput};

use super::{counted, grouped};
use crate::style::{WARN, inert_line, styled};

/// What each model covers, and how the wanted one stands.
pub(super) fn lines(status: &StatusOutput) -> String {
    let mut out: String = status.models.iter().map(line).collect();
    let wanted = &status.wanted_model;
    let name = inert_line(&wanted.model);
    if let Some(trouble) = &wanted.trouble {
        let words = format!("{name} cannot be used: {}\n", inert_line(trouble));
        out += &styled(WARN, &words);
    }
    if let Some(how) = &wanted.computed_by {
        let _ = writeln!(out, "{name} is computed here as {}", inert_line(how));
    }
    if wanted.embedding {
        let process = wanted
            .process
            .map_or(String::new(), |id| format!(" ({id})"));
        let _ = writeln!(out, "a process{process} embeds for {name} now");
    }
    if let Some(reranker) = &status.reranker {
        let name = inert_line(&reranker.model);
        out += &match &reranker.trouble {
            None => format!("{name} judges the first passages of each answer\n"),
            Some(trouble) => styled(
                WARN,
                &format!("{name} cannot be used: {}\n", inert_line(trouble)),
            ),
        };
    }
    out
}

fn line(model: &ModelJson) -> String {
    let all = model.embedded + model.outside + model.missing + model.refused;
    let mut line = format!(
        "{}: {} with a vector, {} in words that it does not know",
        inert_line(&model.model),
        counted(model.embedded, "passage"),
        grouped(model.outside)
    );
    if model.missing > 0 {
        let share = (all - model.missing) * 100 / all.max(1);
        let _ = write!(
            line,
            ", {} to come ({share} % done)",
            grouped(model.missing)
        );
    }
    if model.refused > 0 {
        let _ = write!(line, ", {} refused", grouped(model.refused));
    }
    if model.cut > 0 {
        let _ = write!(line, ", {} without their end", grouped(model.cut));
    }
    line.push('\n');
    line
}
