//! A text for a prompt.

use lorewell_capabilities::ContextOutput;

use super::counted;
use crate::style::{self, inert};

pub(crate) fn text(context: &ContextOutput) -> String {
    // Talk about the text is not part of it: `lorewell context … | llm` gives the text.
    for degraded in &context.degraded {
        style::warn(degraded);
    }
    if let Some(notice) = &context.notice {
        style::warn(notice);
    }
    style::note(&summary(context));
    if context.text.is_empty() {
        return String::new();
    }
    format!("{}\n", inert(&context.text))
}

fn summary(context: &ContextOutput) -> String {
    let by = match &context.tokenizer {
        Some(name) => format!("by {name}"),
        None => "estimated".to_string(),
    };
    let passages = context.sources.len() as u64;
    let tokens = counted(context.tokens, "token");
    let mut line = format!(
        "{}, {tokens} of {} ({by}); confidence: {}",
        counted(passages, "passage"),
        super::grouped(context.budget),
        context.confidence
    );
    if context.left_out > 0 {
        line += &format!("; {} had no room", counted(context.left_out, "passage"));
    } else if context.truncated {
        line += "; there is more";
    }
    line
}
