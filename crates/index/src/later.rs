//! Vectors that come later than the words: of a model that is dear, and of one that came after
//! the notes.
//!
//! The passages that wait stand in the catalogue. They are embedded in bounded batches without the
//! writer's lock; then a writer publishes what was made. A vector is given only to passages that
//! still wait for it, by their number (which no other text ever gets) and by the key of the text it
//! was made from, so that one that comes too late for a text that changed is thrown away.

use std::sync::Arc;

use lorewell_embed::{Cost, Embedder};
use lorewell_markdown::Note;
use lorewell_text::NotePath;
use lorewell_vault::Vault;
use lorewell_vectors::{Key, KeyIndex, KnownVectors};
use rayon::prelude::*;
use rusqlite::{Connection, Row, params};

use crate::failpoint::failpoint;
use crate::known::{self, Found, Sources};
use crate::prepare::{
    Meaning, embed_waiting, embedded_title, embedding_key, inputs, is_bare, prose_of,
};
use crate::writer::{Writer, begin};
use crate::{IndexError, IndexSettings, Observer, Snapshot, catalogue};

/// A passage whose vector is still to come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    passage: u32,
    ordinal: usize,
    path: NotePath,
    /// Of the note that was read.
    content_hash: [u8; 32],
}

/// What came of passages that waited, to be published by [`Writer::take_late`].
#[derive(Debug, Default)]
pub struct Late {
    fingerprint: String,
    outcomes: Vec<Outcome>,
    /// Passages that were asked for with the model itself.
    pub embedded: usize,
    /// Passages of notes that cannot be read now, or changed meanwhile; they go on waiting.
    pub unread: usize,
    /// Texts that were longer than the model takes, so that their end is not in their vector.
    pub cut: u64,
    /// Why the model answered nothing, for people, if it failed.
    pub trouble: Option<String>,
}

#[derive(Debug)]
struct Outcome {
    passage: u32,
    key: Key,
    meaning: Meaning,
}

/// What became of late vectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// Passages that wait no more.
    pub settled: usize,
    /// Passages whose text the model will not take.
    pub refused: usize,
    /// Vectors that were thrown away: the text they were made from is gone.
    pub too_late: usize,
}

/// How filling ended.
pub(crate) struct Filled {
    pub(crate) stopped: bool,
    /// Passages of notes that cannot be read now.
    pub(crate) unread: usize,
}

/// Who embeds what.
#[derive(Clone, Copy)]
pub(crate) struct Desk<'a> {
    pub(crate) vault: &'a Vault,
    pub(crate) settings: &'a IndexSettings,
    pub(crate) embedder: &'a dyn Embedder,
    pub(crate) observer: &'a dyn Observer,
}

impl Snapshot {
    /// Passages that wait for a vector of the wanted model and were not refused, the newest first,
    /// at most `limit`: those with a lower number than `before`, where that is given.
    ///
    /// # Errors
    /// The catalogue cannot be read.
    pub fn waiting(
        &self,
        before: Option<&Waiting>,
        limit: usize,
    ) -> Result<Vec<Waiting>, IndexError> {
        let Some(model) = &self.model else {
            return Ok(Vec::new());
        };
        waiting(&self.connection, model.id, before, limit).map_err(|e| self.failed(e))
    }

    /// Embeds passages that wait. Needs no lock; nothing is written. What is known to this index or
    /// `elsewhere` is not embedded again.
    ///
    /// # Errors
    /// The catalogue cannot be read.
    pub fn embed(
        &self,
        waiting: &[Waiting],
        vault: &Vault,
        settings: &IndexSettings,
        embedder: &dyn Embedder,
        elsewhere: &[&dyn KnownVectors],
        observer: &dyn Observer,
    ) -> Result<Late, IndexError> {
        let (own, refused) = match &self.model {
            Some(model) => (
                model.reader.as_ref().map(KeyIndex::of).unwrap_or_default(),
                known::refused(&self.connection, model.id).map_err(|e| self.failed(e))?,
            ),
            None => Default::default(),
        };
        let fingerprint = embedder.fingerprint().as_str();
        let sources = Sources::new(fingerprint, Arc::new(own), refused, elsewhere.to_vec());
        let desk = Desk {
            vault,
            settings,
            embedder,
            observer,
        };
        Ok(desk.embed(waiting, &sources))
    }
}

