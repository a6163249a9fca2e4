//! Which notes say that they replace another: the author's own word that an older note no longer
//! stands.

use lorewell_graph::Resolution;
use serde_json::{Map, Value};

use crate::property::{link_parts, property_key, texts_of};
use crate::{IndexError, Snapshot, StoredNote};

/// Properties by which a note names those that it replaces.
const REPLACES: [&str; 5] = [
    "supersedes",
    "replaces",
    "obsoletes",
    "supersede",
    "ersetzt",
];
/// Properties by which a note names the one that replaces it.
const REPLACED_BY: [&str; 5] = [
    "superseded by",
    "replaced by",
    "obsoleted by",
    "successor",
    "ersetzt durch",
];

impl Snapshot {
    /// Paths of the notes that replace a note, by their properties (`supersedes: "[[Plan A]]"`) or
    /// its own (`superseded by: "[[Plan B]]"`), sorted.
    ///
    /// # Errors
    /// Only if the index cannot be read.
    pub fn superseded_by(&self, note: &StoredNote) -> Result<Vec<String>, IndexError> {
        let mut found = Vec::new();
        for target in self.named_in(note.id, &REPLACED_BY)? {
            if let Resolution::Note { id, .. } = self.resolve(&target)?
                && id != note.id
            {
                found.push(self.path_of(id)?);
            }
        }
        let mut others: Vec<u32> = Vec::new();
        for key in self.link_keys_of(note.id)? {
            others.extend(self.query(
                "SELECT DISTINCT note FROM links WHERE target_key = ?1 AND kind = 2 AND note <> ?2",
                (&key, note.id),
                |row| row.get::<_, u32>(0),
            )?);
        }
        for other in others {
            for target in self.named_in(other, &REPLACES)? {
                if matches!(self.resolve(&target)?, Resolution::Note { id, .. } if id == note.id) {
                    found.push(self.path_of(other)?);
                }
            }
        }
        found.sort();
        found.dedup();
        Ok(found)
    }

    /// The targets of the links in some properties of a note.
    fn named_in(&self, note: u32, names: &[&str]) -> Result<Vec<String>, IndexError> {
        let properties: Vec<String> = self.query(
            "SELECT properties FROM notes WHERE id = ?1",
            [note],
            |row| row.get(0),
        )?;
        let mut targets = Vec::new();
        for json in properties {
            let Ok(map) = serde_json::from_str::<Map<String, Value>>(&json) else {
                continue;
            };
            let wanted = map
                .iter()
                .filter(|(name, _)| names.contains(&property_key(name).as_str()));
            for text in wanted.flat_map(|(_, value)| texts_of(value)) {
                let target = link_parts(&text).map(|(target, _)| target.to_string());
                targets.push(target.unwrap_or(text));
            }
        }
        Ok(targets)
    }
}
