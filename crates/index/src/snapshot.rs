//! One generation of an index, open for reading.

use std::cell::OnceCell;
use std::collections::HashSet;

use lorewell_graph::{NameEntry, Names};
use lorewell_lexical::{Bitmap, Live};
use lorewell_text::{NotePath, name_key};
use lorewell_vault::{Listing, Rules};
use lorewell_vectors::{RowSet, VectorReader};
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::accept::{excluded, knows_filters, rules_key};
use crate::model::Model;
use crate::state::{OpenSegment, open_segments};
use crate::{
    Changes, Date, IndexError, IndexSettings, Layout, LinkTarget, ModelState, SkippedFile,
    StoredNote, StoredPassage, Totals, Warning, catalogue, purge, schema,
};

/// A whole generation: catalogue, segments and vectors agree, whatever a writer does meanwhile.
///
/// Holds a read transaction open as long as it lives; open a new one to see newer generations.
pub struct Snapshot {
    pub(crate) layout: Layout,
    pub(crate) connection: Connection,
    pub(crate) segments: Vec<OpenSegment>,
    pub(crate) model: Option<Model>,
    fingerprint: String,
    totals: Totals,
    names: OnceCell<Names>,
}

/// What a name of a note is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NameKind {
    /// The file name.
    File = 0,
    /// The `title` property.
    Title = 1,
    /// An alias.
    Alias = 2,
    /// The level-1 heading that the note begins with.
    Heading = 3,
}

/// A name of a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteName {
    /// The note's number.
    pub note: u32,
    /// What the name is.
    pub kind: NameKind,
    /// The name as written.
    pub name: String,
}

/// Which notes are asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// Only notes in one of these folders or below; empty: everywhere.
    pub folders: Vec<String>,
    /// Only notes with all of these tags, each itself or as a parent.
    pub tags: Vec<String>,
}

impl Scope {
    /// Whether every note is asked.
    pub fn is_everything(&self) -> bool {
        self.folders.is_empty() && self.tags.is_empty()
    }
}

impl Snapshot {
    /// Opens the newest generation of the index. `fingerprint` names the model whose vectors are
    /// wanted.
    ///
    /// # Errors
    /// [`IndexError::Absent`] if nothing was built yet; damage, format and permission as named.
    pub fn open(layout: &Layout, fingerprint: &str) -> Result<Snapshot, IndexError> {
        // A segment that is given up between the look at the list and its opening is found
        // under the next generation.
        let mut attempts = 0;
        loop {
            match Snapshot::open_once(layout, fingerprint) {
                Err(IndexError::Damaged { .. }) if attempts < 3 && layout.exists() => attempts += 1,
                other => return other,
            }
        }
    }

    fn open_once(layout: &Layout, fingerprint: &str) -> Result<Snapshot, IndexError> {
        let folder = layout.folder();
        let fail = |source| IndexError::sqlite(folder, source);
        let connection = schema::open_for_reading(layout)?;
        connection.execute_batch("BEGIN").map_err(fail)?;
        let totals = read_totals(&connection).map_err(fail)?;
        let segments = open_segments(layout, &connection)?;
        let model = Model::open(layout, &connection, fingerprint)?;
        Ok(Snapshot {
            layout: layout.clone(),
            connection,
            segments,
            model,
            fingerprint: fingerprint.to_string(),
            totals,
            names: OnceCell::new(),
        })
    }

    /// Counts of this generation.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Where the index lies.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Whether a newer generation has been committed.
    pub fn is_outdated(&self) -> bool {
        schema::open_for_reading(&self.layout)
            .ok()
            .and_then(|connection| catalogue::generation(&connection).ok())
            .is_some_and(|generation| generation != self.totals.generation)
    }

