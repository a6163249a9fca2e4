//! The one writer of an index: publishes batches, removes notes, keeps files tidy.

use std::path::Path;

use lorewell_embed::{Embedded, Embedder};
use lorewell_lexical::{Bitmap, Segment};
use lorewell_text::NotePath;
use lorewell_vault::{Listing, Rules, Vault};
use lorewell_vectors::{RowSet, VectorWriter};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use crate::batch::{Batch, Counters};
use crate::catalogue;
use crate::compare::{Changes, OUTDATED};
use crate::prepare::{Prepared, PreparedNote};
use crate::update::{self, Observer, UpdateReport};
use crate::{IndexError, IndexSettings, Layout, Lock, schema};

/// Writes an index. Holds the writer's lock as long as it lives.
pub struct Writer {
    pub(crate) layout: Layout,
    pub(crate) connection: Connection,
    pub(crate) segments: Vec<OpenSegment>,
    model: ModelRow,
    vectors: VectorWriter,
    _lock: Lock,
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
    live: RowSet,
    outside: u64,
}

impl Writer {
    /// Opens the index in the folder of `layout` for writing, making it if it is not there.
    ///
    /// # Errors
    /// Damage, another format, lack of room or permission: see [`IndexError`]. Nothing is
    /// changed then.
    pub fn open(
        layout: &Layout,
        lock: Lock,
        embedder: &dyn Embedder,
    ) -> Result<Writer, IndexError> {
        let connection = schema::open_for_writing(layout)?;
        let segments_folder = layout.segments();
        std::fs::create_dir_all(&segments_folder)
            .map_err(|source| IndexError::io(&segments_folder, source))?;
        let segments = open_segments(layout, &connection)?;
        let (model, folder, rows) = model_row(layout, &connection, embedder)?;
        let vectors = VectorWriter::open(&folder, embedder.dimension(), rows)
            .map_err(|source| IndexError::vectors(layout.folder(), source))?;
        let writer = Writer {
            layout: layout.clone(),
            connection,
            segments,
            model,
            vectors,
            _lock: lock,
        };
        writer.remove_orphans()?;
        Ok(writer)
    }

    /// Compares the folder with the index and takes in what changed.
    ///
    /// Stops early, keeping what is done, when the observer says so. An interrupted build goes on
    /// where it stopped the next time.
    ///
    /// # Errors
    /// See [`IndexError`]. What was published before the error stays, and is consistent.
    pub fn update(
        &mut self,
        vault: &Vault,
        listing: &Listing,
        settings: &IndexSettings,
        embedder: &dyn Embedder,
        observer: &dyn Observer,
    ) -> Result<UpdateReport, IndexError> {
        self.accept_settings(settings, &listing.rules)?;
        let changes = Changes::find(&self.connection, listing).map_err(|e| self.failed(e))?;
        if changes.is_empty() && !self.unfinished()? {
            return Ok(UpdateReport {
                generation: self.generation()?,
                ..UpdateReport::default()
            });
        }
        update::run(self, vault, listing, settings, embedder, changes, observer)
    }

    /// Makes the next update read every note anew, whatever its stamp.
    ///
    /// # Errors
    /// See [`IndexError`].
    pub fn read_everything(&mut self) -> Result<(), IndexError> {
        catalogue::set_meta(&self.connection, "reading", "").map_err(|e| self.failed(e))
    }

    pub(crate) fn generation(&self) -> Result<u64, IndexError> {
        catalogue::generation(&self.connection).map_err(|e| self.failed(e))
    }

    pub(crate) fn counters(&self) -> Counters {
        let number = |key| {
            let text = catalogue::meta(&self.connection, key).ok().flatten();
            text.and_then(|text| text.parse().ok()).unwrap_or(0)
        };
        Counters {
            note: number("last_note"),
            passage: number("last_passage"),
        }
    }

    /// Removes notes and forgets skipped files, in one transaction.
    pub(crate) fn remove(
        &mut self,
        notes: &[(u32, NotePath)],
        forgotten: &[String],
    ) -> Result<usize, IndexError> {
        let folder = self.layout.folder().to_path_buf();
        let fail = |source| IndexError::sqlite(&folder, source);
        let transaction = begin(&mut self.connection).map_err(fail)?;
        for (note, _) in notes {
            remove_note(
                &transaction,
                &mut self.segments,
                &mut self.model,
                &folder,
                *note,
            )?;
        }
        for path in forgotten {
            catalogue::forget_skipped(&transaction, path).map_err(fail)?;
        }
        save_state(
            &transaction,
            &mut self.segments,
            &self.model,
            self.vectors.rows(),
        )
        .map_err(fail)?;
        if !notes.is_empty() {
            let unfinished = catalogue::meta(&transaction, "unfinished")
                .map_err(fail)?
                .as_deref()
                != Some("0");
            catalogue::next_generation(&transaction, unfinished).map_err(fail)?;
        }
        transaction.commit().map_err(fail)?;
        Ok(notes.len())
    }

