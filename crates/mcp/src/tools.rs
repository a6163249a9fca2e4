//! The tools: which capabilities agents see, by which names, with which arguments.

use std::sync::Arc;

use lorewell_capabilities::{Entry, table};
use rmcp::model::ToolAnnotations;
use serde_json::{Map, Value, json};

use crate::schema::portable;

/// A default answer has fewer characters than this, as JSON.
pub const DEFAULT_ANSWER_CHARS: usize = 8_000;

/// A tool: a capability under a name that models understand, with a part of its arguments.
#[derive(Debug)]
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// The id of its capability.
    pub capability: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What it does, in the words that tools are searched by.
    pub description: &'static str,
    /// The arguments that are shown. Others of the capability are taken too.
    pub(crate) arguments: &'static [Argument],
    /// Arguments that this surface sets and does not show.
    pub(crate) presets: &'static [Preset],
    /// The fields of an answer that are told beforehand.
    pub(crate) told: &'static [&'static str],
}

/// An argument that is set unless it, or another one, was given.
#[derive(Debug)]
pub(crate) struct Preset {
    pub(crate) name: &'static str,
    pub(crate) value: PresetValue,
    pub(crate) unless: &'static str,
}

/// The value of a preset.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PresetValue {
    Number(u32),
    Switch(bool),
}

/// An argument of a tool.
#[derive(Debug)]
pub(crate) struct Argument {
    /// The capability's name of it.
    pub(crate) name: &'static str,
    /// What it is, in few words.
    pub(crate) description: &'static str,
    /// Taken where the client gives none.
    pub(crate) default: Option<u32>,
    /// No more than this, where the capability would take more.
    pub(crate) maximum: Option<u32>,
    /// The most that the capability takes: more is taken for that, for a model asks for all that
    /// there is, and the rest is behind `next`.
    pub(crate) most: Option<u32>,
    /// Of a list of objects, the fields that are shown.
    pub(crate) fields: &'static [&'static str],
}

const fn argument(name: &'static str, description: &'static str) -> Argument {
    Argument {
        name,
        description,
        default: None,
        maximum: None,
        most: None,
        fields: &[],
    }
}

impl Argument {
    const fn or(self, default: u32) -> Argument {
        Argument {
            default: Some(default),
            ..self
        }
    }

    const fn up_to(self, maximum: u32) -> Argument {
        Argument {
            maximum: Some(maximum),
            ..self
        }
    }

    const fn most(self, most: u32) -> Argument {
        Argument {
            most: Some(most),
            ..self
        }
    }

    const fn of(self, fields: &'static [&'static str]) -> Argument {
        Argument { fields, ..self }
    }
}

const QUERY: Argument = argument("query", "Question in natural words");
const ALSO: Argument = argument("also", "Your paraphrases of it");
const FOLDER: Argument = argument("folder", "Only in these folders");
const TAG: Argument = argument("tag", "Only with all these tags");
const SINCE: Argument = argument("since", "From this date: 2024-05, last week");
const UNTIL: Argument = argument("until", "Up to this date");
const CURSOR: Argument = argument("cursor", "`next` of the last answer");

