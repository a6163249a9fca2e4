//! What the writer keeps in memory of the published generation, and the rows that a note has in
//! each part of it. Changes here are real only once their transaction is committed.

use std::ops::Range;
use std::path::PathBuf;

use lorewell_embed::{Embedded, Embedder};
use lorewell_lexical::{Bitmap, Live, Segment};
use lorewell_vectors::RowSet;
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use crate::batch::BatchNote;
use crate::{IndexError, Layout, catalogue};

/// The generation as the writer changes it.
pub(crate) struct State {
    pub(crate) segments: Vec<OpenSegment>,
    model: ModelRow,
    /// Models whose vectors are still there, and are not added to.
    others: Vec<ModelRow>,
    notes: u64,
    passages: u64,
}

/// A segment with the passages of it that are dead.
pub(crate) struct OpenSegment {
    pub(crate) id: i64,
    pub(crate) segment: Segment,
    pub(crate) dead: Bitmap,
    pub(crate) changed: bool,
}

/// The catalogue's row of a model.
struct ModelRow {
    id: i64,
    folder: String,
    dimension: usize,
    rows: u64,
    live: RowSet,
    embedded: u64,
    outside: u64,
}

impl State {
    pub(crate) fn load(
        layout: &Layout,
        connection: &Connection,
        embedder: &dyn Embedder,
    ) -> Result<State, IndexError> {
        let segments = open_segments(layout, connection)?;
        let (model, others) = ModelRow::load(layout, connection, embedder)?;
        let count = |key| {
            catalogue::number(connection, key)
                .map_err(|source| IndexError::sqlite(layout.folder(), source))
        };
        Ok(State {
            segments,
            model,
            others,
            notes: count("notes")?,
            passages: count("passages")?,
        })
    }

    /// How many vector rows the catalogue counts as valid.
    pub(crate) fn published_rows(&self) -> u64 {
        self.model.rows
    }

    pub(crate) fn live_rows(&self) -> &RowSet {
        &self.model.live
    }

    pub(crate) fn model_id(&self) -> i64 {
        self.model.id
    }

    /// How many numbers a vector has.
    pub(crate) fn dimension(&self) -> usize {
        self.model.dimension
    }

    /// The folder of the model's vectors, by name.
    pub(crate) fn vector_folder(&self) -> &str {
        &self.model.folder
    }

    /// The model's vectors are in another folder now: so many rows, all of them alive.
    pub(crate) fn move_vectors(
        &mut self,
        transaction: &Transaction<'_>,
        folder: &str,
        rows: u32,
    ) -> rusqlite::Result<()> {
        self.model.folder = folder.to_string();
        self.model.rows = u64::from(rows);
        self.model.live = RowSet::full(rows);
        self.model.save(transaction)
    }

    /// Whether there are vectors of other models.
    pub(crate) fn has_other_models(&self) -> bool {
        !self.others.is_empty()
    }

    /// Takes the other models out of the catalogue.
    pub(crate) fn forget_other_models(
        &mut self,
        transaction: &Transaction<'_>,
    ) -> rusqlite::Result<()> {
        transaction.execute("DELETE FROM vectors WHERE model <> ?1", [self.model.id])?;
        transaction.execute("DELETE FROM models WHERE id <> ?1", [self.model.id])?;
        self.others.clear();
        Ok(())
    }

    /// Takes one note out of the catalogue, the segments and the vectors.
    pub(crate) fn remove_note(
        &mut self,
        transaction: &Transaction<'_>,
        layout: &Layout,
        note: u32,
    ) -> Result<(), IndexError> {
        let fail = |source| IndexError::sqlite(layout.folder(), source);
        let passages = catalogue::delete_note(transaction, note).map_err(fail)?;
        self.notes = self.notes.saturating_sub(1);
        self.passages = self.passages.saturating_sub(passages.len() as u64);
        for passage in passages.clone() {
            self.bury(passage)
                .map_err(|e| IndexError::segment(layout.folder(), e))?;
        }
        for model in std::iter::once(&mut self.model).chain(&mut self.others) {
            model
                .remove_passages(transaction, passages.clone())
                .map_err(fail)?;
        }
        Ok(())
    }

