//! The vectors of one model in one generation, open for reading.

use lorewell_vectors::{RowSet, VectorReader};
use rusqlite::{Connection, OptionalExtension};

use crate::later::{cut_key, refused_passages};
use crate::state::row_set;
use crate::{IndexError, Layout, ModelState, catalogue};

/// What the dense lane needs.
pub(crate) struct Model {
    pub(crate) id: i64,
    pub(crate) state: ModelState,
    pub(crate) live: RowSet,
    /// Nothing where no passage was looked at yet, or the files are damaged.
    pub(crate) reader: Option<VectorReader>,
    /// What is wrong with the files, if they are damaged.
    pub(crate) damage: Option<String>,
}

impl Model {
    /// `None` where the model is not known to this index.
    pub(crate) fn open(
        layout: &Layout,
        connection: &Connection,
        fingerprint: &str,
    ) -> Result<Option<Model>, IndexError> {
        let folder = layout.folder();
        let fail = |source| IndexError::sqlite(folder, source);
        let row = connection
            .query_row(
                "SELECT id, folder, model, dimension, rows, live, embedded, outside, waiting
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
                        row.get::<_, u64>(8)?,
                    ))
                },
            )
            .optional()
            .map_err(fail)?;
        let Some((id, subfolder, model, dimension, rows, live, embedded, outside, waiting)) = row
        else {
            return Ok(None);
        };
        let live = row_set(layout, &live)?;
        let open = || {
            VectorReader::open(&layout.vectors(&subfolder), dimension, rows)
                .map_err(|source| IndexError::vectors(folder, source))
        };
        let (reader, damage) = match (rows > 0 || outside > 0).then(open) {
            None => (None, None),
            Some(Ok(reader)) => (Some(reader), None),
            Some(Err(IndexError::Damaged { what, .. })) => (None, Some(what)),
            Some(Err(error)) => return Err(error),
        };
        let refused = match waiting {
            0 => 0,
            _ => refused_passages(connection, id).map_err(fail)?,
        };
        let state = ModelState {
            model,
            fingerprint: fingerprint.to_string(),
            embedded,
            outside,
            missing: waiting.saturating_sub(refused),
            refused,
            cut: catalogue::number(connection, &cut_key(id)).map_err(fail)?,
        };
        Ok(Some(Model {
            id,
            state,
            live,
            reader,
            damage,
        }))
    }
}