/// Every tool, in the order in which clients see them.
pub const TOOLS: &[Tool] = &[
    Tool {
        name: "search_notes",
        capability: "knowledge.search",
        title: "Search notes",
        description: "Search the user's own notes (Obsidian vault, Markdown folder): what did I write, \
            decide, plan or learn about X? Returns passages, best first, with path, headings, lines, date, \
            evidence class and score. `confidence` none: the notes do not answer. `degraded`: what did not run.",
        arguments: &[
            QUERY,
            ALSO,
            argument("must", "Words a passage must have"),
            FOLDER,
            TAG,
            SINCE,
            UNTIL,
            argument(
                "evidence",
                "own, daily, transcript, clipping, generated, draft, template",
            ),
            argument("exact", "Only the very words"),
            argument("limit", "Passages (6)").or(6).most(50),
            argument("max_chars", "Size of the answer (7900)")
                .or(7_900)
                .up_to(40_000),
            CURSOR,
        ],
        presets: &[],
        told: &["passages", "confidence", "degraded", "next"],
    },
    Tool {
        name: "vault_context",
        capability: "knowledge.context",
        title: "Context from notes",
        description: "Passages of the user's notes that answer a question, packed as one text within a token \
            budget, numbered [n] path › heading. Empty where the notes do not answer.",
        arguments: &[
            QUERY,
            ALSO,
            argument("budget", "Tokens (1200)").or(1_200).up_to(8_000),
            argument("attached", "Notes you have already"),
            FOLDER,
            SINCE,
        ],
        presets: &[
            Preset {
                name: "brief",
                value: PresetValue::Switch(true),
                unless: "brief",
            },
            // A budget that was asked for is what decides.
            Preset {
                name: "max_chars",
                value: PresetValue::Number(7_900),
                unless: "budget",
            },
        ],
        told: &["text", "sources", "confidence", "degraded"],
    },
    Tool {
        name: "related_notes",
        capability: "knowledge.related",
        title: "Related notes",
        description: "Notes related to a note of the vault, and why: links, backlinks, shared tags and words, meaning.",
        arguments: &[
            argument("note", "Path, title or [[link]]"),
            argument("limit", "Notes (8)").or(8).most(50),
        ],
        presets: &[],
        told: &["related", "degraded"],
    },
    Tool {
        name: "read_note",
        capability: "knowledge.read",
        title: "Read a note",
        description: "Read a note of the vault, or a part: a heading, a block, lines. Open what search found before \
            you rely on it.",
        arguments: &[
            argument("note", "Path, title, [[Note#Heading]]"),
            argument("heading", "Only this section"),
            argument("block", "Only this ^block"),
            argument("lines", "first-last"),
            argument("max_chars", "Of text (6000)")
                .or(6_000)
                .up_to(40_000),
            CURSOR,
        ],
        presets: &[],
        told: &["note", "text", "next"],
    },
    Tool {
        name: "verify_quotes",
        capability: "knowledge.verify",
        title: "Verify quotes",
        description: "Check quotations, or a whole answer with citations, against the notes: exact, normalized, \
            moved, changed or absent, with the place.",
        arguments: &[
            argument("quotes", "Quotations").of(&["quote", "note"]),
            argument("answer", "Markdown with [[Note]] or [1] citations"),
            argument("sources", "What [1] means: `sources` of vault_context").of(&["n", "note"]),
        ],
        presets: &[],
        told: &["claims", "holds", "degraded"],
    },
    Tool {
        name: "vault_status",
        capability: "knowledge.status",
        title: "Vault status",
        description: "What is indexed of the notes, pending, left out or unreadable. Use when a note seems missing.",
        arguments: &[
            argument("why_not", "Why is this file not found?"),
            argument("list", "Files listed (5)").or(5).up_to(200),
        ],
        presets: &[],
        told: &["vault", "index", "left_out"],
    },
];

impl Tool {
    /// The tool of that name.
    pub(crate) fn named(name: &str) -> Option<&'static Tool> {
        TOOLS.iter().find(|tool| tool.name == name)
    }

    /// The row of the capability table that it stands for.
    pub(crate) fn entry(&self) -> Option<&'static Entry> {
        table().iter().find(|entry| entry.id == self.capability)
    }

    /// The tool as clients see it. `choose`: whether there are several vaults to choose from.
    pub(crate) fn shown(&self, choose: bool) -> rmcp::model::Tool {
        let annotations = ToolAnnotations::new()
            .read_only(true)
            .destructive(false)
            .idempotent(true)
            .open_world(false);
        rmcp::model::Tool::new(self.name, self.description, self.input_schema(choose))
            .with_title(self.title)
            .with_raw_output_schema(Arc::new(self.output_schema()))
            .with_annotations(annotations)
    }

    fn input_schema(&self, choose: bool) -> Map<String, Value> {
        let schema = self.entry().map(|entry| (entry.input_schema)());
        let root = schema.as_ref().map_or(&Value::Null, |s| s.as_value());
        let mut properties = Map::new();
        for argument in self.arguments {
            let mut field = portable(&root["properties"][argument.name], root, argument.fields);
            if let Some(maximum) = argument.maximum {
                field.insert("maximum".to_string(), maximum.into());
            }
            field.insert("description".to_string(), argument.description.into());
            properties.insert(argument.name.to_string(), field.into());
        }
        if choose {
            properties.insert(
                "vault".to_string(),
                json!({"type": "string", "description": "Which vault"}),
            );
        }
        let mut object = Map::new();
        object.insert("type".to_string(), "object".into());
        object.insert("properties".to_string(), properties.into());
        if let Some(required) = root.get("required") {
            object.insert("required".to_string(), required.clone());
        }
        object
    }

    /// Nothing is required: an error has none of it, and is checked by the same schema.
    fn output_schema(&self) -> Map<String, Value> {
        let schema = self.entry().map(|entry| (entry.output_schema)());
        let root = schema.as_ref().map_or(&Value::Null, |s| s.as_value());
        let told = self.told.iter().map(|name| {
            let field = portable(&root["properties"][name], root, &[]);
            let kind = field.get("type").cloned().unwrap_or_default();
            (name.to_string(), json!({ "type": kind }))
        });
        let told: Map<String, Value> = told.collect();
        let mut object = Map::new();
        object.insert("type".to_string(), "object".into());
        object.insert("properties".to_string(), told.into());
        object
    }
}
