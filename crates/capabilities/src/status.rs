//! `knowledge.status`: what the index holds, what it does not, and why.

use std::collections::{BTreeMap, BTreeSet};

use lorewell_engine::{
    CarriedSegment, FileState, LeftOutFile, PortableStatus, SkippedCarried, StatusRequest, Warning,
    Watcher, WatcherWay,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Access, Capability, Desk, Failure};

/// The ability.
pub struct Status;

/// What is wanted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StatusInput {
    /// Say of this file whether it is indexed, and if not, why not.
    #[serde(default)]
    pub why_not: Option<String>,
    /// Also check every checksum of the index.
    #[serde(default)]
    pub verify: bool,
    /// List at most so many files and warnings (100; 12 in the terminal).
    #[serde(default)]
    pub list: Option<u32>,
}

/// The state of a vault.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatusOutput {
    /// The version of this contract.
    pub contract: u32,
    /// The vault's name.
    pub vault: String,
    /// Its folder.
    pub root: String,
    /// Whether there is an index yet.
    pub built: bool,
    /// The index.
    pub index: IndexStatusJson,
    /// The process that keeps the index up to date while notes change; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watcher: Option<WatcherJson>,
    /// Vectors that travel with the vault, where there are any or are to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub portable: Option<PortableJson>,
    /// The embedding models and what they cover.
    pub models: Vec<ModelJson>,
    /// The model that is wanted, and whether it is at work.
    pub wanted_model: WantedModelJson,
    /// The reranker that is wanted, if one is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reranker: Option<RerankerJson>,
    /// Notes that differ from the folder and are not in the index yet, with the reason (code `new`,
    /// `changed`, `gone`, or why they cannot be read: `not_local` and others); the first of
    /// `index.pending`.
    pub pending: Vec<FileJson>,
    /// Files and folders that are not searched, with the reason; the first of them.
    pub left_out: Vec<FileJson>,
    /// How many there are.
    pub left_out_total: u64,
    /// What exists and could not be read. It is not treated as deleted.
    pub unreadable: Vec<FileJson>,
    /// Files that are no notes, by extension.
    pub other_files: BTreeMap<String, u64>,
    /// What could not be read as it stands; the first of them.
    pub warnings: Vec<WarningJson>,
    /// How many there are.
    pub warnings_total: u64,
    /// Hosts that the settings let the program speak to.
    pub network_targets: Vec<String>,
    /// The outcome of the check: `ok`, or what is damaged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified: Option<String>,
    /// The answer to `why_not`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<FileJson>,
    /// What kept this answer from being made as it should be, such as a bridge that could not be
    /// asked, in words; absent where nothing did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub degraded: Vec<String>,
}

/// The index on disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IndexStatusJson {
    /// Its folder.
    pub folder: String,
    /// The newest generation.
    pub generation: u64,
    /// Notes in it.
    pub notes: u64,
    /// Passages in it.
    pub passages: u64,
    /// Changed notes that are not in it yet.
    pub pending: u64,
    /// When it was committed (RFC 3339, UTC); absent before the first build.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub updated_at: String,
    /// Whether the last build was cut short.
    pub unfinished: bool,
    /// Whether a process is writing it now.
    pub being_written: bool,
    /// Bytes of the catalogue.
    pub catalogue_bytes: u64,
    /// Bytes of the lexical segments.
    pub segments_bytes: u64,
    /// Bytes of the vectors.
    pub vectors_bytes: u64,
}

/// A process that watches the vault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WatcherJson {
    /// Its number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<u32>,
    /// How it learns of changes: `events`, `poll` (it looks again and again), or `starting`.
    #[schemars(extend("enum" = ["events", "poll", "starting"]))]
    pub by: String,
    /// How often it looks, where it polls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every_seconds: Option<u64>,
    /// Why it polls, and what to do about it; absent where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Vectors in the vault's own folder, which its sync carries to other devices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PortableJson {
    /// The setting `index_storage`: `vault`, or `local` where files lie there all the same.
    pub storage: String,
    /// The folder in the vault.
    pub folder: String,
    /// This device's name; absent before it wrote anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Whole files, of all devices and models.
    pub segments: u64,
    /// Those of this device.
    pub own_segments: u64,
    /// How many devices wrote them.
    pub devices: u64,
    /// Vectors in them.
    pub vectors: u64,
    /// Bytes of them.
    pub portable_bytes: u64,
    /// Vectors of this index that no file has yet. A few wait some minutes before they are written.
    pub waiting: u64,
    /// Files that are passed over, with the reason.
    pub skipped: Vec<FileJson>,
    /// How many there are.
    pub skipped_total: u64,
    /// Why this device could not bring its files up to date; absent if it could.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

