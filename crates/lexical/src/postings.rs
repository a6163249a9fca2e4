//! The postings of one term: which passages of a segment it occurs in, how often, and how to find
//! one of them quickly.
//!
//! Passages are numbers within the segment here ("documents"). The encoding is described in the
//! crate documentation. Reading never trusts the bytes: whatever they hold, it ends, within bounds,
//! with postings or with `failed`.

use crate::format::{MAX_PASSAGES, read_u32, read_varint, write_varint};

/// Postings of a block, of which each but the first has a skip entry.
pub(crate) const BLOCK_POSTINGS: usize = 64;
/// Bytes of a skip entry.
const SKIP_ENTRY: usize = 8;
/// The document number that means "no more".
pub(crate) const END: u64 = u64::MAX;

/// How the frequencies of a full block are stored.
const FREQUENCIES_ONE: u8 = 0x00;
const FREQUENCIES_HALF_BYTES: u8 = 0x10;
const FREQUENCIES_BYTES: u8 = 0x20;

/// Collects and encodes the postings of one term after the other.
#[derive(Default)]
pub(crate) struct Encoder {
    skips: Vec<u8>,
    data: Vec<u8>,
    /// The postings of the block that is not full yet: gaps less one, and frequencies.
    gaps: Vec<u32>,
    frequencies: Vec<u8>,
    count: u32,
    base: u32,
}

impl Encoder {
    /// Adds a posting; documents ascend, and `tf` is at least 1.
    pub(crate) fn push(&mut self, doc: u32, tf: u8) {
        if self.gaps.is_empty() && self.count > 0 {
            self.skips.extend_from_slice(&self.base.to_le_bytes());
            self.skips
                .extend_from_slice(&(self.data.len() as u32).to_le_bytes());
        }
        self.gaps.push(doc - self.base);
        self.frequencies.push(tf);
        self.base = doc + 1;
        self.count += 1;
        if self.gaps.len() == BLOCK_POSTINGS {
            self.write_block();
        }
    }

    /// Writes the postings behind `out`, and starts the next term; returns how many they were.
    pub(crate) fn write(&mut self, out: &mut Vec<u8>) -> u32 {
        for (gap, tf) in self.gaps.drain(..).zip(self.frequencies.drain(..)) {
            let code = u64::from(tf.clamp(1, 4) - 1);
            write_varint(&mut self.data, u64::from(gap) << 2 | code);
            if tf >= 4 {
                self.data.push(tf);
            }
        }
        out.extend_from_slice(&self.skips);
        out.extend_from_slice(&self.data);
        self.skips.clear();
        self.data.clear();
        self.base = 0;
        std::mem::take(&mut self.count)
    }

    fn write_block(&mut self) {
        let widest = self.gaps.iter().copied().max().unwrap_or(0);
        let width = match widest {
            0..=0xff => 1,
            0x100..=0xffff => 2,
            _ => 4,
        };
        let frequencies = match self.frequencies.iter().copied().max().unwrap_or(1) {
            0..=1 => FREQUENCIES_ONE,
            2..=16 => FREQUENCIES_HALF_BYTES,
            _ => FREQUENCIES_BYTES,
        };
        self.data.push(width as u8 | frequencies);
        for gap in self.gaps.drain(..) {
            self.data.extend_from_slice(&gap.to_le_bytes()[..width]);
        }
        match frequencies {
            FREQUENCIES_ONE => {}
            FREQUENCIES_HALF_BYTES => {
                let (low, high) = self.frequencies.split_at(BLOCK_POSTINGS / 2);
                self.data.extend(
                    low.iter()
                        .zip(high)
                        .map(|(low, high)| (low - 1) | (high - 1) << 4),
                );
            }
            _ => self.data.extend_from_slice(&self.frequencies),
        }
        self.frequencies.clear();
    }
}

/// The encoded postings of one term in one segment.
#[derive(Clone, Copy)]
pub(crate) struct Postings<'a> {
    skips: &'a [u8],
    data: &'a [u8],
    count: u32,
}

impl<'a> Postings<'a> {
    /// Takes the bytes of a term with `count` postings; `None` if they cannot hold so many.
    pub(crate) fn new(bytes: &'a [u8], count: u32) -> Option<Self> {
        let skips = (count as usize).saturating_sub(1) / BLOCK_POSTINGS * SKIP_ENTRY;
        let (skips, data) = bytes.split_at_checked(skips)?;
        (data.len() >= count as usize).then_some(Self { skips, data, count })
    }

