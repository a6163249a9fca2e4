//! The vectors of one model in one generation, open for reading.

use lorewell_vectors::{RowSet, VectorReader};
use rusqlite::{Connection, OptionalExtension};

use crate::state::row_set;
use crate::{IndexError, Layout, ModelState, catalogue};

/// What the dense lane needs.
pub(crate) struct Model {
    pub(crate) id: i64,
    pub(crate) state: ModelState,
    pub(crate) live: RowSet,
    pub(crate) reader: VectorReader,
}

impl Model {
    /// `None` where the model has nothing in this index.
    pub(crate) fn open(
        layout: &Layout,
        connection: &Connection,
        fingerprint: &str,
    ) -> Result<Option<Model>, IndexError> {
        let folder = layout.folder();
        let fail = |source| IndexError::sqlite(folder, source);
        let row = connection
            .query_row(
                "SELECT id, folder, model, dimension, rows, live, embedded, outside
                 FROM models WHERE fingerprint = ?1",
                [fingerprint],
                |row| {
                    Ok((
                        row.get::<_, i64>(0)?,
                        row.get::<_, String>(1)?,
                        row.get::<_, String>(2)?,
                        row.get::<_, i64>(3)? as usize,
                        row.get::<_, u64>(4)?,
                        row.get::<_, Vec<u8>>(5)?,
                        row.get::<_, u64>(6)?,
                        row.get::<_, u64>(7)?,
                    ))
                },
            )
            .optional()
            .map_err(fail)?;
        let Some((id, subfolder, model, dimension, rows, live, embedded, outside)) = row else {
            return Ok(None);
        };
        if rows == 0 && outside == 0 {
            return Ok(None);
        }
        let live = row_set(layout, &live)?;
        let reader = VectorReader::open(&layout.vectors(&subfolder), dimension, rows)
            .map_err(|source| IndexError::vectors(folder, source))?;
        let state = ModelState {
            model,
            fingerprint: fingerprint.to_string(),
            embedded,
            outside,
            missing: missing(connection, id).map_err(fail)?,
        };
        Ok(Some(Model {
            id,
            state,
            live,
            reader,
        }))
    }
}

/// Passages without a row of the model in notes that were read before it came. Notes that were
/// read since have a row for each passage with words, so that a finished index misses none.
fn missing(connection: &Connection, model: i64) -> rusqlite::Result<u64> {
    if !catalogue::unfinished(connection)? {
        return Ok(0);
    }
    connection.query_row(
        "SELECT count(*) FROM notes n
         JOIN passages p ON p.id >= n.first_passage AND p.id < n.first_passage + n.passages
         WHERE n.changed_ns = -2
         AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.model = ?1 AND v.passage = p.id)",
        [model],
        |row| row.get(0),
    )
}
