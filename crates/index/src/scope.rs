//! Which notes are asked: filters, applied before anything is ranked.

use std::collections::{BTreeSet, HashSet};

use lorewell_lexical::Bitmap;
use lorewell_text::{Day, name_key};
use lorewell_vectors::RowSet;
use rusqlite::{OptionalExtension, Row, params};
use serde_json::{Map, Value};

use crate::{EvidenceClass, IndexError, PropertyMatch, Snapshot, catalogue};

/// Which notes are asked: those that pass every filter. An empty list, a blank name in one or no
/// value filters nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// Only notes in one of these folders or below; `/` is the whole vault.
    pub folders: Vec<String>,
    /// Only notes with all of these tags, each itself or as a parent.
    pub tags: Vec<String>,
    /// Only notes with all of these properties.
    pub properties: Vec<PropertyMatch>,
    /// Only notes of this day or later.
    pub since: Option<Day>,
    /// Only notes of this day or earlier.
    pub until: Option<Day>,
    /// Only notes of one of these classes.
    pub evidence: Vec<EvidenceClass>,
    /// Only notes that link to all of these, by path as on disk.
    pub links_to: Vec<String>,
}

/// Fewer notes than this are looked up one by one; more are met on one walk over all.
const FEW: usize = 256;

/// From this likeness on (Jaro-Winkler) a name may be meant by another.
const NEAR: f64 = 0.9;
/// So many near names are told.
const NEAR_SHOWN: usize = 3;

impl Scope {
    /// Whether every note is asked.
    pub fn is_everything(&self) -> bool {
        self.filled() == Scope::default()
    }

    /// The same without blank names: programs that fill in a form leave them.
    fn filled(&self) -> Scope {
        let filled = |names: &[String], sign: &[char]| {
            let names = names.iter();
            let names = names.filter(|name| !name.trim_start_matches(sign).trim().is_empty());
            names.cloned().collect()
        };
        Scope {
            folders: filled(&self.folders, &[]),
            tags: filled(&self.tags, &['#']),
            links_to: filled(&self.links_to, &[]),
            ..self.clone()
        }
    }

    /// Whether a note's own row decides, beyond tags and links.
    fn asks_for_rows(&self) -> bool {
        !self.folders.is_empty()
            || !self.properties.is_empty()
            || self.since.is_some()
            || self.until.is_some()
            || !self.evidence.is_empty()
    }

    /// Each filter alone, with words for it: `the folder “Projects”`.
    fn parts(&self) -> Vec<(Scope, String)> {
        let mut parts = Vec::new();
        let mut part = |words: String, scope: Scope| parts.push((scope, words));
        if !self.folders.is_empty() {
            let folders = self.folders.clone();
            let all = quoted(&folders);
            part(
                format!("is in the folder {all}"),
                Scope {
                    folders,
                    ..Scope::default()
                },
            );
        }
        for tag in &self.tags {
            part(
                format!("has the tag “{}”", tag.trim_start_matches('#')),
                Scope {
                    tags: vec![tag.clone()],
                    ..Scope::default()
                },
            );
        }
        for property in &self.properties {
            part(
                format!("has the property “{}”", property.shown()),
                Scope {
                    properties: vec![property.clone()],
                    ..Scope::default()
                },
            );
        }
        if let Some(words) = days_in_words(self.since, self.until) {
            part(
                words,
                Scope {
                    since: self.since,
                    until: self.until,
                    ..Scope::default()
                },
            );
        }
        if !self.evidence.is_empty() {
            let names: Vec<String> = self.evidence.iter().map(ToString::to_string).collect();
            part(
                format!("is of the evidence {}", quoted(&names)),
                Scope {
                    evidence: self.evidence.clone(),
                    ..Scope::default()
                },
            );
        }
        for note in &self.links_to {
            part(
                format!("links to “{note}”"),
                Scope {
                    links_to: vec![note.clone()],
                    ..Scope::default()
                },
            );
        }
        parts
    }
}

impl Snapshot {
    /// The notes within a scope, as a set of numbers; `None` for everything.
    ///
    /// # Errors
    /// Only if the index cannot be read.
    pub fn notes_in(&self, scope: &Scope) -> Result<Option<HashSet<u32>>, IndexError> {
        let scope = &scope.filled();
        if scope.is_everything() {
            return Ok(None);
        }
        let mut found: Option<HashSet<u32>> = None;
        let mut narrow = |notes: HashSet<u32>| match &mut found {
            Some(found) => found.retain(|note| notes.contains(note)),
            None => found = Some(notes),
        };
        for path in &scope.links_to {
            narrow(self.notes_linking_to(path)?);
        }
        for tag in &scope.tags {
            let key = name_key(tag.trim_start_matches('#'));
            let notes = self.query("SELECT note FROM tags WHERE key = ?1", [key], |row| {
                row.get(0)
            })?;
            narrow(notes.into_iter().collect());
        }
        if !scope.asks_for_rows() {
            return Ok(Some(found.unwrap_or_default()));
        }
        let by_row = RowFilter::new(scope);
        let read = || match &found {
            Some(notes) if notes.len() <= FEW => by_row.among(self, notes),
            _ => by_row.all(self, found.as_ref()),
        };
        read().map(Some).map_err(|e| self.failed(e))
    }