    /// Makes a batch visible: files first, then the transaction that names them.
    pub(crate) fn publish(
        &mut self,
        batch: Batch,
        unfinished: bool,
        report: &mut UpdateReport,
    ) -> Result<(), IndexError> {
        let folder = self.layout.folder().to_path_buf();
        let fail = |source| IndexError::sqlite(&folder, source);
        let rows = self.append_vectors(&batch.notes);
        let segment = batch
            .segment
            .map(|image| self.write_segment(&image))
            .transpose()?;
        self.vectors
            .sync()
            .map_err(|source| IndexError::vectors(&folder, source))?;

        let transaction = begin(&mut self.connection).map_err(fail)?;
        for ((number, first, note), rows) in batch.notes.iter().zip(&rows) {
            remove_note(
                &transaction,
                &mut self.segments,
                &mut self.model,
                &folder,
                *number,
            )?;
            insert_note(&transaction, &mut self.model, *number, *first, note, rows)
                .map_err(fail)?;
        }
        for other in &batch.others {
            let removed = record_other(&transaction, other, report).map_err(fail)?;
            if let Some(note) = removed {
                remove_note(
                    &transaction,
                    &mut self.segments,
                    &mut self.model,
                    &folder,
                    note,
                )?;
            }
        }
        if let Some(segment) = &segment {
            transaction
                .execute(
                    "INSERT INTO segments VALUES (?1, ?2, x'')",
                    params![segment.id, segment.segment.len()],
                )
                .map_err(fail)?;
        }
        save_state(
            &transaction,
            &mut self.segments,
            &self.model,
            self.vectors.rows(),
        )
        .map_err(fail)?;
        catalogue::set_meta(&transaction, "last_note", &batch.counters.note.to_string())
            .map_err(fail)?;
        catalogue::set_meta(
            &transaction,
            "last_passage",
            &batch.counters.passage.to_string(),
        )
        .map_err(fail)?;
        catalogue::next_generation(&transaction, unfinished).map_err(fail)?;
        transaction.commit().map_err(fail)?;

        self.segments.extend(segment);
        report.taken_in += batch.notes.len();
        report.stopped |= batch.stopped;
        Ok(())
    }

    /// Notes that the index holds everything.
    pub(crate) fn finish(&mut self) -> Result<(), IndexError> {
        catalogue::set_meta(&self.connection, "unfinished", "0").map_err(|e| self.failed(e))
    }

    /// Joins segments where that pays, and lets the write-ahead log flow back.
    pub(crate) fn tidy(&mut self) -> Result<(), IndexError> {
        self.merge_segments()?;
        // Readers may hold the log back; the next tidy tries again.
        let _ = self
            .connection
            .pragma_update(None, "wal_checkpoint", "PASSIVE");
        Ok(())
    }

    /// Writes and syncs a segment file under a number that was never used before.
    pub(crate) fn write_segment(&self, image: &[u8]) -> Result<OpenSegment, IndexError> {
        let highest: i64 = self
            .connection
            .query_row("SELECT coalesce(max(id), 0) FROM segments", [], |row| {
                row.get(0)
            })
            .map_err(|e| self.failed(e))?;
        let mut id = highest + 1;
        while self.layout.segment(id).exists() {
            id += 1;
        }
        let path = self.layout.segment(id);
        write_synced(&path, image).map_err(|source| {
            let _ = std::fs::remove_file(&path);
            IndexError::io(&path, source)
        })?;
        let segment =
            Segment::open(&path).map_err(|e| IndexError::segment(self.layout.folder(), &e))?;
        Ok(OpenSegment {
            id,
            segment,
            dead: Bitmap::new(),
            changed: false,
        })
    }

    /// Rules or ways of reading that changed make every note be looked at again. What remains to
    /// be read is marked in the catalogue, so that an interrupted update goes on with the rest.
    fn accept_settings(
        &mut self,
        settings: &IndexSettings,
        rules: &Rules,
    ) -> Result<(), IndexError> {
        let folder = self.layout.folder().to_path_buf();
        let fail = |source| IndexError::sqlite(&folder, source);
        let transaction = begin(&mut self.connection).map_err(fail)?;
        let reading = catalogue::meta(&transaction, "reading").map_err(fail)?;
        let known_rules = catalogue::meta(&transaction, "rules").map_err(fail)?;
        if reading == Some(settings.reading()) && known_rules == Some(rules_key(rules)) {
            return Ok(());
        }
        transaction
            .execute("UPDATE notes SET changed_ns = ?1", [OUTDATED])
            .map_err(fail)?;
        transaction
            .execute("DELETE FROM skipped", [])
            .map_err(fail)?;
        catalogue::set_meta(&transaction, "reading", &settings.reading()).map_err(fail)?;
        catalogue::set_meta(&transaction, "rules", &rules_key(rules)).map_err(fail)?;
        catalogue::set_meta(&transaction, "unfinished", "1").map_err(fail)?;
        transaction.commit().map_err(fail)
    }