impl Writer {
    /// Publishes late vectors, as one generation.
    ///
    /// # Errors
    /// See [`IndexError`].
    pub fn take_late(&mut self, late: Late) -> Result<Taken, IndexError> {
        self.while_astray(|writer| writer.publish_late(late))
    }

    /// Lets other models go, but for the newest, if this one covers everything that can be read. `unread` tells how many
    /// passages could not.
    ///
    /// # Errors
    /// See [`IndexError`].
    pub fn settle_models(&mut self, unread: usize) -> Result<(), IndexError> {
        let waiting = self.open_waits()?;
        if waiting <= unread as u64 {
            self.forget_idle_models()?;
        }
        Ok(())
    }

    /// How many passages wait, those that were refused left out.
    fn open_waits(&self) -> Result<u64, IndexError> {
        let model = &self.state.model;
        if model.waiting == 0 {
            return Ok(0);
        }
        let refused = refused_passages(&self.connection, model.id).map_err(|e| self.failed(e))?;
        Ok(model.waiting.saturating_sub(refused))
    }

    /// Embeds at once what waits for this writer's model, which is cheap. Other models stay.
    ///
    /// # Errors
    /// See [`IndexError`].
    pub fn fill_in(
        &mut self,
        vault: &Vault,
        settings: &IndexSettings,
        embedder: &dyn Embedder,
        observer: &dyn Observer,
    ) -> Result<(), IndexError> {
        let desk = Desk {
            vault,
            settings,
            embedder,
            observer,
        };
        self.while_astray(|writer| writer.fill(desk)).map(drop)
    }

    pub(crate) fn fill(&mut self, desk: Desk<'_>) -> Result<Filled, IndexError> {
        const BATCH: usize = 4_096;
        let mut unread = 0;
        let mut last: Option<Waiting> = None;
        while self.state.model.waiting > 0 {
            if desk.observer.stopped() {
                return Ok(Filled {
                    stopped: true,
                    unread,
                });
            }
            let waits = waiting(&self.connection, self.state.model.id, last.as_ref(), BATCH);
            let waits = waits.map_err(|e| self.failed(e))?;
            if waits.is_empty() {
                break;
            }
            let fingerprint = desk.embedder.fingerprint().as_str();
            let own = Arc::clone(self.vectors.keys());
            let sources = Sources::new(fingerprint, own, Default::default(), Vec::new());
            let late = desk.embed(&waits, &sources);
            unread += late.unread;
            self.publish_late(late)?;
            last = waits.into_iter().next_back();
        }
        Ok(Filled {
            stopped: false,
            unread,
        })
    }

    fn publish_late(&mut self, late: Late) -> Result<Taken, IndexError> {
        let layout = self.layout.clone();
        let fail = |source| IndexError::sqlite(layout.folder(), source);
        let mut taken = Taken::default();
        if late.fingerprint != self.fingerprint || late.outcomes.is_empty() {
            return Ok(taken);
        }
        let mut given = Vec::with_capacity(late.outcomes.len());
        for outcome in late.outcomes {
            let model = &self.state.model;
            let waits = model.waiting_for(&self.connection, outcome.passage, &outcome.key);
            let waits = waits.map_err(fail)?;
            if waits.is_empty() {
                taken.too_late += 1;
                continue;
            }
            let row = self.row_of(&outcome.key, &outcome.meaning);
            given.push((outcome, waits, row));
        }
        self.sync_vectors()?;
        failpoint("after-late-sync")?;
        let transaction = begin(&mut self.connection).map_err(fail)?;
        for (Outcome { key, meaning, .. }, waits, row) in &given {
            for passage in waits {
                let model = &mut self.state.model;
                let ended = model.end_wait(&transaction, *passage, key, meaning, *row);
                if ended.map_err(fail)? {
                    match meaning {
                        Meaning::Refused(_) => taken.refused += 1,
                        _ => taken.settled += 1,
                    }
                }
            }
        }
        if late.cut > 0 {
            let key = cut_key(self.state.model.id);
            let cut = catalogue::number(&transaction, &key).map_err(fail)? + late.cut;
            catalogue::set_meta(&transaction, &key, &cut.to_string()).map_err(fail)?;
        }
        self.state
            .save(&transaction, self.vectors.rows())
            .map_err(fail)?;
        if taken.settled + taken.refused > 0 {
            catalogue::next_generation(&transaction).map_err(fail)?;
        }
        failpoint("before-late-commit")?;
        transaction.commit().map_err(fail)?;
        failpoint("after-late-commit")?;
        Ok(taken)
    }
}

