//! The command line adds presentation and never meaning: with `--json` it prints the bytes that
//! the capability table gives for the same request.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::path::Path;

use lorewell_capabilities::{Desk, Entry, ErrorJson, table};
use lorewell_engine::{Host, Patience, Quiet};
use lorewell_setup::{Config, Environment, Flags, open, vaults};
use lorewell_testkit::{Program, TempVault};
use serde_json::{Value, json};

const NOTES: &str = "
=== Kiln.md ===
---
aliases: [Oven]
tags: [ceramics/firing]
---
# Kiln
## Firing
Cone 6, slow, eleven hours. ^slow
## Cooling
Never open it above 120 degrees.
=== Glazes/Celadon.md ===
The celadon glaze needs a reduction firing in the [[Kiln]].
=== Glazes/Tenmoku.md ===
Tenmoku glaze: iron and a fast firing. 還元焼成
=== Secret.md ===
---
private: true
---
celadon
";

fn requests() -> Vec<(&'static str, Value)> {
    vec![
        ("search", json!({"query": "how slow is the firing"})),
        (
            "search",
            json!({"query": "celadon", "explain": true, "limit": 1}),
        ),
        (
            "search",
            json!({"query": "glaze", "folder": ["Glazes", "Nowhere"], "lanes": ["text", "title"]}),
        ),
        (
            "search",
            json!({"query": "firing", "tag": ["#Ceramics"], "limit": 1, "cursor": "1-1"}),
        ),
        ("search", json!({"query": "a fast firing", "exact": true})),
        ("search", json!({"query": "-iron \"AND\" *"})),
        ("search", json!({"query": "還元"})),
        ("search", json!({"query": ""})),
        ("search", json!({"query": "x", "limit": 0})),
        ("search", json!({"query": "x", "lanes": ["words"]})),
        ("search", json!({"query": "x", "cursor": "?"})),
        ("links", json!({})),
        ("links", json!({"note": "Oven", "limit": 1})),
        ("links", json!({"note": "Celadon"})),
        ("links", json!({"limit": 0})),
        ("related", json!({"note": "Oven"})),
        ("related", json!({"note": "Kiln", "tag": ["x"], "limit": 2})),
        ("related", json!({"note": "Nothing"})),
        ("context", json!({"query": "celadon reduction"})),
        (
            "context",
            json!({"query": "kiln", "budget": 60, "passages": 3, "attached": ["Glazes.md", "y"]}),
        ),
        ("context", json!({"query": "kiln", "budget": 1})),
        ("context", json!({"query": "kiln", "passages": 1})),
        (
            "verify",
            json!({"quotes": [
                {"quote": "-- cone 6", "note": "Oven", "heading": ["Kiln", "Firing"], "lines": "1-9"},
                {"quote": "nowhere at all"},
                {"quote": "x", "note": "Kiln", "content_hash": "0".repeat(64)}
            ]}),
        ),
        (
            "verify",
            json!({"answer": "“Cone” [1].\n\n> “no”\n\n[[Kiln]]", "sources": [{"n": 1, "note": "Kiln"}]}),
        ),
        ("verify", json!({"answer": "", "sources": {"sources": []}})),
        ("verify", json!({"quotes": [{"quote": "x", "lines": "y"}]})),
        ("read", json!({"note": "Oven"})),
        (
            "read",
            json!({"note": "Kiln", "heading": ["Kiln", "Cooling"], "max_chars": 9}),
        ),
        ("read", json!({"note": "[[Kiln#^slow]]"})),
        ("read", json!({"note": "Kiln", "lines": "7-8"})),
        ("read", json!({"note": "Nowhere"})),
        ("read", json!({"note": "Secret.md"})),
        ("read", json!({"note": "Kiln", "block": "none"})),
        ("status", json!({})),
        (
            "status",
            json!({"why_not": "Secret.md", "list": 0, "verify": true}),
        ),
        ("rebuild", json!({"update": true})),
    ]
}