    /// The lexical segments with their dead passages.
    pub fn segments(&self) -> Vec<Live<'_>> {
        self.segments.iter().map(OpenSegment::live).collect()
    }

    /// Vectors of the wanted model, and which rows are alive; `None` if it has none here.
    pub fn vectors(&self) -> Option<(&VectorReader, &RowSet)> {
        self.model
            .as_ref()
            .map(|model| (&model.reader, &model.live))
    }

    /// The state of the wanted model.
    pub fn model(&self) -> Option<&ModelState> {
        self.model.as_ref().map(|model| &model.state)
    }

    /// The passages that a vector row stands for (several with the same text share one), by path
    /// and place in the note.
    pub fn passages_of_row(&self, row: u32) -> Result<Vec<u32>, IndexError> {
        let Some(model) = &self.model else {
            return Ok(Vec::new());
        };
        let passages = self.query(
            "SELECT passage FROM vectors WHERE model = ?1 AND row = ?2",
            params![model.id, row],
            |row| row.get(0),
        )?;
        if passages.len() < 2 {
            return Ok(passages);
        }
        self.query(
            "SELECT v.passage FROM vectors v JOIN passages p ON p.id = v.passage JOIN notes n ON n.id = p.note
             WHERE v.model = ?1 AND v.row = ?2 ORDER BY n.path, p.ordinal",
            params![model.id, row],
            |row| row.get(0),
        )
    }

    /// The vector row of a passage, if it has one.
    pub fn row_of_passage(&self, passage: u32) -> Result<Option<u32>, IndexError> {
        let Some(model) = &self.model else {
            return Ok(None);
        };
        let read = || {
            self.connection
                .prepare_cached("SELECT row FROM vectors WHERE model = ?1 AND passage = ?2")?
                .query_row(params![model.id, passage], |row| {
                    row.get::<_, Option<u32>>(0)
                })
                .optional()
        };
        Ok(read().map_err(|e| self.failed(e))?.flatten())
    }

    /// A passage with its text.
    pub fn passage(&self, id: u32) -> Result<Option<StoredPassage>, IndexError> {
        self.connection
            .prepare_cached("SELECT * FROM passages WHERE id = ?1")
            .and_then(|mut s| s.query_row([id], read_passage).optional())
            .map_err(|e| self.failed(e))
    }

    /// The numbers of a note's passages, in order.
    pub fn passages_of(&self, note: u32) -> Result<Vec<u32>, IndexError> {
        catalogue::passages_of(&self.connection, note)
            .map(Iterator::collect)
            .map_err(|e| self.failed(e))
    }

    /// A note by its number.
    pub fn note(&self, id: u32) -> Result<Option<StoredNote>, IndexError> {
        self.connection
            .prepare_cached(&format!("{NOTE} WHERE id = ?1"))
            .and_then(|mut s| s.query_row([id], read_note).optional())
            .map_err(|e| self.failed(e))
    }

    /// The path of a note; empty if there is none of this number.
    pub fn path_of(&self, note: u32) -> Result<String, IndexError> {
        self.connection
            .prepare_cached("SELECT path FROM notes WHERE id = ?1")
            .and_then(|mut s| s.query_row([note], |row| row.get(0)).optional())
            .map(Option::unwrap_or_default)
            .map_err(|e| self.failed(e))
    }

    /// A note by its path as on disk.
    pub fn note_at(&self, path: &str) -> Result<Option<StoredNote>, IndexError> {
        self.connection
            .prepare_cached(&format!("{NOTE} WHERE path = ?1"))
            .and_then(|mut s| s.query_row([path], read_note).optional())
            .map_err(|e| self.failed(e))
    }

    /// The notes that bear a name, compared by [`name_key`].
    pub fn notes_named(&self, name: &str) -> Result<Vec<NoteName>, IndexError> {
        let key = name_key(name);
        self.query(
            "SELECT note, kind, name FROM names WHERE key = ?1 ORDER BY kind, note",
            [&key],
            read_name,
        )
    }

    /// The names whose [`name_key`] begins with a text, by key.
    pub fn names_beginning(&self, text: &str) -> Result<Vec<NoteName>, IndexError> {
        let last = format!("{text}\u{10FFFF}");
        self.query(
            "SELECT note, kind, name FROM names WHERE key >= ?1 AND key <= ?2 ORDER BY key",
            params![text, last],
            read_name,
        )
    }

    /// Every name of every note, by note.
    pub fn names(&self) -> Result<Vec<NoteName>, IndexError> {
        self.query(
            "SELECT note, kind, name FROM names ORDER BY note, kind",
            [],
            read_name,
        )
    }

    /// The table that tells which note a link means. Made on first use.
    pub fn link_names(&self) -> Result<&Names, IndexError> {
        if let Some(names) = self.names.get() {
            return Ok(names);
        }
        let notes: Vec<(u32, String, Vec<String>)> = self.query(
            "SELECT id, path, aliases FROM notes ORDER BY path",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, catalogue::texts(row, 2)?)),
        )?;
        let entries = notes.iter().map(|(id, path, aliases)| NameEntry {
            id: *id,
            path,
            aliases,
        });
        Ok(self.names.get_or_init(|| Names::new(entries)))
    }

    /// The links of a note, each with what it means in this generation.
    pub fn links_from(&self, note: &StoredNote) -> Result<Vec<LinkTarget>, IndexError> {
        let names = self.link_names()?;
        crate::links::outgoing(&self.connection, names, note.id, note.path.as_str())
            .map_err(|e| self.failed(e))
    }

    /// The notes within a scope, as a set of numbers; `None` for everything.
    pub fn notes_in(&self, scope: &Scope) -> Result<Option<HashSet<u32>>, IndexError> {
        if scope.is_everything() {
            return Ok(None);
        }
        let folders: Vec<String> = scope
            .folders
            .iter()
            .map(|f| name_key(f.trim_matches('/')))
            .collect();
        let tags: Vec<String> = scope
            .tags
            .iter()
            .map(|t| name_key(t.trim_start_matches('#')))
            .collect();
        let in_folder = |path: &str| {
            let key = name_key(path);
            folders.is_empty()
                || folders.iter().any(|f| {
                    f.is_empty()
                        || key
                            .strip_prefix(f.as_str())
                            .is_some_and(|r| r.starts_with('/'))
                })
        };
        let read = || {
            let mut found: HashSet<u32> = self
                .connection
                .prepare_cached("SELECT id, path FROM notes")?
                .query_map([], |row| {
                    Ok((row.get::<_, u32>(0)?, row.get::<_, String>(1)?))
                })?
                .filter(|row| row.as_ref().map_or(true, |(_, path)| in_folder(path)))
                .map(|row| row.map(|(id, _)| id))
                .collect::<rusqlite::Result<_>>()?;
            for tag in &tags {
                let with: HashSet<u32> = self
                    .connection
                    .prepare_cached("SELECT note FROM tags WHERE key = ?1")?
                    .query_map([tag], |row| row.get(0))?
                    .collect::<rusqlite::Result<_>>()?;
                found.retain(|id| with.contains(id));
            }
            Ok(found)
        };
        read().map(Some).map_err(|e| self.failed(e))
    }

    /// The passages of some notes, by number, and their vector rows.
    pub fn passages_of_notes(&self, notes: &HashSet<u32>) -> Result<(Bitmap, RowSet), IndexError> {
        let model = self.model.as_ref();
        let mut rows = RowSet::new(model.map_or(0, |m| m.live.rows()));
        let mut passages = Bitmap::new();
        let mut read = || {
            let mut statement = self.connection.prepare_cached(
                "SELECT p.id, v.row FROM notes n
                 JOIN passages p ON p.id >= n.first_passage AND p.id < n.first_passage + n.passages
                 LEFT JOIN vectors v ON v.model = ?1 AND v.passage = p.id
                 WHERE n.id = ?2",
            )?;
            for note in notes {
                let found = statement
                    .query_map(params![model.map_or(0, |m| m.id), note], |row| {
                        Ok((row.get::<_, u32>(0)?, row.get::<_, Option<u32>>(1)?))
                    })?;
                for pair in found {
                    let (passage, row) = pair?;
                    passages.insert(passage);
                    if let Some(row) = row {
                        rows.insert(row);
                    }
                }
            }
            Ok(())
        };
        read().map_err(|e| self.failed(e))?;
        Ok((passages, rows))
    }

    /// Passages whose text holds a piece exactly as written, at most `limit`, by path and place in
    /// the note.
    pub fn passages_holding(&self, piece: &str, limit: usize) -> Result<Vec<u32>, IndexError> {
        self.query(
            "SELECT p.id FROM passages p JOIN notes n ON n.id = p.note WHERE instr(p.text, ?1) > 0
             ORDER BY n.path, p.ordinal LIMIT ?2",
            params![piece, limit as i64],
            |row| row.get(0),
        )
    }

    /// How the folder differs from this generation, by file stamps alone.
    pub fn changes(&self, listing: &Listing) -> Result<Changes, IndexError> {
        Changes::find(&self.connection, listing).map_err(|e| self.failed(e))
    }

    /// Whether the notes were read under these settings and rules and with the wanted model, and
    /// nothing of excluded notes is left in the files.
    pub fn was_read_with(
        &self,
        settings: &IndexSettings,
        rules: &Rules,
    ) -> Result<bool, IndexError> {
        let read = || {
            let reading = catalogue::meta(&self.connection, "reading")?;
            Ok(reading == Some(settings.reading(&self.fingerprint))
                && knows_filters(&self.connection, rules)?
                && !purge::is_wanted(&self.connection)?)
        };
        Ok(read().map_err(|e| self.failed(e))? && self.excludes_by(rules)?)
    }

    /// Whether these are the rules by which notes were left out.
    pub fn excludes_by(&self, rules: &Rules) -> Result<bool, IndexError> {
        let known = catalogue::meta(&self.connection, "rules").map_err(|e| self.failed(e))?;
        Ok(known == Some(rules_key(rules)))
    }

    /// Whether it holds a note that these rules exclude.
    pub fn holds_excluded(&self, rules: &Rules) -> Result<bool, IndexError> {
        if self.excludes_by(rules)? {
            return Ok(false);
        }
        let found = excluded(&self.connection, rules).map_err(|e| self.failed(e))?;
        Ok(!found.is_empty())
    }

    /// Files that were read and not taken in.
    pub fn skipped(&self) -> Result<Vec<SkippedFile>, IndexError> {
        self.query(
            "SELECT path, code, reason, failed FROM skipped ORDER BY path",
            [],
            |row| {
                Ok(SkippedFile {
                    path: row.get(0)?,
                    code: row.get(1)?,
                    reason: row.get(2)?,
                    failed: row.get(3)?,
                })
            },
        )
    }

    /// Warnings of reading, by path and line; at most `limit`, with how many there are in all.
    pub fn warnings(&self, limit: usize) -> Result<(Vec<Warning>, u64), IndexError> {
        let list = self.query(
            "SELECT n.path, w.line, w.message FROM warnings w JOIN notes n ON n.id = w.note
             ORDER BY n.path, w.line LIMIT ?1",
            [limit as i64],
            |row| {
                Ok(Warning {
                    path: row.get(0)?,
                    line: row.get(1)?,
                    message: row.get(2)?,
                })
            },
        )?;
        let total = self
            .connection
            .query_row("SELECT count(*) FROM warnings", [], |row| row.get(0))
            .map_err(|e| self.failed(e))?;
        Ok((list, total))
    }

    /// All rows of a statement.
    pub(crate) fn query<T>(
        &self,
        sql: &str,
        params: impl rusqlite::Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, IndexError> {
        let rows = || {
            self.connection
                .prepare_cached(sql)?
                .query_map(params, read)?
                .collect::<rusqlite::Result<Vec<T>>>()
        };
        rows().map_err(|e| self.failed(e))
    }

    pub(crate) fn failed(&self, source: rusqlite::Error) -> IndexError {
        IndexError::sqlite(self.layout.folder(), source)
    }
}

