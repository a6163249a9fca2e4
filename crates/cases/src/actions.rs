//! What a case can do, by name: one function a step.

mod asking;
mod branches;
mod citing;
mod embedding;
mod files;
mod inside;
mod running;

use serde_json::Value;

use crate::Step;
use crate::world::{Trouble, World};

pub(crate) use asking::notes_of;
pub(crate) use inside::{passages, paths};

type Action = fn(&mut World, &Step) -> Result<Value, Trouble>;

/// The steps.
pub(crate) const TABLE: &[(&str, Action)] = &[
    ("atomic_save", files::atomic_save),
    ("backlinks", asking::links),
    ("check_answer", citing::check_answer),
    ("checkout", branches::checkout),
    ("chmod", files::chmod),
    ("chunks", inside::chunks),
    ("compare_index_with_disk", inside::compare_index_with_disk),
    ("configure", running::configure),
    ("context", asking::context),
    ("delete", files::delete),
    ("embedder", embedding::embedder),
    ("generate_branch", branches::generate),
    ("grep_index_files", inside::grep_index_files),
    ("index", running::index),
    ("index_listing", inside::listing),
    ("kill_during", embedding::kill_during),
    ("links", asking::links),
    ("mcp_call", asking::tool),
    ("move_out_of_vault", files::move_out),
    ("open_each_citation", citing::open_each),
    ("outline", inside::outline),
    ("read", asking::read),
    ("read_span", citing::read_span),
    ("rebuild", running::rebuild),
    ("reembed", embedding::reembed),
    ("related", asking::related),
    ("rename", files::rename),
    ("replace_root_with_empty_dir", files::empty_root),
    ("replace_with_sparse", files::sparse),
    ("rescan", running::index),
    ("resolve", asking::resolve),
    ("restart", running::restart),
    ("restore_root", files::restore_root),
    ("search", asking::search),
    ("sleep", embedding::sleep),
    ("slow_write", files::slow_write),
    ("snapshot_links", inside::snapshot_links),
    ("start", running::start),
    ("start_watch", running::watch),
    ("status", running::status),
    ("stop", running::stop),
    ("symlink", files::symlink),
    ("tags_of", inside::tags),
    ("touch_all", files::touch_all),
    ("try_config", embedding::try_config),
    ("unresolved", asking::unresolved),
    ("utime", files::utime),
    ("vector_audit", embedding::vector_audit),
    ("wait_settled", running::wait_settled),
    ("write", files::write),
];

/// Does a step.
pub(crate) fn act(world: &mut World, step: &Step) -> Result<Value, Trouble> {
    let row = TABLE.iter().find(|(name, _)| *name == step.action);
    let (_, action) = row.ok_or_else(|| format!("no step is called “{}” here", step.action))?;
    action(world, step)
}