/// A model's part in the index.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelJson {
    /// Its name.
    pub model: String,
    /// What decides its vectors.
    pub fingerprint: String,
    /// Passages with a vector.
    pub embedded: u64,
    /// Passages in words that it does not know.
    pub outside: u64,
    /// Passages that it has not embedded yet.
    pub missing: u64,
    /// Passages that it will not take; absent where there are none.
    #[serde(default, skip_serializing_if = "is_none")]
    pub refused: u64,
    /// How many texts were longer than the model reads and were embedded without their end, since
    /// its first; those of notes that changed or went count on.
    #[serde(default, skip_serializing_if = "is_none")]
    pub cut: u64,
}

/// The model that the settings ask for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WantedModelJson {
    /// Its name.
    pub model: String,
    /// Whether a process embeds for it now.
    pub embedding: bool,
    /// Its number, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<u32>,
    /// In which numbers and by which instructions of this machine it is computed, where there is a
    /// choice: `q8, avx512-vnni`. `plain` is slow: the processor has none that are made use of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computed_by: Option<String>,
    /// Why it cannot be used; absent if nothing is known to be wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

/// The reranker that the settings ask for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RerankerJson {
    /// Its name.
    pub model: String,
    /// Why it cannot be used; absent if nothing is known to be wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

/// A file or folder and where it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileJson {
    /// Path in the vault.
    pub path: String,
    /// A folder stands for all in it.
    pub folder: bool,
    /// A stable word: the reason, or `indexed`, `pending`, `not_a_note`, `absent`.
    pub code: String,
    /// The same for people, as the end of a sentence that begins with the path.
    pub reason: String,
}

/// Something that could not be read as it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WarningJson {
    /// The path of the note, or of a file with the vault's own settings.
    pub path: String,
    /// The line, from 1; absent where it is about the whole file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// What is wrong and what was made of it.
    pub message: String,
}

impl Capability for Status {
    const ID: &'static str = "knowledge.status";
    const SUMMARY: &'static str = "Show what is indexed, what is not, and why";
    const DESCRIPTION: &'static str = "Says what the index holds, how far it is behind the folder, which files are \
        left out and why, what could not be read, what the models cover, and every network target. With \
        `why_not` it says of one file whether it is indexed and why not.";
    const ACCESS: Access = Access::Read;
    const POSITIONAL: Option<&'static str> = None;
    const FRESH: bool = false;
    type Input = StatusInput;
    type Output = StatusOutput;

    fn run(desk: &Desk<'_>, input: StatusInput) -> Result<StatusOutput, Failure> {
        let path = input.why_not.clone().unwrap_or_default();
        let limit = input.list.unwrap_or(100) as usize;
        let status = desk.host.status(&StatusRequest {
            why_not: input.why_not,
            list_limit: limit,
            verify: input.verify,
        })?;
        let totals = status.totals;
        Ok(StatusOutput {
            contract: 1,
            vault: status.vault,
            root: status.root,
            built: status.built,
            index: IndexStatusJson {
                folder: status.index_folder,
                generation: totals.generation,
                notes: totals.notes,
                passages: totals.passages,
                pending: status.pending_total,
                updated_at: totals.updated_at,
                unfinished: totals.unfinished,
                being_written: status.writer.is_some(),
                catalogue_bytes: status.sizes.catalogue,
                segments_bytes: status.sizes.segments,
                vectors_bytes: status.sizes.vectors,
            },
            watcher: status.watcher.map(WatcherJson::new),
            portable: status
                .portable
                .map(|portable| PortableJson::new(portable, limit)),
            models: status
                .models
                .into_iter()
                .map(|m| ModelJson {
                    model: m.model,
                    fingerprint: m.fingerprint,
                    embedded: m.embedded,
                    outside: m.outside,
                    missing: m.missing,
                    refused: m.refused,
                    cut: m.cut,
                })
                .collect(),
            wanted_model: WantedModelJson {
                model: status.embedding.wanted,
                embedding: status.embedding.process.is_some(),
                process: status.embedding.process.flatten(),
                computed_by: status.embedding.computed_by,
                trouble: status.embedding.trouble,
            },
            reranker: status
                .reranker
                .map(|(model, trouble)| RerankerJson { model, trouble }),
            pending: status.pending.into_iter().map(FileJson::new).collect(),
            left_out: status.left_out.into_iter().map(FileJson::new).collect(),
            left_out_total: status.left_out_total,
            unreadable: status.unreadable.into_iter().map(FileJson::new).collect(),
            other_files: status.other_files,
            warnings: status.warnings.into_iter().map(WarningJson::new).collect(),
            warnings_total: status.warnings_total,
            network_targets: status.network_targets,
            verified: status.verified.map(|outcome| match outcome {
                Ok(()) => "ok".to_string(),
                Err(what) => format!("{what}; `lorewell rebuild` makes it anew"),
            }),
            degraded: Vec::new(),
            file: status.file.map(|state| FileJson::of_state(path, state)),
        })
    }
}

