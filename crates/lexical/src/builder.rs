//! Builds a segment in memory from the text of passages.

use lorewell_text::Tokenizer;

use crate::image::{Document, Image};
use crate::length;
use crate::vocabulary::Vocabulary;

/// Longest field text of which the terms are remembered for the next passage.
const MEMO_BYTES: usize = 512;

/// One text of a passage. The weight multiplies the term frequency and the length of what it holds.
#[derive(Clone, Copy, Debug)]
pub struct Field<'a> {
    /// Title 3, path 2, body 1, say; a field of weight 0 is not indexed.
    pub weight: u8,
    /// The text, as it stands in the note.
    pub text: &'a str,
}

/// A bounded piece of an index, in memory. It keeps about 5 bytes a posting, and the distinct
/// terms.
///
/// One builder works in one thread. Several can work side by side on parts of a vault: their
/// segments answer like one, and [`SegmentBuilder::append`] makes them one before they are written.
#[derive(Default)]
pub struct SegmentBuilder {
    tokenizer: Tokenizer,
    terms: Vocabulary,
    /// For each term the last passage (by order of addition, from 1) that it occurred in, and its
    /// posting there.
    seen: Vec<Seen>,
    /// The postings, passage after passage.
    posting_terms: Vec<u32>,
    posting_frequencies: Vec<u8>,
    added: Vec<Added>,
    memo: Vec<Memo>,
}

#[derive(Clone, Copy, Default)]
struct Seen {
    added: u32,
    posting: u32,
}

struct Added {
    passage: u32,
    tie: u64,
    length: u32,
    /// Where its postings end; they start where the passage before ends.
    end: usize,
}

/// The term ids of the last text of a field: the passages of a note share title, path and often the
/// headings.
#[derive(Default)]
struct Memo {
    text: String,
    ids: Vec<u32>,
}

impl SegmentBuilder {
    /// An empty builder.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a passage. `passage` is the caller's id of it; ids may come in any order, and adding
    /// one again replaces the earlier text. `tie` decides between equal scores, smaller first: a
    /// hash that stays the same when the index is rebuilt.
    pub fn add(&mut self, passage: u32, tie: u64, fields: &[Field<'_>]) {
        let stamp = self.added.len() as u32 + 1;
        let start = self.posting_terms.len();
        let mut length = 0_u32;
        for (place, field) in fields
            .iter()
            .enumerate()
            .filter(|(_, field)| field.weight > 0)
        {
            length = length.saturating_add(self.add_field(place, *field, stamp, start));
        }
        self.added.push(Added {
            passage,
            tie,
            length,
            end: self.posting_terms.len(),
        });
    }

    /// How many passages were added.
    pub fn passages(&self) -> usize {
        self.added.len()
    }

    /// How many postings (pairs of a term and a passage) there are: what bounds the memory.
    pub fn postings(&self) -> usize {
        self.posting_terms.len()
    }

    /// Adds everything that another builder holds, as if it had been added here after what is here.
    pub fn append(&mut self, other: Self) {
        let ids = self.terms.absorb(other.terms);
        self.seen.resize(self.terms.len(), Seen::default());
        let offset = self.posting_terms.len();
        self.posting_terms
            .extend(other.posting_terms.iter().map(|id| ids[*id as usize]));
        self.posting_frequencies
            .extend_from_slice(&other.posting_frequencies);
        self.added
            .extend(other.added.into_iter().map(|added| Added {
                end: added.end + offset,
                ..added
            }));
    }

    /// The image of the segment file.
    pub fn finish(self) -> Vec<u8> {
        let order = self.order();
        let documents: Vec<Document> = order
            .iter()
            .map(|at| &self.added[*at])
            .map(|added| Document {
                passage: added.passage,
                tie: added.tie,
                length: length::encode(added.length),
            })
            .collect();
        let mut image = Image::new(&documents);
        let (starts, postings) = self.by_term(&order);
        self.terms.each_sorted(|term, id| {
            let id = id as usize;
            for (doc, tf) in &postings[starts[id]..starts[id + 1]] {
                image.posting(*doc, *tf);
            }
            image.end_term(term);
        });
        image.finish()
    }

    /// Counts one field of a passage; returns its length in weighted words.
    fn add_field(&mut self, place: usize, field: Field<'_>, stamp: u32, start: usize) -> u32 {
        if place >= self.memo.len() {
            self.memo.resize_with(place + 1, Memo::default);
        }
        let mut memo = std::mem::take(&mut self.memo[place]);
        if field.text.len() > MEMO_BYTES || field.text != memo.text {
            memo.text.clear();
            if field.text.len() <= MEMO_BYTES {
                memo.text.push_str(field.text);
            }
            memo.ids.clear();
            let (terms, ids) = (&mut self.terms, &mut memo.ids);
            self.tokenizer.tokens(field.text, &mut |token| {
                ids.push(terms.id(token.term.as_bytes()))
            });
            self.seen.resize(self.terms.len(), Seen::default());
        }
        for id in &memo.ids {
            self.count(*id, field.weight, stamp, start);
        }
        let words = u32::try_from(memo.ids.len()).unwrap_or(u32::MAX);
        if field.text.len() > MEMO_BYTES {
            memo.ids.clear();
        }
        self.memo[place] = memo;
        words.saturating_mul(u32::from(field.weight))
    }

    /// Adds `weight` to the frequency of a term in the passage of which the postings begin at
    /// `start`.
    fn count(&mut self, id: u32, weight: u8, stamp: u32, start: usize) {
        let seen = &mut self.seen[id as usize];
        if seen.added == stamp {
            let frequency = &mut self.posting_frequencies[start + seen.posting as usize];
            *frequency = frequency.saturating_add(weight);
        } else {
            *seen = Seen {
                added: stamp,
                posting: (self.posting_terms.len() - start) as u32,
            };
            self.posting_terms.push(id);
            self.posting_frequencies.push(weight);
        }
    }

    /// The additions in the order of their passage ids; of several with one id, the last.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.added.len()).collect();
        if !self.added.is_sorted_by(|a, b| a.passage < b.passage) {
            order.sort_by_key(|at| (self.added[*at].passage, std::cmp::Reverse(*at)));
            order.dedup_by_key(|at| self.added[*at].passage);
        }
        order
    }

    /// The postings as (document, frequency), term after term, and where each term's begin: a
    /// counting sort.
    fn by_term(&self, order: &[usize]) -> (Vec<usize>, Vec<(u32, u8)>) {
        let mut starts = vec![0; self.seen.len() + 1];
        for at in order {
            for id in &self.posting_terms[self.postings_of(*at)] {
                starts[*id as usize + 1] += 1;
            }
        }
        for id in 1..starts.len() {
            starts[id] += starts[id - 1];
        }
        let mut next = starts.clone();
        let mut postings = vec![(0, 0); starts.last().copied().unwrap_or(0)];
        for (doc, at) in order.iter().enumerate() {
            for posting in self.postings_of(*at) {
                let next = &mut next[self.posting_terms[posting] as usize];
                postings[*next] = (doc as u32, self.posting_frequencies[posting]);
                *next += 1;
            }
        }
        (starts, postings)
    }

    fn postings_of(&self, at: usize) -> std::ops::Range<usize> {
        at.checked_sub(1).map_or(0, |before| self.added[before].end)..self.added[at].end
    }
}
