//! Notes as they are on disk, read once a request, and places in them.

use std::cell::{Cell, OnceCell, RefCell};
use std::ops::Range;
use std::rc::Rc;

use lorewell_index::StoredNote;
use lorewell_markdown::Heading;
use lorewell_quotes::{Original, Quote};
use lorewell_retrieval::{Lane, Request};
use lorewell_text::LineIndex;
use lorewell_vault::ReadError;

use crate::{EngineError, View};

/// So many notes are kept at hand, of so many bytes together (but always the last).
const KEPT: usize = 24;
const KEPT_BYTES: usize = 32 << 20;
/// So many passages that hold a quotation as it stands are asked for.
const HOLDING: usize = 6;
/// So many notes with words of a quotation are read to find it.
const CANDIDATES: usize = 10;

/// A place in a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundPlace {
    /// The note's path.
    pub note: String,
    /// Bytes of the file (of one that is not clean UTF-8, of its decoding), half-open.
    pub byte_range: Range<u64>,
    /// First and last line, counted from 1.
    pub line_range: (u32, u32),
    /// The headings above, outermost first.
    pub heading_path: Vec<String>,
    /// The pieces between ellipses, each with its bytes; empty where there are none.
    pub pieces: Vec<Range<u64>>,
    /// The words as they stand there.
    pub text: String,
    /// BLAKE3 of the file's bytes as they are now.
    pub content_hash: [u8; 32],
    /// How the bytes were decoded.
    pub encoding: &'static str,
}

/// A note that was read.
pub(super) struct OnDisk {
    pub(super) note: StoredNote,
    pub(super) original: Original<'static>,
    pub(super) content_hash: [u8; 32],
    encoding: &'static str,
    lines: OnceCell<LineIndex>,
    headings: OnceCell<Vec<Heading>>,
}

impl OnDisk {
    pub(super) fn place(&self, range: &Range<usize>, pieces: &[Range<usize>]) -> FoundPlace {
        let text = self.original.text();
        let lines = self.lines.get_or_init(|| LineIndex::new(text));
        let bytes = |range: &Range<usize>| range.start as u64..range.end as u64;
        let last = range.end.saturating_sub(1).max(range.start);
        FoundPlace {
            note: self.note.path.as_str().to_string(),
            byte_range: bytes(range),
            line_range: (lines.line(range.start), lines.line(last)),
            heading_path: self.heading_path(range.start),
            pieces: pieces.iter().map(bytes).collect(),
            text: text.get(range.clone()).unwrap_or_default().to_string(),
            content_hash: self.content_hash,
            encoding: self.encoding,
        }
    }

    fn heading_path(&self, at: usize) -> Vec<String> {
        let headings = self.headings.get_or_init(|| {
            let settings = lorewell_markdown::Settings::default();
            lorewell_markdown::parse(self.original.text(), &settings)
                .note
                .headings
        });
        let next = headings.partition_point(|heading| heading.range.start <= at);
        let above = next.checked_sub(1).and_then(|above| headings.get(above));
        above
            .map(|heading| heading.path.clone())
            .unwrap_or_default()
    }
}

/// What became of reading a note: the note, or why it could not be read.
type Read = Result<Rc<OnDisk>, String>;

/// The notes of one request.
pub(super) struct Shelf<'v> {
    pub(super) view: &'v View<'v>,
    read: RefCell<Vec<(u32, Read)>>,
    unreadable: RefCell<Vec<(String, String)>>,
    missed_cited: Cell<bool>,
}

impl<'v> Shelf<'v> {
    pub(super) fn new(view: &'v View<'v>) -> Shelf<'v> {
        Shelf {
            view,
            read: RefCell::default(),
            unreadable: RefCell::default(),
            missed_cited: Cell::default(),
        }
    }

    /// A note as it is on disk; of one that cannot be read, why.
    pub(super) fn on_disk(&self, note: StoredNote) -> Result<Read, EngineError> {
        let mut kept = self.read.borrow_mut();
        if let Some((_, known)) = kept.iter().find(|(id, _)| *id == note.id) {
            return Ok(known.clone());
        }
        let (id, path) = (note.id, note.path.as_str().to_string());
        let read = match self.view.host.vault.read(&note.path) {
            Ok(file) => Ok(Rc::new(OnDisk {
                note,
                original: Original::new(file.text),
                content_hash: file.content_hash,
                encoding: file.encoding.label(),
                lines: OnceCell::new(),
                headings: OnceCell::new(),
            })),
            Err(ReadError::NotFound { .. }) => Err("no longer in the vault".to_string()),
            Err(error) => {
                self.unreadable.borrow_mut().push((path, error.to_string()));
                Err(format!("not looked at: {error}"))
            }
        };
        let bytes = |kept: &[(u32, Read)]| -> usize {
            let read = kept.iter().filter_map(|(_, read)| read.as_ref().ok());
            read.map(|note| note.original.text().len()).sum()
        };
        while kept.len() >= KEPT || bytes(&kept) > KEPT_BYTES {
            drop(kept.remove(0));
        }
        kept.push((id, read.clone()));
        Ok(read)
    }

    /// The notes in which a quotation may stand, by the index: those with a passage that holds it,
    /// then those with most of its words.
    pub(super) fn candidates(&self, quote: &Quote) -> Result<Vec<Rc<OnDisk>>, EngineError> {
        let mut request = Request::new(quote.longest_piece());
        request.settings = self.view.host.settings.search.clone();
        request.settings.max_per_note = 1;
        request.lanes = vec![Lane::Text];
        let mut notes: Vec<Rc<OnDisk>> = Vec::new();
        for (exact, limit) in [(true, HOLDING), (false, CANDIDATES)] {
            request.exact = exact;
            request.limit = limit;
            for passage in self.view.search(&request)?.passages {
                if notes.iter().any(|known| known.note.id == passage.note.id) {
                    continue;
                }
                notes.extend(self.on_disk(passage.note)?.ok());
            }
        }
        Ok(notes)
    }

    /// Notes a cited note that was not read; one that is gone is none to be read.
    pub(super) fn missed_cited(&self, path: &str) {
        let unreadable = self.unreadable.borrow();
        if unreadable.iter().any(|(known, _)| known == path) {
            self.missed_cited.set(true);
        }
    }

    /// Whether a cited note is there and could not be read.
    pub(super) fn has_missed_cited(&self) -> bool {
        self.missed_cited.get()
    }

    /// Notes that are there and could not be read.
    pub(super) fn unreadable(self) -> Vec<(String, String)> {
        let mut unreadable = self.unreadable.into_inner();
        unreadable.sort();
        unreadable.dedup();
        unreadable
    }
}
