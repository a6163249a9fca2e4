//! What links where: the links of one note both ways, and what is loose in a whole vault.

use std::collections::HashMap;
use std::ops::Range;

use lorewell_graph::{Resolution, heading_matches};
use lorewell_index::{LinkTarget, StoredLink, StoredNote};
use lorewell_markdown::{Block, Heading};
use lorewell_text::{LineIndex, name_key};

use crate::{EngineError, View, sentence};

/// So many places are named of a target that links of several notes share.
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
    /// The first [`PLACES_SHOWN`] of them.
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

/// Endings of files that links embed or open and that are no notes (those that Obsidian accepts,
/// and usual documents). `v1.8` is no such ending, so an ending must be known.
const OTHER_FILES: &[&str] = &[
    "3gp",
    "avif",
    "base",
    "bmp",
    "canvas",
    "css",
    "csv",
    "doc",
    "docx",
    "epub",
    "excalidraw",
    "flac",
    "gif",
    "html",
    "jpeg",
    "jpg",
    "js",
    "json",
    "m4a",
    "mkv",
    "mov",
    "mp3",
    "mp4",
    "odt",
    "ogg",
    "ogv",
    "opus",
    "pdf",
    "png",
    "ppt",
    "pptx",
    "py",
    "svg",
    "txt",
    "wav",
    "webm",
    "webp",
    "xls",
    "xlsx",
    "yaml",
    "yml",
    "zip",
];

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
        let mut desk = Desk::new(self);
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
        let mut desk = Desk::new(self);
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

/// What is read while one answer is made, each once.
struct Desk<'v> {
    view: &'v View<'v>,
    notes: HashMap<u32, NoteRef>,
    parts: HashMap<u32, Option<(Vec<Heading>, Vec<Block>)>>,
    files: HashMap<u32, Option<String>>,
}

/// Where a link stands, and the text around it.
struct Spot {
    text: String,
    /// Where `text` begins in the file, and on which line.
    start: u64,
    line: u32,
    heading_path: Vec<String>,
}

