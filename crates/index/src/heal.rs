//! Damaged files of an index, as its writer mends them: what they held is made again from the notes.

use lorewell_vectors::VectorReader;
use rusqlite::{Connection, params};

use crate::writer::{Writer, begin};
use crate::{IndexError, Layout, catalogue};

/// A model as the catalogue has it: number, folder, dimension, rows, and whether files are needed.
type Row = (i64, String, usize, u64, bool);

/// Lets go of vectors whose files are damaged or gone: their passages wait for new ones, which go
/// into a fresh folder, for a reader may still have the old files open.
pub(crate) fn let_damaged_vectors_go(
    layout: &Layout,
    connection: &Connection,
) -> Result<(), IndexError> {
    let fail = |source| IndexError::sqlite(layout.folder(), source);
    for (id, folder, dimension, rows, needed) in models(connection).map_err(fail)? {
        let open = || {
            VectorReader::open(&layout.vectors(&folder), dimension, rows)
                .map_err(|source| IndexError::vectors(layout.folder(), source))
        };
        match needed.then(open) {
            None | Some(Ok(_)) => {}
            Some(Err(IndexError::Damaged { .. })) => {
                let fresh = fresh_folder(layout, &folder);
                start_anew(connection, id, &fresh).map_err(fail)?;
            }
            Some(Err(error)) => return Err(error),
        }
    }
    Ok(())
}

fn models(connection: &Connection) -> rusqlite::Result<Vec<Row>> {
    let read = "SELECT id, folder, dimension, rows, rows > 0 OR outside > 0 FROM models";
    connection
        .prepare(read)?
        .query_map([], |row| {
            let dimension = row.get::<_, i64>(2)? as usize;
            Ok((
                row.get(0)?,
                row.get(1)?,
                dimension,
                row.get(3)?,
                row.get(4)?,
            ))
        })?
        .collect()
}

fn start_anew(connection: &Connection, model: i64, folder: &str) -> rusqlite::Result<()> {
    let transaction = connection.unchecked_transaction()?;
    transaction.execute(
        "INSERT OR IGNORE INTO waiting SELECT model, passage, NULL FROM vectors WHERE model = ?1",
        [model],
    )?;
    transaction.execute("DELETE FROM vectors WHERE model = ?1", [model])?;
    transaction.execute(
        "UPDATE models SET folder = ?2, rows = 0, live = x'', embedded = 0, outside = 0,
         waiting = (SELECT count(*) FROM waiting WHERE model = ?1) WHERE id = ?1",
        params![model, folder],
    )?;
    catalogue::next_generation(&transaction)?;
    transaction.commit()
}

/// A name that no folder of vectors has, from that of a model's folder.
pub(crate) fn fresh_folder(layout: &Layout, folder: &str) -> String {
    let stem = folder.split('-').next().unwrap_or(folder);
    let mut number = 1_u32;
    loop {
        let name = format!("{stem}-{number}");
        if name != folder && !layout.vectors(&name).exists() {
            return name;
        }
        number += 1;
    }
}

impl Writer {
    /// Takes damaged segments out of the catalogue once every note that they may have held was read
    /// anew. Until then readers are told of them.
    pub(crate) fn forget_lost_segments(&mut self) -> Result<(), IndexError> {
        if self.state.lost.is_empty() {
            return Ok(());
        }
        let folder = self.layout.folder().to_path_buf();
        let fail = |source| IndexError::sqlite(&folder, source);
        let unread = "SELECT EXISTS (SELECT 1 FROM notes WHERE changed_ns = ?1)";
        let unread: bool = self
            .connection
            .query_row(unread, [crate::compare::OUTDATED], |row| row.get(0))
            .map_err(fail)?;
        if unread {
            return Ok(());
        }
        let transaction = begin(&mut self.connection).map_err(fail)?;
        for id in &self.state.lost {
            transaction
                .execute("DELETE FROM segments WHERE id = ?1", [id])
                .map_err(fail)?;
        }
        catalogue::next_generation(&transaction).map_err(fail)?;
        transaction.commit().map_err(fail)?;
        self.state.lost.clear();
        Ok(())
    }
}