/// The words that make a request on the command line; documents are written to `folder`.
fn words(entry: &Entry, request: &Value, folder: &Path) -> Vec<String> {
    let mut flags = Vec::new();
    let mut positional = Vec::new();
    let schema = (entry.input_schema)();
    for (name, value) in request.as_object().unwrap() {
        let flag = |name: &str| format!("--{}", name.replace('_', "-"));
        let mut give = |value: &str| match entry.positional == Some(name) {
            true => positional.extend(["--".to_string(), value.to_string()]),
            false => flags.extend([flag(name), value.to_string()]),
        };
        if schema.as_value()["properties"][name]["contentMediaType"].is_string() {
            let text = value.as_str().map_or(value.to_string(), str::to_string);
            std::fs::write(folder.join(name), text).unwrap();
            give(folder.join(name).to_str().unwrap());
            continue;
        }
        match value {
            Value::Bool(true) => flags.push(flag(name)),
            Value::String(text) => give(text),
            Value::Array(items) if items.iter().any(Value::is_object) => {
                // A flag for each field, object by object.
                for (name, value) in items.iter().flat_map(|item| item.as_object().unwrap()) {
                    let one = std::slice::from_ref(value);
                    for value in value.as_array().map_or(one, Vec::as_slice) {
                        flags.extend([flag(name), value.as_str().unwrap().to_string()]);
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| give(item.as_str().unwrap())),
            other => give(&other.to_string()),
        }
    }
    [flags, positional].concat()
}

/// What the table gives, after the look for changes that the command line takes too.
fn by_table(host: &Host, entry: &Entry, request: &Value) -> String {
    let desk = match entry.fresh {
        true => Desk::refreshed(host, host.refresh(Patience::Read, &Quiet).unwrap()),
        false => Desk::new(host),
    };
    match (entry.run)(&desk, request.clone()) {
        Ok(output) => format!("{output}\n"),
        Err(error) => serde_json::to_string(&ErrorJson { error }).unwrap() + "\n",
    }
}

#[test]
fn the_same_request_gives_the_same_bytes() {
    let vault = TempVault::new(NOTES);
    let home = vault.beside("home");
    std::fs::create_dir(&home).unwrap();
    let environment = Environment {
        home: home.clone(),
        config_dir: home.join(".config"),
        data_dir: home.join(".local/share"),
        vars: [(
            "LOREWELL_EXCLUDE_PROPERTIES".to_string(),
            "private".to_string(),
        )]
        .into(),
        current_dir: home.clone(),
    };
    let config = Config::load(&environment).unwrap();
    let folder = vault.root().display().to_string();
    let asked = vaults::resolve(&config, &Flags::new(), Some(&folder)).unwrap();
    let settings = config.settings(Some(&asked), &Flags::new()).unwrap();
    let host = open(&config, &settings, &asked).unwrap();
    host.refresh(Patience::Wait, &Quiet).unwrap();
    compare_all(&environment, &folder, &host, "never");
    let mut bridge = program(&environment).serve(&[]);
    compare_all(&environment, &folder, &host, "require");
    bridge.signal("-TERM");
    assert_eq!(bridge.child.wait().unwrap().code(), Some(0));
    let asked: Vec<&str> = requests().iter().map(|(name, _)| *name).collect();
    for entry in table() {
        assert!(
            asked.contains(&entry.name()),
            "{} is asked nothing",
            entry.id
        );
    }
}

fn program(environment: &Environment) -> Program {
    let mut program = Program::new(env!("CARGO_BIN_EXE_lorewell"), environment.home.clone());
    for (name, value) in &environment.vars {
        program = program.with(name, value);
    }
    program
}

/// Asks everything on the command line, answered by the bridge or not.
fn compare_all(environment: &Environment, folder: &str, host: &Host, bridge: &str) {
    for (name, request) in requests() {
        let entry = table().iter().find(|entry| entry.name() == name).unwrap();
        let printed = program(environment)
            .command(&[name, "--json", "--vault", folder, "--bridge", bridge])
            .args(words(entry, &request, &environment.home))
            .output()
            .unwrap();
        let told = String::from_utf8(printed.stdout).unwrap();
        assert_eq!(told, by_table(host, entry, &request), "{name} {request}");
        assert_eq!(
            String::from_utf8_lossy(&printed.stderr),
            "",
            "{name} {request}"
        );
        let code = match () {
            () if told.starts_with("{\"error\"") => 2,
            () if told.contains("\"confidence\":\"none\"") => 1,
            () if told.contains("\"related\":[]") => 1,
            () if told.contains("\"sources\":[]") => 1,
            () if told.contains("\"holds\":false") => 1,
            () => 0,
        };
        assert_eq!(printed.status.code(), Some(code), "{name} {request}");
    }
}