impl<'v> Desk<'v> {
    fn new(view: &'v View<'v>) -> Desk<'v> {
        Desk {
            view,
            notes: HashMap::new(),
            parts: HashMap::new(),
            files: HashMap::new(),
        }
    }

    fn outgoing(
        &mut self,
        note: &StoredNote,
        target: LinkTarget,
    ) -> Result<OutgoingLink, EngineError> {
        let LinkTarget { link, resolution } = target;
        let spot = self.spot(&link)?;
        let named = !link.headings.is_empty() || link.block.is_some();
        let within = match &resolution {
            Resolution::Note { id, .. } if named => Some(*id),
            Resolution::SameNote if named => Some(note.id),
            _ => None,
        };
        let part_exists = match within {
            Some(id) => self.part_exists(id, &link)?,
            None => None,
        };
        Ok(OutgoingLink {
            meaning: self.meaning(&link, &resolution)?,
            written: spot.as_ref().and_then(|spot| spot.slice(&link)),
            line: spot.map(|spot| spot.line_of(link.byte_range.start)),
            part_exists,
            link,
        })
    }

    fn backlink(&mut self, target: LinkTarget) -> Result<Backlink, EngineError> {
        let LinkTarget { link, resolution } = target;
        let from = self.note(link.note)?;
        let others = self.others(&resolution)?;
        let Some(spot) = self.spot(&link)? else {
            let shown = link.label.clone().unwrap_or_else(|| link.target.clone());
            return Ok(Backlink {
                from,
                others,
                heading_path: Vec::new(),
                sentence: shown,
                byte_range: link.byte_range.clone(),
                line_range: None,
                link,
            });
        };
        let place = spot.within(&link.byte_range);
        let found = match link.property {
            true => sentence::line(&spot.text, place.start),
            false => sentence::around(&spot.text, place),
        };
        let (first, last) = (
            spot.start + found.start as u64,
            spot.start + found.end as u64,
        );
        let sentence = match link.property {
            true => property_words(&spot.text, found),
            false => sentence::plain(&spot.text[found]),
        };
        Ok(Backlink {
            from,
            others,
            sentence,
            line_range: Some((
                spot.line_of(first),
                spot.line_of(last.saturating_sub(1).max(first)),
            )),
            byte_range: first..last,
            heading_path: spot.heading_path,
            link,
        })
    }

    /// Targets of the links that `wanted` picks, each once.
    fn shared(
        &mut self,
        links: &[LinkTarget],
        wanted: fn(&LinkTarget) -> bool,
        piece: Piece,
    ) -> Result<Listed<SharedTarget>, EngineError> {
        let mut at: HashMap<(String, Option<u32>), usize> = HashMap::new();
        let mut groups: Vec<Vec<&LinkTarget>> = Vec::new();
        for target in links.iter().filter(|target| wanted(target)) {
            let note = match target.resolution {
                Resolution::Note { id, .. } => Some(id),
                _ => None,
            };
            let key = (name_key(&target.link.target), note);
            let group = *at.entry(key).or_insert(groups.len());
            match groups.get_mut(group) {
                Some(group) => group.push(target),
                None => groups.push(vec![target]),
            }
        }
        // Stable: those of as many links stay in order.
        groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
        listed(groups, piece, |group| {
            let mut notes = Vec::new();
            let first = group.first().map(|target| (*target).clone());
            if let Some(Resolution::Note { id, .. }) = first.as_ref().map(|t| &t.resolution) {
                notes.push(self.note(*id)?.path);
            }
            if let Some(first) = &first {
                notes.extend(self.others(&first.resolution)?);
            }
            let shown = group.iter().take(PLACES_SHOWN);
            let from = shown.map(|target| self.place(&target.link));
            Ok(SharedTarget {
                from: from.collect::<Result<_, _>>()?,
                target: first.map(|first| first.link.target).unwrap_or_default(),
                notes,
                links: group.len(),
            })
        })
    }

    fn place(&mut self, link: &StoredLink) -> Result<LinkPlace, EngineError> {
        let spot = self.spot(link)?;
        Ok(LinkPlace {
            note: self.note(link.note)?,
            byte_range: link.byte_range.clone(),
            line: spot.map(|spot| spot.line_of(link.byte_range.start)),
        })
    }

    fn meaning(
        &mut self,
        link: &StoredLink,
        resolution: &Resolution,
    ) -> Result<LinkMeaning, EngineError> {
        Ok(match resolution {
            Resolution::Note { id, .. } => LinkMeaning::Note {
                note: self.note(*id)?,
                others: self.others(resolution)?,
            },
            Resolution::SameNote => LinkMeaning::SameNote,
            Resolution::Missing if is_other_file(&link.target) => LinkMeaning::File,
            Resolution::Missing => LinkMeaning::Missing,
        })
    }

    fn others(&mut self, resolution: &Resolution) -> Result<Vec<String>, EngineError> {
        match resolution {
            Resolution::Note { others, .. } => {
                others.iter().map(|id| Ok(self.note(*id)?.path)).collect()
            }
            _ => Ok(Vec::new()),
        }
    }

    fn note(&mut self, id: u32) -> Result<NoteRef, EngineError> {
        if let Some(known) = self.notes.get(&id) {
            return Ok(known.clone());
        }
        let note = self.view.snapshot.note(id)?;
        let note = note.map_or_else(
            || NoteRef {
                path: String::new(),
                title: String::new(),
            },
            |note| NoteRef {
                path: note.path.as_str().to_string(),
                title: note.title,
            },
        );
        self.notes.insert(id, note.clone());
        Ok(note)
    }

    /// The text around a link: its passage, else its file.
    fn spot(&mut self, link: &StoredLink) -> Result<Option<Spot>, EngineError> {
        let start = link.byte_range.start;
        if !link.property
            && let Some(passage) = self.view.snapshot.passage_at(link.note, start)?
            && link.byte_range.end <= passage.byte_range.end
        {
            return Ok(Some(Spot {
                text: passage.text,
                start: passage.byte_range.start,
                line: passage.line_range.0,
                heading_path: passage.heading_path,
            }));
        }
        Ok(self.file(link.note)?.map(|text| Spot {
            text,
            start: 0,
            line: 1,
            heading_path: Vec::new(),
        }))
    }

    /// The text of a note's file, if it is the one that was indexed.
    fn file(&mut self, id: u32) -> Result<Option<String>, EngineError> {
        if let Some(known) = self.files.get(&id) {
            return Ok(known.clone());
        }
        let note = self.view.snapshot.note(id)?;
        let text = note.and_then(|note| {
            let file = self.view.host.vault.read(&note.path).ok()?;
            (file.content_hash == note.content_hash).then_some(file.text)
        });
        self.files.insert(id, text.clone());
        Ok(text)
    }

    /// Whether a note has the heading or block that a link names; nothing if it cannot be read.
    fn part_exists(&mut self, id: u32, link: &StoredLink) -> Result<Option<bool>, EngineError> {
        if !self.parts.contains_key(&id) {
            let note = self.view.snapshot.note(id)?;
            let file = note.and_then(|note| self.view.host.vault.read(&note.path).ok());
            let parts = file.map(|file| {
                let settings = lorewell_markdown::Settings::default();
                let note = lorewell_markdown::parse(&file.text, &settings).note;
                (note.headings, note.blocks)
            });
            self.parts.insert(id, parts);
        }
        let parts = self.parts.get(&id).and_then(Option::as_ref);
        Ok(parts.map(|(headings, blocks)| match &link.block {
            Some(wanted) => blocks.iter().any(|b| b.id.eq_ignore_ascii_case(wanted)),
            None => headings
                .iter()
                .any(|heading| heading_matches(&link.headings, &heading.path)),
        }))
    }
}

