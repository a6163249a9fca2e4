//! Settings and rules that changed since the notes were read.

use lorewell_vault::Rules;
use rusqlite::Connection;
use serde_json::{Map, Value};

use crate::compare::OUTDATED;
use crate::failpoint::failpoint;
use crate::writer::{Writer, begin};
use crate::{IndexError, Layout, catalogue, purge, schema};

impl Writer {
    /// Removes the notes that `rules` exclude, by what is known of them, and every trace of them
    /// in the files of the index. The folder is not looked at. Returns how many notes went.
    ///
    /// # Errors
    /// See [`IndexError`].
    pub fn exclude(&mut self, rules: &Rules) -> Result<usize, IndexError> {
        self.while_astray(|writer| writer.accept(None, rules))
    }

    /// Takes note of settings and rules. Notes that the rules exclude go at once, also those that
    /// cannot be read now. Another way of `reading` makes every note be read again; what remains
    /// to be read is marked in the catalogue, so that an interrupted update goes on with the rest.
    ///
    /// Returns how many notes went.
    pub(crate) fn accept(
        &mut self,
        reading: Option<&str>,
        rules: &Rules,
    ) -> Result<usize, IndexError> {
        let layout = self.layout.clone();
        let fail = |source| IndexError::sqlite(layout.folder(), source);
        let rows = self.synced_rows();
        let transaction = begin(&mut self.connection).map_err(fail)?;
        let known = |key| catalogue::meta(&transaction, key).map_err(fail);
        let new_reading = match reading {
            // Words of a damaged segment come back with the notes.
            Some(reading)
                if known("reading")?.as_deref() != Some(reading) || !self.state.lost.is_empty() =>
            {
                Some(reading)
            }
            _ => None,
        };
        let same_rules = known("rules")? == Some(rules_key(rules));
        remember_filters(&transaction, rules).map_err(fail)?;
        if let Some(reading) = new_reading {
            transaction
                .execute("UPDATE notes SET changed_ns = ?1", [OUTDATED])
                .map_err(fail)?;
            catalogue::set_meta(&transaction, "reading", reading).map_err(fail)?;
            catalogue::set_unfinished(&transaction, true).map_err(fail)?;
        }
        let excluded = match same_rules {
            true => Vec::new(),
            false => excluded(&transaction, rules).map_err(fail)?,
        };
        for note in &excluded {
            self.state.remove_note(&transaction, &layout, *note)?;
        }
        if !excluded.is_empty() {
            self.state.save(&transaction, rows).map_err(fail)?;
            catalogue::next_generation(&transaction).map_err(fail)?;
            purge::want(&transaction).map_err(fail)?;
        }
        let news = new_reading.is_some() || !same_rules;
        if news {
            // What was left out may come back. Other rules may forbid to name it; else it stays
            // listed until it is read.
            let again = match same_rules {
                true => "UPDATE skipped SET changed_ns = -2",
                false => "DELETE FROM skipped",
            };
            transaction.execute(again, []).map_err(fail)?;
            catalogue::set_meta(&transaction, "rules", &rules_key(rules)).map_err(fail)?;
        }
        transaction.commit().map_err(fail)?;
        if news {
            failpoint("after-settings-commit")?;
        }
        self.purge()?;
        Ok(excluded.len())
    }
}

/// The filters of Obsidian that held when the index was last written, as written there; nothing
/// where that is not known. A damaged or missing index knows nothing.
pub fn known_filters(layout: &Layout) -> Option<Vec<String>> {
    let connection = schema::open_for_reading(layout).ok()?;
    let text = catalogue::meta(&connection, FILTERS).ok()??;
    serde_json::from_str(&text).ok()
}

const FILTERS: &str = "filters";

/// Whether the filters in force are the ones that the catalogue has, as far as they are known.
pub(crate) fn knows_filters(connection: &Connection, rules: &Rules) -> rusqlite::Result<bool> {
    let Some(filters) = rules.obsidian_filters() else {
        return Ok(true);
    };
    Ok(catalogue::meta(connection, FILTERS)? == Some(catalogue::json(&filters)))
}

fn remember_filters(connection: &Connection, rules: &Rules) -> rusqlite::Result<()> {
    match rules.obsidian_filters() {
        Some(filters) if !knows_filters(connection, rules)? => {
            catalogue::set_meta(connection, FILTERS, &catalogue::json(&filters))
        }
        _ => Ok(()),
    }
}

/// Rules as one word that differs when they do.
pub(crate) fn rules_key(rules: &Rules) -> String {
    blake3::Hash::from_bytes(rules.fingerprint())
        .to_hex()
        .to_string()
}

/// The notes that the rules exclude, by what is known of them.
pub(crate) fn excluded(connection: &Connection, rules: &Rules) -> rusqlite::Result<Vec<u32>> {
    let mut statement = connection.prepare("SELECT id, path, tags, properties FROM notes")?;
    let mut rows = statement.query([])?;
    let mut excluded = Vec::new();
    while let Some(row) = rows.next()? {
        let path: String = row.get(1)?;
        let tags = catalogue::texts(row, 2)?;
        let tags: Vec<&str> = tags.iter().map(String::as_str).collect();
        let properties: Map<String, Value> = catalogue::from_json(row, 3)?;
        let properties: Vec<(String, Value)> = properties.into_iter().collect();
        if rules.excludes_path(&path).is_some() || rules.excludes_note(&tags, &properties).is_some()
        {
            excluded.push(row.get(0)?);
        }
    }
    Ok(excluded)
}
