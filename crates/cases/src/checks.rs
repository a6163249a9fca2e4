//! What a case can look at, by name: one function a check. Each says nothing where all is as it
//! should be, and otherwise what was expected and what came.

mod citations;
mod embedding;
mod graph;
mod hits;
mod serving;
mod state;
mod words;

use serde_json::Value;
use unicode_normalization::UnicodeNormalization as _;

use crate::Check;
use crate::world::World;

type Look = fn(&World, &Check) -> Result<(), String>;

/// The checks.
pub(crate) const TABLE: &[(&str, Look)] = &[
    ("all_paths_start_with", hits::all_paths_start_with),
    ("ambiguous", graph::ambiguous),
    ("backlinks_equal", graph::backlinks_equal),
    ("chunks", words::chunks),
    ("citation_state", citations::citation_state),
    ("citations_open", citations::citations_open),
    (
        "concatenation_equals_file",
        serving::concatenation_equals_file,
    ),
    ("config_error", state::error),
    ("config_ok", embedding::config_ok),
    ("context_contains", citations::context_contains),
    ("context_lacks", citations::context_lacks),
    ("context_sources", citations::context_sources),
    ("context_tokens", citations::context_tokens),
    ("count", hits::count),
    ("duplicates_folded", hits::duplicates_folded),
    ("embed_calls", state::embed_calls),
    ("embed_errors", embedding::errors),
    ("embed_input_chars", words::embed_input_chars),
    ("embed_inputs", embedding::inputs),
    ("embed_inputs_blank", embedding::inputs_blank),
    ("embed_inputs_start_with", embedding::inputs_start_with),
    (
        "embed_requests_during_pause",
        embedding::requests_during_pause,
    ),
    ("empty", hits::empty),
    ("equal", state::equal),
    ("error", state::error),
    ("excerpt_contains", words::excerpt_contains),
    ("excerpt_lacks", words::excerpt_lacks),
    ("failures", serving::failures),
    ("first", hits::first),
    ("first_or_marked", hits::first_or_marked),
    ("first_two_include", hits::first_two_include),
    ("found_nothing", state::found_nothing),
    ("frame_not_broken", serving::frame_not_broken),
    ("header_absent", serving::header_absent),
    ("hit", hits::hit),
    ("http_status", serving::http_status),
    ("index_equals_disk", state::found_nothing),
    ("indexed", state::indexed),
    ("invalid_citations", citations::invalid_citations),
    ("json_valid", embedding::json_valid),
    ("latency", serving::latency),
    ("links_equal", graph::links_equal),
    ("listing_equal", state::listing_equal),
    ("max_per_note", hits::max_per_note),
    ("no_chunk_text_lost", embedding::no_chunk_text_lost),
    ("no_crash", state::no_crash),
    ("no_error", state::no_error),
    ("no_hit", hits::no_hit),
    ("no_remote_fetch", serving::no_remote_fetch),
    ("only", hits::only),
    ("only_loopback", serving::only_loopback),
    ("only_nfc", hits::only_nfc),
    ("order", hits::order),
    ("orphan_rows", state::orphan_rows),
    ("outline_equal", graph::outline_equal),
    ("passage_contains", words::passage_contains),
    ("path_opens", hits::path_opens),
    ("path_relative", serving::path_relative),
    ("position_matches_file", words::position_matches_file),
    ("refused", state::refused),
    ("resolves", graph::resolves),
    ("resolves_link", graph::resolves_link),
    ("result_says", state::result_says),
    ("result_tokens", serving::result_tokens),
    ("same_index", serving::same_index),
    ("same_order", hits::same_order),
    ("schemas_portable", serving::schemas_portable),
    ("schemas_valid", serving::schemas_valid),
    ("sources_exist", citations::sources_exist),
    ("started", serving::started),
    ("status", state::status),
    ("stdout_only_jsonrpc", serving::stdout_only_jsonrpc),
    ("store_not_replaced", serving::store_not_replaced),
    ("tags_equal", graph::tags_equal),
    ("tags_exclude", graph::tags_exclude),
    ("tags_include", graph::tags_include),
    ("time_under", state::time_under),
    ("tool_names_match", serving::tool_names_match),
    ("tools_read_only", serving::tools_read_only),
    ("unresolved_equal", graph::unresolved_equal),
    ("unresolved_targets", graph::unresolved_targets),
    ("uri_decodes_to_path", citations::uri_decodes_to_path),
    (
        "vectors_compared_across_models",
        embedding::compared_across_models,
    ),
    ("vectors_match_text", embedding::vectors_match_text),
    ("warning", state::warning),
];

/// Those that are about what a process does.
pub(crate) const OF_PROCESSES: &[&str] = &[
    "concatenation_equals_file",
    "failures",
    "frame_not_broken",
    "header_absent",
    "http_status",
    "latency",
    "no_remote_fetch",
    "only_loopback",
    "path_relative",
    "result_tokens",
    "same_index",
    "schemas_portable",
    "schemas_valid",
    "started",
    "stdout_only_jsonrpc",
    "store_not_replaced",
    "tool_names_match",
    "tools_read_only",
];

/// Looks at a check.
pub(crate) fn look(world: &World, check: &Check) -> Result<(), String> {
    let row = TABLE.iter().find(|(name, _)| *name == check.name);
    let (_, look) = row.ok_or_else(|| format!("no check is called “{}” here", check.name))?;
    look(world, check)
}

/// The result that a check is about.
fn result<'w>(world: &'w World, check: &Check) -> Result<&'w Value, String> {
    world.output(check.text("after")?)
}

/// Nothing, or what was expected and what came.
fn expect(holds: bool, expected: impl Into<String>, came: impl Into<String>) -> Result<(), String> {
    if holds {
        return Ok(());
    }
    Err(format!(
        "expected {}; came {}",
        expected.into(),
        came.into()
    ))
}

/// A text in its composed form.
fn nfc(text: &str) -> String {
    text.nfc().collect()
}

/// The items of a list in a result.
fn items<'v>(value: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> {
    value[key].as_array().into_iter().flatten()
}

/// A text in a result, or nothing.
fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

/// A list sorted.
fn sorted<T: Ord>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut items: Vec<T> = items.into_iter().collect();
    items.sort();
    items
}
