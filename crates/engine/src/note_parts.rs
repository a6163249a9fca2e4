//! A note as the index holds it: its passages and its links. For those who look at many notes
//! and need no file.

use std::ops::Range;

use lorewell_graph::Resolution;
use lorewell_index::{IndexError, StoredNote, StoredPassage};

use crate::{EngineError, View};

/// A note with all that the index knows of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteParts {
    /// The note.
    pub note: StoredNote,
    /// Its passages, in order.
    pub passages: Vec<StoredPassage>,
    /// Its links to notes of the vault, in order, those of the properties first.
    pub links: Vec<NoteLink>,
}

/// A link from one note to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteLink {
    /// The whole link, in bytes of the linking note.
    pub byte_range: Range<u64>,
    /// Whether it shows the target in place.
    pub embed: bool,
    /// The target as written.
    pub target: String,
    /// What is shown instead of the target.
    pub label: Option<String>,
    /// The path of the note that it means.
    pub to: String,
    /// Whether other notes answer to the target equally well.
    pub ambiguous: bool,
}

impl View<'_> {
    /// The paths of all notes, sorted.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn note_paths(&self) -> Result<Vec<String>, EngineError> {
        let mut ids: Vec<u32> = self.snapshot.names()?.iter().map(|n| n.note).collect();
        ids.dedup();
        let paths = ids.into_iter().map(|id| self.snapshot.path_of(id));
        let mut paths = paths.collect::<Result<Vec<String>, IndexError>>()?;
        paths.sort_unstable();
        Ok(paths)
    }

    /// The note at a path, with its passages and links; nothing if the index has none there.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn note_parts(&self, path: &str) -> Result<Option<NoteParts>, EngineError> {
        let Some(note) = self.snapshot.note_at(path)? else {
            return Ok(None);
        };
        let mut passages = Vec::with_capacity(note.passages as usize);
        for id in self.snapshot.passages_of(note.id)? {
            passages.extend(self.snapshot.passage(id)?);
        }
        let mut links = Vec::new();
        for found in self.snapshot.links_from(&note)? {
            let Resolution::Note { id, ambiguous, .. } = found.resolution else {
                continue;
            };
            links.push(NoteLink {
                byte_range: found.link.byte_range,
                embed: found.link.embed,
                target: found.link.target,
                label: found.link.label,
                to: self.snapshot.path_of(id)?,
                ambiguous,
            });
        }
        Ok(Some(NoteParts {
            note,
            passages,
            links,
        }))
    }
}