    fn unfinished(&self) -> Result<bool, IndexError> {
        let value = catalogue::meta(&self.connection, "unfinished").map_err(|e| self.failed(e))?;
        Ok(value.as_deref() != Some("0"))
    }

    /// Appends the vectors that are not there yet; for each passage its row, if it has one.
    fn append_vectors(&mut self, notes: &[(u32, u32, PreparedNote)]) -> Vec<Vec<Option<u32>>> {
        let row = |passage: &crate::prepare::PreparedPassage| {
            let Embedded::Vector(vector) = &passage.embedded else {
                return None;
            };
            let known = self.vectors.keys().get(&passage.key);
            Some(known.unwrap_or_else(|| self.vectors.append(passage.key, vector)))
        };
        let mut row = row;
        notes
            .iter()
            .map(|(_, _, note)| note.passages.iter().map(&mut row).collect())
            .collect()
    }

    /// Deletes files that no generation names, or that were given up two generations ago.
    fn remove_orphans(&self) -> Result<(), IndexError> {
        let generation = self.generation()?;
        let read = || {
            let mut statement = self
                .connection
                .prepare("SELECT file FROM retired WHERE generation + 1 >= ?1")?;
            let rows = statement.query_map([generation as i64], |row| row.get::<_, String>(0))?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        };
        let resting = read().map_err(|e| self.failed(e))?;
        let live: Vec<String> = self
            .segments
            .iter()
            .map(|s| format!("{}.lex", s.id))
            .collect();
        let Ok(entries) = std::fs::read_dir(self.layout.segments()) else {
            return Ok(());
        };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if !live.contains(&name) && !resting.contains(&name) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
        self.connection
            .execute(
                "DELETE FROM retired WHERE generation + 1 < ?1",
                [generation as i64],
            )
            .map_err(|e| self.failed(e))?;
        Ok(())
    }

    pub(crate) fn failed(&self, source: rusqlite::Error) -> IndexError {
        IndexError::sqlite(self.layout.folder(), source)
    }
}

/// Rules as one word that differs when they do.
pub(crate) fn rules_key(rules: &Rules) -> String {
    blake3::Hash::from_bytes(rules.fingerprint())
        .to_hex()
        .to_string()
}

pub(crate) fn begin(connection: &mut Connection) -> rusqlite::Result<Transaction<'_>> {
    connection.transaction_with_behavior(TransactionBehavior::Immediate)
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
            Segment::open(&layout.segment(id)).map_err(|e| IndexError::segment(folder, &e))?;
        let dead = Bitmap::from_bytes(&dead).ok_or_else(|| IndexError::Damaged {
            path: folder.to_path_buf(),
            what: format!("the list of deleted passages of segment {id}"),
        })?;
        segments.push(OpenSegment {
            id,
            segment,
            dead,
            changed: false,
        });
    }
    Ok(segments)
}

fn model_row(
    layout: &Layout,
    connection: &Connection,
    embedder: &dyn Embedder,
) -> Result<(ModelRow, std::path::PathBuf, u64), IndexError> {
    let fail = |source| IndexError::sqlite(layout.folder(), source);
    let fingerprint = embedder.fingerprint();
    connection
        .execute(
            "INSERT OR IGNORE INTO models (fingerprint, folder, model, dimension, rows, live, outside)
             VALUES (?1, ?2, ?3, ?4, 0, x'', 0)",
            params![fingerprint.as_str(), fingerprint.id(), embedder.model(), embedder.dimension() as i64],
        )
        .map_err(fail)?;
    let (id, rows, live, outside): (i64, u64, Vec<u8>, u64) = connection
        .query_row(
            "SELECT id, rows, live, outside FROM models WHERE fingerprint = ?1",
            [fingerprint.as_str()],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)),
        )
        .map_err(fail)?;
    let live = if live.is_empty() {
        RowSet::new(0)
    } else {
        row_set(layout.folder(), &live)?
    };
    Ok((
        ModelRow { id, live, outside },
        layout.vectors(&fingerprint.id()),
        rows,
    ))
}

pub(crate) fn row_set(folder: &Path, bytes: &[u8]) -> Result<RowSet, IndexError> {
    RowSet::from_bytes(bytes).map_err(|e| IndexError::Damaged {
        path: folder.to_path_buf(),
        what: e.to_string(),
    })
}

