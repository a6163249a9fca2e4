//! One file to everything that the index keeps of it. Runs in parallel; touches no index file.

use std::ops::Range;

use lorewell_embed::{Cost, Embedded, Embedder, PassageInput};
use lorewell_markdown::{Link, Note, Passage};
use lorewell_vault::{AppFolders, FileEntry, NoteFile, ReadError, Reason, Vault};
use lorewell_vectors::Key;
use serde_json::Value;

use crate::carried::carried;
use crate::compare::{Candidate, UNSTAMPED};
use crate::known::{Found, Sources};
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
    pub(crate) key: Key,
    pub(crate) meaning: Meaning,
}

/// What is known of a passage's vector.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Meaning {
    /// The index has a row of this key.
    Known,
    /// Made now, or found elsewhere.
    Vector(Vec<f32>),
    /// The model knows too little of the text.
    Outside,
    /// There is nothing to embed.
    Empty,
    /// It comes later.
    Waiting,
    /// The model will not take the text; why.
    Refused(String),
}

impl From<Embedded> for Meaning {
    fn from(embedded: Embedded) -> Meaning {
        match embedded {
            Embedded::Vector(vector) => Meaning::Vector(vector),
            Embedded::OutsideVocabulary { .. } => Meaning::Outside,
            Embedded::Empty => Meaning::Empty,
            Embedded::Refused { reason } => Meaning::Refused(reason),
            Embedded::Failed { .. } => Meaning::Waiting,
        }
    }
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
    /// What was embedded before.
    pub(crate) sources: &'a Sources<'a>,
}

/// Whether the rules leave a note with this text out, by its tags or its properties.
pub fn leaves_out(settings: &IndexSettings, text: &str) -> bool {
    let note = lorewell_markdown::parse(text, &settings.passages).note;
    let tags: Vec<&str> = note.tags.iter().map(|tag| tag.name.as_str()).collect();
    let reason = settings.rules.excludes_note(&tags, &note.properties);
    reason.is_some()
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
        let bare = is_bare(&note);
        let embedded_title = embedded_title(&note);
        let mut prepared = PreparedNote {
            content_hash: file.content_hash,
            encoding: file.encoding.label(),
            first_heading: first_heading(&note),
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
        let prose = prose_of(&note.passages, &file.text);
        let inputs = inputs(
            &embedded_title,
            &prepared.aliases,
            &prepared.tags,
            &note.passages,
            &prose,
        );
        let keys: Vec<Key> = inputs.iter().map(embedding_key).collect();
        let meanings = if bare {
            // A name alone means little; it is found as a name.
            vec![Meaning::Empty; inputs.len()]
        } else {
            self.meanings(&inputs, &keys)
        };
        drop(inputs);
        let parts = note.passages.into_iter().zip(keys).zip(meanings);
        prepared.passages = parts
            .map(|((passage, key), meaning)| cut(&file.text, passage, key, meaning))
            .collect();
        Prepared::Note(Box::new(prepared))
    }

    /// What is known of each passage's vector. Only what nobody knows is embedded, and by a model
    /// that is dear not even that: it comes later.
    fn meanings(&self, inputs: &[PassageInput<'_>], keys: &[Key]) -> Vec<Meaning> {
        let mut meanings: Vec<Meaning> = keys
            .iter()
            .map(|key| match self.sources.find(key) {
                Some(Found::Own) => Meaning::Known,
                Some(Found::Vector(vector)) => Meaning::Vector(vector),
                Some(Found::Refused) | None => Meaning::Waiting,
            })
            .collect();
        if self.embedder.cost() == Cost::Cheap {
            embed_waiting(self.embedder, inputs, &mut meanings);
        }
        meanings
    }
}

/// Embeds the passages that wait, in one call.
pub(crate) fn embed_waiting(
    embedder: &dyn Embedder,
    inputs: &[PassageInput<'_>],
    meanings: &mut [Meaning],
) -> Option<String> {
    let waits = |meaning: &Meaning| *meaning == Meaning::Waiting;
    let unknown: Vec<PassageInput<'_>> = inputs
        .iter()
        .zip(meanings.iter())
        .filter(|(_, meaning)| waits(meaning))
        .map(|(input, _)| *input)
        .collect();
    if unknown.is_empty() {
        return None;
    }
    let embedded = embedder.embed_passages(&unknown);
    let trouble = embedded.iter().find_map(|embedded| match embedded {
        Embedded::Failed { reason } => Some(reason.clone()),
        _ => None,
    });
    let places = meanings.iter_mut().filter(|meaning| waits(meaning));
    for (place, embedded) in places.zip(embedded) {
        *place = embedded.into();
    }
    trouble
}

/// Whether a note has nothing but a name.
pub(crate) fn is_bare(note: &Note) -> bool {
    note.passages.iter().all(|p| p.range.is_empty()) && note.properties_range.is_none()
}

/// What is read aloud of each passage.
pub(crate) fn prose_of(passages: &[Passage], text: &str) -> Vec<String> {
    passages.iter().map(|p| p.prose(text)).collect()
}

/// The title that is embedded: what the note says itself, in its `title` property or the level-1
/// heading that it begins with. A file name is no content, so that a note under another name keeps
/// its vectors.
pub(crate) fn embedded_title(note: &Note) -> String {
    let heading = || first_heading(note).unwrap_or_default();
    note.title.clone().unwrap_or_else(heading)
}

/// The level-1 heading that a note begins with.
fn first_heading(note: &Note) -> Option<String> {
    let first = note.headings.first().filter(|heading| heading.level == 1);
    first.map(|heading| heading.text.clone())
}

/// What of each passage is embedded; nothing of it depends on where the note lies.
pub(crate) fn inputs<'a>(
    title: &'a str,
    aliases: &'a [String],
    tags: &'a [String],
    passages: &'a [Passage],
    prose: &'a [String],
) -> Vec<PassageInput<'a>> {
    let parts = passages.iter().zip(prose).enumerate();
    parts
        .map(|(ordinal, (passage, prose))| PassageInput {
            title,
            headings: &passage.heading_path,
            aliases: carried(aliases, ordinal),
            tags: carried(tags, ordinal),
            prose,
        })
        .collect()
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

fn cut(text: &str, passage: Passage, key: Key, meaning: Meaning) -> PreparedPassage {
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
        meaning,
    }
}

/// What a vector is filed under: a hash of everything of the passage that is embedded.
pub(crate) fn embedding_key(input: &PassageInput<'_>) -> Key {
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
