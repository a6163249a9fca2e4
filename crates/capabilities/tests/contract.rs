//! The contract of the capability table: schemas as committed, outputs that fit them, inputs
//! that are refused with words that help.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]
#![expect(clippy::disallowed_methods, reason = "settings of the test itself")]

use std::path::Path;

use lorewell_capabilities::{Desk, Entry, Failure, table};
use lorewell_engine::{EngineSettings, Host, Lane, Patience, Quiet};
use lorewell_testkit::TempVault;
use serde_json::{Value, json};

const NOTES: &str = "
=== Kiln.md ===
---
aliases: [Oven]
tags: [ceramics/firing]
created: 2024-05-01
---
# Kiln
## Firing
Cone 6, slow, eleven hours. ^slow
## Cooling
Never open it above 120 degrees.
=== Glazes.md ===
The celadon needs a reduction firing in the [[Kiln]].
=== Broken.md ===
---
tags: [a
---
Celadon with a broken property block.
=== .trash/old.md ===
celadon
=== photo.png ===
";

/// Requests of every capability, over every optional part of its output.
fn requests() -> Vec<(&'static str, Value)> {
    vec![
        ("search", json!({"query": "celadon firing"})),
        (
            "search",
            json!({"query": "Kiln", "explain": true, "limit": 1}),
        ),
        (
            "search",
            json!({"query": "cone", "lanes": ["text"], "tag": ["ceramics"], "limit": null}),
        ),
        ("search", json!({"query": "the of and"})),
        (
            "search",
            json!({"query": "nowhere xyzzy", "folder": ["Nowhere"]}),
        ),
        ("search", json!({"query": "celadon needs", "exact": true})),
        ("read", json!({"note": "Oven"})),
        (
            "read",
            json!({"note": "Kiln", "heading": ["Kiln", "Cooling"], "max_chars": 9}),
        ),
        ("read", json!({"note": "Kiln.md", "block": "^slow"})),
        ("links", json!({})),
        ("links", json!({"note": "Kiln", "limit": 1})),
        ("related", json!({"note": "Kiln"})),
        ("related", json!({"note": "Oven", "folder": ["Nowhere"]})),
        ("context", json!({"query": "celadon firing"})),
        (
            "context",
            json!({"query": "cone", "budget": 80, "passages": 3, "tag": ["ceramics"], "attached": ["Glazes", "x"]}),
        ),
        ("context", json!({"query": "the of and", "budget": 1})),
        (
            "context",
            json!({"query": "celadon firing", "brief": true, "max_chars": 2000}),
        ),
        (
            "search",
            json!({"query": "celadon firing kiln", "max_chars": 1500}),
        ),
        (
            "verify",
            json!({"quotes": [
                {"quote": "Cone 6, slow", "note": "Oven", "heading": "Firing"},
                {"quote": "Cone 7, slow, eleven hours", "note": "Kiln.md", "content_hash": "0".repeat(64)},
                {"quote": "never … 120 degrees", "note": "Kiln.md", "heading": ["Kiln", "Firing"], "byte_range": [0, 9]},
                {"quote": "nowhere"}
            ]}),
        ),
        (
            "verify",
            json!({"answer": "“Cone 6” [1]. It is “slow” [[Kiln]] [[Gone]]. “Scare”.", "sources": [{"n": 1, "note": "Glazes.md", "title": "Glazes"}]}),
        ),
        (
            "verify",
            json!({"answer": "Nothing.", "sources": {"sources": []}}),
        ),
        ("status", json!({})),
        (
            "status",
            json!({"verify": true, "why_not": "photo.png", "list": 1}),
        ),
        ("rebuild", json!({"update": true})),
        ("rebuild", json!({})),
    ]
}

fn with_host(test: impl FnOnce(&Host)) {
    let vault = TempVault::new(NOTES);
    let index = vault.beside("index");
    let host = Host::open("vault", vault.root(), &index, EngineSettings::default()).unwrap();
    host.refresh(Patience::Wait, &Quiet).unwrap();
    test(&host);
}

fn entry(name: &str) -> &'static Entry {
    table().iter().find(|entry| entry.name() == name).unwrap()
}

