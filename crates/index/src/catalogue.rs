//! Statements on the catalogue that writing needs.

use std::ops::Range;

use lorewell_text::name_key;
use lorewell_vault::FileEntry;
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::{Value, json};

use crate::prepare::{PreparedNote, PreparedPassage};
use crate::snapshot::NameKind;

/// A list or a map as JSON text.
pub(crate) fn json(value: impl Into<Value>) -> String {
    value.into().to_string()
}

/// Ranges as JSON text.
fn ranges_json(ranges: &[Range<usize>]) -> String {
    json(
        ranges
            .iter()
            .map(|r| json!([r.start, r.end]))
            .collect::<Vec<_>>(),
    )
}

/// A list of texts out of JSON text.
pub(crate) fn texts(row: &Row<'_>, column: usize) -> rusqlite::Result<Vec<String>> {
    let text = row
        .get_ref(column)?
        .as_str()
        .map_err(rusqlite::Error::from)?;
    serde_json::from_str(text).map_err(|error| not_json(column, error))
}

/// Ranges out of JSON text.
pub(crate) fn ranges(row: &Row<'_>, column: usize) -> rusqlite::Result<Vec<Range<usize>>> {
    let text = row
        .get_ref(column)?
        .as_str()
        .map_err(rusqlite::Error::from)?;
    let pairs: Vec<(usize, usize)> =
        serde_json::from_str(text).map_err(|error| not_json(column, error))?;
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

/// Counts up the generation and notes the time. Call once in each transaction that changes what
/// a reader could answer.
pub(crate) fn next_generation(connection: &Connection, unfinished: bool) -> rusqlite::Result<u64> {
    let generation = generation(connection)? + 1;
    set_meta(connection, "generation", &generation.to_string())?;
    set_meta(
        connection,
        "updated_at",
        &jiff::Timestamp::now()
            .strftime("%Y-%m-%dT%H:%M:%SZ")
            .to_string(),
    )?;
    set_meta(connection, "unfinished", if unfinished { "1" } else { "0" })?;
    Ok(generation)
}

pub(crate) fn generation(connection: &Connection) -> rusqlite::Result<u64> {
    Ok(meta(connection, "generation")?
        .and_then(|text| text.parse().ok())
        .unwrap_or(0))
}

pub(crate) fn insert_note(
    connection: &Connection,
    id: u32,
    note: &PreparedNote,
) -> rusqlite::Result<()> {
    let entry = &note.entry;
    connection
        .prepare_cached(
            "INSERT INTO notes VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
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
            note.passages.len() as i64,
            json(note.aliases.clone()),
            json(note.tags.clone()),
            json(Value::Object(note.properties.iter().cloned().collect())),
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
    connection
        .prepare_cached("INSERT INTO passages VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)")?
        .execute(params![
            id,
            note,
            ordinal as i64,
            passage.byte_range.start as i64,
            passage.byte_range.end as i64,
            passage.lines.0,
            passage.lines.1,
            json(passage.heading_path.clone()),
            ranges_json(&passage.hidden),
            passage.text,
        ])?;
    Ok(())
}

/// Takes a note and everything that hangs on it out of the catalogue, vectors excepted. Returns
/// the numbers of its passages.
pub(crate) fn delete_note(connection: &Connection, note: u32) -> rusqlite::Result<Vec<u32>> {
    let passages = connection
        .prepare_cached("SELECT id FROM passages WHERE note = ?1")?
        .query_map([note], |row| row.get(0))?
        .collect::<rusqlite::Result<Vec<u32>>>()?;
    for table in ["passages", "names", "tags", "links", "warnings"] {
        connection
            .prepare_cached(&format!("DELETE FROM {table} WHERE note = ?1"))?
            .execute([note])?;
    }
    connection
        .prepare_cached("DELETE FROM notes WHERE id = ?1")?
        .execute([note])?;
    Ok(passages)
}

/// Notes that a file was seen with the content that the catalogue has.
pub(crate) fn touch_note(
    connection: &Connection,
    note: u32,
    entry: &FileEntry,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "UPDATE notes SET size = ?2, modified_ns = ?3, changed_ns = ?4, inode = ?5 WHERE id = ?1",
        )?
        .execute(params![note, entry.size as i64, entry.modified_ns, entry.changed_ns, entry.inode as i64])?;
    Ok(())
}

pub(crate) fn skip_file(
    connection: &Connection,
    entry: &FileEntry,
    code: &str,
    reason: &str,
    failed: bool,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO skipped VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?
        .execute(params![
            entry.path.as_str(),
            entry.size as i64,
            entry.modified_ns,
            entry.changed_ns,
            entry.inode as i64,
            code,
            reason,
            failed
        ])?;
    Ok(())
}

pub(crate) fn forget_skipped(connection: &Connection, path: &str) -> rusqlite::Result<()> {
    connection
        .prepare_cached("DELETE FROM skipped WHERE path = ?1")?
        .execute([path])?;
    Ok(())
}
