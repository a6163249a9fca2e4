//! Statements on the catalogue that writing needs.

use std::ops::Range;

use lorewell_text::name_key;
use lorewell_vault::{FileEntry, Reason};
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::Date;
use crate::batch::BatchNote;
use crate::passage_sum::{Part, passage_sum};
use crate::prepare::{PreparedNote, PreparedPassage, Skipped};
use crate::sealed::{is_sealed, kept, sealed};
use crate::snapshot::NameKind;

/// A list or a map as JSON text. The kinds that are written here cannot fail.
pub(crate) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Ranges as JSON text.
fn ranges_json(ranges: &[Range<usize>]) -> String {
    let pairs: Vec<(usize, usize)> = ranges.iter().map(|r| (r.start, r.end)).collect();
    json(&pairs)
}

/// A list of texts out of JSON text.
pub(crate) fn texts(row: &Row<'_>, column: usize) -> rusqlite::Result<Vec<String>> {
    from_json(row, column)
}

/// Anything out of JSON text.
pub(crate) fn from_json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let text = row
        .get_ref(column)?
        .as_str()
        .map_err(rusqlite::Error::from)?;
    serde_json::from_str(text).map_err(|error| not_json(column, error))
}

/// Ranges out of JSON text.
pub(crate) fn ranges(row: &Row<'_>, column: usize) -> rusqlite::Result<Vec<Range<usize>>> {
    let pairs: Vec<(usize, usize)> = from_json(row, column)?;
    Ok(pairs.into_iter().map(|(start, end)| start..end).collect())
}

fn not_json(column: usize, error: serde_json::Error) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
}

pub(crate) fn meta(connection: &Connection, key: &str) -> rusqlite::Result<Option<String>> {
    connection
        .prepare_cached("SELECT value FROM meta WHERE key = ?1")?
        .query_row([key], |row| row.get(0))
        .optional()
}

pub(crate) fn set_meta(connection: &Connection, key: &str, value: &str) -> rusqlite::Result<()> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO meta VALUES (?1, ?2)")?
        .execute([key, value])?;
    Ok(())
}

/// A number of the catalogue's own; 0 where it was never set.
pub(crate) fn number(connection: &Connection, key: &str) -> rusqlite::Result<u64> {
    Ok(meta(connection, key)?
        .and_then(|text| text.parse().ok())
        .unwrap_or(0))
}

/// Whether more is known to be missing: a build was cut short.
pub(crate) fn unfinished(connection: &Connection) -> rusqlite::Result<bool> {
    Ok(meta(connection, "unfinished")?.as_deref() != Some("0"))
}

pub(crate) fn set_unfinished(connection: &Connection, unfinished: bool) -> rusqlite::Result<()> {
    set_meta(connection, "unfinished", if unfinished { "1" } else { "0" })
}

/// Counts up the generation and notes the time. Call once in each transaction that changes what
/// a reader could answer.
pub(crate) fn next_generation(connection: &Connection) -> rusqlite::Result<u64> {
    let generation = generation(connection)? + 1;
    set_meta(connection, "generation", &generation.to_string())?;
    set_meta(
        connection,
        "updated_at",
        &jiff::Timestamp::now()
            .strftime("%Y-%m-%dT%H:%M:%SZ")
            .to_string(),
    )?;
    Ok(generation)
}

pub(crate) fn generation(connection: &Connection) -> rusqlite::Result<u64> {
    number(connection, "generation")
}

/// The number of the note at a path.
pub(crate) fn note_at(connection: &Connection, path: &str) -> rusqlite::Result<Option<u32>> {
    connection
        .prepare_cached("SELECT id FROM notes WHERE path = ?1")?
        .query_row([path], |row| row.get(0))
        .optional()
}