    /// How many postings there are, dead ones included.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// A cursor at the first posting.
    pub(crate) fn cursor(&self) -> Cursor<'a> {
        Cursor::start(self.data, 0, 0, self.count)
    }

    /// The term frequency in a document, 0 if the term does not occur; `None` if the bytes are
    /// malformed.
    pub(crate) fn frequency(&self, doc: u32) -> Option<u8> {
        let (mut at, base, left) = self.seek(doc)?;
        let mut block = Block::EMPTY;
        block.read(self.data, &mut at, base, left)?;
        let place = block.docs[..block.len].binary_search(&doc);
        Some(place.map_or(0, |place| block.frequencies[place]))
    }

    /// Whether the term occurs in a document; `None` if the bytes are malformed.
    pub(crate) fn contains(&self, doc: u32) -> Option<bool> {
        let (mut at, base, left) = self.seek(doc)?;
        let mut block = Block::EMPTY;
        block.read_docs(self.data, &mut at, base, left)?;
        let docs = block.docs[..block.len].iter();
        Some(docs.fold(false, |found, other| found | (*other == doc)))
    }

    /// What is needed to read the only block that may hold a document: its offset, its base, and
    /// the postings left.
    fn seek(&self, doc: u32) -> Option<(usize, u32, u32)> {
        let (mut low, mut high) = (0, self.skips.len() / SKIP_ENTRY);
        while low < high {
            let middle = low + (high - low) / 2;
            if read_u32(self.skips, middle * SKIP_ENTRY)? <= doc {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let (base, at) = match low.checked_sub(1) {
            None => (0, 0),
            Some(entry) => (
                read_u32(self.skips, entry * SKIP_ENTRY)?,
                read_u32(self.skips, entry * SKIP_ENTRY + 4)? as usize,
            ),
        };
        let left = self.count - (low * BLOCK_POSTINGS) as u32;
        Some((at, base, left))
    }
}

/// Decoded postings that follow one another.
struct Block {
    docs: [u32; BLOCK_POSTINGS],
    frequencies: [u8; BLOCK_POSTINGS],
    len: usize,
}

impl Block {
    const EMPTY: Self = Self {
        docs: [0; BLOCK_POSTINGS],
        frequencies: [1; BLOCK_POSTINGS],
        len: 0,
    };

    /// Reads the next block, full or not, when `left` postings are left, and moves `at` behind it.
    /// `base` is the least document that can come. `None` if the bytes end, or if there is a
    /// document that no segment can have.
    fn read(&mut self, data: &[u8], at: &mut usize, base: u32, left: u32) -> Option<()> {
        match self.read_docs(data, at, base, left)? {
            Some(kind) => self.read_frequencies(data, at, kind),
            None => Some(()),
        }
    }

    /// Reads the documents of the next block, and, if it is not full, also their frequencies; of
    /// a full one it returns how the frequencies are kept, which are at `at`.
    fn read_docs(
        &mut self,
        data: &[u8],
        at: &mut usize,
        base: u32,
        left: u32,
    ) -> Option<Option<u8>> {
        self.len = (left as usize).min(BLOCK_POSTINGS);
        if self.len < BLOCK_POSTINGS {
            self.read_rest(data, at, base)?;
            return Some(None);
        }
        let (head, rest) = data.get(*at..)?.split_first()?;
        let gaps = rest.get(..usize::from(head & 0x0f) * BLOCK_POSTINGS)?;
        let end = match head & 0x0f {
            1 => self.add_up(base, gaps.iter().map(|gap| u32::from(*gap))),
            2 => {
                let gaps = gaps.as_chunks::<2>().0.iter();
                self.add_up(base, gaps.map(|gap| u32::from(u16::from_le_bytes(*gap))))
            }
            4 => {
                let gaps = gaps.as_chunks::<4>().0.iter();
                self.add_up(base, gaps.map(|gap| u32::from_le_bytes(*gap)))
            }
            _ => return None,
        };
        *at += 1 + gaps.len();
        (end <= MAX_PASSAGES).then_some(Some(head & 0xf0))
    }

    fn read_frequencies(&mut self, data: &[u8], at: &mut usize, kind: u8) -> Option<()> {
        let rest = data.get(*at..)?;
        *at += match kind {
            FREQUENCIES_ONE => {
                self.frequencies = [1; BLOCK_POSTINGS];
                0
            }
            FREQUENCIES_HALF_BYTES => {
                let halves = rest.first_chunk::<{ BLOCK_POSTINGS / 2 }>()?;
                let (low, high) = self.frequencies.split_at_mut(BLOCK_POSTINGS / 2);
                for ((low, high), byte) in low.iter_mut().zip(high).zip(halves) {
                    *low = (byte & 0x0f) + 1;
                    *high = (byte >> 4) + 1;
                }
                BLOCK_POSTINGS / 2
            }
            FREQUENCIES_BYTES => {
                self.frequencies = rest.first_chunk::<BLOCK_POSTINGS>()?.map(|tf| tf.max(1));
                BLOCK_POSTINGS
            }
            _ => return None,
        };
        Some(())
    }

    /// Sets the documents from the gaps; returns what would be the base of the next block, for the
    /// caller to check.
    #[inline]
    fn add_up(&mut self, base: u32, gaps: impl Iterator<Item = u32>) -> u64 {
        let mut next = u64::from(base);
        for (doc, gap) in self.docs.iter_mut().zip(gaps) {
            next += u64::from(gap);
            *doc = next as u32;
            next += 1;
        }
        next
    }

    fn read_rest(&mut self, data: &[u8], at: &mut usize, base: u32) -> Option<()> {
        let mut next = u64::from(base);
        for (doc, tf) in self
            .docs
            .iter_mut()
            .zip(&mut self.frequencies)
            .take(self.len)
        {
            let value = read_varint(data, at)?;
            next = next
                .checked_add(value >> 2)
                .filter(|doc| *doc < MAX_PASSAGES)?;
            *doc = next as u32;
            next += 1;
            *tf = (value & 3) as u8 + 1;
            if *tf == 4 {
                *tf = (*data.get(*at)?).max(1);
                *at += 1;
            }
        }
        Some(())
    }
}

/// Reads postings in order. It stands on one, or at [`END`].
pub(crate) struct Cursor<'a> {
    data: &'a [u8],
    at: usize,
    /// Postings behind the block.
    left: u32,
    block: Block,
    /// Postings of the block that were read.
    done: usize,
    failed: bool,
}

