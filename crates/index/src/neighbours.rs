//! What hangs together in a generation: links both ways, neighbours, tags.

use std::collections::hash_map::Entry;

use lorewell_graph::{Resolution, link_key};
use lorewell_text::name_key;
use rusqlite::Row;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::candidates::{Written, resolve_all};
use crate::links::{LinkTarget, SELECT, StoredLink, read};
use crate::snapshot::NameKind;
use crate::{IndexError, Snapshot, StoredNote};

/// A link from one note to another, whatever its place, kind and number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edge {
    /// The linking note.
    pub from: u32,
    /// The note that is meant.
    pub to: u32,
    /// Whether every link between the two could mean other notes as well.
    pub ambiguous: bool,
}

/// A tag of a note.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NoteTag {
    /// The note.
    pub note: u32,
    /// The tag or a parent of it, folded ([`name_key`]), without `#`.
    pub key: String,
}

impl Snapshot {
    /// Which note a name or a link's target means, counted from the root of the vault.
    ///
    /// Heads up: a `title` or a first heading is no name that links know.
    ///
    /// # Errors
    /// Only if the index cannot be read; so for all that follow.
    pub fn resolve(&self, target: &str) -> Result<Resolution, IndexError> {
        let link = Written {
            from: None,
            target,
            markdown: false,
        };
        let resolved = resolve_all(&self.connection, &[link]).map_err(|e| self.failed(e))?;
        Ok(resolved.into_iter().next().unwrap_or(Resolution::Missing))
    }

    /// The links of a note, in order, each with what it means in this generation.
    pub fn links_from(&self, note: &StoredNote) -> Result<Vec<LinkTarget>, IndexError> {
        let sql = format!("{SELECT} WHERE note = ?1 ORDER BY ordinal");
        self.resolved(self.query(&sql, [note.id], read)?)
    }

    /// Every link in other notes that means this note, by path of the linking note and place in
    /// it. A link that could mean other notes too is among them if this is the one it means.
    pub fn links_to(&self, note: &StoredNote) -> Result<Vec<LinkTarget>, IndexError> {
        let sql = format!("{SELECT} WHERE target_key = ?1 AND note <> ?2");
        let mut links = Vec::new();
        for key in self.link_keys_of(note.id)? {
            links.extend(self.query(&sql, (&key, note.id), read)?);
        }
        let mut targets = self.resolved(links)?;
        targets.retain(|target| means(&target.resolution, note.id));
        let mut paths: FxHashMap<u32, String> = FxHashMap::default();
        for target in &targets {
            if let Entry::Vacant(new) = paths.entry(target.link.note) {
                new.insert(self.path_of(target.link.note)?);
            }
        }
        targets.sort_by(|a, b| {
            let place = |target: &LinkTarget| (target.link.byte_range.start, target.link.ordinal);
            let path = |target: &LinkTarget| paths.get(&target.link.note);
            path(a).cmp(&path(b)).then_with(|| place(a).cmp(&place(b)))
        });
        Ok(targets)
    }

    /// Every link of the vault, by path of the linking note and place, each with what it means.
    pub fn all_links(&self) -> Result<Vec<LinkTarget>, IndexError> {
        let sql = format!("{SELECT} JOIN notes n ON n.id = note ORDER BY n.path, ordinal");
        self.resolved(self.query(&sql, [], read)?)
    }