    /// Marks a passage as dead in the segment that has it.
    fn bury(&mut self, passage: u32) -> Result<(), lorewell_lexical::SegmentError> {
        for open in &mut self.segments {
            if let Some(doc) = open.segment.doc_of(passage)? {
                open.changed |= open.dead.insert(doc);
                break;
            }
        }
        Ok(())
    }

    /// Adds a note. `rows`: the vector row of each passage that has one.
    pub(crate) fn insert_note(
        &mut self,
        transaction: &Transaction<'_>,
        new: &BatchNote,
        rows: &[Option<u32>],
    ) -> rusqlite::Result<()> {
        catalogue::forget_skipped(transaction, new.note.entry.path.as_str())?;
        catalogue::insert_note(transaction, new)?;
        self.notes += 1;
        self.passages += rows.len() as u64;
        let mut vector = transaction.prepare_cached("INSERT INTO vectors VALUES (?1, ?2, ?3)")?;
        for (ordinal, (passage, row)) in new.note.passages.iter().zip(rows).enumerate() {
            let id = new.first_passage + ordinal as u32;
            catalogue::insert_passage(transaction, id, new.number, ordinal, passage)?;
            match (&passage.embedded, row) {
                (Embedded::Vector(_), Some(row)) => self.model.use_row(*row),
                (Embedded::OutsideVocabulary { .. }, _) => self.model.outside += 1,
                _ => continue,
            }
            vector.execute(params![self.model.id, id, row])?;
        }
        Ok(())
    }

    /// Writes what changed into the transaction. `rows`: how many vector rows are synced.
    pub(crate) fn save(
        &mut self,
        transaction: &Transaction<'_>,
        rows: u32,
    ) -> rusqlite::Result<()> {
        for open in self.segments.iter_mut().filter(|open| open.changed) {
            transaction
                .prepare_cached("UPDATE segments SET dead = ?2 WHERE id = ?1")?
                .execute(params![open.id, open.dead.to_bytes()])?;
            open.changed = false;
        }
        self.model.rows = u64::from(rows);
        for model in std::iter::once(&self.model).chain(&self.others) {
            model.save(transaction)?;
        }
        catalogue::set_meta(transaction, "notes", &self.notes.to_string())?;
        catalogue::set_meta(transaction, "passages", &self.passages.to_string())
    }
}

impl ModelRow {
    /// The model's own row, made if it is not there, and those of others.
    fn load(
        layout: &Layout,
        connection: &Connection,
        embedder: &dyn Embedder,
    ) -> Result<(ModelRow, Vec<ModelRow>), IndexError> {
        let fail = |source| IndexError::sqlite(layout.folder(), source);
        let fingerprint = embedder.fingerprint();
        connection
            .execute(
                "INSERT OR IGNORE INTO models (fingerprint, folder, model, dimension, rows, live, embedded, outside)
                 VALUES (?1, ?2, ?3, ?4, 0, x'', 0, 0)",
                params![fingerprint.as_str(), fingerprint.id(), embedder.model(), embedder.dimension() as i64],
            )
            .map_err(fail)?;
        let read = |sign: &str| {
            let columns = "id, folder, dimension, rows, live, embedded, outside";
            connection
                .prepare(&format!(
                    "SELECT {columns} FROM models WHERE fingerprint {sign} ?1"
                ))?
                .query_map([fingerprint.as_str()], |row| {
                    let model = ModelRow {
                        id: row.get(0)?,
                        folder: row.get(1)?,
                        dimension: row.get::<_, i64>(2)? as usize,
                        rows: row.get(3)?,
                        live: RowSet::new(0),
                        embedded: row.get(5)?,
                        outside: row.get(6)?,
                    };
                    Ok((row.get::<_, Vec<u8>>(4)?, model))
                })?
                .collect::<rusqlite::Result<Vec<_>>>()
        };
        let with_live = |rows: Vec<(Vec<u8>, ModelRow)>| -> Result<Vec<ModelRow>, IndexError> {
            let open = |(live, row): (Vec<u8>, ModelRow)| {
                Ok(ModelRow {
                    live: row_set(layout, &live)?,
                    ..row
                })
            };
            rows.into_iter().map(open).collect()
        };
        let own = with_live(read("=").map_err(fail)?)?.pop();
        let own = own
            .ok_or(rusqlite::Error::QueryReturnedNoRows)
            .map_err(fail)?;
        Ok((own, with_live(read("<>").map_err(fail)?)?))
    }

