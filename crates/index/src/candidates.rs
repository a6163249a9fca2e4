//! Which notes links mean, from the names that they could mean alone.
//!
//! A table of all names ([`Names`]) would take as long to make as many searches. Every note that a
//! target could mean bears one of the target's keys as file name or alias
//! ([`lorewell_graph::candidate_keys`]), so a table of just those notes answers the same.

use std::collections::hash_map::Entry;

use lorewell_graph::{NameEntry, Names, Resolution, candidate_keys};
use rusqlite::{Connection, OptionalExtension};
use rustc_hash::FxHashMap;

use crate::snapshot::NameKind;

/// A link, as far as its meaning goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written<'a> {
    /// The note that holds it; none for a name that somebody typed, which counts from the root.
    pub(crate) from: Option<u32>,
    /// The note part.
    pub(crate) target: &'a str,
    /// Whether it is a Markdown link.
    pub(crate) markdown: bool,
}

/// What each of some links means in this generation, in their order.
pub(crate) fn resolve_all(
    connection: &Connection,
    links: &[Written<'_>],
) -> rusqlite::Result<Vec<Resolution>> {
    let candidates = Candidates::load(connection, links)?;
    let names = candidates.names();
    let mut froms: FxHashMap<u32, String> = FxHashMap::default();
    let mut known: FxHashMap<(&str, bool), Resolution> = FxHashMap::default();
    let mut resolutions = Vec::with_capacity(links.len());
    for link in links {
        let resolve = |from: &str| match link.markdown {
            true => names.resolve_markdown(from, link.target),
            false => names.resolve(from, link.target),
        };
        let resolution = match link.from {
            Some(from) if candidates.depends_on_place(link) => {
                let path = match froms.entry(from) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(new) => new.insert(path_of(connection, from)?),
                };
                resolve(path)
            }
            _ => known
                .entry((link.target, link.markdown))
                .or_insert_with(|| resolve(""))
                .clone(),
        };
        resolutions.push(resolution);
    }
    Ok(resolutions)
}

/// The notes that some targets could mean.
struct Candidates<'a> {
    /// Path, and those aliases that could be meant.
    notes: FxHashMap<u32, (String, Vec<String>)>,
    /// How many notes a target could mean.
    counts: FxHashMap<&'a str, usize>,
}

impl<'a> Candidates<'a> {
    fn load(connection: &Connection, links: &[Written<'a>]) -> rusqlite::Result<Candidates<'a>> {
        let mut named = connection.prepare_cached(
            "SELECT note, kind, name FROM names WHERE key = ?1 AND kind IN (?2, ?3)",
        )?;
        let mut candidates = Candidates {
            notes: FxHashMap::default(),
            counts: FxHashMap::default(),
        };
        let mut ids: Vec<u32> = Vec::new();
        for link in links {
            if candidates.counts.contains_key(link.target) {
                continue;
            }
            ids.clear();
            for key in candidate_keys(link.target) {
                let mut rows =
                    named.query((&key, NameKind::File as i64, NameKind::Alias as i64))?;
                while let Some(row) = rows.next()? {
                    let note = row.get(0)?;
                    let (_, aliases) = candidates.notes.entry(note).or_default();
                    if row.get::<_, i64>(1)? == NameKind::Alias as i64 {
                        let alias: String = row.get(2)?;
                        if !aliases.contains(&alias) {
                            aliases.push(alias);
                        }
                    }
                    ids.push(note);
                }
            }
            ids.sort_unstable();
            ids.dedup();
            candidates.counts.insert(link.target, ids.len());
        }
        for (note, (path, _)) in &mut candidates.notes {
            *path = path_of(connection, *note)?;
        }
        Ok(candidates)
    }

    fn names(&self) -> Names {
        let entries = self.notes.iter().map(|(id, (path, aliases))| NameEntry {
            id: *id,
            path,
            aliases,
        });
        Names::new(entries)
    }

    /// Whether the same words could mean something else in another note, or mean it by other
    /// rules: several notes have the name, or it counts from the linking note.
    fn depends_on_place(&self, link: &Written<'_>) -> bool {
        let count = self.counts.get(link.target).copied().unwrap_or(0);
        let is_relative = || link.target.trim_start().starts_with('.');
        count > 1 || (count == 1 && (link.markdown || is_relative()))
    }
}

fn path_of(connection: &Connection, note: u32) -> rusqlite::Result<String> {
    let path = connection
        .prepare_cached("SELECT path FROM notes WHERE id = ?1")?
        .query_row([note], |row| row.get(0))
        .optional()?;
    Ok(path.unwrap_or_default())
}