impl Desk<'_> {
    /// Reads the notes of passages that wait, and finds or makes their vectors.
    fn embed(&self, waiting: &[Waiting], sources: &Sources<'_>) -> Late {
        let notes: Vec<&[Waiting]> = waiting.chunk_by(|a, b| a.path == b.path).collect();
        let dear = self.embedder.cost() == Cost::Dear;
        let read: Vec<ReadNote> = notes
            .par_iter()
            .map(|waits| {
                let stopped = self.observer.stopped();
                let note = (!stopped).then(|| self.read(&waits[0])).flatten();
                let mut read = ReadNote::new(note, waits, sources);
                if !dear {
                    read.embed(self.embedder);
                }
                self.observer.note_done(waits[0].path.as_str());
                read
            })
            .collect();
        let mut late = Late {
            fingerprint: self.embedder.fingerprint().as_str().to_string(),
            ..Late::default()
        };
        let mut read = read;
        if dear {
            let before = self.embedder.cut();
            late.trouble = embed_together(self.embedder, &mut read);
            late.cut = self.embedder.cut().saturating_sub(before);
        }
        for note in read {
            late.unread += note.unread;
            late.embedded += note.embedded;
            late.outcomes.extend(note.outcomes);
        }
        late
    }

    /// The note, if it still has the content that was taken in.
    fn read(&self, of: &Waiting) -> Option<(Note, String)> {
        let file = self.vault.read(&of.path).ok()?;
        if file.content_hash != of.content_hash {
            return None;
        }
        let parsed = lorewell_markdown::parse(&file.text, &self.settings.passages);
        Some((parsed.note, file.text))
    }
}

fn waiting(
    connection: &Connection,
    model: i64,
    before: Option<&Waiting>,
    limit: usize,
) -> rusqlite::Result<Vec<Waiting>> {
    let before = before.map_or(i64::MAX, |waiting| i64::from(waiting.passage));
    let read = |row: &Row<'_>| {
        Ok(Waiting {
            passage: row.get(0)?,
            ordinal: row.get(1)?,
            path: NotePath::new(row.get::<_, String>(2)?),
            content_hash: row.get(3)?,
        })
    };
    connection
        .prepare_cached(
            "SELECT w.passage, p.ordinal, n.path, n.content_hash
             FROM waiting w JOIN passages p ON p.id = w.passage JOIN notes n ON n.id = p.note
             WHERE w.model = ?1 AND w.passage < ?2
             AND NOT EXISTS (SELECT 1 FROM refused r WHERE r.model = w.model AND r.key = w.key)
             ORDER BY w.passage DESC LIMIT ?3",
        )?
        .query_map(params![model, before, limit as i64], read)?
        .collect()
}

/// Where the catalogue counts a model's texts that were cut.
pub(crate) fn cut_key(model: i64) -> String {
    format!("cut {model}")
}

/// How many waiting passages have a text that the model will not take.
pub(crate) fn refused_passages(connection: &Connection, model: i64) -> rusqlite::Result<u64> {
    connection
        .prepare_cached(
            "SELECT count(*) FROM refused r JOIN waiting w ON w.model = r.model AND w.key = r.key
             WHERE r.model = ?1",
        )?
        .query_row([model], |row| row.get(0))
}

/// A note that was read again for passages that wait.
struct ReadNote {
    title: String,
    aliases: Vec<String>,
    tags: Vec<String>,
    note: Option<Note>,
    prose: Vec<String>,
    outcomes: Vec<Outcome>,
    /// The ordinals of the outcomes.
    ordinals: Vec<usize>,
    unread: usize,
    embedded: usize,
}

