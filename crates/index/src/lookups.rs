//! Small looks at single notes and passages that ranking asks for many times.

use lorewell_lexical::Bitmap;
use lorewell_vectors::RowSet;
use rusqlite::{OptionalExtension, params};

use crate::snapshot::{NameKind, NoteName};
use crate::{Date, EvidenceClass, IndexError, Snapshot, schema};

impl Snapshot {
    /// The note of a passage, if there is such a passage.
    ///
    /// # Errors
    /// Only if the index cannot be read; so for all that follow.
    pub fn note_of_passage(&self, passage: u32) -> Result<Option<u32>, IndexError> {
        self.connection
            .prepare_cached("SELECT note FROM passages WHERE id = ?1")
            .and_then(|mut s| s.query_row([passage], |row| row.get(0)).optional())
            .map_err(|e| self.failed(e))
    }

    /// The class of evidence of a passage's note, if it is one of those that stand behind the
    /// person's own words. All of them are read on first use.
    pub fn lesser_evidence_of(&self, passage: u32) -> Result<Option<EvidenceClass>, IndexError> {
        if self.lesser.get().is_none() {
            let mut lesser: Vec<(u32, u32, EvidenceClass)> = Vec::new();
            let sql = format!(
                "SELECT first_passage, passages, evidence FROM notes WHERE {} ORDER BY first_passage",
                schema::LESSER
            );
            let rows = self.query(&sql, [], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get::<_, String>(2)?))
            })?;
            for (first, passages, class) in rows {
                if let Ok(class) = class.parse() {
                    lesser.push((first, passages, class));
                }
            }
            let _ = self.lesser.set(lesser);
        }
        let lesser = self.lesser.get().map_or(&[][..], Vec::as_slice);
        let place = lesser.partition_point(|(first, ..)| *first <= passage);
        let before = place.checked_sub(1).and_then(|place| lesser.get(place));
        Ok(before
            .filter(|(first, passages, _)| passage - first < *passages)
            .map(|(.., class)| *class))
    }

    /// The date of a note, if there is such a note.
    pub fn date_of(&self, note: u32) -> Result<Option<Date>, IndexError> {
        let read = |row: &rusqlite::Row<'_>| {
            Ok(Date {
                day: row.get(0)?,
                source: row.get(1)?,
            })
        };
        self.connection
            .prepare_cached("SELECT date, date_source FROM notes WHERE id = ?1")
            .and_then(|mut s| s.query_row([note], read).optional())
            .map_err(|e| self.failed(e))
    }

    /// The daily notes of a day (`YYYY-MM-DD`): by their class, or because file or folder names it.
    pub fn notes_of_day(&self, day: &str) -> Result<Vec<NoteName>, IndexError> {
        self.query(
            "SELECT id, path FROM notes WHERE date = ?1
             AND (evidence = 'daily' OR date_source IN ('file name', 'folder')) ORDER BY path",
            [day],
            |row| {
                Ok(NoteName {
                    note: row.get(0)?,
                    kind: NameKind::File,
                    name: row.get(1)?,
                })
            },
        )
    }

    /// The vector rows of some passages.
    pub fn rows_of_passages(&self, passages: &Bitmap) -> Result<RowSet, IndexError> {
        let mut rows = RowSet::new(self.model.as_ref().map_or(0, |m| m.live.rows()));
        let Some(model) = &self.model else {
            return Ok(rows);
        };
        let mut read = || {
            let mut statement = self
                .connection
                .prepare_cached("SELECT row FROM vectors WHERE model = ?1 AND passage = ?2")?;
            for passage in passages.iter() {
                let row = statement
                    .query_row(params![model.id, passage], |row| {
                        row.get::<_, Option<u32>>(0)
                    })
                    .optional()?
                    .flatten();
                if let Some(row) = row {
                    rows.insert(row);
                }
            }
            Ok(())
        };
        read().map_err(|e| self.failed(e))?;
        Ok(rows)
    }
}
