//! `knowledge.related`: the notes that are related to a note, and why.

use std::collections::BTreeMap;

use lorewell_engine::{RelatedEntry, RelatedQuestion, RelatedSignal, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer_json::{IndexJson, LaneJson, rounded, state, uri};
use crate::{Access, Capability, Desk, Failure, FilterInput};

/// The ability.
pub struct Related;

/// So many notes are shown unless more are asked for.
const LIMIT: u32 = 10;

/// What is asked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct RelatedInput {
    /// The note: its path, name, title or alias, or a link as written (`[[Note]]`).
    pub note: String,
    /// How many notes at most, 1 to 50 (10).
    #[serde(default)]
    #[schemars(range(min = 1, max = 50))]
    pub limit: Option<u32>,
    /// Which notes are looked at.
    #[serde(flatten)]
    pub filter: FilterInput,
}

/// Related notes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RelatedOutput {
    /// The version of this contract.
    pub contract: u32,
    /// The vault.
    pub vault: String,
    /// The path of the note that was asked about.
    pub note: String,
    /// Its title.
    pub title: String,
    /// Related notes, best first.
    pub related: Vec<RelatedJson>,
    /// The lanes that were asked, and how they fared: `dense`, the comparison by meaning.
    pub lanes: BTreeMap<String, LaneJson>,
    /// What did not run, ran on a part or on old data, in words.
    pub degraded: Vec<String>,
    /// The generation that answered.
    pub index: IndexJson,
}

/// A related note.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RelatedJson {
    /// Its path in the vault.
    pub note: String,
    /// Its title.
    pub title: String,
    /// Its folder; empty for the vault's root.
    pub folder: String,
    /// How closely it is related, 0 to 1.
    pub score: f64,
    /// A line of it that tells best why; empty for a note without text.
    pub snippet: String,
    /// Why, the strongest reason first.
    pub signals: Vec<RelatedSignalJson>,
    /// Whether it has nearly the same text.
    pub near_copy: bool,
    /// Of a note that cannot be read now, so that all of this is from its last known text:
    /// `unreadable`, or `not_local`. Absent where it can be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["unreadable", "not_local"]))]
    pub state: Option<String>,
    /// Opens it in Obsidian.
    pub uri: String,
}

/// Why a note is related. Of the fields only those of its kind are there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RelatedSignalJson {
    /// The reason: `link`, `neighbour`, `tag`, `words` or `dense`.
    #[schemars(extend("enum" = ["link", "neighbour", "tag", "words", "dense"]))]
    pub kind: String,
    /// Of a link: `out` from the asked note, `in` to it, or `both`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<String>,
    /// Of shared neighbours: notes that are linked with both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<Vec<String>>,
    /// Of shared tags: the tags, the rarest first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// Of shared words: the words, the rarest first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<Vec<String>>,
    /// Of meaning: the cosine of the nearest passage with the note, less what all passages of
    /// the vault have in common.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cosine: Option<f64>,
}

impl Capability for Related {
    const ID: &'static str = "knowledge.related";
    const SUMMARY: &'static str = "Find notes that are related to a note, and why";
    const DESCRIPTION: &'static str = "Finds the notes of the vault that are related to a note, each with a score, \
        a line of it and the reasons: links between the two, notes that both are linked with, rare tags and words \
        that both have, and meaning. What many notes have alike, such as the headings of a template, is no reason.";
    const ACCESS: Access = Access::Read;
    const POSITIONAL: Option<&'static str> = Some("note");
    const FRESH: bool = true;
    type Input = RelatedInput;
    type Output = RelatedOutput;

    fn run(desk: &Desk<'_>, input: RelatedInput) -> Result<RelatedOutput, Failure> {
        let view = desk.view()?;
        let ambiguous = input.filter.ambiguous(&view)?;
        let found = view.related(&RelatedQuestion {
            note: input.note,
            limit: input.limit.unwrap_or(LIMIT) as usize,
            scope: input.filter.scope(&view)?,
        })?;
        let mut degraded: Vec<String> = desk.staleness().into_iter().collect();
        if !found.others.is_empty() {
            degraded.push(format!(
                "related: other notes answer to this name too: {}",
                found.others.join(", ")
            ));
        }
        degraded.extend(ambiguous);
        degraded.extend(found.words.map(|reason| format!("words: {reason}")));
        let (lane, dense) = LaneJson::new(found.dense);
        degraded.extend(
            dense
                .reason
                .iter()
                .map(|reason| format!("{lane}: {reason}")),
        );
        let vault = view.vault();
        let related = found.notes.into_iter();
        Ok(RelatedOutput {
            contract: 1,
            vault: vault.to_string(),
            note: found.note.path.as_str().to_string(),
            title: found.note.title,
            related: related
                .map(|entry| RelatedJson::new(&view, entry))
                .collect(),
            lanes: BTreeMap::from([(lane, dense)]),
            degraded,
            index: desk.index_json(&view),
        })
    }
}

impl RelatedJson {
    fn new(view: &View<'_>, entry: RelatedEntry) -> RelatedJson {
        let path = entry.note.path;
        RelatedJson {
            note: path.as_str().to_string(),
            title: entry.note.title,
            folder: path.folder().to_string(),
            score: rounded(entry.score, 2),
            snippet: entry.snippet,
            signals: entry
                .signals
                .into_iter()
                .map(RelatedSignalJson::new)
                .collect(),
            near_copy: entry.near_copy,
            state: state(view, path.as_str()),
            uri: uri(view.vault(), path.as_str()),
        }
    }
}

impl RelatedSignalJson {
    fn new(signal: RelatedSignal) -> RelatedSignalJson {
        let none = RelatedSignalJson::default();
        let (kind, json) = match signal {
            RelatedSignal::Link { out, back } => {
                let direction = match (out, back) {
                    (true, true) => "both",
                    (false, true) => "in",
                    _ => "out",
                };
                let direction = Some(direction.to_string());
                ("link", RelatedSignalJson { direction, ..none })
            }
            RelatedSignal::Neighbour(via) => (
                "neighbour",
                RelatedSignalJson {
                    via: Some(via),
                    ..none
                },
            ),
            RelatedSignal::Tag(tags) => (
                "tag",
                RelatedSignalJson {
                    tags: Some(tags),
                    ..none
                },
            ),
            RelatedSignal::Words(words) => (
                "words",
                RelatedSignalJson {
                    words: Some(words),
                    ..none
                },
            ),
            RelatedSignal::Dense(cosine) => (
                "dense",
                RelatedSignalJson {
                    cosine: Some(rounded(cosine, 2)),
                    ..none
                },
            ),
        };
        RelatedSignalJson {
            kind: kind.to_string(),
            ..json
        }
    }
}
