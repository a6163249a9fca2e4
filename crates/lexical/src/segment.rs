//! An open segment: its bytes, checked before they are used.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::bitmap::Bitmap;
use crate::bytes::Bytes;
use crate::dictionary::{Terms, find};
use crate::error::SegmentError;
use crate::format::{
    BLOCK, GROUP_ENTRY, HEADER, HEADER_SUMMED, Header, Layout, MAGIC, VERSION, checksum,
    header_checksum, read_u32, read_u64,
};

/// An immutable segment, open for reading; share it between threads.
pub struct Segment {
    path: PathBuf,
    bytes: Bytes,
    header: Header,
    layout: Layout,
    /// One bit a block: its checksum was right.
    checked: Box<[AtomicU64]>,
}

/// A segment with its dead passages.
#[derive(Clone, Copy)]
pub struct Live<'a> {
    /// The segment.
    pub segment: &'a Segment,
    /// The document numbers (see [`Segment::doc_of`]) of its dead passages.
    pub dead: Option<&'a Bitmap>,
}

/// A term of a dictionary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TermEntry {
    /// The term, as the tokenizer made it.
    pub term: String,
    /// In how many passages of the segment it occurs, dead ones included.
    pub passages: u32,
}

impl Segment {
    /// Maps a segment file and checks its header. The rest is neither read nor checked before it is
    /// used.
    ///
    /// # Errors
    /// If the file cannot be mapped, is no segment, is of another version, or has a wrong length or
    /// header.
    pub fn open(path: &Path) -> Result<Self, SegmentError> {
        let bytes = Bytes::map(path).map_err(|source| SegmentError::Io {
            path: path.to_owned(),
            source,
        })?;
        Self::new(path.to_owned(), bytes)
    }

