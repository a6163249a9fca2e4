//! The folder of notes: what is in it, what is left out and why, and each note's decoded text.
//!
//! This crate is the only reader of the user's files and never writes to them. It parses no
//! Markdown and keeps no index; comparing a listing with what is known already is the index's
//! business. A folder that is away, unreadable or only a placeholder is always told apart from
//! one that is gone.

mod decode;
mod leftovers;
mod listing;
mod metadata;
mod obsidian;
mod read;
mod reason;
mod rule;
mod rules;
mod vault;
mod walk;

pub use decode::{Decoded, Encoding, NotText, decode};
pub use listing::{FileEntry, LeftOut, Listing, Unreadable};
pub use obsidian::AppFolders;
pub use read::{NoteFile, ReadError};
pub use reason::Reason;
pub use rules::{FenceSettings, RuleError, RuleSettings, Rules};
pub use vault::{DEFAULT_MAX_BYTES, Vault, VaultError};
