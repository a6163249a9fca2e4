//! The skill's reference page, made from the capability table.

use std::fmt::Write as _;
use std::path::PathBuf;

use lorewell_capabilities::{Access, Entry, table};
use serde_json::Value;

const HEAD: &str = "\
# Abilities

<!-- Made from the capability table by `cargo xtask docs`; edit it there. -->

Each ability takes one JSON object and gives one. Over MCP it is a tool, whose own schema may name
fewer inputs; on the command line `lorewell NAME --remote --json`, where inputs are flags
(`links_to` is `--links-to`; lists are repeated) and `--remote` answers as every agent is answered. The same request gives the same JSON everywhere. Absent values
are left out, lists are always there. Errors are `{\"error\": {\"code\", \"message\", \"hint\"}}`; the hint
says what to try.
";

/// The tool of MCP that stands for an ability.
const TOOLS: &[(&str, &str)] = &[
    ("knowledge.search", "search_notes"),
    ("knowledge.context", "vault_context"),
    ("knowledge.related", "related_notes"),
    ("knowledge.read", "read_note"),
    ("knowledge.verify", "verify_quotes"),
    ("knowledge.status", "vault_status"),
];

/// `LOREWELL_WRITE_DOCS=1` writes the page instead; `cargo xtask docs` does so.
#[test]
fn the_committed_pages_are_up_to_date_in_the_skill() {
    let mut made = HEAD.to_string();
    for entry in table() {
        section(&mut made, entry);
    }
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = root.join("skill/lorewell/references/abilities.md");
    if std::env::var_os("LOREWELL_WRITE_DOCS").is_some() {
        std::fs::write(&page, &made).unwrap();
    }
    let committed = std::fs::read_to_string(&page).unwrap_or_default();
    assert!(
        committed.replace("\r\n", "\n") == made,
        "skill/lorewell/references/abilities.md is not what the capability table says: run `cargo xtask docs`"
    );
}

fn section(page: &mut String, entry: &Entry) {
    let name = entry.name();
    let tool = TOOLS.iter().find(|(id, _)| *id == entry.id);
    let tool = tool.map_or("no tool of MCP".to_string(), |(_, tool)| {
        format!("`{tool}`")
    });
    let description = squeezed(entry.description);
    let remote = match entry.access {
        Access::Read => " --remote",
        Access::Manage => "",
    };
    let _ = write!(
        page,
        "\n## {name}\n\n{tool}, `lorewell {name}{remote} --json`\n\n{description}\n\nInput:\n\n"
    );
    let schema = (entry.input_schema)();
    fields(page, schema.as_value(), schema.as_value(), 0);
    page.push_str("\nOutput:\n\n");
    let schema = (entry.output_schema)();
    fields(page, schema.as_value(), schema.as_value(), 0);
}

/// The fields of an object, and those of objects in it, one level deep.
fn fields(page: &mut String, object: &Value, root: &Value, depth: usize) {
    let properties = object["properties"].as_object().into_iter().flatten();
    let required: Vec<&str> = object["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    for (name, schema) in properties {
        let documentation = squeezed(schema["description"].as_str().unwrap_or_default());
        let must = if depth == 0
            && required.contains(&name.as_str())
            && root["title"].as_str().is_some_and(|t| t.ends_with("Input"))
        {
            " (required)"
        } else {
            ""
        };
        let indent = "  ".repeat(depth);
        let _ = writeln!(page, "{indent}- `{name}`{must}: {documentation}");
        if depth == 0
            && let Some(inner) = objects_in(schema, root)
        {
            fields(page, inner, root, 1);
        }
    }
}

/// The object that a field is, or lists, or has by name.
fn objects_in<'s>(schema: &'s Value, root: &'s Value) -> Option<&'s Value> {
    let inner = [&schema["items"], &schema["additionalProperties"], schema];
    inner.into_iter().find_map(|schema| {
        let target = match schema["$ref"].as_str() {
            Some(reference) => root.pointer(reference.trim_start_matches('#'))?,
            None => schema,
        };
        target.get("properties").map(|_| target)
    })
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
