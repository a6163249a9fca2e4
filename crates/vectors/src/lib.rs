//! Vectors on disk: append-only int8 rows and scans over them, exact or in two stages.
//!
//! A folder holds `rows.bin` and `keys.bin`, and `codes.bin` once there are many rows (layout in the
//! `format` module). One
//! [`VectorWriter`] appends; any number of [`VectorReader`]s map the files. How many rows are valid
//! is not written in the files: whoever publishes a generation keeps that number and hands it to
//! `open`. Rows behind it are left-overs of a crash or of a write in progress, and nobody looks at
//! them. This crate does not know what a row stands for, nor which rows are alive: a caller narrows
//! a scan with a [`RowSet`].

mod appender;
mod codes;
mod error;
mod format;
mod hamming;
mod kernel;
mod known;
mod map;
mod quantize;
mod reader;
mod row_set;
mod top_k;
mod two_stage;
mod writer;

pub use codes::forget_codes;
pub use error::VectorError;
pub use format::MAX_DIMENSION;
pub use known::KnownVectors;
pub use reader::VectorReader;
pub use row_set::RowSet;
pub use writer::{KeyIndex, VectorWriter};

/// Names what was embedded: a hash of its content.
pub type Key = [u8; 16];

/// A row and how near it is to the question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    /// The row, counted from 0.
    pub row: u32,
    /// Cosine similarity, -1 to 1.
    pub score: f32,
}