pub(crate) fn insert_note(connection: &Connection, new: &BatchNote) -> rusqlite::Result<()> {
    let (id, note) = (new.number, &new.note);
    let entry = &note.entry;
    let properties: Map<String, Value> = note.properties.iter().cloned().collect();
    connection
        .prepare_cached(
            "INSERT INTO notes VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)",
        )?
        .execute(params![
            id,
            entry.path.as_str(),
            entry.size as i64,
            entry.modified_ns,
            entry.changed_ns,
            entry.inode as i64,
            &note.content_hash[..],
            note.encoding,
            note.title,
            note.date.day,
            note.date.source,
            note.evidence.class.name(),
            note.evidence.rule,
            new.first_passage,
            note.passages.len() as i64,
            json(&note.aliases),
            json(&note.tags),
            json(&properties),
        ])?;
    insert_names(connection, id, note)?;
    insert_tags(connection, id, &note.tags)?;
    crate::links::insert(connection, id, &note.links)?;
    let mut warn = connection.prepare_cached("INSERT INTO warnings VALUES (?1, ?2, ?3)")?;
    for (line, message) in &note.warnings {
        warn.execute(params![id, line, message])?;
    }
    Ok(())
}

fn insert_names(connection: &Connection, id: u32, note: &PreparedNote) -> rusqlite::Result<()> {
    let mut statement =
        connection.prepare_cached("INSERT OR IGNORE INTO names VALUES (?1, ?2, ?3, ?4)")?;
    let mut insert = |kind: NameKind, name: &str| {
        let key = name_key(name);
        if key.is_empty() {
            Ok(0)
        } else {
            statement.execute(params![key, id, kind as i64, name])
        }
    };
    insert(NameKind::File, note.entry.path.name())?;
    insert(NameKind::Title, &note.title)?;
    for alias in &note.aliases {
        insert(NameKind::Alias, alias)?;
    }
    if let Some(heading) = &note.first_heading {
        insert(NameKind::Heading, heading)?;
    }
    Ok(())
}

/// A tag and all its parents, so that a filter is one lookup.
fn insert_tags(connection: &Connection, id: u32, tags: &[String]) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached("INSERT OR IGNORE INTO tags VALUES (?1, ?2)")?;
    for tag in tags {
        let key = name_key(tag);
        statement.execute(params![key, id])?;
        for (at, _) in key.match_indices('/') {
            statement.execute(params![&key[..at], id])?;
        }
    }
    Ok(())
}