    /// Why no note is within a scope, for people; nothing if there is one.
    ///
    /// # Errors
    /// Only if the index cannot be read.
    pub fn why_nothing_in(&self, scope: &Scope) -> Result<Option<String>, IndexError> {
        let is_empty = |notes: Option<HashSet<u32>>| notes.is_some_and(|notes| notes.is_empty());
        let parts = scope.filled().parts();
        let several = parts.len() > 1;
        if several && !is_empty(self.notes_in(scope)?) {
            return Ok(None);
        }
        let mut all = Vec::with_capacity(parts.len());
        for (part, words) in parts {
            if is_empty(self.notes_in(&part)?) {
                let near = self.near(&part)?;
                return Ok(Some(if near.is_empty() {
                    format!("No note {words}.")
                } else {
                    format!("No note {words}; near: {}.", near.join(", "))
                }));
            }
            all.push(words);
        }
        Ok(several.then(|| {
            format!(
                "Each filter leaves notes, but together they leave none: no note {}.",
                all.join(" and ")
            )
        }))
    }

    /// Tags or folders of the vault that are spelled like those of a filter that leaves nothing,
    /// the most alike first.
    fn near(&self, part: &Scope) -> Result<Vec<String>, IndexError> {
        let there: BTreeSet<String> = if !part.tags.is_empty() {
            self.query("SELECT DISTINCT key FROM tags", [], |row| row.get(0))?
                .into_iter()
                .collect()
        } else if !part.folders.is_empty() {
            let paths = self.query("SELECT path FROM notes", [], |row| row.get::<_, String>(0))?;
            paths.iter().flat_map(|path| folders_above(path)).collect()
        } else {
            return Ok(Vec::new());
        };
        let asked = part.tags.iter().chain(&part.folders);
        let asked: Vec<String> = asked
            .map(|name| name_key(name.trim_matches(['#', '/'])))
            .collect();
        let likeness = |name: &str| {
            let key = name_key(name);
            let own = key.rsplit('/').next().unwrap_or(&key);
            let of = |asked: &String| {
                strsim::jaro_winkler(&key, asked).max(strsim::jaro_winkler(own, asked))
            };
            asked.iter().map(of).fold(0.0, f64::max)
        };
        let mut near: Vec<(f64, String)> = there
            .into_iter()
            .map(|name| (likeness(&name), name))
            .filter(|(likeness, _)| *likeness >= NEAR)
            .collect();
        near.sort_by(|a, b| b.0.total_cmp(&a.0));
        Ok(near
            .into_iter()
            .take(NEAR_SHOWN)
            .map(|(_, name)| name)
            .collect())
    }

    fn notes_linking_to(&self, path: &str) -> Result<HashSet<u32>, IndexError> {
        let Some(note) = self.note_at(path)? else {
            return Ok(HashSet::new());
        };
        let links = self.links_to(&note)?;
        Ok(links.into_iter().map(|target| target.link.note).collect())
    }

    /// The passages of some notes, by number, and their vector rows.
    ///
    /// # Errors
    /// Only if the index cannot be read.
    pub fn passages_of_notes(&self, notes: &HashSet<u32>) -> Result<(Bitmap, RowSet), IndexError> {
        let model = self.model.as_ref();
        let mut passages = Bitmap::new();
        let mut rows = RowSet::new(model.map_or(0, |m| m.live.rows()));
        let model = model.map_or(0, |m| m.id);
        let mut read = || {
            if notes.len() > FEW {
                self.passages_of_many(notes, model, &mut passages, &mut rows)
            } else {
                self.passages_of_few(notes, model, &mut passages, &mut rows)
            }
        };
        read().map_err(|e| self.failed(e))?;
        Ok((passages, rows))
    }

    fn passages_of_few(
        &self,
        notes: &HashSet<u32>,
        model: i64,
        passages: &mut Bitmap,
        rows: &mut RowSet,
    ) -> rusqlite::Result<()> {
        let mut statement = self.connection.prepare_cached(
            "SELECT row FROM vectors
             WHERE model = ?1 AND passage >= ?2 AND passage < ?3 AND row IS NOT NULL",
        )?;
        for note in notes {
            let range = catalogue::passages_of(&self.connection, *note)?;
            let mut found = statement.query(params![model, range.start, range.end])?;
            while let Some(row) = found.next()? {
                rows.insert(row.get(0)?);
            }
            range.for_each(|passage| {
                passages.insert(passage);
            });
        }
        Ok(())
    }

    /// The same in one walk over notes and vectors.
    fn passages_of_many(
        &self,
        notes: &HashSet<u32>,
        model: i64,
        passages: &mut Bitmap,
        rows: &mut RowSet,
    ) -> rusqlite::Result<()> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT id, first_passage, passages FROM notes")?;
        let mut found = statement.query([])?;
        while let Some(row) = found.next()? {
            if notes.contains(&row.get(0)?) {
                let first: u32 = row.get(1)?;
                for passage in first..first.saturating_add(row.get(2)?) {
                    passages.insert(passage);
                }
            }
        }
        let mut statement = self.connection.prepare_cached(
            "SELECT passage, row FROM vectors WHERE model = ?1 AND row IS NOT NULL",
        )?;
        let mut found = statement.query([model])?;
        while let Some(row) = found.next()? {
            if passages.contains(row.get(0)?) {
                rows.insert(row.get(1)?);
            }
        }
        Ok(())
    }
}