impl<'a> Cursor<'a> {
    fn start(data: &'a [u8], at: usize, base: u32, count: u32) -> Self {
        let mut cursor = Self {
            data,
            at,
            left: count,
            block: Block::EMPTY,
            done: 0,
            failed: false,
        };
        cursor.next_block(base);
        cursor
    }

    /// The document that it stands on, or [`END`].
    pub(crate) fn doc(&self) -> u64 {
        if self.done < self.block.len {
            u64::from(self.block.docs[self.done])
        } else {
            END
        }
    }

    /// Whether the bytes ended too early, or held what they cannot hold.
    pub(crate) fn failed(&self) -> bool {
        self.failed
    }

    /// Hands out all postings below `end` as slices of documents and of their frequencies, of one
    /// length (at most [`BLOCK_POSTINGS`]), and stops at the first posting that is not below.
    #[inline]
    pub(crate) fn drain(&mut self, end: u64, mut each: impl FnMut(&[u32], &[u8])) {
        while self.done < self.block.len {
            let (docs, frequencies) = (
                &self.block.docs[..self.block.len],
                &self.block.frequencies[..self.block.len],
            );
            let last = docs[docs.len() - 1];
            let stop = if u64::from(last) < end {
                docs.len()
            } else {
                docs.partition_point(|doc| u64::from(*doc) < end)
            };
            if stop > self.done {
                each(&docs[self.done..stop], &frequencies[self.done..stop]);
                self.done = stop;
            }
            if stop < self.block.len {
                return;
            }
            self.next_block(last + 1);
        }
    }

    fn next_block(&mut self, base: u32) {
        self.done = 0;
        if self
            .block
            .read(self.data, &mut self.at, base, self.left)
            .is_some()
        {
            self.left -= self.block.len as u32;
        } else {
            self.failed = true;
            self.block.len = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{END, Encoder, Postings};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn postings_come_back_in_order_and_are_found_one_by_one(
            gaps in prop::collection::vec((prop_oneof![0..3_u32, 0..100_000_u32], 1..=255_u8), 1..400),
            probes in prop::collection::vec(0..2_000_u32, 8),
        ) {
            let mut doc = 0;
            let posting = |(gap, tf): (u32, u8)| {
                doc += gap + 1;
                (doc, tf)
            };
            let expected: Vec<(u32, u8)> = gaps.into_iter().map(posting).collect();
            let mut encoder = Encoder::default();
            for (doc, tf) in &expected {
                encoder.push(*doc, *tf);
            }
            let mut bytes = Vec::new();
            prop_assert_eq!(encoder.write(&mut bytes) as usize, expected.len());
            let postings = Postings::new(&bytes, expected.len() as u32).unwrap();
            let mut read = Vec::new();
            let mut cursor = postings.cursor();
            let mut keep = |docs: &[u32], frequencies: &[u8]| {
                read.extend(docs.iter().copied().zip(frequencies.iter().copied()));
            };
            cursor.drain(u64::from(expected[expected.len() / 2].0), &mut keep);
            let middle = cursor.doc();
            cursor.drain(END, keep);
            prop_assert_eq!(middle, u64::from(expected[expected.len() / 2].0));
            prop_assert_eq!(&read, &expected);
            prop_assert!(!cursor.failed());
            for (doc, tf) in &expected {
                prop_assert_eq!(postings.frequency(*doc), Some(*tf));
            }
            for probe in probes {
                let tf = expected.iter().find(|(doc, _)| *doc == probe).map_or(0, |(_, tf)| *tf);
                prop_assert_eq!(postings.frequency(probe), Some(tf));
                prop_assert_eq!(postings.contains(probe), Some(tf > 0));
            }
        }

        #[test]
        fn arbitrary_bytes_end_within_bounds(
            bytes in prop::collection::vec(any::<u8>(), 0..600),
            count in 0..700_u32,
        ) {
            if let Some(postings) = Postings::new(&bytes, count) {
                let mut seen = 0;
                postings.cursor().drain(END, |docs, _| seen += docs.len());
                prop_assert!(seen <= count as usize);
                for doc in [0, 1, 70, 1 << 29, u32::MAX] {
                    postings.frequency(doc);
                    postings.contains(doc);
                }
            }
        }
    }
}
