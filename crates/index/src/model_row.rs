//! A model as the writer keeps it: which passages have a row, and which wait for one.

use std::ops::Range;

use lorewell_embed::Embedder;
use lorewell_vectors::{Key, KeyIndex, RowSet, VectorReader};
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::prepare::Meaning;
use crate::state::row_set;
use crate::{IndexError, Layout};

/// The catalogue's row of a model. Changes are real only once their transaction is committed.
pub(crate) struct ModelRow {
    pub(crate) id: i64,
    /// The folder of its vectors, by name.
    pub(crate) folder: String,
    /// How many numbers a vector has.
    pub(crate) dimension: usize,
    /// How many rows are valid.
    pub(crate) rows: u64,
    pub(crate) live: RowSet,
    pub(crate) embedded: u64,
    pub(crate) outside: u64,
    /// Passages whose vector is still to come, or was refused.
    pub(crate) waiting: u64,
    /// What its rows were made of; only of models that nobody appends to.
    keys: KeyIndex,
}

impl ModelRow {
    /// The model's own row, made if it is not there, and those of others. All passages wait for
    /// a model that is new.
    pub(crate) fn load(
        layout: &Layout,
        connection: &Connection,
        embedder: &dyn Embedder,
    ) -> Result<(ModelRow, Vec<ModelRow>), IndexError> {
        let fail = |source| IndexError::sqlite(layout.folder(), source);
        make(connection, embedder).map_err(fail)?;
        let fingerprint = embedder.fingerprint().as_str();
        let read = |sign: &str| {
            let columns = "id, folder, dimension, rows, embedded, outside, waiting, live";
            connection
                .prepare(&format!(
                    "SELECT {columns} FROM models WHERE fingerprint {sign} ?1"
                ))?
                .query_map([fingerprint], ModelRow::read)?
                .collect::<rusqlite::Result<Vec<_>>>()
        };
        let open = |(mut model, live): (ModelRow, Vec<u8>)| {
            model.live = row_set(layout, &live)?;
            Ok::<_, IndexError>(model)
        };
        let own = read("=").map_err(fail)?.pop();
        let own = own.ok_or(rusqlite::Error::QueryReturnedNoRows);
        let own = open(own.map_err(fail)?)?;
        let others = read("<>").map_err(fail)?.into_iter().map(open);
        let mut others = others.collect::<Result<Vec<_>, _>>()?;
        for other in &mut others {
            other.learn_keys(layout);
        }
        Ok((own, others))
    }

    fn read(row: &Row<'_>) -> rusqlite::Result<(ModelRow, Vec<u8>)> {
        let model = ModelRow {
            id: row.get(0)?,
            folder: row.get(1)?,
            dimension: row.get::<_, i64>(2)? as usize,
            rows: row.get(3)?,
            live: RowSet::new(0),
            embedded: row.get(4)?,
            outside: row.get(5)?,
            waiting: row.get(6)?,
            keys: KeyIndex::default(),
        };
        Ok((model, row.get(7)?))
    }

    /// Reads what the rows were made of, so that a text that comes back finds its row. Files that
    /// cannot be read know nothing.
    pub(crate) fn learn_keys(&mut self, layout: &Layout) {
        let folder = layout.vectors(&self.folder);
        let reader = VectorReader::open(&folder, self.dimension, self.rows);
        self.keys = reader.map_or_else(|_| KeyIndex::default(), |reader| KeyIndex::of(&reader));
    }

    /// How many valid rows nothing uses.
    pub(crate) fn dead(&self) -> u64 {
        self.rows.saturating_sub(u64::from(self.live.count()))
    }

    /// Adds a passage. `row` is where its vector is, if it has one.
    pub(crate) fn insert_passage(
        &mut self,
        connection: &Connection,
        passage: u32,
        key: &Key,
        meaning: &Meaning,
        row: Option<u32>,
    ) -> rusqlite::Result<()> {
        match (meaning, row) {
            (_, Some(row)) => self.give_row(connection, passage, row),
            (Meaning::Outside, None) => self.give_none(connection, passage),
            (Meaning::Empty, None) => Ok(()),
            (Meaning::Refused(reason), None) => {
                self.refuse(connection, key, reason)?;
                self.wait(connection, passage, key)
            }
            (Meaning::Waiting | Meaning::Known | Meaning::Vector(_), None) => {
                self.wait(connection, passage, key)
            }
        }
    }

    /// Adds a passage to a model that nobody embeds with now: with the row of its text, where
    /// there is one.
    pub(crate) fn insert_known(
        &mut self,
        connection: &Connection,
        passage: u32,
        key: &Key,
        meaning: &Meaning,
    ) -> rusqlite::Result<()> {
        match (self.keys.get(key), meaning) {
            (Some(row), _) => self.give_row(connection, passage, row),
            (None, Meaning::Empty) => Ok(()),
            (None, _) => self.wait(connection, passage, key),
        }
    }

    fn give_row(
        &mut self,
        connection: &Connection,
        passage: u32,
        row: u32,
    ) -> rusqlite::Result<()> {
        self.embedded += 1;
        self.live.grow(row + 1);
        self.live.insert(row);
        self.insert(connection, passage, Some(row))
    }

    fn give_none(&mut self, connection: &Connection, passage: u32) -> rusqlite::Result<()> {
        self.outside += 1;
        self.insert(connection, passage, None)
    }

