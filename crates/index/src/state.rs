//! What the writer keeps in memory of the published generation, and the rows that a note has in
//! each part of it. Changes here are real only once their transaction is committed.

use std::path::PathBuf;

use lorewell_embed::{Embedder, StaticModel};
use lorewell_lexical::{Bitmap, Live, Segment};
use lorewell_vectors::RowSet;
use rusqlite::{Connection, params};

use crate::batch::BatchNote;
use crate::later::cut_key;
use crate::model_row::ModelRow;
use crate::{IndexError, Layout, catalogue};

/// So many models beside the writer's are kept for who goes back to one.
const KEPT_MODELS: usize = 2;

/// The generation as the writer changes it.
pub(crate) struct State {
    pub(crate) segments: Vec<OpenSegment>,
    /// Segments that are named and damaged, by number. Their words are found again when every note
    /// has been read anew.
    pub(crate) lost: Vec<i64>,
    /// The model that is written for.
    pub(crate) model: ModelRow,
    /// Models beside it, whose vectors stay until it covers everything, and some longer.
    pub(crate) others: Vec<ModelRow>,
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

impl State {
    pub(crate) fn load(
        layout: &Layout,
        connection: &Connection,
        embedder: &dyn Embedder,
    ) -> Result<State, IndexError> {
        let OpenSegments { whole, lost } = open_segments(layout, connection)?;
        let (model, others) = ModelRow::load(layout, connection, embedder)?;
        let count = |key| {
            catalogue::number(connection, key)
                .map_err(|source| IndexError::sqlite(layout.folder(), source))
        };
        Ok(State {
            segments: whole,
            lost: lost.into_iter().map(|(id, _)| id).collect(),
            model,
            others,
            notes: count("notes")?,
            passages: count("passages")?,
        })
    }

    /// Takes models other than the writer's out of the catalogue.
    pub(crate) fn forget_models(
        &mut self,
        connection: &Connection,
        models: &[i64],
    ) -> rusqlite::Result<()> {
        for model in models {
            for table in ["vectors", "waiting", "refused"] {
                let sql = format!("DELETE FROM {table} WHERE model = ?1");
                connection.execute(&sql, [model])?;
            }
            connection.execute("DELETE FROM models WHERE id = ?1", [model])?;
            connection.execute("DELETE FROM meta WHERE key = ?1", [cut_key(*model)])?;
        }
        self.others.retain(|other| !models.contains(&other.id));
        Ok(())
    }

    /// Models that are not worth their room once this one covers everything: the built-in one,
    /// which is made again in no time, and all but the newest of the rest, other precisions of this
    /// one among them, which are kept so that to go back to one embeds nothing.
    pub(crate) fn idle_models(&self, connection: &Connection) -> rusqlite::Result<Vec<i64>> {
        let built_in = StaticModel::built_in().model();
        let mut models = connection.prepare_cached(
            "SELECT m.id, m.model = ?2 FROM models m WHERE m.id <> ?1 ORDER BY m.id DESC",
        )?;
        let rows = models.query_map(params![self.model.id, built_in], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
        let mut kept = 0;
        let mut idle = Vec::new();
        for row in rows {
            let (id, is_idle): (i64, bool) = row?;
            if is_idle || kept == KEPT_MODELS {
                idle.push(id);
            } else {
                kept += 1;
            }
        }
        Ok(idle)
    }

    /// Takes one note out of the catalogue, the segments and the vectors.
    pub(crate) fn remove_note(
        &mut self,
        transaction: &Connection,
        layout: &Layout,
        note: u32,
    ) -> Result<(), IndexError> {
        let fail = |source| IndexError::sqlite(layout.folder(), source);
        let passages = catalogue::delete_note(transaction, note).map_err(fail)?;
        self.notes = self.notes.saturating_sub(1);
        self.passages = self.passages.saturating_sub(passages.len() as u64);
        for passage in passages.clone() {
            self.bury(layout, passage)?;
        }
        for model in std::iter::once(&mut self.model).chain(&mut self.others) {
            model
                .remove_passages(transaction, passages.clone())
                .map_err(fail)?;
        }
        Ok(())
    }

    /// Marks a passage as dead in the segment that has it. A segment that turns out to be damaged
    /// is marked as such: the next writer does without it.
    fn bury(&mut self, layout: &Layout, passage: u32) -> Result<(), IndexError> {
        for open in &mut self.segments {
            let doc = open.segment.doc_of(passage).map_err(|fault| {
                let error = IndexError::segment(layout.folder(), fault);
                layout.mark_as_damaged(open.id, &error);
                error
            })?;
            if let Some(doc) = doc {
                open.changed |= open.dead.insert(doc);
                break;
            }
        }
        Ok(())
    }

    /// Adds a note. `rows`: the vector row of each passage that has one.
    pub(crate) fn insert_note(
        &mut self,
        transaction: &Connection,
        new: &BatchNote,
        rows: &[Option<u32>],
    ) -> rusqlite::Result<()> {
        catalogue::forget_skipped(transaction, new.note.entry.path.as_str())?;
        catalogue::insert_note(transaction, new)?;
        self.notes += 1;
        self.passages += rows.len() as u64;
        for (ordinal, (passage, row)) in new.note.passages.iter().zip(rows).enumerate() {
            let id = new.first_passage + ordinal as u32;
            catalogue::insert_passage(transaction, id, new.number, ordinal, passage)?;
            self.model
                .insert_passage(transaction, id, &passage.key, &passage.meaning, *row)?;
            for other in &mut self.others {
                other.insert_known(transaction, id, &passage.key, &passage.meaning)?;
            }
        }
        Ok(())
    }

    /// Writes what changed into the transaction. `rows`: how many vector rows are synced.
    pub(crate) fn save(&mut self, transaction: &Connection, rows: u32) -> rusqlite::Result<()> {
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

/// The segments that the catalogue names.
pub(crate) struct OpenSegments {
    pub(crate) whole: Vec<OpenSegment>,
    /// The damaged ones, by number, and what is wrong with each.
    pub(crate) lost: Vec<(i64, String)>,
}

/// Opens the segments that the catalogue names.
pub(crate) fn open_segments(
    layout: &Layout,
    connection: &Connection,
) -> Result<OpenSegments, IndexError> {
    let folder = layout.folder();
    let fail = |source| IndexError::sqlite(folder, source);
    let mut statement = connection
        .prepare_cached("SELECT id, dead FROM segments ORDER BY id")
        .map_err(fail)?;
    let rows = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .map_err(fail)?;
    let mut segments = OpenSegments {
        whole: Vec::new(),
        lost: Vec::new(),
    };
    for row in rows {
        let (id, dead): (i64, Vec<u8>) = row.map_err(fail)?;
        if let Ok(what) = std::fs::read_to_string(layout.mark_of_damage(id)) {
            segments.lost.push((id, what));
            continue;
        }
        let opened = Segment::open(&layout.segment(id)).map_err(|e| IndexError::segment(folder, e));
        let segment = match opened {
            Ok(segment) => segment,
            Err(IndexError::Damaged { what, .. }) => {
                segments.lost.push((id, what));
                continue;
            }
            Err(error) => return Err(error),
        };
        let dead = Bitmap::from_bytes(&dead).ok_or_else(|| IndexError::Damaged {
            path: folder.to_path_buf(),
            what: format!("the list of deleted passages of segment {id}"),
        })?;
        segments.whole.push(OpenSegment {
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
