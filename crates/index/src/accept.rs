//! Settings and rules that changed since the notes were read.

use lorewell_vault::Rules;
use rusqlite::Connection;
use serde_json::{Map, Value};

use crate::compare::OUTDATED;
use crate::failpoint::failpoint;
use crate::writer::{Writer, begin};
use crate::{IndexError, IndexSettings, catalogue};

impl Writer {
    /// Takes note of settings and rules. Notes that the rules exclude go at once, also those that
    /// cannot be read now. Another way of reading makes every note be read again; what remains to
    /// be read is marked in the catalogue, so that an interrupted update goes on with the rest.
    ///
    /// Returns how many notes went.
    pub(crate) fn accept_settings(
        &mut self,
        settings: &IndexSettings,
        rules: &Rules,
    ) -> Result<usize, IndexError> {
        let layout = self.layout.clone();
        let fail = |source| IndexError::sqlite(layout.folder(), source);
        let rows = self.synced_rows();
        let transaction = begin(&mut self.connection).map_err(fail)?;
        let known = |key| catalogue::meta(&transaction, key).map_err(fail);
        let same_reading = known("reading")? == Some(settings.reading());
        let same_rules = known("rules")? == Some(rules_key(rules));
        if same_reading && same_rules {
            return Ok(0);
        }
        if !same_reading {
            transaction
                .execute("UPDATE notes SET changed_ns = ?1", [OUTDATED])
                .map_err(fail)?;
        }
        let excluded = if same_rules {
            Vec::new()
        } else {
            excluded(&transaction, rules).map_err(fail)?
        };
        for note in &excluded {
            self.state.remove_note(&transaction, &layout, *note)?;
        }
        // What was left out may come back.
        transaction
            .execute("DELETE FROM skipped", [])
            .map_err(fail)?;
        if !excluded.is_empty() {
            self.state.save(&transaction, rows).map_err(fail)?;
            catalogue::next_generation(&transaction).map_err(fail)?;
        }
        catalogue::set_meta(&transaction, "reading", &settings.reading()).map_err(fail)?;
        catalogue::set_meta(&transaction, "rules", &rules_key(rules)).map_err(fail)?;
        catalogue::set_unfinished(&transaction, true).map_err(fail)?;
        transaction.commit().map_err(fail)?;
        failpoint("after-settings-commit")?;
        Ok(excluded.len())
    }
}

/// Rules as one word that differs when they do.
pub(crate) fn rules_key(rules: &Rules) -> String {
    blake3::Hash::from_bytes(rules.fingerprint())
        .to_hex()
        .to_string()
}

/// The notes that the rules exclude, by what is known of them.
fn excluded(connection: &Connection, rules: &Rules) -> rusqlite::Result<Vec<u32>> {
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
