//! The forward index of a segment: which terms each passage has. It is what tells which words of
//! a vault go together, without the text of the passages.
//!
//! An entry is the ordinals of the passage's terms (their places in the dictionary), ascending,
//! each as the varint gap to the one before. Stop words are left out, and what the tokenizer marks
//! as the beginning of a longer word, which repeats what the word says.

use lorewell_text::StopWords;

use crate::dictionary::Terms;
use crate::error::SegmentError;
use crate::format::{GROUP, read_varint, write_varint};
use crate::segment::{Segment, TermEntry};

/// What ends the beginning of a longer word.
const BEGINNING: u8 = b'*';

/// Gathers the forward index while terms are written in order.
pub(crate) struct ForwardBuilder {
    /// The documents of the term at hand.
    open: Vec<u32>,
    /// The ordinal of the term at hand.
    ordinal: u32,
    /// Document and ordinal of every posting, term after term.
    pairs: Vec<(u32, u32)>,
    documents: usize,
    stop_words: StopWords,
}

impl ForwardBuilder {
    pub(crate) fn new(documents: usize) -> ForwardBuilder {
        ForwardBuilder {
            open: Vec::new(),
            ordinal: 0,
            pairs: Vec::new(),
            documents,
            stop_words: StopWords::of(""),
        }
    }

    pub(crate) fn posting(&mut self, doc: u32) {
        self.open.push(doc);
    }

    /// Ends a term that has postings.
    pub(crate) fn end_term(&mut self, term: &[u8]) {
        let word = str::from_utf8(term).unwrap_or_default();
        if term.last() != Some(&BEGINNING) && !self.stop_words.holds(word) {
            let ordinal = self.ordinal;
            self.pairs
                .extend(self.open.iter().map(|doc| (*doc, ordinal)));
        }
        self.open.clear();
        self.ordinal += 1;
    }

    /// Appends the entries and their ends; returns the bytes of the entries.
    pub(crate) fn write(&mut self, out: &mut Vec<u8>) -> u64 {
        let mut starts = vec![0_usize; self.documents + 1];
        for (doc, _) in &self.pairs {
            starts[*doc as usize + 1] += 1;
        }
        for doc in 1..starts.len() {
            starts[doc] += starts[doc - 1];
        }
        // A counting sort by document keeps the ordinals of each ascending.
        let mut next = starts.clone();
        let mut ordinals = vec![0_u32; self.pairs.len()];
        for (doc, ordinal) in self.pairs.drain(..) {
            let place = &mut next[doc as usize];
            ordinals[*place] = ordinal;
            *place += 1;
        }
        let begin = out.len();
        let mut ends = Vec::with_capacity(self.documents * 8);
        for doc in 0..self.documents {
            let mut previous = 0;
            for ordinal in &ordinals[starts[doc]..starts[doc + 1]] {
                write_varint(out, u64::from(ordinal - previous));
                previous = *ordinal;
            }
            ends.extend_from_slice(&((out.len() - begin) as u64).to_le_bytes());
        }
        let bytes = (out.len() - begin) as u64;
        out.extend_from_slice(&ends);
        bytes
    }
}

/// The ordinals of a document's terms, ascending.
pub(crate) fn ordinals(
    segment: &Segment,
    doc: u32,
    mut each: impl FnMut(u32),
) -> Result<(), SegmentError> {
    let bytes = segment.forward(doc)?;
    let (mut at, mut ordinal) = (0, 0_u32);
    while at < bytes.len() {
        ordinal = read_varint(bytes, &mut at)
            .and_then(|gap| ordinal.checked_add(u32::try_from(gap).ok()?))
            .ok_or_else(|| segment.damaged("forward index"))?;
        each(ordinal);
    }
    Ok(())
}

/// The terms of ascending ordinals.
pub(crate) fn terms_at(
    segment: &Segment,
    ordinals: &[u32],
) -> Result<Vec<TermEntry>, SegmentError> {
    let damaged = || segment.damaged("forward index");
    let mut found = Vec::with_capacity(ordinals.len());
    let mut terms = Terms::all(segment);
    // How many terms the cursor has passed.
    let mut passed = 0;
    for ordinal in ordinals {
        let group = *ordinal as usize / GROUP;
        if passed == 0 || group > (passed - 1) / GROUP {
            terms = Terms::at_group(segment, group);
            passed = group * GROUP;
        }
        while passed <= *ordinal as usize {
            if !terms.advance()? {
                return Err(damaged());
            }
            passed += 1;
        }
        found.push(TermEntry {
            term: String::from_utf8(terms.term().to_vec()).map_err(|_| damaged())?,
            passages: terms.count(),
        });
    }
    Ok(found)
}
