//! What a case can do, by name: one function a step.

mod asking;
mod branches;
mod citing;
mod embedding;
mod files;
mod inside;
mod running;
mod serving;

use serde_json::Value;

use crate::Step;
use crate::world::{Trouble, World};

pub(crate) use asking::notes_of;
pub(crate) use inside::{passages, paths};
pub(crate) use running::status_of;
pub(crate) use serving::store_identity;

type Action = fn(&mut World, &Step) -> Result<Value, Trouble>;

/// The steps.
pub(crate) const TABLE: &[(&str, Action)] = &[
    ("atomic_save", files::atomic_save),
    ("backlinks", asking::links),
    ("check_answer", citing::check_answer),
    ("checkout", branches::checkout),
    ("chmod", files::chmod),
    ("chunks", inside::chunks),
    ("cli_search", serving::cli_search),
    ("compare_index_with_disk", inside::compare_index_with_disk),
    ("configure", running::configure),
    ("context", asking::context),
    ("copy_vault_to", serving::copy_vault_to),
    ("daemon_start", serving::daemon_start),
    ("daemon_stop", serving::daemon_stop),
    ("delete", files::delete),
    ("embedder", embedding::embedder),
    ("generate_branch", branches::generate),
    ("grep_index_files", inside::grep_index_files),
    ("hold_store_lock", serving::hold_store_lock),
    ("http", serving::request),
    ("index", running::index),
    ("index_listing", inside::listing),
    ("kill_during", embedding::kill_during),
    ("links", asking::links),
    ("list_store_files", serving::list_store_files),
    ("listening_addresses", serving::listening_addresses),
    ("mcp_call", serving::tool),
    ("mcp_call_follow_cursor", serving::follow_cursor),
    ("mcp_initialize", serving::mcp_initialize),
    ("mcp_list_tools", serving::mcp_list_tools),
    ("mcp_start", serving::mcp_start),
    ("mcp_stop", serving::mcp_stop),
    ("move_out_of_vault", files::move_out),
    ("open_each_citation", citing::open_each),
    ("outline", inside::outline),
    ("parallel_clients", serving::parallel_clients),
    ("read", asking::read),
    ("read_span", citing::read_span),
    ("rebuild", running::rebuild),
    ("reembed", embedding::reembed),
    ("related", asking::related),
    ("rename", files::rename),
    ("replace_root_with_empty_dir", files::empty_root),
    ("replace_with_sparse", files::sparse),
    ("rescan", running::index),
    ("reranker", asking::reranker),
    ("resolve", asking::resolve),
    ("restart", running::restart),
    ("restore_root", files::restore_root),
    ("search", asking::search),
    ("sleep", embedding::sleep),
    ("slow_write", files::slow_write),
    ("snapshot_links", inside::snapshot_links),
    ("start", running::start),
    ("start_watch", running::watch),
    ("start_with_vault", serving::start_with_vault),
    ("status", running::status),
    ("stop", running::stop),
    ("symlink", files::symlink),
    ("tags_of", inside::tags),
    ("touch_all", files::touch_all),
    ("try_config", embedding::try_config),
    ("ui_answer", serving::ui_answer),
    ("unresolved", asking::unresolved),
    ("utime", files::utime),
    ("vector_audit", embedding::vector_audit),
    ("wait_settled", running::wait_settled),
    ("write", files::write),
    ("write_state_file", serving::write_state_file),
];

/// Does a step.
pub(crate) fn act(world: &mut World, step: &Step) -> Result<Value, Trouble> {
    let row = TABLE.iter().find(|(name, _)| *name == step.action);
    let (_, action) = row.ok_or_else(|| format!("no step is called “{}” here", step.action))?;
    action(world, step)
}
