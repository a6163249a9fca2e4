//! One file to everything that the index keeps of it. Runs in parallel; touches no index file.

use std::ops::Range;

use lorewell_embed::{Embedded, Embedder, PassageInput};
use lorewell_markdown::Link;
use lorewell_vault::{AppFolders, FileEntry, NoteFile, ReadError, Reason, Vault};
use serde_json::Value;

use crate::carried::carried;
use crate::compare::{Candidate, UNSTAMPED};
use crate::{Date, Evidence, IndexSettings, NoteFacts};

/// What became of a file.
pub(crate) enum Prepared {
    /// It has content that the catalogue does not have.
    Note(Box<PreparedNote>),
    /// Its content is the one that the catalogue has.
    Same { note: u32, entry: FileEntry },
    /// It is not taken in.
    Skipped(Skipped),
    /// It is gone since the listing, or changes while it is read: the next check decides.
    Later,
}

/// A file that is not taken in, and why.
pub(crate) struct Skipped {
    pub(crate) entry: FileEntry,
    pub(crate) code: &'static str,
    pub(crate) reason: String,
    /// It could not be read: what was known of it stays.
    pub(crate) failed: bool,
}

/// A note, ready for the catalogue, the segments and the vectors.
pub(crate) struct PreparedNote {
    pub(crate) entry: FileEntry,
    pub(crate) content_hash: [u8; 32],
    pub(crate) encoding: &'static str,
    pub(crate) title: String,
    pub(crate) first_heading: Option<String>,
    pub(crate) aliases: Vec<String>,
    pub(crate) tags: Vec<String>,
    pub(crate) properties: Vec<(String, Value)>,
    pub(crate) date: Date,
    pub(crate) evidence: Evidence,
    pub(crate) links: Vec<Link>,
    pub(crate) warnings: Vec<(u32, String)>,
    pub(crate) passages: Vec<PreparedPassage>,
}

/// One passage of it.
pub(crate) struct PreparedPassage {
    pub(crate) byte_range: Range<usize>,
    pub(crate) lines: (u32, u32),
    pub(crate) heading_path: Vec<String>,
    /// In bytes of `text`.
    pub(crate) hidden: Vec<Range<usize>>,
    pub(crate) text: String,
    /// The header row of the table that the passage goes on with, if any.
    pub(crate) table_header: String,
    /// The searchable words, where they differ from `text`.
    pub(crate) words: Option<String>,
    pub(crate) key: lorewell_vectors::Key,
    pub(crate) embedded: Embedded,
}

impl PreparedPassage {
    pub(crate) fn words(&self) -> &str {
        self.words.as_deref().unwrap_or(&self.text)
    }
}

/// What preparing needs to know.
pub(crate) struct Preparation<'a> {
    pub(crate) vault: &'a Vault,
    pub(crate) settings: &'a IndexSettings,
    /// With the filters of the vault's own settings.
    pub(crate) rules: &'a lorewell_vault::Rules,
    pub(crate) app_folders: &'a AppFolders,
    pub(crate) embedder: &'a dyn Embedder,
}

impl Preparation<'_> {
    /// Reads and prepares one file.
    pub(crate) fn prepare(&self, candidate: &Candidate) -> Prepared {
        let entry = candidate.entry.clone();
        let file = match self.vault.read(&entry.path) {
            Ok(file) => file,
            Err(error) => return unread(entry, &error),
        };
        let entry = restamped(entry, &file);
        if let Some(known) = &candidate.known
            && known.content_hash == file.content_hash
            && !known.outdated
        {
            return Prepared::Same {
                note: known.note,
                entry,
            };
        }
        self.note(entry, file)
    }

    fn note(&self, entry: FileEntry, file: NoteFile) -> Prepared {
        let parsed = lorewell_markdown::parse(&file.text, &self.settings.passages);
        let note = parsed.note;
        let tags: Vec<String> = note.tags.iter().map(|tag| tag.name.clone()).collect();
        let tag_names: Vec<&str> = tags.iter().map(String::as_str).collect();
        if let Some(reason) = self.rules.excludes_note(&tag_names, &note.properties) {
            return Prepared::Skipped(Skipped::by_rule(entry, &reason));
        }
        let facts = NoteFacts {
            path: entry.path.as_str(),
            properties: &note.properties,
            tags: &note.tags,
            text: &file.text,
        };
        let evidence = self.settings.evidence.classify(&facts, self.app_folders);
        let title = note
            .title
            .clone()
            .unwrap_or_else(|| entry.path.name().to_string());
        let warnings = file.warnings.iter().map(|message| (0, message.clone()));
        let warnings = warnings
            .chain(
                parsed
                    .issues
                    .into_iter()
                    .map(|issue| (issue.line, issue.message)),
            )
            .collect();
        let mut prepared = PreparedNote {
            content_hash: file.content_hash,
            encoding: file.encoding.label(),
            first_heading: note
                .headings
                .first()
                .filter(|h| h.level == 1)
                .map(|h| h.text.clone()),
            date: Date::of(&note.properties, entry.path.as_str(), entry.modified_ns),
            evidence,
            entry,
            title,
            aliases: note.aliases,
            tags,
            properties: note.properties,
            links: note.links,
            warnings,
            passages: Vec::with_capacity(note.passages.len()),
        };
        let has_text = note.passages.iter().any(|p| !p.range.is_empty());
        let is_bare = !has_text && note.properties_range.is_none();
        let prose: Vec<String> = note.passages.iter().map(|p| p.prose(&file.text)).collect();
        let inputs: Vec<PassageInput<'_>> = note
            .passages
            .iter()
            .zip(&prose)
            .enumerate()
            .map(|(ordinal, (passage, prose))| PassageInput {
                title: &prepared.title,
                headings: &passage.heading_path,
                aliases: carried(&prepared.aliases, ordinal),
                tags: carried(&prepared.tags, ordinal),
                prose,
            })
            .collect();
        let keys: Vec<_> = inputs.iter().map(embedding_key).collect();
        let embedded = if is_bare {
            // A name alone means little; it is found as a name.
            vec![Embedded::Empty; inputs.len()]
        } else {
            self.embedder.embed_passages(&inputs)
        };
        drop(inputs);
        let parts = note.passages.into_iter().zip(keys).zip(embedded);
        prepared.passages = parts
            .map(|((passage, key), embedded)| cut(&file.text, passage, key, embedded))
            .collect();
        Prepared::Note(Box::new(prepared))
    }
}

