//! `knowledge.read`: a note, or a part of it.

use lorewell_engine::{NoteText, ReadRequest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer_json::{foreign_encoding, hex, uri};
use crate::cursor::Cursor;
use crate::{Access, Capability, Desk, Failure};

/// The ability.
pub struct Read;

/// So many characters are shown unless more are asked for.
const MAX_CHARS: u32 = 20_000;

/// What is to be read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadInput {
    /// The note: its path, name, title or alias, or a place as written: `[[Note#Heading]]`,
    /// `Note.md:12-40`, `Note.md › Heading`, an address that opens it in Obsidian.
    pub note: String,
    /// Only the section under this heading; several name nested headings, outermost first.
    #[serde(default)]
    pub heading: Vec<String>,
    /// Only the block with this id (`^id`).
    #[serde(default)]
    pub block: Option<String>,
    /// Only these lines, `first-last`, from 1.
    #[serde(default)]
    pub lines: Option<String>,
    /// At most so many characters (20000).
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub max_chars: Option<u32>,
    /// Go on behind an earlier answer: its `next`.
    #[serde(default)]
    pub cursor: Option<String>,
}

/// The text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReadOutput {
    /// The version of this contract.
    pub contract: u32,
    /// The vault.
    pub vault: String,
    /// The note's path in the vault.
    pub note: String,
    /// The note's title.
    pub title: String,
    /// Half-open range of bytes in the file (of a file that is not clean UTF-8, its decoding).
    pub byte_range: [u64; 2],
    /// First and last line, from 1.
    pub line_range: [u32; 2],
    /// The text.
    pub text: String,
    /// BLAKE3 of the whole note's bytes as they are now, hex.
    pub content_hash: String,
    /// Opens the note in Obsidian.
    pub uri: String,
    /// How the file was decoded, where it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    /// What differs from what was asked for, in words.
    pub degraded: Vec<String>,
    /// Whether there is more of the part.
    pub truncated: bool,
    /// Pass it as `cursor` to go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

impl Capability for Read {
    const ID: &'static str = "knowledge.read";
    const SUMMARY: &'static str = "Read a note, or a part of it";
    const DESCRIPTION: &'static str = "Reads a note of the vault from its file: the whole, the section under a \
        heading, a block, or lines. Only notes that are in the index can be read.";
    const ACCESS: Access = Access::Read;
    const POSITIONAL: Option<&'static str> = Some("note");
    const FRESH: bool = true;
    type Input = ReadInput;
    type Output = ReadOutput;

    fn run(desk: &Desk<'_>, input: ReadInput) -> Result<ReadOutput, Failure> {
        let cursor = input.cursor.as_deref().map(Cursor::read_any).transpose()?;
        let view = desk.view()?;
        let read = view.read(&ReadRequest {
            lines: input.lines.as_deref().map(lines).transpose()?,
            note: input.note,
            heading: input.heading,
            block: input.block.map(|id| id.trim_start_matches('^').to_string()),
            offset: cursor.map_or(0, |cursor| cursor.offset),
            max_chars: input.max_chars.unwrap_or(MAX_CHARS) as usize,
        })?;
        let source = hash_head(&read.content_hash);
        if cursor.is_some_and(|cursor| cursor.source != source) {
            return Err(Failure::wrong_use(
                format!(
                    "“{}” changed since the first part of it was read",
                    read.note.path
                ),
                "Read it again from the beginning.",
            ));
        }
        let degraded = degraded(&read);
        Ok(ReadOutput {
            contract: 1,
            vault: view.vault().to_string(),
            uri: uri(view.vault(), read.note.path.as_str()),
            encoding: foreign_encoding(read.encoding),
            note: read.note.path.as_str().to_string(),
            title: read.note.title,
            byte_range: [read.byte_range.start, read.byte_range.end],
            line_range: [read.line_range.0, read.line_range.1],
            text: read.text,
            content_hash: hex(&read.content_hash),
            degraded,
            truncated: read.next.is_some(),
            next: read.next.map(|offset| Cursor { source, offset }.write()),
        })
    }
}

/// What differs from what was asked for, in words.
fn degraded(read: &NoteText) -> Vec<String> {
    let mut said = Vec::new();
    if read.changed_since_indexed {
        said.push("index: the note changed since it was indexed; this is its text now".to_string());
    }
    if !read.others.is_empty() {
        said.push(format!(
            "read: other notes answer to this name too: {}",
            read.others.join(", ")
        ));
    }
    said
}

/// The first 8 bytes of a content hash as a number.
fn hash_head(hash: &[u8; 32]) -> u64 {
    hash[..8]
        .iter()
        .fold(0, |head, byte| head << 8 | u64::from(*byte))
}

pub(crate) fn lines(text: &str) -> Result<(u32, u32), Failure> {
    let wrong = || {
        Failure::wrong_use(
            format!("“{text}” names no lines"),
            "Write 12-40, or 12 for one line.",
        )
    };
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number = |part: &str| part.trim().parse::<u32>().ok().filter(|n| *n > 0);
    let (first, last) = (
        number(first).ok_or_else(wrong)?,
        number(last).ok_or_else(wrong)?,
    );
    if first > last {
        Err(wrong())
    } else {
        Ok((first, last))
    }
}
