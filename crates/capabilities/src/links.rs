//! `knowledge.links`: the links of a note both ways, or what is loose in the vault.

use lorewell_engine::{
    Backlink, LinkMeaning, LinkOverview, LinkPlace, Listed, NoteLinks, NoteRef, OutgoingLink,
    Piece, SharedTarget, View,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer_json::{IndexJson, uri};
use crate::cursor::Cursor;
use crate::{Access, Capability, Desk, Failure};

/// The ability.
pub struct Links;

/// Each list shows so many items unless more are asked for.
const LIMIT: u32 = 100;

/// What is asked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinksInput {
    /// The note: its path, name, title or alias, or a link as written. Without one, the answer
    /// says what is loose in the whole vault.
    #[serde(default)]
    pub note: Option<String>,
    /// At most so many items of each list, 1 to 1000 (100; 20 in the terminal).
    #[serde(default)]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<u32>,
    /// Go on behind an earlier answer, in every list: its `next`.
    #[serde(default)]
    pub cursor: Option<String>,
}

/// Links.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinksOutput {
    /// The version of this contract.
    pub contract: u32,
    /// The vault.
    pub vault: String,
    /// The path of the note that was asked for; absent where the whole vault was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Its title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The note's links, in order; those of the properties first.
    pub outgoing: Vec<OutgoingJson>,
    /// Links of other notes to the note, by path and place.
    pub backlinks: Vec<BacklinkJson>,
    /// Targets that lead nowhere: of the note, or of the vault with those of the most links first.
    pub unresolved: Vec<TargetJson>,
    /// Targets that could mean several notes, likewise.
    pub ambiguous: Vec<TargetJson>,
    /// Of a whole vault: notes without links from or to another note.
    pub orphans: Vec<NoteRefJson>,
    /// How long each list is.
    pub totals: LinkTotals,
    /// What differs from what was asked for, or fell short, in words.
    pub degraded: Vec<String>,
    /// The generation that answered.
    pub index: IndexJson,
    /// Whether a list goes on.
    pub truncated: bool,
    /// Pass it as `cursor` to go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// How long each list is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LinkTotals {
    /// Links of the note, or of the whole vault.
    pub outgoing: u64,
    /// Links to the note.
    pub backlinks: u64,
    /// Targets that lead nowhere.
    pub unresolved: u64,
    /// Targets that could mean several notes.
    pub ambiguous: u64,
    /// Notes without links.
    pub orphans: u64,
}

/// A link of the note.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OutgoingJson {
    /// What it leads to: a `note`, this `same_note`, a `file` that is no note, or `nothing`.
    #[schemars(extend("enum" = ["note", "same_note", "file", "nothing"]))]
    pub leads_to: String,
    /// The note that is meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Its title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Other notes that answer to the target equally well.
    pub others: Vec<String>,
    /// The note part as written, without `.md`; empty for a link within the note.
    pub target: String,
    /// The headings that it names, outermost first.
    pub heading: Vec<String>,
    /// The block that it names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<String>,
    /// Whether the heading or block is there; absent where none is named or it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part_exists: Option<bool>,
    /// The link as it is written; absent where the note changed since it was indexed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Whether it embeds its target.
    pub embed: bool,
    /// Whether it stands in a property.
    pub property: bool,
    /// Its line, from 1; absent where the note changed since it was indexed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Half-open range of its bytes in the file.
    pub byte_range: [u64; 2],
}

/// A link of another note to the note.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BacklinkJson {
    /// The linking note.
    pub note: String,
    /// Its title.
    pub title: String,
    /// The headings above the link, outermost first.
    pub heading_path: Vec<String>,
    /// The sentence, list item or table row around the link, as plain words.
    pub sentence: String,
    /// Half-open range of its bytes in the linking note.
    pub byte_range: [u64; 2],
    /// Its first and last line, from 1; absent where the linking note changed since it was
    /// indexed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_range: Option<[u32; 2]>,
    /// The headings of this note that it names, outermost first.
    pub heading: Vec<String>,
    /// The block of this note that it names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<String>,
    /// Whether it embeds this note.
    pub embed: bool,
    /// Whether it stands in a property.
    pub property: bool,
    /// Other notes that it could mean as well.
    pub others: Vec<String>,
    /// Opens the linking note in Obsidian.
    pub uri: String,
}

