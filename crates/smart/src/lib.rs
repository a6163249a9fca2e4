//! Vectors of whole notes that the Obsidian plugin Smart Connections made. They lie in the vault, are
//! only read, and tell which notes are alike without any model here.
//!
//! What is known of the files (by looking at them; nothing documents them):
//!
//! - `.smart-env/multi/*.ajson`: a line for each entry, `"smart_sources:PATH": {…},`, the object with
//!   `path`, `embeddings: {MODEL: {vec: […]}}`, `last_import: {mtime, size, at, hash}` (times in
//!   milliseconds) and `last_embed: {hash, at}`. Lines are appended, so that the last of a note holds;
//!   `null` in the place of the object takes the note out. Lines of other collections
//!   (`smart_blocks:…`) stand between.
//! - `.smart-env/smart_env.json`: the settings; `smart_sources.embed_model` names the model in use.
//! - before: `.smart-connections/smart_notes-MODEL.ajson` or `smart_sources-MODEL.ajson`, with
//!   `"PATH": {path, embedding: {vec}, …},`.
//!
//! Anything that is not so is passed over and counted, never an error.

mod entry;
mod folder;
mod likeness;

pub use folder::{SmartFolder, read};
pub use likeness::{Likeness, Neighbour, SmartVectors};