    /// A segment in memory, from what [`SegmentBuilder::finish`](crate::SegmentBuilder::finish) or
    /// [`merge`](crate::merge) returned. Errors name it `(memory)`.
    ///
    /// # Errors
    /// See [`Segment::open`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, SegmentError> {
        Self::new(PathBuf::from("(memory)"), Bytes::Owned(bytes))
    }

    fn new(path: PathBuf, bytes: Bytes) -> Result<Self, SegmentError> {
        let found = bytes.len() as u64;
        if !bytes.starts_with(&MAGIC[..bytes.len().min(MAGIC.len())]) {
            return Err(SegmentError::NotASegment { path });
        }
        let Some(summed) = bytes
            .first_chunk::<HEADER>()
            .and_then(|header| header.first_chunk::<HEADER_SUMMED>())
        else {
            return Err(SegmentError::Length {
                path,
                expected: HEADER as u64,
                found,
            });
        };
        match read_u32(summed, 8) {
            Some(VERSION) => {}
            version => {
                let found = version.unwrap_or(0);
                return Err(SegmentError::Version {
                    path,
                    found,
                    supported: VERSION,
                });
            }
        }
        let header = Header::decode(summed);
        let Some(layout) = header.layout() else {
            return Err(SegmentError::Damaged {
                path,
                what: "header".to_owned(),
            });
        };
        if layout.checksums.end != bytes.len() {
            return Err(SegmentError::Length {
                path,
                expected: layout.checksums.end as u64,
                found,
            });
        }
        if bytes[HEADER_SUMMED..HEADER] != header_checksum(summed, &bytes[layout.checksums.clone()])
        {
            return Err(SegmentError::Damaged {
                path,
                what: "header or table of checksums".to_owned(),
            });
        }
        let blocks = layout.checksums.len() / 8;
        let checked = (0..blocks.div_ceil(64))
            .map(|_| AtomicU64::new(0))
            .collect();
        Ok(Self {
            path,
            bytes,
            header,
            layout,
            checked,
        })
    }

    /// The number of passages, dead ones included. Their document numbers are `0..len()`.
    pub fn len(&self) -> u32 {
        self.header.passages as u32
    }

    /// Whether there are no passages.
    pub fn is_empty(&self) -> bool {
        self.header.passages == 0
    }

    /// The number of terms.
    pub fn terms(&self) -> u64 {
        self.header.terms
    }

    /// The size of the file in bytes.
    pub fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// The passage id of a document number.
    ///
    /// # Errors
    /// If the block is damaged, or the number is not below [`Segment::len`].
    pub fn passage(&self, doc: u32) -> Result<u32, SegmentError> {
        let start = self.layout.passages.start + doc as usize * 4;
        let bytes = self.part(start..start + 4, &self.layout.passages, "passage ids")?;
        read_u32(bytes, 0).ok_or_else(|| self.damaged("passage ids"))
    }

    /// The document number of a passage, if the segment has it.
    ///
    /// # Errors
    /// If a block that must be read is damaged.
    pub fn doc_of(&self, passage: u32) -> Result<Option<u32>, SegmentError> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            let found = self.passage(middle)?;
            if found == passage {
                return Ok(Some(middle));
            }
            if found < passage {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(None)
    }

    /// Whether any passage, dead or not, has the term.
    ///
    /// # Errors
    /// If a block that must be read is damaged.
    pub fn contains_term(&self, term: &str) -> Result<bool, SegmentError> {
        Ok(find(self, term.as_bytes())?.is_some())
    }

    /// The first `limit` terms that begin with `prefix`, in byte order.
    ///
    /// # Errors
    /// If a block that must be read is damaged.
    pub fn terms_with_prefix(
        &self,
        prefix: &str,
        limit: usize,
    ) -> Result<Vec<TermEntry>, SegmentError> {
        let mut found = Vec::new();
        let mut terms = Terms::near(self, prefix.as_bytes())?;
        while found.len() < limit && terms.advance()? {
            if terms.term().starts_with(prefix.as_bytes()) {
                let term = String::from_utf8(terms.term().to_vec())
                    .map_err(|_| self.damaged("dictionary"))?;
                found.push(TermEntry {
                    term,
                    passages: terms.count(),
                });
            } else if terms.term() > prefix.as_bytes() {
                break;
            }
        }
        Ok(found)
    }

    /// Checks every block now.
    ///
    /// # Errors
    /// For the first block of which the checksum is wrong.
    pub fn verify(&self) -> Result<(), SegmentError> {
        (0..self.layout.checksums.len() / 8).try_for_each(|block| self.compare(block))
    }

    /// The encoded lengths of documents.
    pub(crate) fn lengths(&self, docs: Range<usize>) -> Result<&[u8], SegmentError> {
        let start = self.layout.lengths.start;
        self.part(
            start + docs.start..start + docs.end,
            &self.layout.lengths,
            "passage lengths",
        )
    }

    /// The ids of passages, as they lie in the file.
    pub(crate) fn passages(&self, docs: Range<usize>) -> Result<&[[u8; 4]], SegmentError> {
        let start = self.layout.passages.start;
        let range = start + docs.start * 4..start + docs.end * 4;
        Ok(self
            .part(range, &self.layout.passages, "passage ids")?
            .as_chunks()
            .0)
    }

    /// The sum of all decoded lengths.
    pub(crate) fn total_length(&self) -> u64 {
        self.header.total_length
    }

    /// The tie breaker of a document.
    pub(crate) fn tie(&self, doc: u32) -> Result<u64, SegmentError> {
        let start = self.layout.ties.start + doc as usize * 8;
        let bytes = self.part(start..start + 8, &self.layout.ties, "ties")?;
        read_u64(bytes, 0).ok_or_else(|| self.damaged("ties"))
    }

    /// The number of dictionary groups.
    pub(crate) fn groups(&self) -> usize {
        self.layout.groups.len() / GROUP_ENTRY
    }

    /// The entry of a dictionary group and, if there is one, the next.
    pub(crate) fn group_entries(&self, index: usize) -> Result<&[u8], SegmentError> {
        let start = self.layout.groups.start + index * GROUP_ENTRY;
        let end = (start + 2 * GROUP_ENTRY).min(self.layout.groups.end);
        self.part(start..end, &self.layout.groups, "dictionary groups")
    }

    /// Bytes of the dictionary, up to its end if no other is given.
    pub(crate) fn dictionary(
        &self,
        start: usize,
        end: Option<usize>,
    ) -> Result<&[u8], SegmentError> {
        self.within(
            start..end.unwrap_or(self.layout.dictionary.len()),
            &self.layout.dictionary,
            "dictionary",
        )
    }

    /// The forward entry of a document, as it lies in the file.
    pub(crate) fn forward(&self, doc: u32) -> Result<&[u8], SegmentError> {
        let end = |doc: usize| {
            let start = self.layout.forward_ends.start + doc * 8;
            let bytes = self.part(start..start + 8, &self.layout.forward_ends, "forward index")?;
            read_u64(bytes, 0)
                .and_then(|end| usize::try_from(end).ok())
                .ok_or_else(|| self.damaged("forward index"))
        };
        let doc = doc as usize;
        let start = doc.checked_sub(1).map_or(Ok(0), end)?;
        self.within(start..end(doc)?, &self.layout.forward, "forward index")
    }

    /// In how many passages the term of an ordinal occurs, dead ones included.
    pub(crate) fn frequency(&self, ordinal: u32) -> Result<u32, SegmentError> {
        let start = self.layout.frequencies.start + ordinal as usize * 4;
        let bytes = self.part(start..start + 4, &self.layout.frequencies, "frequencies")?;
        read_u32(bytes, 0).ok_or_else(|| self.damaged("frequencies"))
    }

    /// The hash of the term of an ordinal.
    pub(crate) fn hash(&self, ordinal: u32) -> Result<u64, SegmentError> {
        let start = self.layout.hashes.start + ordinal as usize * 8;
        let bytes = self.part(start..start + 8, &self.layout.hashes, "hashes")?;
        read_u64(bytes, 0).ok_or_else(|| self.damaged("hashes"))
    }

    /// Bytes of the postings.
    pub(crate) fn postings(&self, range: Range<usize>) -> Result<&[u8], SegmentError> {
        self.within(range, &self.layout.postings, "postings")
    }

    /// The error for a part that contradicts itself.
    pub(crate) fn damaged(&self, what: &str) -> SegmentError {
        SegmentError::Damaged {
            path: self.path.clone(),
            what: what.to_owned(),
        }
    }

    /// Bytes of a section, by their offsets in it.
    fn within(
        &self,
        range: Range<usize>,
        section: &Range<usize>,
        what: &str,
    ) -> Result<&[u8], SegmentError> {
        let place = |offset: usize| {
            section
                .start
                .checked_add(offset)
                .filter(|end| *end <= section.end)
        };
        match (place(range.start), place(range.end)) {
            (Some(start), Some(end)) => self.part(start..end, section, what),
            _ => Err(self.damaged(what)),
        }
    }

    /// Bytes of the file that must lie in a section, after their blocks were checked.
    #[inline]
    fn part(
        &self,
        range: Range<usize>,
        section: &Range<usize>,
        what: &str,
    ) -> Result<&[u8], SegmentError> {
        if range.start > range.end || range.start < section.start || range.end > section.end {
            return Err(self.damaged(what));
        }
        if !range.is_empty() {
            for block in (range.start - HEADER) / BLOCK..=(range.end - 1 - HEADER) / BLOCK {
                let (word, bit) = (block / 64, 1_u64 << (block % 64));
                if self.checked[word].load(Ordering::Relaxed) & bit == 0 {
                    self.compare(block)?;
                    self.checked[word].fetch_or(bit, Ordering::Relaxed);
                }
            }
        }
        Ok(&self.bytes[range])
    }

    /// Compares the checksum of a block.
    #[cold]
    fn compare(&self, block: usize) -> Result<(), SegmentError> {
        let start = HEADER + block * BLOCK;
        let end = (start + BLOCK).min(self.layout.hashes.end);
        let expected = read_u64(&self.bytes, self.layout.checksums.start + block * 8);
        let actual = self.bytes.get(start..end).map(checksum);
        if actual.is_none() || actual != expected {
            return Err(self.damaged(&format!("bytes {start} to {end}")));
        }
        Ok(())
    }
}

/// The segment and document of a live passage.
pub(crate) fn place(
    segments: &[Live<'_>],
    passage: u32,
) -> Result<Option<(usize, u32)>, SegmentError> {
    for (at, live) in segments.iter().enumerate() {
        let alive = |doc: &u32| live.dead.is_none_or(|dead| !dead.contains(*doc));
        if let Some(doc) = live.segment.doc_of(passage)?.filter(alive) {
            return Ok(Some((at, doc)));
        }
    }
    Ok(None)
}