    /// Which of some notes are linked with which notes: resolved links from or to any of them,
    /// each pair once a direction, by numbers. Embeds and links in properties count; links of a
    /// note to itself do not.
    pub fn link_neighbours(&self, notes: &[u32]) -> Result<Vec<Edge>, IndexError> {
        let mut links: Vec<(u32, String, bool)> = Vec::new();
        let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get::<_, i64>(2)? == 1));
        let asked: FxHashSet<u32> = notes.iter().copied().collect();
        let mut keys: FxHashSet<String> = FxHashSet::default();
        for note in &asked {
            links.extend(self.query(
                "SELECT note, target, kind FROM links WHERE note = ?1",
                [note],
                row,
            )?);
            keys.extend(self.link_keys_of(*note)?);
        }
        for key in &keys {
            links.extend(self.query(
                "SELECT note, target, kind FROM links WHERE target_key = ?1",
                [key],
                row,
            )?);
        }
        links.sort_unstable();
        links.dedup();
        let written: Vec<Written<'_>> = links
            .iter()
            .map(|(note, target, markdown)| Written {
                from: Some(*note),
                target,
                markdown: *markdown,
            })
            .collect();
        let resolved = resolve_all(&self.connection, &written).map_err(|e| self.failed(e))?;
        let mut edges: FxHashMap<(u32, u32), bool> = FxHashMap::default();
        for ((from, ..), resolution) in links.iter().zip(&resolved) {
            let Resolution::Note { id, ambiguous, .. } = resolution else {
                continue;
            };
            if from != id && (asked.contains(from) || asked.contains(id)) {
                *edges.entry((*from, *id)).or_insert(true) &= ambiguous;
            }
        }
        let mut edges: Vec<Edge> = edges
            .into_iter()
            .map(|((from, to), ambiguous)| Edge {
                from,
                to,
                ambiguous,
            })
            .collect();
        edges.sort_unstable();
        Ok(edges)
    }

    /// About how many links a note has, to and from others: repeated ones count, and those to
    /// another note of its name too. Cheap, to tell hubs from others before their links are read.
    pub fn link_count(&self, note: u32) -> Result<u32, IndexError> {
        let count = |sql: &str, params: &[&dyn rusqlite::ToSql]| -> Result<u32, IndexError> {
            let counts = self.query(sql, params, |row| row.get::<_, u32>(0))?;
            Ok(counts.into_iter().sum())
        };
        let mut total = count("SELECT count(*) FROM links WHERE note = ?1", &[&note])?;
        for key in self.link_keys_of(note)? {
            total += count("SELECT count(*) FROM links WHERE target_key = ?1", &[&key])?;
        }
        Ok(total)
    }

    /// The tags of some notes, parents included, by note and tag.
    pub fn tags_of(&self, notes: &[u32]) -> Result<Vec<NoteTag>, IndexError> {
        let mut tags = Vec::new();
        for note in notes {
            tags.extend(self.query(
                "SELECT note, key FROM tags WHERE note = ?1 ORDER BY key",
                [note],
                |row| {
                    Ok(NoteTag {
                        note: row.get(0)?,
                        key: row.get(1)?,
                    })
                },
            )?);
        }
        tags.sort_unstable();
        tags.dedup();
        Ok(tags)
    }

    /// How many notes have a tag, itself or below it. The tag is compared by [`name_key`].
    pub fn notes_with_tag_count(&self, tag: &str) -> Result<u32, IndexError> {
        let key = name_key(tag.trim_start_matches('#'));
        let counts = self.query("SELECT count(*) FROM tags WHERE key = ?1", [&key], |row| {
            row.get(0)
        })?;
        Ok(counts.into_iter().next().unwrap_or(0))
    }

    /// The notes that have a tag, itself or below it, by number. The tag is compared by
    /// [`name_key`].
    pub fn notes_with_tag(&self, tag: &str) -> Result<Vec<u32>, IndexError> {
        let key = name_key(tag.trim_start_matches('#'));
        self.query(
            "SELECT note FROM tags WHERE key = ?1 ORDER BY note",
            [&key],
            |row| row.get(0),
        )
    }

    /// The keys under which links that could mean a note are filed.
    pub(crate) fn link_keys_of(&self, note: u32) -> Result<FxHashSet<String>, IndexError> {
        let keys = self.query(
            "SELECT key FROM names WHERE note = ?1 AND kind IN (?2, ?3)",
            (note, NameKind::File as i64, NameKind::Alias as i64),
            |row| Ok(link_key(&row.get::<_, String>(0)?)),
        )?;
        Ok(keys.into_iter().filter(|key| !key.is_empty()).collect())
    }

    fn resolved(&self, links: Vec<StoredLink>) -> Result<Vec<LinkTarget>, IndexError> {
        let written: Vec<Written<'_>> = links
            .iter()
            .map(|link| Written {
                from: Some(link.note),
                target: &link.target,
                markdown: link.markdown,
            })
            .collect();
        let resolutions = resolve_all(&self.connection, &written).map_err(|e| self.failed(e))?;
        let pairs = links.into_iter().zip(resolutions);
        Ok(pairs
            .map(|(link, resolution)| LinkTarget { link, resolution })
            .collect())
    }
}

fn means(resolution: &Resolution, note: u32) -> bool {
    matches!(resolution, Resolution::Note { id, .. } if *id == note)
}
