//! What no capability serves yet, and what stands in for what is only half there. A case that needs
//! a row of the first table is pending; when its part comes, the row goes.

use serde_json::Value;

use crate::{Case, Check, Level, Step};

/// Something that is not there yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gap {
    /// What, in words.
    pub(crate) reason: &'static str,
    /// The part of the product that brings it (docs/roadmap.md).
    pub(crate) part: &'static str,
}

/// Steps: by name, or `name.field` where only the field is not served.
const STEPS: &[(&str, Gap)] = &[];

/// Checks, likewise; `status:watch` is a value of the field `field`.
const CHECKS: &[(&str, Gap)] = &[];

/// What steps and checks are read as until their part is there: what, as what, and the part.
pub const STAND_INS: &[(&str, &str, &str)] = &[
    (
        "`context` with `pinned`",
        "`attached`: the prompt holds the note already; cutting it down is the chat page's",
        "One bridge",
    ),
    (
        "`embed_calls` of a case without an endpoint",
        "the vectors on disk did not grow since the step",
        "none: the built-in model is called in this process",
    ),
    (
        "`embed_input_chars`",
        "the longest passage without its hidden pieces",
        "none: the built-in model is called in this process",
    ),
    (
        "`mcp_call` of a case that starts no server",
        "the capability of the tool's name, asked in this process",
        "One bridge",
    ),
    (
        "`ui_answer`",
        "every path of the bridge, which has no page that shows answers",
        "One bridge",
    ),
];

/// What a case needs that is not there, joined; nothing if it can run.
pub fn gap_of(case: &Case) -> Option<(String, String)> {
    let steps = case.steps.iter().filter_map(gap_of_step);
    let musts = case
        .checks
        .iter()
        .filter(|check| check.level == Level::Must);
    let mut gaps: Vec<Gap> = steps.chain(musts.filter_map(gap_of_check)).collect();
    gaps.sort_by_key(|gap| (gap.part, gap.reason));
    gaps.dedup();
    let mut parts: Vec<&str> = gaps.iter().map(|gap| gap.part).collect();
    parts.dedup();
    let reasons: Vec<&str> = gaps.iter().map(|gap| gap.reason).collect();
    (!gaps.is_empty()).then(|| (reasons.join("; "), parts.join(", ")))
}

fn gap_of_step(step: &Step) -> Option<Gap> {
    let whole = std::iter::once(step.action.clone());
    let fields = step.keys().map(|key| format!("{}.{key}", step.action));
    whole.chain(fields).find_map(|name| row(STEPS, &name))
}

/// What a check needs that is not there.
pub(crate) fn gap_of_check(check: &Check) -> Option<Gap> {
    let whole = std::iter::once(check.name.clone());
    let fields = check.keys().map(|key| format!("{}.{key}", check.name));
    let value = check.get("field").and_then(Value::as_str);
    let values = value.map(|value| format!("{}:{value}", check.name));
    whole
        .chain(fields)
        .chain(values)
        .find_map(|name| row(CHECKS, &name))
}

fn row(table: &[(&str, Gap)], name: &str) -> Option<Gap> {
    let found = table.iter().find(|(known, _)| *known == name);
    found.map(|(_, gap)| *gap)
}