impl WatcherJson {
    fn new(watcher: Watcher) -> WatcherJson {
        let (by, every_seconds, reason) = match watcher.way {
            None => ("starting", None, None),
            Some(WatcherWay::Events) => ("events", None, None),
            Some(WatcherWay::Polling { every, reason }) => {
                let reason = Some(reason).filter(|reason| !reason.is_empty());
                ("poll", Some(every.as_secs()), reason)
            }
        };
        WatcherJson {
            process: watcher.process,
            by: by.to_string(),
            every_seconds,
            reason,
        }
    }
}

impl PortableJson {
    fn new(portable: PortableStatus, limit: usize) -> PortableJson {
        let (segments, skipped) = (portable.inventory.segments, portable.inventory.skipped);
        let is_own =
            |segment: &&CarriedSegment| Some(segment.device.to_string()) == portable.device;
        let own_segments = segments.iter().filter(is_own).count();
        let devices: BTreeSet<_> = segments.iter().map(|segment| segment.device).collect();
        let file = |skipped: &SkippedCarried| FileJson {
            path: skipped.path.clone(),
            folder: false,
            code: skipped.fault.code().to_string(),
            reason: skipped.fault.to_string(),
        };
        PortableJson {
            storage: if portable.carry { "vault" } else { "local" }.to_string(),
            folder: portable.folder.display().to_string(),
            device: portable.device,
            segments: segments.len() as u64,
            own_segments: own_segments as u64,
            devices: devices.len() as u64,
            vectors: segments.iter().map(|s| u64::from(s.rows)).sum(),
            portable_bytes: segments.iter().map(|s| s.bytes).sum(),
            waiting: portable.waiting,
            skipped: skipped.iter().take(limit).map(file).collect(),
            skipped_total: skipped.len() as u64,
            trouble: portable.trouble,
        }
    }
}

impl FileJson {
    fn new(file: LeftOutFile) -> FileJson {
        FileJson {
            path: file.path,
            folder: file.folder,
            code: file.code,
            reason: file.reason,
        }
    }

    fn of_state(path: String, state: FileState) -> FileJson {
        let (code, reason) = match state {
            FileState::LeftOut(file) | FileState::Failed(file) => {
                // The rule may be about a folder above the file that was asked for.
                let file = FileJson::new(file);
                return FileJson {
                    path,
                    folder: false,
                    ..file
                };
            }
            FileState::Indexed { passages } => {
                let s = if passages == 1 { "" } else { "s" };
                ("indexed", format!("is indexed, in {passages} passage{s}"))
            }
            FileState::Pending => (
                "pending",
                "is new or changed and will be taken in next".to_string(),
            ),
            FileState::NotANote => (
                "not_a_note",
                "is not a note: notes end in .md or .markdown".to_string(),
            ),
            FileState::Absent => ("absent", "is not in the vault's folder".to_string()),
        };
        FileJson {
            path,
            folder: false,
            code: code.to_string(),
            reason,
        }
    }
}

impl WarningJson {
    fn new(warning: Warning) -> WarningJson {
        let line = (warning.line > 0).then_some(warning.line);
        WarningJson {
            path: warning.path,
            line,
            message: warning.message,
        }
    }
}