impl ReadNote {
    fn new(read: Option<(Note, String)>, waits: &[Waiting], sources: &Sources<'_>) -> ReadNote {
        let mut this = ReadNote {
            title: String::new(),
            aliases: Vec::new(),
            tags: Vec::new(),
            note: None,
            prose: Vec::new(),
            outcomes: Vec::new(),
            ordinals: Vec::new(),
            unread: 0,
            embedded: 0,
        };
        let Some((note, text)) = read else {
            this.unread = waits.len();
            return this;
        };
        this.prose = prose_of(&note.passages, &text);
        this.title = embedded_title(&note);
        this.aliases.clone_from(&note.aliases);
        this.tags = note.tags.iter().map(|tag| tag.name.clone()).collect();
        let bare = is_bare(&note);
        this.note = Some(note);
        let keys: Vec<Key> = this.inputs().iter().map(embedding_key).collect();
        for wait in waits {
            let Some(key) = keys.get(wait.ordinal) else {
                // Cut in another way by now; the next update takes it in.
                this.unread += 1;
                continue;
            };
            let meaning = match sources.find(key) {
                _ if bare => Meaning::Empty,
                Some(Found::Own) => Meaning::Known,
                Some(Found::Vector(vector)) => Meaning::Vector(vector),
                Some(Found::Refused) => Meaning::Refused(String::new()),
                None => Meaning::Waiting,
            };
            this.ordinals.push(wait.ordinal);
            this.outcomes.push(Outcome {
                passage: wait.passage,
                key: *key,
                meaning,
            });
        }
        this
    }

    fn inputs(&self) -> Vec<lorewell_embed::PassageInput<'_>> {
        match &self.note {
            Some(note) => inputs(
                &self.title,
                &self.aliases,
                &self.tags,
                &note.passages,
                &self.prose,
            ),
            None => Vec::new(),
        }
    }

    /// The inputs of the outcomes, in their order.
    fn asked(&self) -> Vec<lorewell_embed::PassageInput<'_>> {
        let all = self.inputs();
        self.ordinals.iter().map(|ordinal| all[*ordinal]).collect()
    }

    fn embed(&mut self, embedder: &dyn Embedder) {
        let mut outcomes = std::mem::take(&mut self.outcomes);
        let mut meanings = take_meanings(&mut outcomes);
        self.embedded = count_waiting(&meanings);
        embed_waiting(embedder, &self.asked(), &mut meanings);
        give_meanings(&mut outcomes, meanings);
        self.outcomes = outcomes;
    }
}

/// Embeds the passages of several notes in one call; why the model failed, if it did. A text that
/// comes more than once is embedded once.
fn embed_together(embedder: &dyn Embedder, notes: &mut [ReadNote]) -> Option<String> {
    let mut outcomes: Vec<Vec<Outcome>> = notes
        .iter_mut()
        .map(|note| std::mem::take(&mut note.outcomes))
        .collect();
    let mut seen = std::collections::HashSet::new();
    let mut meanings = Vec::new();
    for outcome in outcomes.iter_mut().flatten() {
        let again = outcome.meaning == Meaning::Waiting && !seen.insert(outcome.key);
        let meaning = std::mem::replace(&mut outcome.meaning, Meaning::Waiting);
        // Its twin's vector is given to it when it is published.
        meanings.push(if again { Meaning::Known } else { meaning });
    }
    let asked: Vec<_> = notes.iter().flat_map(ReadNote::asked).collect();
    let count = count_waiting(&meanings);
    let trouble = embed_waiting(embedder, &asked, &mut meanings);
    drop(asked);
    let mut meanings = meanings.into_iter();
    for (note, mut outcomes) in notes.iter_mut().zip(outcomes) {
        let own = meanings.by_ref().take(outcomes.len()).collect();
        give_meanings(&mut outcomes, own);
        note.outcomes = outcomes;
    }
    if let Some(first) = notes.first_mut() {
        first.embedded = count;
    }
    trouble
}

fn take_meanings(outcomes: &mut [Outcome]) -> Vec<Meaning> {
    let each = outcomes.iter_mut();
    each.map(|outcome| std::mem::replace(&mut outcome.meaning, Meaning::Waiting))
        .collect()
}

fn give_meanings(outcomes: &mut [Outcome], meanings: Vec<Meaning>) {
    for (outcome, meaning) in outcomes.iter_mut().zip(meanings) {
        outcome.meaning = meaning;
    }
}

fn count_waiting(meanings: &[Meaning]) -> usize {
    let waits = |meaning: &&Meaning| **meaning == Meaning::Waiting;
    meanings.iter().filter(waits).count()
}
