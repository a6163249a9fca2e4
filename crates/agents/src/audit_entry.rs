//! One line of the log: who received what of which notes, when. The question and the text are
//! never in it.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use lorewell_capabilities::{Entry, Failure, received};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Caller;
use crate::agent::Reader;
use crate::expiry::shown_time;

/// One request of an agent or client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// When it was answered: RFC 3339, UTC.
    pub time: String,
    /// The agent's name; `client` or `client:NAME` for a program of the owner without an approval.
    pub agent: String,
    /// Where it reads: `local` or `remote`.
    pub reader: String,
    /// What was asked, by [`Entry::id`].
    pub capability: String,
    /// The vault's name.
    pub vault: String,
    /// The vault's canonical folder.
    pub folder: PathBuf,
    /// The generation of the index that answered, where the answer tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<u64>,
    /// What left.
    #[serde(default)]
    pub passages: Vec<AuditPassage>,
    /// The code of the error that was answered instead; absent where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whether nobody waited any longer when the answer was ready, or the program was being
    /// stopped: it may not have left.
    #[serde(default, skip_serializing_if = "is_false")]
    pub late: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde wants it")]
fn is_false(late: &bool) -> bool {
    !*late
}

/// A passage that left, or a note that was told of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditPassage {
    /// The note's path.
    pub note: String,
    /// Half-open range of bytes; absent where it is the note that was told of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub byte_range: Option<(u64, u64)>,
    /// The note's content hash, hex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_hash: Option<String>,
}

impl AuditEntry {
    /// The entry of a request of `caller`, which reads as `reader`: what was asked, the vault's
    /// name and canonical folder, and the answer, an output of the capability or an error.
    pub fn new(
        now: Timestamp,
        (caller, reader): (&Caller, Reader),
        entry: &Entry,
        (vault, folder): (&str, &Path),
        answer: Result<&Value, &Failure>,
    ) -> AuditEntry {
        let output = answer.ok();
        let passages = output.map(received).unwrap_or_default();
        AuditEntry {
            time: shown_time(now),
            agent: caller.name().to_owned(),
            reader: reader.code().to_owned(),
            capability: entry.id.to_owned(),
            vault: vault.to_owned(),
            folder: folder.to_path_buf(),
            generation: output.and_then(|output| output.pointer("/index/generation")?.as_u64()),
            passages: passages
                .into_iter()
                .map(|received| AuditPassage {
                    note: received.note,
                    byte_range: received.byte_range,
                    content_hash: received.content_hash,
                })
                .collect(),
            error: answer.err().map(|failure| failure.code.clone()),
            late: false,
        }
    }
}
