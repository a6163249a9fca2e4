//! Vector files without dead rows: after an exclusion at once, after edits when there are many.
//!
//! The live rows are written into a fresh folder; one transaction names it. Readers that have the
//! old folder open keep it until they close it.

use lorewell_vectors::{VectorReader, VectorWriter};
use rusqlite::{Connection, params};

use crate::IndexError;
use crate::failpoint::failpoint;
use crate::heal::fresh_folder;
use crate::model_row::ModelRow;
use crate::writer::{Writer, begin, sync_folder};

/// Vectors are compacted when so many rows are dead and they are so large a share (one of
/// [`DEAD_SHARE`]) of all.
const MANY_DEAD: u64 = 512;
const DEAD_SHARE: u64 = 4;

/// A vector folder without dead rows, and where each row went.
pub(crate) struct Compacted {
    model: i64,
    folder: String,
    vectors: VectorWriter,
    /// Old and new number of each row, ascending.
    moved: Vec<(u32, u32)>,
}

impl Writer {
    /// Compacts the vectors of models in which much is dead.
    pub(crate) fn compact_vectors(&mut self) -> Result<(), IndexError> {
        let compacted = self.write_live_rows(|model| {
            model.dead() >= MANY_DEAD && model.dead() * DEAD_SHARE >= model.rows
        })?;
        if compacted.is_empty() {
            return Ok(());
        }
        failpoint("after-compact-write")?;
        let folder = self.layout.folder().to_path_buf();
        let fail = |source| IndexError::sqlite(&folder, source);
        let transaction = begin(&mut self.connection).map_err(fail)?;
        name(&transaction, &mut self.state.model, &compacted).map_err(fail)?;
        for other in &mut self.state.others {
            name(&transaction, other, &compacted).map_err(fail)?;
        }
        failpoint("before-compact-commit")?;
        // No answer changes, so the generation stays.
        transaction.commit().map_err(fail)?;
        failpoint("after-compact-commit")?;
        self.take_over(compacted);
        // A reader that has just looked up the old folder finds the new one when it looks again.
        self.remove_unnamed_vectors().map(drop)
    }

    /// Fresh folders with the live rows of the models that are wanted and have dead ones. A row
    /// keeps its bytes: they are quantized by their own greatest value, which stays the same.
    pub(crate) fn write_live_rows(
        &self,
        wanted: impl Fn(&ModelRow) -> bool,
    ) -> Result<Vec<Compacted>, IndexError> {
        let models = std::iter::once(&self.state.model).chain(&self.state.others);
        models
            .filter(|model| model.dead() > 0 && wanted(model))
            .map(|model| self.write_live_rows_of(model))
            .collect()
    }

    fn write_live_rows_of(&self, model: &ModelRow) -> Result<Compacted, IndexError> {
        let fail = |source| IndexError::vectors(self.layout.folder(), source);
        let old = self.layout.vectors(&model.folder);
        let reader = VectorReader::open(&old, model.dimension, model.rows).map_err(fail)?;
        let folder = fresh_folder(&self.layout, &model.folder);
        let place = self.layout.vectors(&folder);
        let mut vectors = VectorWriter::open(&place, model.dimension, 0).map_err(fail)?;
        let mut moved = Vec::with_capacity(model.live.count() as usize);
        for row in model.live.iter() {
            let key = reader.key(row).unwrap_or_default();
            moved.push((row, vectors.append(key, &reader.vector(row))));
        }
        vectors.sync().map_err(fail)?;
        let all = self.layout.all_vectors();
        sync_folder(&all).map_err(|source| IndexError::io(&all, source))?;
        Ok(Compacted {
            model: model.id,
            folder,
            vectors,
            moved,
        })
    }

    /// Goes on with compacted files, once they are published.
    pub(crate) fn take_over(&mut self, compacted: Vec<Compacted>) {
        for one in compacted {
            if one.model == self.state.model.id {
                self.vectors = one.vectors;
            } else if let Some(other) = self.state.others.iter_mut().find(|m| m.id == one.model) {
                other.learn_keys(&self.layout);
            }
        }
    }
}

/// Names the compacted folder of a model, if there is one, and gives its rows their new numbers. In
/// ascending order no two meet, for no row moves up.
pub(crate) fn name(
    connection: &Connection,
    model: &mut ModelRow,
    compacted: &[Compacted],
) -> rusqlite::Result<()> {
    let Some(one) = compacted.iter().find(|one| one.model == model.id) else {
        return Ok(());
    };
    let mut update =
        connection.prepare_cached("UPDATE vectors SET row = ?3 WHERE model = ?1 AND row = ?2")?;
    for (old, new) in one.moved.iter().filter(|(old, new)| old != new) {
        update.execute(params![model.id, old, new])?;
    }
    model.move_to(connection, &one.folder, one.moved.len() as u32)
}