/// `LOREWELL_WRITE_DOCS=1` writes the files instead; `cargo xtask docs` does so.
#[test]
fn schemas_are_as_committed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schemas");
    for entry in table() {
        let schemas = json!({
            "id": entry.id,
            "input": (entry.input_schema)(),
            "output": (entry.output_schema)(),
        });
        let made = format!("{schemas:#}\n");
        let file = folder.join(format!("{}.json", entry.name()));
        if std::env::var_os("LOREWELL_WRITE_DOCS").is_some() {
            std::fs::write(&file, &made).unwrap();
        }
        let committed = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(
            committed.replace("\r\n", "\n") == made,
            "{} changed: programs rely on it. If it must, run `cargo xtask docs`",
            file.display()
        );
    }
    let files = std::fs::read_dir(&folder).unwrap().count();
    assert_eq!(
        files,
        table().len(),
        "a schema of a capability that is no more"
    );
}

#[test]
fn outputs_fit_their_schemas_and_hold_no_null() {
    with_host(|host| {
        for (name, request) in requests() {
            let entry = entry(name);
            let desk = Desk::refreshed(host, Default::default());
            let output = (entry.run)(&desk, request.clone()).unwrap();
            let schema = (entry.output_schema)();
            let breaches = breaches(&output, schema.as_value(), schema.as_value(), "");
            assert_eq!(breaches, Vec::<String>::new(), "{name} {request}");
            assert_eq!(output["contract"], 1);
            assert!(!output.to_string().contains("null"), "{output}");
        }
    });
}

#[test]
fn numbers_are_rounded_as_written() {
    with_host(|host| {
        let request = json!({"query": "celadon reduction tea"});
        let output = (entry("search").run)(&Desk::new(host), request).unwrap();
        for passage in output["passages"].as_array().unwrap() {
            assert!(passage["score"].to_string().len() <= 4, "{passage}");
        }
        assert_eq!(output["index"].get("pending"), None, "nobody looked");
        assert!(
            output["degraded"][0]
                .as_str()
                .unwrap()
                .starts_with("index: ")
        );
    });
}

#[test]
fn wrong_inputs_are_refused_by_name() {
    let cases = [
        (
            "search",
            json!({"qery": "x"}),
            "there is no field “qery”",
            "Did you mean “query”?",
        ),
        (
            "search",
            json!({"query": "x", "zzz": 1}),
            "there is no field “zzz”",
            "There are: query, limit,",
        ),
        ("search", json!({}), "“query” is missing", ""),
        (
            "search",
            json!("x"),
            "the input is not a JSON object",
            "Send an object",
        ),
        (
            "search",
            json!({"query": 7}),
            "“query” is 7; it must be a text",
            "",
        ),
        ("search", json!({"query": null}), "“query” is missing", ""),
        (
            "search",
            json!({"query": "x", "exact": "yes"}),
            "“exact” is \"yes\"; it must be true or false",
            "",
        ),
        (
            "search",
            json!({"query": "x", "folder": "A"}),
            "“folder” is \"A\"; it must be a list of texts",
            "",
        ),
        (
            "search",
            json!({"query": "x", "folder": [1]}),
            "“folder” is [1]; it must be a list of texts",
            "",
        ),
        (
            "search",
            json!({"query": "x", "limit": 0}),
            "“limit” is 0; it must be a whole number from 1 to 50",
            "",
        ),
        (
            "search",
            json!({"query": "x", "limit": 51}),
            "“limit” is 51; it must be a whole number from 1 to 50",
            "",
        ),
        (
            "search",
            json!({"query": "x", "limit": 1.5}),
            "“limit” is 1.5; it must be a whole number from 1 to 50",
            "",
        ),
        (
            "search",
            json!({"query": "x", "lanes": ["texts"]}),
            "there is no lane “texts”",
            "There are: text,",
        ),
        (
            "search",
            json!({"query": "x", "cursor": "later"}),
            "“later” is no cursor",
            "Give the value of “next”",
        ),
        (
            "read",
            json!({"note": "Kiln", "max_chars": 0}),
            "“max_chars” is 0; it must be a whole number, at least 1",
            "",
        ),
        (
            "read",
            json!({"note": "Kiln", "max_chars": 5_000_000_000u64}),
            "“max_chars” is 5000000000; it must be a whole number, at least 1",
            "",
        ),
        (
            "read",
            json!({"note": "Kiln", "lines": "9-2"}),
            "“9-2” names no lines",
            "Write 12-40",
        ),
        (
            "context",
            json!({"query": "x", "passages": 4}),
            "“passages” is 4; it must be 3, 5, 8 or 12",
            "Take 5",
        ),
        (
            "context",
            json!({"query": "x", "budget": 0}),
            "“budget” is 0; it must be a whole number from 1 to 200000",
            "",
        ),
        (
            "verify",
            json!({}),
            "there is nothing to verify",
            "Give an answer",
        ),
        (
            "verify",
            json!({"quotes": ["x"]}),
            "“quotes” is [\"x\"]; it must be a list of objects",
            "",
        ),
        (
            "verify",
            json!({"quotes": [{"quote": "x", "nots": "y"}]}),
            "the input is not as expected: unknown field `nots`, expected one of `quote`, `note`, `heading`, `lines`, `byte_range`, `content_hash`",
            "",
        ),
        (
            "verify",
            json!({"answer": "x", "sources": 7}),
            "“sources” is 7; it must be a list of objects or an object",
            "",
        ),
        (
            "verify",
            json!({"answer": "x", "sources": {"passages": []}}),
            "the input is not as expected: “sources” holds an object without a list “sources”",
            "",
        ),
        (
            "rebuild",
            json!({"update": 1}),
            "“update” is 1; it must be true or false",
            "",
        ),
    ];
    with_host(|host| {
        for (name, input, message, hint) in cases {
            let failure: Failure = (entry(name).run)(&Desk::new(host), input.clone()).unwrap_err();
            assert_eq!(failure.code, "wrong_use", "{input}");
            assert_eq!(failure.message, message, "{input}");
            assert!(failure.hint.starts_with(hint), "{input}: {}", failure.hint);
        }
    });
}