    fn use_row(&mut self, row: u32) {
        self.embedded += 1;
        self.live.grow(row + 1);
        self.live.insert(row);
    }

    /// Passages lose their vectors; a row that nothing uses any more is dead.
    fn remove_passages(
        &mut self,
        transaction: &Transaction<'_>,
        passages: Range<u32>,
    ) -> rusqlite::Result<()> {
        let mut delete = transaction.prepare_cached(
            "DELETE FROM vectors WHERE model = ?1 AND passage = ?2 RETURNING row",
        )?;
        let mut used = transaction
            .prepare_cached("SELECT 1 FROM vectors WHERE model = ?1 AND row = ?2 LIMIT 1")?;
        for passage in passages {
            let row: Option<Option<u32>> = delete
                .query_row(params![self.id, passage], |row| row.get(0))
                .optional()?;
            match row {
                Some(Some(row)) => {
                    self.embedded = self.embedded.saturating_sub(1);
                    if !used.exists(params![self.id, row])? {
                        self.live.remove(row);
                    }
                }
                Some(None) => self.outside = self.outside.saturating_sub(1),
                None => {}
            }
        }
        Ok(())
    }

    fn save(&self, transaction: &Transaction<'_>) -> rusqlite::Result<()> {
        transaction
            .prepare_cached(
                "UPDATE models SET rows = ?2, live = ?3, embedded = ?4, outside = ?5, folder = ?6 WHERE id = ?1",
            )?
            .execute(params![
                self.id,
                self.rows as i64,
                self.live.to_bytes(),
                self.embedded as i64,
                self.outside as i64,
                self.folder,
            ])?;
        Ok(())
    }
}

impl OpenSegment {
    /// A segment that was just written: all of it is alive.
    pub(crate) fn fresh(id: i64, segment: Segment) -> OpenSegment {
        OpenSegment {
            id,
            segment,
            dead: Bitmap::new(),
            changed: false,
        }
    }

    pub(crate) fn live(&self) -> Live<'_> {
        Live {
            segment: &self.segment,
            dead: (self.dead.count() > 0).then_some(&self.dead),
        }
    }

    pub(crate) fn alive(&self) -> u32 {
        self.segment.len() - self.dead.count()
    }
}

/// The segments that the catalogue names, opened.
pub(crate) fn open_segments(
    layout: &Layout,
    connection: &Connection,
) -> Result<Vec<OpenSegment>, IndexError> {
    let folder = layout.folder();
    let fail = |source| IndexError::sqlite(folder, source);
    let mut statement = connection
        .prepare_cached("SELECT id, dead FROM segments ORDER BY id")
        .map_err(fail)?;
    let rows = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .map_err(fail)?;
    let mut segments = Vec::new();
    for row in rows {
        let (id, dead): (i64, Vec<u8>) = row.map_err(fail)?;
        let segment =
            Segment::open(&layout.segment(id)).map_err(|e| IndexError::segment(folder, e))?;
        let dead = Bitmap::from_bytes(&dead).ok_or_else(|| IndexError::Damaged {
            path: folder.to_path_buf(),
            what: format!("the list of deleted passages of segment {id}"),
        })?;
        segments.push(OpenSegment {
            dead,
            ..OpenSegment::fresh(id, segment)
        });
    }
    Ok(segments)
}

/// The set of live rows as the catalogue keeps it.
pub(crate) fn row_set(layout: &Layout, bytes: &[u8]) -> Result<RowSet, IndexError> {
    if bytes.is_empty() {
        return Ok(RowSet::new(0));
    }
    RowSet::from_bytes(bytes).map_err(|e| IndexError::Damaged {
        path: PathBuf::from(layout.folder()),
        what: e.to_string(),
    })
}
