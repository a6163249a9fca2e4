//! Cursors: where the next page of an answer begins. Opaque to callers.

use crate::Failure;

/// A place in the answer to one question, or in a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cursor {
    /// What the first page came from: the generation of an answer, the beginning of the content
    /// hash of a note.
    pub(crate) source: u64,
    /// How far it was read.
    pub(crate) offset: u64,
}

impl Cursor {
    pub(crate) fn write(self) -> String {
        format!("{:x}-{:x}", self.source, self.offset)
    }

    /// A cursor into an answer, which is never longer than 10,000 passages.
    pub(crate) fn read(text: &str) -> Result<Cursor, Failure> {
        Cursor::read_any(text).and_then(|cursor| {
            if cursor.offset <= 10_000 {
                Ok(cursor)
            } else {
                Err(no_cursor(text))
            }
        })
    }

    /// A cursor into a text.
    pub(crate) fn read_any(text: &str) -> Result<Cursor, Failure> {
        let number = |part: &str| u64::from_str_radix(part, 16).ok();
        text.split_once('-')
            .and_then(|(source, offset)| {
                Some(Cursor {
                    source: number(source)?,
                    offset: number(offset)?,
                })
            })
            .ok_or_else(|| no_cursor(text))
    }
}

fn no_cursor(text: &str) -> Failure {
    Failure::wrong_use(
        format!("“{text}” is no cursor"),
        "Give the value of “next” from an earlier answer, or none for the first page.",
    )
}