pub(crate) fn insert_passage(
    connection: &Connection,
    id: u32,
    note: u32,
    ordinal: usize,
    passage: &PreparedPassage,
) -> rusqlite::Result<()> {
    let (start, end) = (
        passage.byte_range.start as i64,
        passage.byte_range.end as i64,
    );
    let headings = json(&passage.heading_path);
    let hidden = ranges_json(&passage.hidden);
    let sum = passage_sum(&[
        Part::Number(id.into()),
        Part::Number(note.into()),
        Part::Number(ordinal as i64),
        Part::Number(start),
        Part::Number(end),
        Part::Number(passage.lines.0.into()),
        Part::Number(passage.lines.1.into()),
        Part::Text(headings.as_bytes()),
        Part::Text(hidden.as_bytes()),
        Part::Text(passage.text.as_bytes()),
        Part::Text(passage.table_header.as_bytes()),
    ]);
    connection
        .prepare_cached(
            "INSERT INTO passages VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        )?
        .execute(params![
            id,
            note,
            ordinal as i64,
            start,
            end,
            passage.lines.0,
            passage.lines.1,
            headings,
            hidden,
            passage.text,
            passage.table_header,
            sum,
        ])?;
    Ok(())
}

/// The numbers of a note's passages; none of a note that is not there.
pub(crate) fn passages_of(connection: &Connection, note: u32) -> rusqlite::Result<Range<u32>> {
    let passages = connection
        .prepare_cached("SELECT first_passage, first_passage + passages FROM notes WHERE id = ?1")?
        .query_row([note], |row| Ok(row.get(0)?..row.get(1)?))
        .optional()?;
    Ok(passages.unwrap_or(0..0))
}

/// Takes a note and everything that hangs on it out of the catalogue, vectors excepted. Returns
/// the numbers of its passages.
pub(crate) fn delete_note(connection: &Connection, note: u32) -> rusqlite::Result<Range<u32>> {
    let passages = passages_of(connection, note)?;
    connection
        .prepare_cached("DELETE FROM passages WHERE id >= ?1 AND id < ?2")?
        .execute([passages.start, passages.end])?;
    for table in ["names", "tags", "links", "warnings"] {
        connection
            .prepare_cached(&format!("DELETE FROM {table} WHERE note = ?1"))?
            .execute([note])?;
    }
    connection
        .prepare_cached("DELETE FROM notes WHERE id = ?1")?
        .execute([note])?;
    Ok(passages)
}

/// Notes that a file was seen with the content that the catalogue has. Whether a reader could
/// tell: the file's time may be the note's date.
pub(crate) fn touch_note(
    connection: &Connection,
    note: u32,
    entry: &FileEntry,
) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(
            "UPDATE notes SET size = ?2, modified_ns = ?3, changed_ns = ?4, inode = ?5 WHERE id = ?1",
        )?
        .execute(params![note, entry.size as i64, entry.modified_ns, entry.changed_ns, entry.inode as i64])?;
    let date = Date::of_file(entry.modified_ns);
    let dated = connection
        .prepare_cached(
            "UPDATE notes SET date = ?2 WHERE id = ?1 AND date_source = ?3 AND date <> ?2",
        )?
        .execute(params![note, date.day, date.source])?;
    let readable = forget_skipped(connection, entry.path.as_str())?;
    Ok(dated > 0 || readable)
}

/// What noting a file that is not taken in comes to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Noted {
    /// It was not noted before, or otherwise.
    pub(crate) is_news: bool,
    /// Its path stood open in the catalogue until now, and is sealed.
    pub(crate) was_open: bool,
}

/// Notes why a file is not taken in.
pub(crate) fn skip_file(connection: &Connection, skipped: &Skipped) -> rusqlite::Result<Noted> {
    let entry = &skipped.entry;
    let path = kept(entry.path.as_str(), skipped.code);
    let other = match is_sealed(&path) {
        true => entry.path.as_str().to_string(),
        false => sealed(entry.path.as_str()),
    };
    let replaced = connection
        .prepare_cached("DELETE FROM skipped WHERE path = ?1")?
        .execute([other])?;
    let changed = connection
        .prepare_cached(
            "INSERT INTO skipped VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
             ON CONFLICT (path) DO UPDATE SET size = ?2, modified_ns = ?3, changed_ns = ?4, inode = ?5,
               code = ?6, reason = ?7, failed = ?8
             WHERE (size, modified_ns, changed_ns, inode, code, reason, failed) <> (?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute(params![
            path,
            entry.size as i64,
            entry.modified_ns,
            entry.changed_ns,
            entry.inode as i64,
            skipped.code,
            skipped.reason,
            skipped.failed
        ])?;
    Ok(Noted {
        is_news: changed > 0,
        was_open: replaced > 0 && is_sealed(&path),
    })
}

/// Whether the file kept under a path is a skipped one that readers are told of: not behind a fence.
pub(crate) fn is_told(connection: &Connection, path: &str) -> rusqlite::Result<bool> {
    connection
        .prepare_cached("SELECT 1 FROM skipped WHERE path = ?1 AND code <> ?2")?
        .exists([path, Reason::Fenced.code()])
}

/// Whether there was something to forget.
pub(crate) fn forget_skipped(connection: &Connection, path: &str) -> rusqlite::Result<bool> {
    let rows = connection
        .prepare_cached("DELETE FROM skipped WHERE path IN (?1, ?2)")?
        .execute([path, &sealed(path)])?;
    Ok(rows > 0)
}