#[test]
fn the_table_documents_itself() {
    for entry in table() {
        assert!(entry.id.starts_with("knowledge."), "{}", entry.id);
        for schema in [(entry.input_schema)(), (entry.output_schema)()] {
            let fields = schema.get("properties").and_then(Value::as_object);
            for (name, field) in fields.into_iter().flatten() {
                let text = field["description"].as_str().unwrap_or_default();
                assert!(text.ends_with('.'), "{}: “{name}” says “{text}”", entry.id);
            }
        }
    }
    let search = (entry("search").input_schema)();
    let lanes = search.as_value()["properties"]["lanes"]["description"].to_string();
    for lane in Lane::ALL {
        assert!(lanes.contains(&format!("`{}`", lane.name())), "{lanes}");
    }
}

/// Where a value breaks a schema, of the parts of JSON Schema that outputs use.
fn breaches(value: &Value, schema: &Value, root: &Value, at: &str) -> Vec<String> {
    if let Some(name) = schema["$ref"].as_str() {
        let target = root.pointer(name.trim_start_matches('#')).unwrap();
        return breaches(value, target, root, at);
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        let breached = choices
            .iter()
            .map(|choice| breaches(value, choice, root, at));
        return breached.min_by_key(Vec::len).unwrap();
    }
    let mut found = Vec::new();
    let fits = match schema["type"]
        .as_str()
        .unwrap_or_else(|| panic!("{at} has no one type: {schema}"))
    {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        other => panic!("{at} is {other}"),
    };
    if !fits {
        found.push(format!("{at} is {value}"));
    }
    if let Some(choices) = schema["enum"].as_array()
        && !choices.contains(value)
    {
        found.push(format!("{at} is {value}, none of {choices:?}"));
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        if value.get(name.as_str().unwrap()).is_none() {
            found.push(format!("{at} has no {name}"));
        }
    }
    for (name, field) in value.as_object().into_iter().flatten() {
        let at = format!("{at}/{name}");
        match schema["properties"]
            .get(name)
            .or(schema.get("additionalProperties"))
        {
            Some(schema) => found.extend(breaches(field, schema, root, &at)),
            None => found.push(format!("{at} is not in the schema")),
        }
    }
    for item in value.as_array().into_iter().flatten() {
        found.extend(breaches(
            item,
            &schema["items"],
            root,
            &format!("{at}/items"),
        ));
    }
    found
}
