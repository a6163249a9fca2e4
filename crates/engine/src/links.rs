//! What links where: the links of one note both ways, and what is loose in a whole vault.

use std::ops::Range;

use lorewell_graph::Resolution;
use lorewell_index::{LinkTarget, StoredLink, StoredNote};

use crate::link_desk::{LinkDesk, is_other_file};
use crate::{EngineError, View};

/// So many notes are named that share a target.
pub const PLACES_SHOWN: usize = 5;

/// A piece of each list of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// How many items are passed over.
    pub offset: usize,
    /// At most so many items.
    pub limit: usize,
}

/// A piece of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed<T> {
    /// The items of the piece.
    pub items: Vec<T>,
    /// How many items the whole list has.
    pub total: usize,
}

/// A note by its path and title.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteRef {
    /// Its path in the vault.
    pub path: String,
    /// The `title` property, else the file name.
    pub title: String,
}

/// What a link leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkMeaning {
    /// A note.
    Note {
        /// The note that is meant.
        note: NoteRef,
        /// Paths of other notes that answer to the target equally well.
        others: Vec<String>,
    },
    /// The linking note itself.
    SameNote,
    /// A file that is no note, such as a picture. Whether it is there is not known.
    File,
    /// No note of this vault.
    Missing,
}

/// A link of the note that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutgoingLink {
    /// The link.
    pub link: StoredLink,
    /// What it leads to.
    pub meaning: LinkMeaning,
    /// The link as it is written; absent if the note changed since it was indexed.
    pub written: Option<String>,
    /// Its line, from 1; absent likewise.
    pub line: Option<u32>,
    /// Whether the heading or block that it names is in the target; absent where it names none,
    /// or the target cannot be read.
    pub part_exists: Option<bool>,
}

/// A link of another note to the one that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backlink {
    /// The linking note.
    pub from: NoteRef,
    /// The link.
    pub link: StoredLink,
    /// Paths of other notes that it could mean as well.
    pub others: Vec<String>,
    /// The headings above it.
    pub heading_path: Vec<String>,
    /// The sentence, list item or row around it, as plain words.
    pub sentence: String,
    /// Where the sentence stands, in bytes of the linking note.
    pub byte_range: Range<u64>,
    /// Its first and last line, from 1; absent if the linking note changed since it was indexed.
    pub line_range: Option<(u32, u32)>,
}

/// A target that several links may share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedTarget {
    /// The note part as it is written.
    pub target: String,
    /// The notes that it could mean, the one that is taken first; none for one that leads nowhere.
    pub notes: Vec<String>,
    /// How many links have it.
    pub links: usize,
    /// In how many notes they stand.
    pub linking: usize,
    /// The first link of each of these notes, of at most [`PLACES_SHOWN`].
    pub from: Vec<LinkPlace>,
}

/// Where a link stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkPlace {
    /// The linking note.
    pub note: NoteRef,
    /// The link, in bytes of the note.
    pub byte_range: Range<u64>,
    /// Its line, from 1; absent if the note changed since it was indexed.
    pub line: Option<u32>,
}

/// The links of one note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteLinks {
    /// The note.
    pub note: StoredNote,
    /// Paths of other notes that answer to the name that was asked for.
    pub others: Vec<String>,
    /// Its links, in order; those of the properties first.
    pub outgoing: Listed<OutgoingLink>,
    /// Links of other notes that mean it, by path and place.
    pub backlinks: Listed<Backlink>,
    /// Targets of its links that lead nowhere.
    pub unresolved: Listed<SharedTarget>,
    /// Targets of its links that could mean several notes.
    pub ambiguous: Listed<SharedTarget>,
}

/// What is loose in a vault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkOverview {
    /// Targets that lead nowhere, those of the most links first.
    pub unresolved: Listed<SharedTarget>,
    /// Targets that could mean several notes, those of the most links first.
    pub ambiguous: Listed<SharedTarget>,
    /// Notes that no other note links to and that link to no other note, by path.
    pub orphans: Listed<NoteRef>,
    /// How many links the vault has.
    pub links: usize,
}

impl View<'_> {
    /// The links of the note that `name` means (as for [`View::read`]), both ways; of each list a
    /// piece.
    ///
    /// # Errors
    /// No such note, or the index cannot be read. A note that cannot be read is no error: what
    /// only its file tells is absent.
    pub fn links_of(&self, name: &str, piece: Piece) -> Result<NoteLinks, EngineError> {
        let (note, others) = self.note_named(name)?;
        let outgoing = self.snapshot.links_from(&note)?;
        let backlinks = self.snapshot.links_to(&note)?;
        let mut desk = LinkDesk::new(self);
        let unresolved = desk.shared(&outgoing, is_missing, piece)?;
        let ambiguous = desk.shared(&outgoing, is_ambiguous, piece)?;
        Ok(NoteLinks {
            outgoing: listed(outgoing, piece, |target| desk.outgoing(&note, target))?,
            backlinks: listed(backlinks, piece, |target| desk.backlink(target))?,
            unresolved,
            ambiguous,
            note,
            others,
        })
    }

    /// What is loose in the whole vault: targets without a note, targets with several, notes
    /// without links. Of each list a piece.
    ///
    /// # Errors
    /// Only if the index cannot be read.
    pub fn link_overview(&self, piece: Piece) -> Result<LinkOverview, EngineError> {
        let links = self.snapshot.all_links()?;
        let mut linked: Vec<u32> = Vec::new();
        for target in &links {
            if let Resolution::Note { id, .. } = target.resolution
                && id != target.link.note
            {
                linked.extend([id, target.link.note]);
            }
        }
        linked.sort_unstable();
        let mut orphans = self.snapshot.labels()?;
        orphans.retain(|label| linked.binary_search(&label.id).is_err());
        let mut desk = LinkDesk::new(self);
        Ok(LinkOverview {
            unresolved: desk.shared(&links, is_missing, piece)?,
            ambiguous: desk.shared(&links, is_ambiguous, piece)?,
            orphans: listed(orphans, piece, |label| {
                Ok(NoteRef {
                    path: label.path,
                    title: label.title,
                })
            })?,
            links: links.len(),
        })
    }
}

fn is_missing(target: &LinkTarget) -> bool {
    target.resolution == Resolution::Missing && !is_other_file(&target.link.target)
}

fn is_ambiguous(target: &LinkTarget) -> bool {
    matches!(
        target.resolution,
        Resolution::Note {
            ambiguous: true,
            ..
        }
    )
}

/// A piece of a list, each of its items made into what is shown.
pub(crate) fn listed<T, S>(
    list: Vec<T>,
    piece: Piece,
    show: impl FnMut(T) -> Result<S, EngineError>,
) -> Result<Listed<S>, EngineError> {
    let total = list.len();
    let items = list.into_iter().skip(piece.offset).take(piece.limit);
    Ok(Listed {
        items: items.map(show).collect::<Result<_, _>>()?,
        total,
    })
}