/// A target that links share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TargetJson {
    /// The note part as written.
    pub target: String,
    /// The notes that it could mean; the first is the one that is taken. None for one that leads
    /// nowhere.
    pub notes: Vec<String>,
    /// How many links have it.
    pub links: u64,
    /// In how many notes they stand.
    pub linking_notes: u64,
    /// The first link of each of these notes, of the first few.
    pub from: Vec<LinkPlaceJson>,
}

/// Where a link stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinkPlaceJson {
    /// The linking note.
    pub note: String,
    /// Its title.
    pub title: String,
    /// The link's line, from 1; absent where the note changed since it was indexed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Half-open range of its bytes in the file.
    pub byte_range: [u64; 2],
}

/// A note by its path and title.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NoteRefJson {
    /// Its path in the vault.
    pub note: String,
    /// Its title.
    pub title: String,
}

impl Capability for Links {
    const ID: &'static str = "knowledge.links";
    const SUMMARY: &'static str = "Show what a note links to and what links to it";
    const DESCRIPTION: &'static str = "Shows the links of a note both ways: each outgoing link with the note that \
        it means and whether the heading or block is there, each backlink with its sentence, and targets that \
        lead nowhere or could mean several notes. Without a note, it shows what is loose in the vault: targets \
        without a note, ambiguous targets, and notes without links.";
    const ACCESS: Access = Access::Read;
    const POSITIONAL: Option<&'static str> = Some("note");
    const FRESH: bool = true;
    type Input = LinksInput;
    type Output = LinksOutput;

    fn run(desk: &Desk<'_>, input: LinksInput) -> Result<LinksOutput, Failure> {
        let cursor = input.cursor.as_deref().map(Cursor::read_any).transpose()?;
        let view = desk.view()?;
        let piece = Piece {
            offset: cursor.map_or(0, |cursor| {
                usize::try_from(cursor.offset).unwrap_or(usize::MAX)
            }),
            limit: input.limit.unwrap_or(LIMIT) as usize,
        };
        let mut output = LinksOutput::empty(desk, &view);
        match input.note.as_deref().filter(|name| !name.trim().is_empty()) {
            Some(name) => output.fill_of_note(view.links_of(name, piece)?),
            None => output.fill_of_vault(view.link_overview(piece)?),
        }
        let generation = output.index.generation;
        if cursor.is_some_and(|cursor| cursor.source != generation) {
            let changed =
                "links: the index changed since the first page; links may repeat or be missing";
            output.degraded.push(changed.to_string());
        }
        let end = (piece.offset.saturating_add(piece.limit)) as u64;
        let totals = &output.totals;
        let mut lengths = vec![totals.backlinks, totals.unresolved, totals.ambiguous];
        lengths.push(if output.note.is_some() {
            totals.outgoing
        } else {
            totals.orphans
        });
        if lengths.into_iter().any(|length| length > end) {
            output.truncated = true;
            output.next = Some(
                Cursor {
                    source: generation,
                    offset: end,
                }
                .write(),
            );
        }
        Ok(output)
    }
}

impl LinksOutput {
    fn empty(desk: &Desk<'_>, view: &View<'_>) -> LinksOutput {
        LinksOutput {
            contract: 1,
            vault: view.vault().to_string(),
            note: None,
            title: None,
            outgoing: Vec::new(),
            backlinks: Vec::new(),
            unresolved: Vec::new(),
            ambiguous: Vec::new(),
            orphans: Vec::new(),
            totals: LinkTotals::default(),
            degraded: desk.staleness().into_iter().collect(),
            index: desk.index_json(view),
            truncated: false,
            next: None,
        }
    }

