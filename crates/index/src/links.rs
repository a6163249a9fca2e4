//! Links as the catalogue keeps them: as written. What they mean is decided when they are read,
//! so that a new note never leaves an old link resolved to the wrong place.

use std::ops::Range;

use lorewell_graph::{Resolution, link_key};
use lorewell_markdown::{Link, LinkKind};
use rusqlite::{Connection, Row, params};

/// A link of a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredLink {
    /// The note that holds the link.
    pub note: u32,
    /// Its place among the links of the note, from 0; those of the properties come first.
    pub ordinal: u32,
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
    /// Whether it stands in a property.
    pub property: bool,
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
            link_key(&link.target),
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

/// All that [`read`] needs.
pub(crate) const SELECT: &str = "SELECT note, ordinal, target, headings, block, label, kind, embed, byte_start, byte_end FROM links";

pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<StoredLink> {
    let kind = row.get::<_, i64>(6)?;
    Ok(StoredLink {
        note: row.get(0)?,
        ordinal: row.get(1)?,
        target: row.get(2)?,
        headings: crate::catalogue::texts(row, 3)?,
        block: row.get(4)?,
        label: row.get(5)?,
        markdown: kind == 1,
        property: kind == 2,
        embed: row.get(7)?,
        byte_range: row.get::<_, u64>(8)?..row.get::<_, u64>(9)?,
    })
}
