//! What can go wrong, in words for the person who asked, with a stable code and a hint.

use std::path::PathBuf;

use lorewell_index::IndexError;
use lorewell_retrieval::RetrievalError;
use lorewell_vault::{ReadError, RuleError, VaultError};

use crate::TokensError;

/// Why the engine could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The folder of notes.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// An exclusion that cannot be understood.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// The index on disk.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The search.
    #[error(transparent)]
    Search(#[from] RetrievalError),
    /// A note's file.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The index would lie among the notes, which are never written to.
    #[error("the index cannot be in {}: that is in the folder of notes, {}", .index.display(), .vault.display())]
    IndexInVault {
        /// Where the index was to be.
        index: PathBuf,
        /// The folder of notes.
        vault: PathBuf,
    },
    /// The index holds notes that are excluded by now, and they cannot be taken out of it.
    #[error("notes that are excluded now are still in the index: {0}")]
    ExclusionsChanged(#[source] IndexError),
    /// No note answers to a name.
    #[error("no note of this vault is called “{wanted}”")]
    NoSuchNote {
        /// What was asked for.
        wanted: String,
        /// Names that are near, best first.
        near: Vec<String>,
        /// The path of a note that is in the folder and not in the index.
        left_out: Option<String>,
    },
    /// Tokens cannot be counted as the settings say.
    #[error(transparent)]
    Tokens(#[from] TokensError),
    /// A note has no such heading, block or line.
    #[error("“{note}” has no {part}")]
    NoSuchPart {
        /// The note.
        note: String,
        /// What was asked for, in words.
        part: String,
        /// What there is instead, if that helps.
        there: Vec<String>,
    },
}

impl EngineError {
    /// A stable word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            EngineError::Vault(error) => error.code(),
            EngineError::Rule(_) => "bad_exclusion",
            EngineError::Index(error) | EngineError::Search(RetrievalError::Index(error)) => {
                index_code(error)
            }
            EngineError::Search(RetrievalError::Segment(_)) => "index_damaged",
            EngineError::Read(error) => error.code(),
            EngineError::IndexInVault { .. } => "index_in_vault",
            EngineError::ExclusionsChanged(_) => "exclusions_changed",
            EngineError::NoSuchNote { .. } => "no_such_note",
            EngineError::NoSuchPart { .. } => "no_such_part",
            EngineError::Tokens(_) => "tokenizer_unusable",
        }
    }

    /// What to try.
    pub fn hint(&self) -> String {
        match self {
            EngineError::Vault(error) => error.hint().to_string(),
            EngineError::Rule(error) => error.hint().to_string(),
            EngineError::Index(error) | EngineError::Search(RetrievalError::Index(error)) => {
                index_hint(error).to_string()
            }
            EngineError::Search(RetrievalError::Segment(_)) => REBUILD.to_string(),
            EngineError::Read(error) if is_for_now(error) => {
                format!("{} Until then search gives its last known text.", error.hint())
            }
            EngineError::Read(error) => error.hint().to_string(),
            EngineError::IndexInVault { .. } => {
                "Choose a folder outside of the notes with --index-dir.".to_string()
            }
            EngineError::ExclusionsChanged(error) => index_hint(error).to_string(),
            EngineError::NoSuchNote {
                left_out: Some(path),
                ..
            } => format!(
                "It is in the folder and not in the index; `lorewell status --why-not {}` says why.",
                in_shell(path)
            ),
            EngineError::NoSuchNote { near, .. } if near.is_empty() => {
                "Give its path in the vault, its title or an alias; search finds it.".to_string()
            }
            EngineError::NoSuchNote { near, .. } => format!("Did you mean {}?", quoted(near)),
            EngineError::Tokens(_) => "Set `tokenizer_file` to a Hugging Face tokenizer.json, or unset it to count by estimate.".to_string(),
            EngineError::NoSuchPart { there, .. } if there.is_empty() => {
                "Read the whole note to see what it has.".to_string()
            }
            EngineError::NoSuchPart { there, .. } => format!("It has {}.", quoted(there)),
        }
    }
}

const REBUILD: &str = "Your notes are safe. Build the index anew with `lorewell rebuild`.";

fn index_code(error: &IndexError) -> &'static str {
    match error {
        IndexError::Absent(_) => "index_absent",
        IndexError::Newer { .. } => "index_newer",
        IndexError::Older { .. } => "index_older",
        IndexError::Damaged { .. } => "index_damaged",
        IndexError::DiskFull(_) => "disk_full",
        IndexError::NoPermission(_) => "no_permission",
        IndexError::NotAFolder(_) => "index_not_a_folder",
        IndexError::Busy(_) => "index_busy",
        IndexError::Io { .. } | IndexError::Catalogue { .. } => "index_failed",
        IndexError::Vault(error) => error.code(),
    }
}

fn index_hint(error: &IndexError) -> &str {
    match error {
        IndexError::Absent(_) => "Build it with `lorewell rebuild`.",
        IndexError::Newer { .. } => {
            "Use the newer version of lorewell that wrote it, or give this one its own folder with --index-dir."
        }
        IndexError::Older { .. } | IndexError::Damaged { .. } => REBUILD,
        IndexError::DiskFull(_) => "Make room, or put the index on another disk with --index-dir.",
        IndexError::NoPermission(_) => {
            "Give yourself the permission, or put the index elsewhere with --index-dir."
        }
        IndexError::NotAFolder(_) => {
            "Move the file away, or put the index elsewhere with --index-dir."
        }
        IndexError::Busy(_) => "Wait until the other process is done, then ask again.",
        IndexError::Io { .. } | IndexError::Catalogue { .. } => {
            "Try again; if it stays, run `lorewell rebuild`."
        }
        IndexError::Vault(error) => error.hint(),
    }
}

/// Whether a note that is in the index can only not be read just now.
fn is_for_now(error: &ReadError) -> bool {
    matches!(
        error,
        ReadError::NoPermission { .. } | ReadError::Placeholder { .. } | ReadError::Io { .. }
    )
}

/// A path as one word of a command.
fn in_shell(path: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-".contains(c);
    match path.chars().all(is_plain) {
        true => path.to_string(),
        false => format!("'{}'", path.replace('\'', "'\\''")),
    }
}

fn quoted(names: &[String]) -> String {
    names
        .iter()
        .map(|name| format!("“{name}”"))
        .collect::<Vec<_>>()
        .join(", ")
}
