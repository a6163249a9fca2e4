//! The one writer of an index: publishes batches, removes notes.

use std::sync::Arc;

use lorewell_embed::{Cost, Embedder};
use lorewell_lexical::Segment;
use lorewell_text::NotePath;
use lorewell_vault::{Listing, Vault};
use lorewell_vectors::{Key, KnownVectors, VectorWriter};
use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use crate::batch::{Batch, BatchNote, Counters};
use crate::compare::Changes;
use crate::failpoint::failpoint;
use crate::known::{self, Sources};
use crate::prepare::{Meaning, Preparation};
use crate::record::record_other;
use crate::state::{OpenSegment, State};
use crate::update::{self, Observer, UpdateReport};
use crate::whole::Step;
use crate::{IndexError, IndexSettings, Layout, Lock, catalogue, heal, purge, schema};

/// Writes an index. Holds the writer's lock as long as it lives.
pub struct Writer {
    pub(crate) layout: Layout,
    pub(crate) connection: Connection,
    pub(crate) state: State,
    pub(crate) vectors: VectorWriter,
    /// Of the model that is written for, as it was when the writer was opened.
    pub(crate) fingerprint: String,
    /// Other places that are asked for vectors.
    elsewhere: Vec<Arc<dyn KnownVectors>>,
    /// One transaction is open for all batches.
    pub(crate) whole: bool,
    /// An update failed: memory may be ahead of what is published.
    astray: bool,
    _lock: Lock,
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
        let generation = catalogue::generation(&connection);
        let generation = generation.map_err(|e| IndexError::sqlite(layout.folder(), e))?;
        if generation == 0 || !segments_folder.is_dir() {
            // One that made it may have ended before its name was sure to last.
            std::fs::create_dir_all(&segments_folder)
                .and_then(|()| sync_folder(layout.folder()))
                .map_err(|source| IndexError::folder(&segments_folder, source))?;
        }
        let (state, vectors) = load(layout, &connection, embedder)?;
        let writer = Writer {
            layout: layout.clone(),
            connection,
            state,
            vectors,
            fingerprint: embedder.fingerprint().as_str().to_string(),
            elsewhere: Vec::new(),
            whole: false,
            astray: false,
            _lock: lock,
        };
        writer.remove_orphans()?;
        Ok(writer)
    }

    /// Asks this place too before a text is embedded, if the model is dear. Places are asked in
    /// the order in which they came, after the index itself.
    pub fn ask_also(&mut self, place: Arc<dyn KnownVectors>) {
        self.elsewhere.push(place);
    }

    /// Compares the folder with the index and takes in what changed.
    ///
    /// Notes that the index holds and that must be read in another way (other settings, or
    /// [`read_everything`](Self::read_everything)) become visible all at once, with everything
    /// else that changed: until then, readers see the old generation. Stopped before that, the old
    /// generation stays.
    ///
    /// A vector of a model that is dear comes later: see [`Snapshot::waiting`](crate::Snapshot::waiting).
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
        if self.astray {
            self.reload(embedder)?;
        }
        self.while_astray(|writer| writer.take_in(vault, listing, settings, embedder, observer))
    }

    /// Runs what changes memory before it is published.
    pub(crate) fn while_astray<T>(
        &mut self,
        work: impl FnOnce(&mut Writer) -> Result<T, IndexError>,
    ) -> Result<T, IndexError> {
        self.astray = true;
        let outcome = work(self)?;
        self.astray = false;
        Ok(outcome)
    }

    /// Goes back to what is published.
    pub(crate) fn reload(&mut self, embedder: &dyn Embedder) -> Result<(), IndexError> {
        self.whole = false;
        if !self.connection.is_autocommit() {
            self.connection
                .execute_batch("ROLLBACK")
                .map_err(|e| self.failed(e))?;
        }
        (self.state, self.vectors) = load(&self.layout, &self.connection, embedder)?;
        self.astray = false;
        Ok(())
    }

    fn take_in(
        &mut self,
        vault: &Vault,
        listing: &Listing,
        settings: &IndexSettings,
        embedder: &dyn Embedder,
        observer: &dyn Observer,
    ) -> Result<UpdateReport, IndexError> {
        let mut report = UpdateReport {
            removed: self.accept(
                Some(&settings.reading(&listing.app_folders)),
                &listing.rules,
            )?,
            ..UpdateReport::default()
        };
        let changes = Changes::find(&self.connection, listing).map_err(|e| self.failed(e))?;
        report.unreadable = changes.unread();
        let dear = embedder.cost() == Cost::Dear;
        let waits = self.state.model.waiting > 0 && !dear;
        if !changes.is_empty() || waits || self.unfinished()? || !self.state.others.is_empty() {
            let elsewhere = std::mem::take(&mut self.elsewhere);
            let refused = known::refused(&self.connection, self.state.model.id);
            let sources = Sources::new(
                embedder.fingerprint().as_str(),
                Arc::clone(self.vectors.keys()),
                refused.map_err(|e| self.failed(e))?,
                match dear {
                    true => elsewhere.iter().map(AsRef::as_ref).collect(),
                    false => Vec::new(),
                },
            );
            let preparation = Preparation {
                vault,
                settings,
                rules: &listing.rules,
                app_folders: &listing.app_folders,
                embedder,
                sources: &sources,
            };
            let outcome = update::run(self, &preparation, changes, observer, &mut report);
            drop(sources);
            self.elsewhere = elsewhere;
            if outcome.is_err() && !self.connection.is_autocommit() {
                // The error is what is told; nothing of this is kept in any case.
                let _ = self.connection.execute_batch("ROLLBACK");
            }
            outcome?;
        }
        report.generation = self.generation()?;
        Ok(report)
    }

    /// Makes the next update read every note anew, whatever its stamp.
    ///
    /// # Errors
    /// See [`IndexError`].
    pub fn read_everything(&mut self) -> Result<(), IndexError> {
        catalogue::set_meta(&self.connection, "reading", "").map_err(|e| self.failed(e))
    }

    /// The number of the newest generation.
    ///
    /// # Errors
    /// See [`IndexError`].
    pub fn generation(&self) -> Result<u64, IndexError> {
        catalogue::generation(&self.connection).map_err(|e| self.failed(e))
    }

    pub(crate) fn counters(&self) -> Result<Counters, IndexError> {
        let number = |key| catalogue::number(&self.connection, key).map_err(|e| self.failed(e));
        Ok(Counters {
            note: number("last_note")? as u32,
            passage: number("last_passage")? as u32,
        })
    }

    /// Removes notes and forgets skipped files, in one transaction. Within a whole they go with it.
    pub(crate) fn remove(
        &mut self,
        notes: &[(u32, NotePath)],
        forgotten: &[String],
    ) -> Result<usize, IndexError> {
        let layout = self.layout.clone();
        let fail = |source| IndexError::sqlite(layout.folder(), source);
        let transaction = Step::begin(&self.connection, self.whole).map_err(fail)?;
        for (note, _) in notes {
            self.state.remove_note(&transaction, &layout, *note)?;
        }
        let mut visible = !notes.is_empty();
        for path in forgotten {
            visible |= catalogue::is_told(&transaction, path).map_err(fail)?;
            catalogue::forget_skipped(&transaction, path).map_err(fail)?;
        }
        self.state
            .save(&transaction, self.vectors.rows())
            .map_err(fail)?;
        if visible && !self.whole {
            catalogue::next_generation(&transaction).map_err(fail)?;
        }
        failpoint("before-remove-commit")?;
        transaction.commit().map_err(fail)?;
        failpoint("after-remove-commit")?;
        Ok(notes.len())
    }

    /// Makes a batch visible: files first, then the transaction that names them. Within a whole it
    /// becomes visible with it.
    pub(crate) fn publish(
        &mut self,
        batch: Batch,
        unfinished: bool,
        report: &mut UpdateReport,
    ) -> Result<(), IndexError> {
        let layout = self.layout.clone();
        let fail = |source| IndexError::sqlite(layout.folder(), source);
        let rows = self.append_vectors(&batch.notes);
        failpoint("after-vectors-append")?;
        let segment = batch
            .segment
            .map(|image| self.write_segment(&image))
            .transpose()?;
        failpoint("after-segment-write")?;
        self.sync_vectors()?;
        failpoint("after-vectors-sync")?;

        let transaction = Step::begin(&self.connection, self.whole).map_err(fail)?;
        let mut visible = !batch.notes.is_empty();
        let mut excluded = false;
        for (new, rows) in batch.notes.iter().zip(&rows) {
            if new.replaces {
                self.state.remove_note(&transaction, &layout, new.number)?;
            }
            self.state
                .insert_note(&transaction, new, rows)
                .map_err(fail)?;
        }
        for other in &batch.others {
            let outcome = record_other(&transaction, &mut self.state, &layout, other, report)?;
            visible |= outcome.visible;
            excluded |= outcome.excluded;
        }
        if excluded {
            purge::want(&transaction).map_err(fail)?;
        }
        if let Some(segment) = &segment {
            insert_segment(&transaction, segment).map_err(fail)?;
        }
        self.state
            .save(&transaction, self.vectors.rows())
            .map_err(fail)?;
        batch.counters.save(&transaction).map_err(fail)?;
        catalogue::set_unfinished(&transaction, unfinished).map_err(fail)?;
        if visible && !self.whole {
            catalogue::next_generation(&transaction).map_err(fail)?;
        }
        failpoint("before-commit")?;
        transaction.commit().map_err(fail)?;
        failpoint("after-commit")?;

        self.state.segments.extend(segment);
        report.taken_in += batch.notes.len();
        Ok(())
    }

    /// Waits until the disk has all rows that were appended.
    pub(crate) fn sync_vectors(&mut self) -> Result<(), IndexError> {
        if u64::from(self.vectors.rows()) > self.state.model.rows {
            self.vectors
                .sync()
                .map_err(|source| IndexError::vectors(self.layout.folder(), source))?;
        }
        Ok(())
    }

    /// Notes that the index holds everything.
    pub(crate) fn finish(&mut self) -> Result<(), IndexError> {
        catalogue::set_unfinished(&self.connection, false).map_err(|e| self.failed(e))
    }

    /// Drops the vectors of other models that nobody is likely to ask for any more.
    pub(crate) fn forget_idle_models(&mut self) -> Result<(), IndexError> {
        let folder = self.layout.folder().to_path_buf();
        let fail = |source| IndexError::sqlite(&folder, source);
        let idle = self.state.idle_models(&self.connection).map_err(fail)?;
        if idle.is_empty() {
            return Ok(());
        }
        let transaction = begin(&mut self.connection).map_err(fail)?;
        self.state
            .forget_models(&transaction, &idle)
            .map_err(fail)?;
        catalogue::next_generation(&transaction).map_err(fail)?;
        failpoint("before-models-commit")?;
        transaction.commit().map_err(fail)?;
        failpoint("after-models-commit")?;
        self.remove_unnamed_vectors()?;
        Ok(())
    }

    /// Writes and syncs a segment file under a number that was never used before.
    pub(crate) fn write_segment(&self, image: &[u8]) -> Result<OpenSegment, IndexError> {
        let last = catalogue::number(&self.connection, "last_segment");
        let mut id = last.map_err(|e| self.failed(e))? as i64 + 1;
        while self.layout.segment(id).exists() || self.layout.mark_of_damage(id).exists() {
            id += 1;
        }
        let path = self.layout.segment(id);
        write_synced(&path, image).map_err(|source| {
            let _ = std::fs::remove_file(&path);
            IndexError::io(&path, source)
        })?;
        let segment =
            Segment::open(&path).map_err(|e| IndexError::segment(self.layout.folder(), e))?;
        Ok(OpenSegment::fresh(id, segment))
    }

    fn unfinished(&self) -> Result<bool, IndexError> {
        catalogue::unfinished(&self.connection).map_err(|e| self.failed(e))
    }

    /// Appends the vectors that are not there yet; for each passage its row, if it has one.
    fn append_vectors(&mut self, notes: &[BatchNote]) -> Vec<Vec<Option<u32>>> {
        let mut rows = Vec::with_capacity(notes.len());
        for new in notes {
            let passages = new.note.passages.iter();
            rows.push(
                passages
                    .map(|passage| self.row_of(&passage.key, &passage.meaning))
                    .collect(),
            );
        }
        rows
    }

    /// The row of a text: one that is there, or one that is appended for its vector.
    pub(crate) fn row_of(&mut self, key: &Key, meaning: &Meaning) -> Option<u32> {
        let known = self.vectors.keys().get(key);
        match meaning {
            Meaning::Vector(vector) => {
                Some(known.unwrap_or_else(|| self.vectors.append(*key, vector)))
            }
            Meaning::Known => known,
            _ => None,
        }
    }

    pub(crate) fn synced_rows(&self) -> u32 {
        self.vectors.rows()
    }

    pub(crate) fn failed(&self, source: rusqlite::Error) -> IndexError {
        IndexError::sqlite(self.layout.folder(), source)
    }
}