fn read_totals(connection: &Connection) -> rusqlite::Result<Totals> {
    Ok(Totals {
        generation: catalogue::generation(connection)?,
        updated_at: catalogue::meta(connection, "updated_at")?.unwrap_or_default(),
        notes: catalogue::number(connection, "notes")?,
        passages: catalogue::number(connection, "passages")?,
        unfinished: catalogue::unfinished(connection)?,
    })
}

const NOTE: &str = "SELECT id, path, title, aliases, tags, date, date_source, content_hash, encoding, passages FROM notes";

fn read_note(row: &Row<'_>) -> rusqlite::Result<StoredNote> {
    Ok(StoredNote {
        id: row.get(0)?,
        path: NotePath::new(row.get::<_, String>(1)?),
        title: row.get(2)?,
        aliases: catalogue::texts(row, 3)?,
        tags: catalogue::texts(row, 4)?,
        date: Date {
            day: row.get(5)?,
            source: row.get(6)?,
        },
        content_hash: row.get(7)?,
        encoding: row.get(8)?,
        passages: row.get(9)?,
    })
}

fn read_passage(row: &Row<'_>) -> rusqlite::Result<StoredPassage> {
    Ok(StoredPassage {
        id: row.get(0)?,
        note: row.get(1)?,
        ordinal: row.get(2)?,
        byte_range: row.get::<_, u64>(3)?..row.get::<_, u64>(4)?,
        line_range: (row.get(5)?, row.get(6)?),
        heading_path: catalogue::texts(row, 7)?,
        hidden: catalogue::ranges(row, 8)?,
        text: row.get(9)?,
    })
}

fn read_name(row: &Row<'_>) -> rusqlite::Result<NoteName> {
    let kind = match row.get::<_, i64>(1)? {
        1 => NameKind::Title,
        2 => NameKind::Alias,
        3 => NameKind::Heading,
        _ => NameKind::File,
    };
    Ok(NoteName {
        note: row.get(0)?,
        kind,
        name: row.get(2)?,
    })
}