    fn fill_of_note(&mut self, links: NoteLinks) {
        self.totals = LinkTotals {
            outgoing: links.outgoing.total as u64,
            backlinks: links.backlinks.total as u64,
            unresolved: links.unresolved.total as u64,
            ambiguous: links.ambiguous.total as u64,
            orphans: 0,
        };
        if !links.others.is_empty() {
            self.degraded.push(format!(
                "links: other notes answer to this name too: {}",
                links.others.join(", ")
            ));
        }
        self.outgoing = shown(links.outgoing, OutgoingJson::new);
        let vault = self.vault.clone();
        self.backlinks = shown(links.backlinks, |link| BacklinkJson::new(&vault, link));
        self.unresolved = shown(links.unresolved, TargetJson::new);
        self.ambiguous = shown(links.ambiguous, TargetJson::new);
        self.note = Some(links.note.path.as_str().to_string());
        self.title = Some(links.note.title);
    }

    fn fill_of_vault(&mut self, overview: LinkOverview) {
        self.totals = LinkTotals {
            outgoing: overview.links as u64,
            backlinks: 0,
            unresolved: overview.unresolved.total as u64,
            ambiguous: overview.ambiguous.total as u64,
            orphans: overview.orphans.total as u64,
        };
        self.unresolved = shown(overview.unresolved, TargetJson::new);
        self.ambiguous = shown(overview.ambiguous, TargetJson::new);
        self.orphans = shown(overview.orphans, |NoteRef { path, title }| NoteRefJson {
            note: path,
            title,
        });
    }
}

impl OutgoingJson {
    fn new(outgoing: OutgoingLink) -> OutgoingJson {
        let (leads_to, note, others) = match outgoing.meaning {
            LinkMeaning::Note { note, others } => ("note", Some(note), others),
            LinkMeaning::SameNote => ("same_note", None, Vec::new()),
            LinkMeaning::File => ("file", None, Vec::new()),
            LinkMeaning::Missing => ("nothing", None, Vec::new()),
        };
        let (note, title) = note.map(|note| (note.path, note.title)).unzip();
        let link = outgoing.link;
        OutgoingJson {
            leads_to: leads_to.to_string(),
            note,
            title,
            others,
            target: link.target,
            heading: link.headings,
            block: link.block,
            part_exists: outgoing.part_exists,
            text: outgoing.written,
            embed: link.embed,
            property: link.property,
            line: outgoing.line,
            byte_range: [link.byte_range.start, link.byte_range.end],
        }
    }
}

impl BacklinkJson {
    fn new(vault: &str, backlink: Backlink) -> BacklinkJson {
        let link = backlink.link;
        BacklinkJson {
            uri: uri(vault, &backlink.from.path),
            note: backlink.from.path,
            title: backlink.from.title,
            heading_path: backlink.heading_path,
            sentence: backlink.sentence,
            byte_range: [backlink.byte_range.start, backlink.byte_range.end],
            line_range: backlink.line_range.map(|(first, last)| [first, last]),
            heading: link.headings,
            block: link.block,
            embed: link.embed,
            property: link.property,
            others: backlink.others,
        }
    }
}

impl TargetJson {
    fn new(shared: SharedTarget) -> TargetJson {
        TargetJson {
            target: shared.target,
            notes: shared.notes,
            links: shared.links as u64,
            linking_notes: shared.linking as u64,
            from: shared.from.into_iter().map(LinkPlaceJson::new).collect(),
        }
    }
}

impl LinkPlaceJson {
    fn new(place: LinkPlace) -> LinkPlaceJson {
        LinkPlaceJson {
            note: place.note.path,
            title: place.note.title,
            line: place.line,
            byte_range: [place.byte_range.start, place.byte_range.end],
        }
    }
}

fn shown<T, J>(list: Listed<T>, json: impl FnMut(T) -> J) -> Vec<J> {
    list.items.into_iter().map(json).collect()
}
