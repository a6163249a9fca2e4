//! Links as the catalogue keeps them: as written. What they mean is decided when they are read,
//! so that a new note never leaves an old link resolved to the wrong place.

use std::ops::Range;

use lorewell_graph::{Names, Resolution};
use lorewell_markdown::{Link, LinkKind};
use lorewell_text::name_key;
use rusqlite::{Connection, Row, params};

/// A link of a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredLink {
    /// The note that holds the link.
    pub note: u32,
    /// The note part as written, without extension; empty for the same note.
    pub target: String,
    /// Heading parts, outermost first.
    pub headings: Vec<String>,
    /// Block id.
    pub block: Option<String>,
    /// What is shown instead.
    pub label: Option<String>,
    /// Whether it is written as a Markdown link, whose paths begin at the note's folder.
    pub markdown: bool,
    /// Whether it embeds its target.
    pub embed: bool,
    /// Where it stands in the note.
    pub byte_range: Range<u64>,
}

/// What a link leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkTarget {
    /// The link.
    pub link: StoredLink,
    /// Which note it means.
    pub resolution: Resolution,
}

pub(crate) fn insert(connection: &Connection, note: u32, links: &[Link]) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO links VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )?;
    for (ordinal, link) in links.iter().enumerate() {
        let kind = match link.kind {
            LinkKind::Wiki => 0,
            LinkKind::Markdown => 1,
            LinkKind::Property => 2,
        };
        statement.execute(params![
            note,
            ordinal as i64,
            target_key(&link.target),
            link.target,
            crate::catalogue::json(&link.headings),
            link.block,
            link.label,
            kind,
            link.embed,
            link.range.start as i64,
            link.range.end as i64,
        ])?;
    }
    Ok(())
}

/// Outgoing links of a note, in order, each with what it means now.
pub(crate) fn outgoing(
    connection: &Connection,
    names: &Names,
    note: u32,
    path: &str,
) -> rusqlite::Result<Vec<LinkTarget>> {
    let mut statement =
        connection.prepare_cached(&format!("{SELECT} WHERE note = ?1 ORDER BY ordinal"))?;
    let links = statement
        .query_map([note], read)?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    Ok(links
        .into_iter()
        .map(|link| {
            let resolution = if link.markdown {
                names.resolve_markdown(path, &link.target)
            } else {
                names.resolve(path, &link.target)
            };
            LinkTarget { link, resolution }
        })
        .collect())
}

const SELECT: &str =
    "SELECT note, target, headings, block, label, kind, embed, byte_start, byte_end FROM links";

fn read(row: &Row<'_>) -> rusqlite::Result<StoredLink> {
    Ok(StoredLink {
        note: row.get(0)?,
        target: row.get(1)?,
        headings: crate::catalogue::texts(row, 2)?,
        block: row.get(3)?,
        label: row.get(4)?,
        markdown: row.get::<_, i64>(5)? == 1,
        embed: row.get(6)?,
        byte_range: row.get::<_, u64>(7)?..row.get::<_, u64>(8)?,
    })
}

/// The last path segment of a target, as names are compared: every note that the link could
/// mean has this among its name keys.
fn target_key(target: &str) -> String {
    name_key(target.rsplit('/').next().unwrap_or(target))
}

#[cfg(test)]
mod tests {
    use super::target_key;

    #[test]
    fn the_key_of_a_target_is_that_of_the_notes_name() {
        for (target, key) in [
            ("Kiln", "kiln"),
            ("Projects/Deep/Kiln log", "kiln log"),
            ("../Kiln", "kiln"),
            ("Projects/", ""),
            ("", ""),
            ("釉料", "釉料"),
        ] {
            assert_eq!(target_key(target), key, "{target}");
        }
    }
}