impl Skipped {
    fn by_rule(entry: FileEntry, reason: &Reason) -> Skipped {
        Skipped {
            entry,
            code: reason.code(),
            reason: reason.to_string(),
            failed: false,
        }
    }
}

/// A file that gave no text.
fn unread(entry: FileEntry, error: &ReadError) -> Prepared {
    if let Some(reason) = error.reason() {
        return Prepared::Skipped(Skipped::by_rule(entry, &reason));
    }
    let changed_ns = match error {
        ReadError::NotFound { .. }
        | ReadError::VaultMissing { .. }
        | ReadError::Changing { .. } => return Prepared::Later,
        // A permission that is given makes a new stamp; other trouble may pass without one.
        ReadError::NoPermission { .. } => entry.changed_ns,
        _ => UNSTAMPED,
    };
    Prepared::Skipped(Skipped {
        entry: FileEntry {
            changed_ns,
            ..entry
        },
        code: error.code(),
        reason: error.to_string(),
        failed: true,
    })
}

/// The stamp of the bytes that were read. A file that changed within a clock tick of being read
/// could change again without a new stamp; such a stamp is not kept, so that the next check reads
/// the file once more. A time in the future says nothing of that.
fn restamped(entry: FileEntry, file: &NoteFile) -> FileEntry {
    const CLOCK_TICK_NS: i64 = 20_000_000;
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |age| i64::try_from(age.as_nanos()).unwrap_or(i64::MAX));
    let fresh = |time: i64| now.saturating_sub(time).saturating_abs() < CLOCK_TICK_NS;
    let racing = fresh(file.modified_ns) || fresh(file.changed_ns);
    FileEntry {
        size: file.size,
        modified_ns: file.modified_ns,
        changed_ns: if racing { UNSTAMPED } else { file.changed_ns },
        inode: file.inode,
        ..entry
    }
}

fn cut(
    text: &str,
    passage: lorewell_markdown::Passage,
    key: lorewell_vectors::Key,
    embedded: Embedded,
) -> PreparedPassage {
    let slice = text.get(passage.range.clone()).unwrap_or_default();
    let words = match passage.words(text) {
        std::borrow::Cow::Borrowed(_) => None,
        std::borrow::Cow::Owned(words) => Some(words),
    };
    let start = passage.range.start;
    PreparedPassage {
        lines: (*passage.lines.start(), *passage.lines.end()),
        hidden: passage
            .hidden
            .iter()
            .map(|h| h.start - start..h.end - start)
            .collect(),
        heading_path: passage.heading_path,
        byte_range: passage.range,
        text: slice.to_string(),
        table_header: passage
            .context
            .first()
            .and_then(|row| text.get(row.clone()))
            .unwrap_or_default()
            .to_string(),
        words,
        key,
        embedded,
    }
}

/// What a vector is filed under: a hash of everything of the passage that is embedded.
fn embedding_key(input: &PassageInput<'_>) -> lorewell_vectors::Key {
    let mut hasher = blake3::Hasher::new();
    let mut part = |text: &str| {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    };
    part(input.title);
    part(input.prose);
    for list in [input.headings, input.aliases, input.tags] {
        part("");
        list.iter().for_each(|text| part(text));
    }
    let mut key = [0; 16];
    key.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    key
}
