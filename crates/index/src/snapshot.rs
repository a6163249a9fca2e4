//! One generation of an index, open for reading.

use std::cell::OnceCell;

use lorewell_lexical::Live;
use lorewell_text::{NotePath, name_key};
use lorewell_vault::{Listing, Rules};
use lorewell_vectors::{RowSet, VectorReader};
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::accept::{excluded, knows_filters, rules_key};
use crate::model::Model;
use crate::passage_sum::is_sound;
use crate::rest::Mark;
use crate::sealed::{self, is_sealed};
use crate::state::{OpenSegment, OpenSegments, open_segments};
use crate::{
    Changes, Date, Evidence, EvidenceClass, IndexError, IndexSettings, Layout, ModelState,
    SkippedFile, StoredNote, StoredPassage, Totals, Warning, catalogue, purge, schema,
};

/// A whole generation: catalogue, segments and vectors agree, whatever a writer does meanwhile.
///
/// Holds a read transaction open as long as it lives; open a new one to see newer generations.
pub struct Snapshot {
    pub(crate) layout: Layout,
    pub(crate) connection: Connection,
    pub(crate) segments: Vec<OpenSegment>,
    pub(crate) model: Option<Model>,
    pub(crate) damage: Damage,
    fingerprint: String,
    totals: Totals,
    /// How the catalogue was when it was opened.
    pub(crate) mark: Mark,
    /// Segments in whose bodies a fault was found since, by number, and the first fault.
    pub(crate) set_aside: OnceCell<SetAside>,
    /// What is wrong with the first damaged passage that was come upon.
    damaged_passage: OnceCell<String>,
    /// First passage, passages and class of notes of a lesser class of evidence.
    pub(crate) lesser: OnceCell<Vec<(u32, u32, EvidenceClass)>>,
}

/// The damaged files of a generation: what is wrong with the first of each kind.
#[derive(Default)]
pub(crate) struct Damage {
    words: Option<String>,
    vectors: Option<String>,
    /// Of a model in whose place another answers.
    passed_over: Option<String>,
}

/// Columns of the passages before their checksum.
pub(crate) const PASSAGE_COLUMNS: usize = 11;

