//! Lexical search: immutable, memory-mapped BM25F segments over passages.
//!
//! A *segment* is one file that holds the words of a set of passages, and never their text. It is
//! built in memory by [`SegmentBuilder`], written by the caller, opened (mapped, not read) by
//! [`Segment::open`], and joined with others by [`merge`]. A passage that was changed or deleted
//! stays in its segment and is marked in a [`Bitmap`] beside it. [`search`] asks any number of
//! segments at once.
//!
//! This crate is not an index: which segments exist, where they lie, and when they are merged is
//! `lorewell-index`'s.
//!
//! # Ranking
//!
//! BM25F with the field weights folded into one term frequency and one length (Robertson, Zaragoza
//! and Taylor, "Simple BM25 extension to multiple weighted fields", CIKM 2004): a word in the title
//! counts three times, and makes the passage three words longer. Fields with an inverse document
//! frequency of their own would make `how` a rare word in titles.
//!
//! ```text
//! score(d) = Σ weight(t) · idf(t) · (k1 + 1) · tf / (tf + k1 · (1 − b + b · length(d) / average length))
//! idf(t)   = ln(1 + (N − df + ½) / (df + ½))
//! ```
//!
//! `N`, `df` and the average length count *live* passages only, and count them exactly, so that an
//! answer never depends on how passages are spread over segments, on merges, or on what was deleted
//! before. Equal scores are ordered by the caller's stable `tie`, then by passage id.
//!
//! # The file
//!
//! Everything is little endian. The sections follow one another without gaps:
//!
//! | section | what |
//! | --- | --- |
//! | header | 128 bytes: magic `LWLEXSEG`, format version, counts, lengths of the sections, checksum (`format.rs`) |
//! | lengths | one byte a passage: its length in weighted words, as a 5-bit-mantissa float |
//! | passages | `u32` a passage, strictly ascending: the caller's passage ids |
//! | ties | `u64` a passage |
//! | postings | for each term, in term order: skip table (if more than 64 postings), then postings |
//! | dictionary | terms in byte order, in groups of 16: front-coded text, document frequency, length of its postings |
//! | groups | for each group: `u64` offset into the dictionary, `u64` offset into the postings |
//! | forward | for each passage: the numbers of its terms, ascending, as varint gaps (`forward.rs`) |
//! | forward ends | `u64` a passage: where its forward entry ends |
//! | frequencies | `u32` a term: in how many passages it occurs, dead ones included |
//! | hashes | `u64` a term: the first 8 bytes of its BLAKE3, which tell it in every segment |
//! | checksums | `u64` for each 64 KiB of the file behind the header: the first 8 bytes of its BLAKE3 |
//!
//! Postings are written in blocks of 64. Of each posting the gap is kept (the number of passages
//! between it and the last one) and the term frequency. A full block is a byte, the gaps and the
//! frequencies: the lower half of the byte is the bytes of a gap (1, 2 or 4), the upper half says
//! how the frequencies are kept: 0, not at all, since all are 1; 1, less one in half a byte, the 32
//! first in the lower halves and the others in the upper; 2, in a byte. What is left behind the
//! full blocks are variable-length integers `gap · 4 + code`, where the code is `tf − 1` for a
//! frequency below 4, and 3 for larger ones, of which the frequency follows as a byte. A skip entry
//! (for each block but the first) is the `u32` number of the first passage that may be in the
//! block, and the `u32` offset of the block behind the skip table.
//!
//! The header and the table of checksums are checked when a segment is opened. Every other block is
//! checked once, when it is first used, or all at once by [`Segment::verify`]. A damaged file is an
//! error, never a panic.

mod bitmap;
mod builder;
mod bytes;
mod dictionary;
mod error;
mod explain;
mod format;
mod forward;
mod image;
mod length;
mod merge;
mod postings;
mod score;
mod search;
mod segment;
mod together;
mod top;
mod vocabulary;

pub use bitmap::Bitmap;
pub use builder::{Field, SegmentBuilder};
pub use error::SegmentError;
pub use explain::{Explainer, TermScore, explain, explain_with};
pub use merge::merge;
pub use score::{Params, Statistics, document_frequency, statistics};
pub use search::{Hit, QueryTerm, search, search_with};
pub use segment::{Live, Segment, TermEntry};
pub use together::{Neighbour, Sample, Wanted, neighbours};