/// What is published, as the writer needs it.
fn load(
    layout: &Layout,
    connection: &Connection,
    embedder: &dyn Embedder,
) -> Result<(State, VectorWriter), IndexError> {
    heal::let_damaged_vectors_go(layout, connection)?;
    let state = State::load(layout, connection, embedder)?;
    let folder = layout.vectors(&state.model.folder);
    let is_new = state.model.rows == 0 || !folder.exists();
    let vectors = VectorWriter::open(&folder, embedder.dimension(), state.model.rows)
        .map_err(|source| IndexError::vectors(layout.folder(), source))?;
    if is_new {
        // The names that a catalogue relies on must last as long as it does.
        for folder in [&layout.all_vectors(), layout.folder()] {
            sync_folder(folder).map_err(|source| IndexError::io(folder, source))?;
        }
    }
    Ok((state, vectors))
}

pub(crate) fn begin(connection: &mut Connection) -> rusqlite::Result<Transaction<'_>> {
    connection.transaction_with_behavior(TransactionBehavior::Immediate)
}

pub(crate) fn insert_segment(
    transaction: &Connection,
    segment: &OpenSegment,
) -> rusqlite::Result<()> {
    transaction.execute(
        "INSERT INTO segments VALUES (?1, ?2, x'')",
        params![segment.id, segment.segment.len()],
    )?;
    catalogue::set_meta(transaction, "last_segment", &segment.id.to_string())
}

/// Writes a file so that it is whole on disk, folder entry included, when this returns.
fn write_synced(path: &std::path::Path, bytes: &[u8]) -> std::io::Result<()> {
    use std::io::Write;
    let mut file = std::fs::File::create_new(path)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    path.parent().map_or(Ok(()), sync_folder)
}

/// Makes new names in a folder last; only Unix can and needs it.
pub(crate) fn sync_folder(folder: &std::path::Path) -> std::io::Result<()> {
    if cfg!(unix) {
        std::fs::File::open(folder)?.sync_all()?;
    }
    Ok(())
}