/// Segments that a snapshot no longer answers from.
pub(crate) struct SetAside {
    segments: Vec<i64>,
    what: String,
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
            let outcome = Snapshot::open_once(layout, fingerprint);
            let again = match &outcome {
                Ok(snapshot) => snapshot.damage().is_some(),
                Err(error) => matches!(error, IndexError::Damaged { .. }) && layout.exists(),
            };
            if !again || attempts == 3 {
                return outcome;
            }
            attempts += 1;
        }
    }

    /// Opens the newest generation for the model that answers of several, the wanted one first: the
    /// first, once it covers what it can; until then another that has vectors here.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_for_any(layout: &Layout, fingerprints: &[&str]) -> Result<Snapshot, IndexError> {
        let [wanted, others @ ..] = fingerprints else {
            return Snapshot::open(layout, "");
        };
        let snapshot = Snapshot::open(layout, wanted)?;
        let is_whole = snapshot.damage.vectors.is_none();
        let is_complete = snapshot.model().is_some_and(ModelState::is_complete);
        if others.is_empty() || is_complete && is_whole {
            return Ok(snapshot);
        }
        for other in others {
            let mut instead = Snapshot::open(layout, other)?;
            let is_whole = instead.damage.vectors.is_none();
            if is_whole && instead.model().is_some_and(|model| model.embedded > 0) {
                instead.damage.passed_over = snapshot.damage.vectors;
                return Ok(instead);
            }
        }
        Ok(snapshot)
    }

    fn open_once(layout: &Layout, fingerprint: &str) -> Result<Snapshot, IndexError> {
        let folder = layout.folder();
        let fail = |source| IndexError::sqlite(folder, source);
        let connection = schema::open_for_reading(layout)?;
        connection.execute_batch("BEGIN").map_err(fail)?;
        let totals = read_totals(&connection).map_err(fail)?;
        let OpenSegments { whole, lost } = open_segments(layout, &connection)?;
        let model = Model::open(layout, &connection, fingerprint)?;
        let damage = Damage {
            words: lost.into_iter().next().map(|(_, what)| what),
            vectors: model.as_ref().and_then(|model| model.damage.clone()),
            passed_over: None,
        };
        let mark = Mark::of(layout, &connection).map_err(fail)?;
        Ok(Snapshot {
            layout: layout.clone(),
            connection,
            segments: whole,
            model,
            damage,
            fingerprint: fingerprint.to_string(),
            totals,
            mark,
            set_aside: OnceCell::new(),
            damaged_passage: OnceCell::new(),
            lesser: OnceCell::new(),
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

    /// The lexical segments with their dead passages, but for those that are set aside.
    pub fn segments(&self) -> Vec<Live<'_>> {
        self.sound_segments().map(OpenSegment::live).collect()
    }

    fn sound_segments(&self) -> impl Iterator<Item = &OpenSegment> {
        let aside = self.set_aside.get();
        let aside = aside.map_or(&[][..], |aside| &aside.segments);
        self.segments
            .iter()
            .filter(|open| !aside.contains(&open.id))
    }

    /// Looks at every block of the lexical segments and sets those aside that are damaged: this
    /// generation goes on answering without them, and says so. For whoever came upon a block that
    /// is damaged, which shows only where it is needed. Whether any was set aside by this call.
    ///
    /// Marks them for the next writer as well, which finds their words again in the notes; where
    /// the folder may not be written, the next snapshot comes upon them as this one did.
    pub fn set_damaged_words_aside(&self) -> bool {
        if self.set_aside.get().is_some() {
            return false;
        }
        let (mut segments, mut what) = (Vec::new(), None);
        for open in &self.segments {
            let Err(fault) = open.segment.verify() else {
                continue;
            };
            let error = IndexError::segment(self.layout.folder(), fault);
            self.layout.mark_as_damaged(open.id, &error);
            segments.push(open.id);
            what.get_or_insert(error.to_string());
        }
        let Some(what) = what else {
            return false;
        };
        self.set_aside.set(SetAside { segments, what }).is_ok()
    }

    /// What of it is damaged, for people; the rest answers.
    pub fn damage(&self) -> Option<&str> {
        let Damage {
            words,
            vectors,
            passed_over,
        } = &self.damage;
        let others = [words, vectors, passed_over];
        let mut others = others.into_iter().filter_map(Option::as_deref);
        let passage = self.damaged_passage();
        self.lost_words().or_else(|| others.next()).or(passage)
    }

    /// What is wrong with the first damaged passage that this snapshot came upon; such a passage is
    /// in no answer.
    pub fn damaged_passage(&self) -> Option<&str> {
        self.damaged_passage.get().map(String::as_str)
    }

    /// What is wrong with the lexical segments, if not all are whole: the first fault.
    pub fn lost_words(&self) -> Option<&str> {
        let aside = self.set_aside.get().map(|aside| aside.what.as_str());
        self.damage.words.as_deref().or(aside)
    }

    /// What is wrong with the vectors of the wanted model, if they are damaged.
    pub fn lost_vectors(&self) -> Option<&str> {
        self.damage.vectors.as_deref()
    }

    /// What is wrong with the vectors of the model in whose place this one answers.
    pub fn lost_vectors_of_wanted(&self) -> Option<&str> {
        self.damage.passed_over.as_deref()
    }

    /// The share of passages whose words can be looked up.
    pub fn share_of_words(&self) -> f32 {
        let alive: u64 = self.sound_segments().map(|s| u64::from(s.alive())).sum();
        match self.totals.passages {
            0 => 1.0,
            all => (alive as f32 / all as f32).min(1.0),
        }
    }

    /// Vectors of the wanted model, and which rows are alive; `None` if it has none here.
    pub fn vectors(&self) -> Option<(&VectorReader, &RowSet)> {
        let model = self.model.as_ref()?;
        Some((model.reader.as_ref()?, &model.live))
    }

    /// The fingerprint of the model whose vectors it has.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// The state of the wanted model; `None` if nothing was ever written for it.
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
            .map(|found| self.if_sound(found))
            .map_err(|e| self.failed(e))
    }

    /// A passage that was found, unless it is not as it was written: then that is told from now on.
    pub(crate) fn if_sound(&self, found: Option<ReadPassage>) -> Option<StoredPassage> {
        match found? {
            ReadPassage::Sound(passage) => Some(passage),
            ReadPassage::Damaged(id) => {
                self.damaged_passage.get_or_init(|| told_of_passage(id));
                None
            }
        }
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

    /// The numbers of all notes: the newest date first, of one date by path.
    pub fn notes_newest_first(&self) -> Result<Vec<u32>, IndexError> {
        let newest = "SELECT id FROM notes ORDER BY date DESC, path";
        self.query(newest, [], |row| row.get(0))
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

    /// Whether the notes were read under these settings and the rules of a listing, and nothing of excluded notes is left in the files.
    pub fn was_read_with(
        &self,
        settings: &IndexSettings,
        listing: &Listing,
    ) -> Result<bool, IndexError> {
        let rules = &listing.rules;
        let read = || {
            let reading = catalogue::meta(&self.connection, "reading")?;
            Ok(reading == Some(settings.reading(&listing.app_folders))
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

    /// A word that differs after each exclusion that took a note out of the index; empty if there
    /// was none.
    pub fn last_exclusion(&self) -> Result<String, IndexError> {
        catalogue::meta(&self.connection, purge::LAST_EXCLUSION)
            .map(Option::unwrap_or_default)
            .map_err(|e| self.failed(e))
    }

    /// Whether it holds a note that these rules exclude.
    pub fn holds_excluded(&self, rules: &Rules) -> Result<bool, IndexError> {
        if self.excludes_by(rules)? {
            return Ok(false);
        }
        let found = excluded(&self.connection, rules).map_err(|e| self.failed(e))?;
        Ok(!found.is_empty())
    }

    /// Files that were read and not taken in. Of those that are excluded the names are known by
    /// `listing` alone; what it does not have is left out.
    pub fn skipped(&self, listing: &Listing) -> Result<Vec<SkippedFile>, IndexError> {
        let mut skipped: Vec<SkippedFile> = self.query(
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
        )?;
        let places = OnceCell::new();
        skipped.retain_mut(|file| {
            if !is_sealed(&file.path) {
                return true;
            }
            let places = places.get_or_init(|| sealed::places(listing, |_| true));
            let place = places.get(&file.path).and_then(|at| listing.notes.get(*at));
            place.is_some_and(|entry| {
                file.path = entry.path.as_str().to_string();
                true
            })
        });
        skipped.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(skipped)
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

const NOTE: &str = "SELECT id, path, title, aliases, tags, date, date_source, evidence, evidence_rule, content_hash, encoding, passages FROM notes";

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
        evidence: Evidence {
            class: class_of(row, 7)?,
            rule: row.get(8)?,
        },
        content_hash: row.get(9)?,
        encoding: row.get(10)?,
        passages: row.get(11)?,
    })
}

/// The class of a row; own, should a name be unknown.
fn class_of(row: &Row<'_>, column: usize) -> rusqlite::Result<EvidenceClass> {
    let name = row.get_ref(column)?.as_str()?;
    Ok(name.parse().unwrap_or_default())
}

/// A row of the passages.
pub(crate) enum ReadPassage {
    Sound(StoredPassage),
    /// By the number that it was asked for, or has.
    Damaged(i64),
}

/// What is told of a damaged passage.
pub(crate) fn told_of_passage(id: i64) -> String {
    format!("catalogue.sqlite: the passage {id} is not as it was written")
}

pub(crate) fn read_passage(row: &Row<'_>) -> rusqlite::Result<ReadPassage> {
    if !is_sound(row, PASSAGE_COLUMNS)? {
        return Ok(ReadPassage::Damaged(row.get(0)?));
    }
    Ok(ReadPassage::Sound(StoredPassage {
        id: row.get(0)?,
        note: row.get(1)?,
        ordinal: row.get(2)?,
        byte_range: row.get::<_, u64>(3)?..row.get::<_, u64>(4)?,
        line_range: (row.get(5)?, row.get(6)?),
        heading_path: catalogue::texts(row, 7)?,
        hidden: catalogue::ranges(row, 8)?,
        text: row.get(9)?,
        table_header: row.get(10)?,
    }))
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