impl Spot {
    /// Bytes of the file as bytes of the text.
    fn within(&self, range: &Range<u64>) -> Range<usize> {
        let at = |byte: u64| usize::try_from(byte.saturating_sub(self.start)).unwrap_or(usize::MAX);
        at(range.start)..at(range.end)
    }

    fn slice(&self, link: &StoredLink) -> Option<String> {
        let slice = self.text.get(self.within(&link.byte_range))?;
        Some(slice.to_string())
    }

    fn line_of(&self, byte: u64) -> u32 {
        let at = self.within(&(byte..byte)).start.min(self.text.len());
        self.line + LineIndex::new(&self.text).line(at) - 1
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

/// Whether a target that is no note names a file of another kind.
fn is_other_file(target: &str) -> bool {
    let name = target.rsplit(['/', '\\']).next().unwrap_or(target);
    name.rsplit_once('.').is_some_and(|(name, extension)| {
        let extension = extension.to_ascii_lowercase();
        !name.is_empty() && OTHER_FILES.contains(&extension.as_str())
    })
}

/// The line of a property in plain words: `up: "[[Kiln|the kiln]]"` as `up: the kiln`, with the
/// property's name also where the value is an item of a list.
fn property_words(text: &str, line: Range<usize>) -> String {
    let written = text[line.clone()].trim();
    let value = written.trim_start_matches(['-', ' ']);
    let is_item = value.len() < written.len();
    let name = text[..line.start]
        .lines()
        .rev()
        .find(|line| line.starts_with(|c: char| !c.is_whitespace() && c != '-' && c != '#'))
        .and_then(|line| line.split_once(':'))
        .map(|(name, _)| name.trim())
        .filter(|_| is_item);
    let value = value.replace(['"', '\''], "");
    let words = sentence::plain(value.trim());
    name.map_or(words.clone(), |name| format!("{name}: {words}"))
}

/// A piece of a list, each of its items made into what is shown.
fn listed<T, S>(
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