    fn insert(
        &self,
        connection: &Connection,
        passage: u32,
        row: Option<u32>,
    ) -> rusqlite::Result<()> {
        connection
            .prepare_cached("INSERT INTO vectors VALUES (?1, ?2, ?3)")?
            .execute(params![self.id, passage, row])?;
        Ok(())
    }

    fn wait(&mut self, connection: &Connection, passage: u32, key: &Key) -> rusqlite::Result<()> {
        self.waiting += 1;
        connection
            .prepare_cached("INSERT INTO waiting VALUES (?1, ?2, ?3)")?
            .execute(params![self.id, passage, key])?;
        Ok(())
    }

    /// Marks a text as one that the model will not take.
    fn refuse(&self, connection: &Connection, key: &Key, reason: &str) -> rusqlite::Result<()> {
        connection
            .prepare_cached("INSERT OR IGNORE INTO refused VALUES (?1, ?2, ?3)")?
            .execute(params![self.id, key, reason])?;
        Ok(())
    }

    /// What came of a passage that waited. Whether it was settled by this.
    pub(crate) fn end_wait(
        &mut self,
        connection: &Connection,
        passage: u32,
        key: &Key,
        meaning: &Meaning,
        row: Option<u32>,
    ) -> rusqlite::Result<bool> {
        match (meaning, row) {
            (Meaning::Waiting, _) | (Meaning::Known | Meaning::Vector(_), None) => Ok(false),
            (Meaning::Refused(reason), _) => {
                self.refuse(connection, key, reason)?;
                connection
                    .prepare_cached(
                        "UPDATE waiting SET key = ?3 WHERE model = ?1 AND passage = ?2",
                    )?
                    .execute(params![self.id, passage, key])?;
                Ok(true)
            }
            _ => {
                let waited = self.stop_waiting(connection, passage)?;
                if waited {
                    self.insert_passage(connection, passage, key, meaning, row)?;
                }
                Ok(waited)
            }
        }
    }

    /// Whether it waited.
    fn stop_waiting(&mut self, connection: &Connection, passage: u32) -> rusqlite::Result<bool> {
        let gone = connection
            .prepare_cached("DELETE FROM waiting WHERE model = ?1 AND passage = ?2")?
            .execute(params![self.id, passage])?;
        self.waiting = self.waiting.saturating_sub(gone as u64);
        Ok(gone > 0)
    }

    /// The passages that wait for the vector of a text, `passage` among them if it still waits.
    pub(crate) fn waiting_for(
        &self,
        connection: &Connection,
        passage: u32,
        key: &Key,
    ) -> rusqlite::Result<Vec<u32>> {
        connection
            .prepare_cached(
                "SELECT passage FROM waiting WHERE model = ?1 AND passage = ?2
                 UNION SELECT passage FROM waiting WHERE model = ?1 AND key = ?3",
            )?
            .query_map(params![self.id, passage, key], |row| row.get(0))?
            .collect()
    }

    /// Passages lose their vectors; a row that nothing uses any more is dead.
    pub(crate) fn remove_passages(
        &mut self,
        connection: &Connection,
        passages: Range<u32>,
    ) -> rusqlite::Result<()> {
        let mut delete = connection.prepare_cached(
            "DELETE FROM vectors WHERE model = ?1 AND passage = ?2 RETURNING row",
        )?;
        let mut used = connection
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
                None if self.waiting > 0 => {
                    self.stop_waiting(connection, passage)?;
                }
                None => {}
            }
        }
        Ok(())
    }

    /// The vectors are in another folder now: so many rows, all of them alive.
    pub(crate) fn move_to(
        &mut self,
        connection: &Connection,
        folder: &str,
        rows: u32,
    ) -> rusqlite::Result<()> {
        self.folder = folder.to_string();
        self.rows = u64::from(rows);
        self.live = RowSet::full(rows);
        self.save(connection)
    }

    pub(crate) fn save(&self, connection: &Connection) -> rusqlite::Result<()> {
        connection
            .prepare_cached(
                "UPDATE models SET rows = ?2, live = ?3, embedded = ?4, outside = ?5, folder = ?6,
                 waiting = ?7 WHERE id = ?1",
            )?
            .execute(params![
                self.id,
                self.rows as i64,
                self.live.to_bytes(),
                self.embedded as i64,
                self.outside as i64,
                self.folder,
                self.waiting as i64,
            ])?;
        Ok(())
    }
}

/// Makes the row of a model, if there is none. Every passage waits for it then.
fn make(connection: &Connection, embedder: &dyn Embedder) -> rusqlite::Result<()> {
    let fingerprint = embedder.fingerprint();
    let known = "SELECT 1 FROM models WHERE fingerprint = ?1";
    if connection.prepare(known)?.exists([fingerprint.as_str()])? {
        return Ok(());
    }
    let transaction = connection.unchecked_transaction()?;
    transaction.execute(
        "INSERT INTO models (fingerprint, folder, model, dimension, rows, live, embedded, outside, waiting)
         VALUES (?1, ?2, ?3, ?4, 0, x'', 0, 0, (SELECT count(*) FROM passages))",
        params![fingerprint.as_str(), fingerprint.id(), embedder.model(), embedder.dimension() as i64],
    )?;
    transaction.execute(
        "INSERT INTO waiting SELECT ?1, id, NULL FROM passages",
        [transaction.last_insert_rowid()],
    )?;
    transaction.commit()
}
