//! What a reader gets out of the catalogue: plain data.

use std::borrow::Cow;
use std::ops::Range;

use lorewell_text::NotePath;

use crate::{Date, Evidence};

/// A note as the catalogue knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredNote {
    /// The catalogue's number of the note. Never shown outside the engine.
    pub id: u32,
    /// Its path in the vault.
    pub path: NotePath,
    /// The `title` property, else the file name.
    pub title: String,
    /// Other names.
    pub aliases: Vec<String>,
    /// Tags without `#`.
    pub tags: Vec<String>,
    /// Its date.
    pub date: Date,
    /// What kind of evidence it is.
    pub evidence: Evidence,
    /// BLAKE3 of the bytes on disk that were read.
    pub content_hash: [u8; 32],
    /// How the bytes were decoded: `utf-8` and so on.
    pub encoding: String,
    /// How many passages it has.
    pub passages: u32,
}

/// A passage as the catalogue knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredPassage {
    /// The catalogue's number of the passage. Never shown outside the engine.
    pub id: u32,
    /// The note's number.
    pub note: u32,
    /// Its place among the passages of the note, from 0.
    pub ordinal: u32,
    /// Half-open range of bytes in the file (of a file that is not clean UTF-8, in its decoding).
    pub byte_range: Range<u64>,
    /// First and last line, counted from 1.
    pub line_range: (u32, u32),
    /// The headings above it, outermost first.
    pub heading_path: Vec<String>,
    /// Pieces of `text` that carry no words, in bytes of `text`.
    pub hidden: Vec<Range<usize>>,
    /// The slice of the file.
    pub text: String,
    /// The line that names the columns, where the passage goes on with a table that was cut;
    /// else empty.
    pub table_header: String,
}

impl StoredPassage {
    /// The text without its hidden pieces: a blank stands for each.
    pub fn said(&self) -> Cow<'_, str> {
        if self.hidden.is_empty() {
            return Cow::Borrowed(&self.text);
        }
        let mut said = String::with_capacity(self.text.len());
        let mut from = 0;
        for piece in &self.hidden {
            said.push_str(self.text.get(from..piece.start).unwrap_or_default());
            said.push(' ');
            from = piece.end.max(from);
        }
        said.push_str(self.text.get(from..).unwrap_or_default());
        Cow::Owned(said)
    }
}

/// Counts of one generation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// The number of the generation; every commit that changes an answer counts it up.
    pub generation: u64,
    /// When it was committed: RFC 3339, UTC, whole seconds. Empty before the first.
    pub updated_at: String,
    /// Notes in it.
    pub notes: u64,
    /// Passages in it.
    pub passages: u64,
    /// Whether the build that made it was cut short, so that more is known to be missing.
    pub unfinished: bool,
}

/// The vectors of one model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelState {
    /// The model's short name.
    pub model: String,
    /// What decides its vectors.
    pub fingerprint: String,
    /// Passages that have a vector.
    pub embedded: u64,
    /// Passages that the model knows too little of.
    pub outside: u64,
    /// Passages whose vector is still to come. (Where the model came after the notes, those
    /// without words count until they were looked at.)
    pub missing: u64,
    /// Passages that the model will not take.
    pub refused: u64,
    /// Texts that were longer than the model takes when they were embedded, so that their end is
    /// not in their vector. Those that are gone by now are counted too.
    pub cut: u64,
}

impl ModelState {
    /// Whether nothing is left to embed. Until then another model may answer in its place.
    pub fn is_complete(&self) -> bool {
        self.missing == 0
    }
}

/// A file with the name of a note that was read and not taken in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedFile {
    /// Its path in the vault.
    pub path: String,
    /// A stable word for the reason.
    pub code: String,
    /// The reason for people.
    pub reason: String,
    /// Whether this is a failure (unreadable) rather than a rule.
    pub failed: bool,
}

/// Something in a note that could not be read as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The note's path.
    pub path: String,
    /// The line, counted from 1; 0 where it is about the whole file.
    pub line: u32,
    /// What is wrong and what was made of it.
    pub message: String,
}