/// Takes one note out of the catalogue, the segments and the vectors.
fn remove_note(
    transaction: &Transaction<'_>,
    segments: &mut [OpenSegment],
    model: &mut ModelRow,
    folder: &Path,
    note: u32,
) -> Result<(), IndexError> {
    let fail = |source| IndexError::sqlite(folder, source);
    let passages = catalogue::delete_note(transaction, note).map_err(fail)?;
    for passage in &passages {
        for open in segments.iter_mut() {
            let doc = open
                .segment
                .doc_of(*passage)
                .map_err(|e| IndexError::segment(folder, &e))?;
            if let Some(doc) = doc {
                open.changed |= open.dead.insert(doc);
                break;
            }
        }
    }
    remove_vectors(transaction, model, &passages).map_err(fail)
}

/// Passages of all models lose their vectors; a row that nothing uses any more is dead.
fn remove_vectors(
    transaction: &Transaction<'_>,
    model: &mut ModelRow,
    passages: &[u32],
) -> rusqlite::Result<()> {
    let mut find =
        transaction.prepare_cached("SELECT row FROM vectors WHERE model = ?1 AND passage = ?2")?;
    let mut delete =
        transaction.prepare_cached("DELETE FROM vectors WHERE passage = ?2 AND model = ?1")?;
    let mut used = transaction
        .prepare_cached("SELECT 1 FROM vectors WHERE model = ?1 AND row = ?2 LIMIT 1")?;
    for passage in passages {
        let row: Option<Option<u32>> = find
            .query_row(params![model.id, passage], |row| row.get(0))
            .optional()?;
        delete.execute(params![model.id, passage])?;
        match row {
            Some(Some(row)) if !used.exists(params![model.id, row])? => model.live.remove(row),
            Some(None) => model.outside = model.outside.saturating_sub(1),
            _ => {}
        }
    }
    Ok(())
}

fn insert_note(
    transaction: &Transaction<'_>,
    model: &mut ModelRow,
    number: u32,
    first: u32,
    note: &PreparedNote,
    rows: &[Option<u32>],
) -> rusqlite::Result<()> {
    catalogue::forget_skipped(transaction, note.entry.path.as_str())?;
    catalogue::insert_note(transaction, number, note)?;
    let mut vector = transaction.prepare_cached("INSERT INTO vectors VALUES (?1, ?2, ?3)")?;
    for (ordinal, (passage, row)) in note.passages.iter().zip(rows).enumerate() {
        let id = first + ordinal as u32;
        catalogue::insert_passage(transaction, id, number, ordinal, passage)?;
        if let Some(row) = row {
            model.live.grow(row + 1);
            model.live.insert(*row);
        }
        match passage.embedded {
            Embedded::Empty => continue,
            Embedded::OutsideVocabulary { .. } => model.outside += 1,
            Embedded::Vector(_) => {}
        }
        vector.execute(params![model.id, id, row])?;
    }
    Ok(())
}

/// Notes what became of a file that gave no note; the note that it was before, if that must go.
fn record_other(
    transaction: &Transaction<'_>,
    other: &Prepared,
    report: &mut UpdateReport,
) -> rusqlite::Result<Option<u32>> {
    match other {
        Prepared::Same { note, entry } => {
            report.unchanged += 1;
            catalogue::touch_note(transaction, *note, entry)?;
        }
        Prepared::Skipped {
            entry,
            code,
            reason,
            failed,
        } => {
            report.skipped += 1;
            catalogue::skip_file(transaction, entry, code, reason, *failed)?;
            return transaction
                .prepare_cached("SELECT id FROM notes WHERE path = ?1")?
                .query_row([entry.path.as_str()], |row| row.get(0))
                .optional();
        }
        Prepared::Later | Prepared::Note(_) => {}
    }
    Ok(None)
}

fn save_state(
    transaction: &Transaction<'_>,
    segments: &mut [OpenSegment],
    model: &ModelRow,
    rows: u32,
) -> rusqlite::Result<()> {
    for open in segments.iter_mut().filter(|open| open.changed) {
        transaction
            .prepare_cached("UPDATE segments SET dead = ?2 WHERE id = ?1")?
            .execute(params![open.id, open.dead.to_bytes()])?;
        open.changed = false;
    }
    transaction
        .prepare_cached("UPDATE models SET rows = ?2, live = ?3, outside = ?4 WHERE id = ?1")?
        .execute(params![
            model.id,
            rows,
            model.live.to_bytes(),
            model.outside as i64
        ])?;
    Ok(())
}

/// Writes a file so that it is whole on disk, folder entry included, when this returns.
fn write_synced(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    use std::io::Write;
    let mut file = std::fs::File::create_new(path)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    #[cfg(unix)]
    if let Some(folder) = path.parent() {
        std::fs::File::open(folder)?.sync_all()?;
    }
    Ok(())
}