/// The filters that a note's own row answers, made ready.
struct RowFilter<'a> {
    scope: &'a Scope,
    /// Folded.
    folders: Vec<String>,
    since: Option<String>,
    until: Option<String>,
    evidence: Vec<&'static str>,
}

const ROW: &str = "SELECT id, path, date, evidence, properties FROM notes";

impl<'a> RowFilter<'a> {
    fn new(scope: &'a Scope) -> RowFilter<'a> {
        let folders = scope.folders.iter();
        RowFilter {
            scope,
            folders: folders.map(|f| name_key(f.trim_matches('/'))).collect(),
            since: scope.since.map(|day| day.to_string()),
            until: scope.until.map(|day| day.to_string()),
            evidence: scope.evidence.iter().map(|class| class.name()).collect(),
        }
    }

    /// Those of a few notes that pass.
    fn among(&self, snapshot: &Snapshot, notes: &HashSet<u32>) -> rusqlite::Result<HashSet<u32>> {
        let mut statement = snapshot
            .connection
            .prepare_cached(&format!("{ROW} WHERE id = ?1"))?;
        let mut found = HashSet::new();
        for note in notes {
            let passes = statement.query_row([note], |row| self.passes(row));
            if passes.optional()? == Some(true) {
                found.insert(*note);
            }
        }
        Ok(found)
    }

    /// Those of all notes that pass and are `among` some, if these are given.
    fn all(
        &self,
        snapshot: &Snapshot,
        among: Option<&HashSet<u32>>,
    ) -> rusqlite::Result<HashSet<u32>> {
        let mut statement = snapshot.connection.prepare_cached(ROW)?;
        let mut rows = statement.query([])?;
        let mut found = HashSet::new();
        while let Some(row) = rows.next()? {
            let note: u32 = row.get(0)?;
            if among.is_none_or(|among| among.contains(&note)) && self.passes(row)? {
                found.insert(note);
            }
        }
        Ok(found)
    }

    /// Columns are read only as far as they are needed: properties can be long.
    fn passes(&self, row: &Row<'_>) -> rusqlite::Result<bool> {
        if !self.evidence.is_empty() {
            let class = row.get_ref(3)?.as_str()?;
            if !self.evidence.contains(&class) {
                return Ok(false);
            }
        }
        if self.since.is_some() || self.until.is_some() {
            let day = row.get_ref(2)?.as_str()?;
            let early = self.since.as_deref().is_some_and(|since| day < since);
            let late = self.until.as_deref().is_some_and(|until| day > until);
            if early || late {
                return Ok(false);
            }
        }
        if !self.folders.is_empty() && !self.in_folder(row.get_ref(1)?.as_str()?) {
            return Ok(false);
        }
        if self.scope.properties.is_empty() {
            return Ok(true);
        }
        let text = row.get_ref(4)?.as_str()?;
        if text == "{}" {
            return Ok(false);
        }
        let properties: Map<String, Value> = catalogue::from_json(row, 4)?;
        Ok(self.scope.properties.iter().all(|p| p.fits(&properties)))
    }

    fn in_folder(&self, path: &str) -> bool {
        // Most paths are their own key but for letter case; a key costs more than all the rest.
        let key = (!is_plain(path)).then(|| name_key(path));
        let path = key.as_deref().unwrap_or(path).as_bytes();
        self.folders.iter().map(String::as_bytes).any(|folder| {
            folder.is_empty()
                || path.get(folder.len()) == Some(&b'/')
                    && path
                        .get(..folder.len())
                        .is_some_and(|p| p.eq_ignore_ascii_case(folder))
        })
    }
}

/// Every folder above a note, outermost first.
fn folders_above(path: &str) -> impl Iterator<Item = String> + '_ {
    path.match_indices('/')
        .map(|(at, _)| path[..at].to_string())
}

/// Whether a path differs from its key by ASCII letter case at most.
fn is_plain(path: &str) -> bool {
    let mut last = b' ';
    let inside = path.bytes().all(|byte| {
        let is_fine = byte.is_ascii_graphic() || byte == b' ' && last != b' ';
        last = byte;
        is_fine
    });
    inside && last != b' '
}

fn days_in_words(since: Option<Day>, until: Option<Day>) -> Option<String> {
    match (since, until) {
        (Some(since), Some(until)) if since == until => Some(format!("is of {since}")),
        (Some(since), Some(until)) => Some(format!("is from {since} to {until}")),
        (Some(since), None) => Some(format!("is of {since} or later")),
        (None, Some(until)) => Some(format!("is of {until} or earlier")),
        (None, None) => None,
    }
}

/// “a”, “b” or “c”
fn quoted(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("“{name}”")).collect();
    match quoted.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => quoted.concat(),
    }
}
