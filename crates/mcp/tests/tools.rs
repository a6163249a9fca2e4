//! The tools: what clients see of them, and what they answer.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod client;

use client::{Client, ERAS, Era, bound, environment, in_process};
use lorewell_mcp::DEFAULT_ANSWER_CHARS;
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
=== Glazes/Celadon.md ===
The celadon glaze needs a reduction firing in the [[Kiln]].
=== Diary.md ===
Nothing about pots.
";

const NAMES: [&str; 6] = [
    "search_notes",
    "vault_context",
    "related_notes",
    "read_note",
    "verify_quotes",
    "vault_status",
];

#[tokio::test]
async fn both_eras_see_the_same_tools_and_get_the_same_answers() {
    let vault = TempVault::new(NOTES);
    let backend = in_process(&vault);
    let mut seen = Vec::new();
    for era in ERAS {
        let mut client = Client::open(era, backend.clone()).await;
        let tools = client.result("tools/list", json!({})).await["tools"].clone();
        let answer = client
            .content("search_notes", json!({"query": "how slow is the firing"}))
            .await;
        assert_eq!(answer["passages"][0]["note"], "Kiln.md", "{answer}");
        assert_eq!(answer["confidence"], "strong");
        seen.push((tools, answer));
        client.close().await.unwrap();
    }
    assert_eq!(seen[0], seen[1]);
    let names: Vec<&str> = seen[0].0.as_array().unwrap().iter().map(name).collect();
    assert_eq!(names, NAMES);
}

fn name(tool: &Value) -> &str {
    tool["name"].as_str().unwrap()
}

#[tokio::test]
async fn discovery_says_what_the_server_is() {
    let vault = TempVault::new(NOTES);
    let mut client = Client::open(Era::Inline, in_process(&vault)).await;
    let about = client.result("server/discover", json!({})).await;
    let versions = about["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")) && versions.contains(&json!("2025-11-25")));
    assert!(about["ttlMs"].as_u64().unwrap() > 0);
    let instructions = about["instructions"].as_str().unwrap();
    assert!(instructions.starts_with("Search the user's own notes"));
    // A client that looks and leaves is no failure.
    client.close().await.unwrap();
}

/// An estimate of tokens, four characters each: what a client puts before the model.
fn tokens(value: &Value) -> usize {
    value.to_string().chars().count().div_ceil(4)
}

#[tokio::test]
async fn all_tools_together_are_small_and_portable() {
    let vault = TempVault::new(NOTES);
    let environment = environment(&vault);
    let other = vault.beside("Other");
    std::fs::create_dir(&other).unwrap();
    lorewell_setup::vaults::add(&environment, None, other.to_str().unwrap()).unwrap();
    lorewell_setup::vaults::set_default(&environment, "Notes").unwrap();
    let backend = lorewell_mcp::InProcess::new(environment, Default::default(), None);
    // With the argument that several vaults bring.
    let mut client = Client::open(Era::Handshake, std::sync::Arc::new(backend)).await;
    let tools = client.result("tools/list", json!({})).await["tools"].clone();
    assert!(tokens(&tools) < 1_500, "{} tokens: {tools}", tokens(&tools));
    for tool in tools.as_array().unwrap() {
        let input = &tool["inputSchema"];
        assert_eq!(input["type"], "object");
        assert!(input["properties"].is_object());
        assert_eq!(input["properties"]["vault"]["type"], "string");
        assert_portable(input);
        assert_portable(&tool["outputSchema"]);
        let hints = &tool["annotations"];
        assert_eq!(hints["readOnlyHint"], true);
        assert_eq!(hints["destructiveHint"], false);
        assert_eq!(hints["idempotentHint"], true);
        assert_eq!(hints["openWorldHint"], false);
        assert!(tool["title"].is_string());
        let words = tool["description"].as_str().unwrap();
        assert!(words.contains("note"), "{words}");
    }
}

/// Every part has a type, no list of types, and nothing that some clients refuse.
fn assert_portable(schema: &Value) {
    for (key, part) in schema["properties"].as_object().into_iter().flatten() {
        assert!(part["type"].is_string(), "{key}: {part}");
        assert_portable(part);
    }
    if let Some(items) = schema.get("items") {
        assert!(items["type"].is_string(), "{items}");
        assert_portable(items);
    }
    for refused in [
        "$ref", "$schema", "$defs", "anyOf", "oneOf", "allOf", "format", "default",
    ] {
        assert!(schema.get(refused).is_none(), "{refused}: {schema}");
    }
}

#[tokio::test]
async fn text_and_structured_content_are_the_same_json() {
    let vault = TempVault::new(NOTES);
    let mut client = Client::open(Era::Handshake, in_process(&vault)).await;
    for (tool, arguments) in [
        ("search_notes", json!({"query": "celadon"})),
        ("vault_context", json!({"query": "celadon"})),
        ("related_notes", json!({"note": "Kiln"})),
        ("read_note", json!({"note": "Oven"})),
        (
            "verify_quotes",
            json!({"quotes": [{"quote": "Cone 6", "note": "Kiln"}]}),
        ),
        ("vault_status", json!({})),
    ] {
        let result = client.call(tool, arguments).await;
        assert_eq!(result["isError"], false, "{result}");
        let text = result["content"][0]["text"].as_str().unwrap();
        assert_eq!(text, result["structuredContent"].to_string());
    }
}

#[tokio::test]
async fn wrong_arguments_are_answered_with_words_that_help() {
    let vault = TempVault::new(NOTES);
    let mut client = Client::open(Era::Handshake, in_process(&vault)).await;
    for (tool, arguments, code, said) in [
        ("search_notes", json!({}), "wrong_use", "query"),
        (
            "search_notes",
            json!({"query": "x", "limit": 0}),
            "wrong_use",
            "limit",
        ),
        (
            "search_notes",
            json!({"query": "x", "folders": ["a"]}),
            "wrong_use",
            "folder",
        ),
        (
            "search_notes",
            json!({"query": "x", "tag": "a"}),
            "wrong_use",
            "tag",
        ),
        (
            "search_notes",
            json!({"query": "x", "vault": "Nots"}),
            "unknown_vault",
            "Nots",
        ),
        (
            "read_note",
            json!({"note": "Nowhere"}),
            "no_such_note",
            "Nowhere",
        ),
        (
            "read_note",
            json!({"note": "Kiln", "max_chars": 99999}),
            "wrong_use",
            "40000",
        ),
        (
            "read_note",
            json!({"note": "Kiln", "lines": "x"}),
            "wrong_use",
            "lines",
        ),
        (
            "vault_context",
            json!({"query": "x", "passages": 4}),
            "wrong_use",
            "passages",
        ),
    ] {
        let result = client.call(tool, arguments.clone()).await;
        assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
        let error = &result["structuredContent"]["error"];
        assert_eq!(error["code"], code, "{error}");
        assert!(error.to_string().contains(said), "{error}");
        let text = result["content"][0]["text"].as_str().unwrap();
        assert_eq!(text, result["structuredContent"].to_string());
    }
    // Null is as good as left out.
    let nothing = json!({"query": "celadon", "limit": null, "tag": null, "cursor": null});
    client.content("search_notes", nothing).await;
    // A tool that is not there is no answer of a tool.
    for era in ERAS {
        let mut client = Client::open(era, in_process(&vault)).await;
        let unknown = json!({"name": "rebuild", "arguments": {}});
        let error = client.error("tools/call", unknown).await;
        assert_eq!(error["code"], -32602);
        assert!(error["message"].as_str().unwrap().contains("search_notes"));
    }
}

/// Notes that make answers as large as they can be: long passages, long names, much to escape.
fn large() -> TempVault {
    let vault = TempVault::new(NOTES);
    for n in 0..40 {
        let word = ["fleece", "buyer", "weight", "price"][n % 4];
        let line = format!("The {word} of lot {n} was written down \"again\" by\tthe buyer.\n");
        let path = format!(
            "Long folder name {}/Lot number {n} of the fleece sale.md",
            n % 7
        );
        vault.write(&path, format!("# Fleece sale {n}\n\n{}", line.repeat(60)));
    }
    vault.write("Signs.md", "\u{1}\"\\\t".repeat(4_000));
    vault.write("Wide.md", "羊毛の値段と買い手\n".repeat(2_000));
    vault
}

#[tokio::test]
async fn a_default_answer_is_short_and_says_how_to_get_the_rest() {
    let vault = large();
    let mut client = Client::open(Era::Handshake, in_process(&vault)).await;
    for (tool, arguments) in [
        (
            "search_notes",
            json!({"query": "the fleece buyer wrote down the price"}),
        ),
        ("search_notes", json!({"query": "羊毛 買い手"})),
        (
            "vault_context",
            json!({"query": "the fleece buyer wrote down the price"}),
        ),
        ("vault_context", json!({"query": "羊毛 買い手"})),
        (
            "related_notes",
            json!({"note": "Lot number 3 of the fleece sale"}),
        ),
        ("read_note", json!({"note": "Signs"})),
        ("read_note", json!({"note": "Wide"})),
        (
            "read_note",
            json!({"note": "Lot number 3 of the fleece sale"}),
        ),
        ("vault_status", json!({})),
    ] {
        let answer = client.content(tool, arguments.clone()).await;
        let chars = answer.to_string().chars().count();
        assert!(chars < DEFAULT_ANSWER_CHARS, "{tool} {arguments}: {chars}");
        if tool != "related_notes" && tool != "vault_status" && arguments["note"] != "Signs" {
            assert!(chars > 2_000, "{tool} {arguments}: {chars}");
        }
    }
    let query = "the fleece buyer wrote down the price";
    let first = client
        .content("search_notes", json!({"query": query}))
        .await;
    assert_eq!(first["truncated"], true);
    let more = json!({"query": query, "cursor": first["next"]});
    let second = client.content("search_notes", more).await;
    let places = |answer: &Value| -> Vec<String> {
        let passages = answer["passages"].as_array().unwrap();
        passages
            .iter()
            .map(|p| format!("{}{}", p["note"], p["byte_range"]))
            .collect()
    };
    assert!(!places(&second).is_empty());
    for place in places(&second) {
        assert!(!places(&first).contains(&place), "{place} twice");
    }
    // More by argument.
    let wished = json!({"query": query, "limit": 30, "max_chars": 40_000});
    let answer = client.content("search_notes", wished).await;
    let chars = answer.to_string().chars().count();
    assert!(chars > 12_000 && chars <= 40_000, "{chars}");
}

#[tokio::test]
async fn a_note_is_read_whole_by_following_the_cursor() {
    let vault = large();
    let mut client = Client::open(Era::Handshake, in_process(&vault)).await;
    for (note, path) in [("Wide", "Wide.md"), ("Signs", "Signs.md")] {
        let mut whole = String::new();
        let mut cursor = Value::Null;
        loop {
            let arguments = json!({"note": note, "cursor": cursor});
            let part = client.content("read_note", arguments).await;
            whole.push_str(part["text"].as_str().unwrap());
            cursor = part["next"].clone();
            assert_eq!(part["truncated"], !cursor.is_null());
            if cursor.is_null() {
                break;
            }
        }
        assert_eq!(whole, vault.read(path));
    }
}

#[tokio::test]
async fn several_vaults_are_chosen_by_name_and_a_bound_server_has_one() {
    let vault = TempVault::new(NOTES);
    let environment = environment(&vault);
    let garden = vault.beside("Garden");
    std::fs::create_dir(&garden).unwrap();
    std::fs::write(garden.join("Beans.md"), "Sow beans in May.").unwrap();
    lorewell_setup::vaults::add(&environment, None, garden.to_str().unwrap()).unwrap();
    lorewell_setup::vaults::set_default(&environment, "Notes").unwrap();
    let all = lorewell_mcp::InProcess::new(environment.clone(), Default::default(), None);
    let mut client = Client::open(Era::Inline, std::sync::Arc::new(all)).await;
    let about = client.result("server/discover", json!({})).await;
    let instructions = about["instructions"].as_str().unwrap();
    assert!(instructions.ends_with("Notes, Garden."), "{instructions}");
    let beans = json!({"query": "when to sow beans", "vault": "garden"});
    let answer = client.content("search_notes", beans.clone()).await;
    assert_eq!(answer["vault"], "Garden");
    assert_eq!(answer["passages"][0]["note"], "Beans.md");
    let answer = client
        .content("search_notes", json!({"query": "beans"}))
        .await;
    assert_eq!(answer["vault"], "Notes");
    // A client names vaults of the list, never folders.
    let folder = json!({"query": "x", "vault": garden});
    let refused = client.call("search_notes", folder).await;
    assert_eq!(
        refused["structuredContent"]["error"]["code"],
        "unknown_vault"
    );

    let one = bound(&environment, vault.root());
    let mut client = Client::open(Era::Handshake, one).await;
    let tools = client.result("tools/list", json!({})).await["tools"].clone();
    assert!(tools[0]["inputSchema"]["properties"].get("vault").is_none());
    let refused = client.call("search_notes", beans).await;
    assert_eq!(
        refused["structuredContent"]["error"]["code"],
        "unknown_vault"
    );
}

#[tokio::test]
async fn an_answer_follows_the_notes_and_the_settings() {
    let vault = TempVault::new(NOTES);
    let environment = environment(&vault);
    let backend = lorewell_mcp::InProcess::new(environment.clone(), Default::default(), None);
    let mut client = Client::open(Era::Handshake, std::sync::Arc::new(backend)).await;
    let query = json!({"query": "sheep dip"});
    let answer = client.content("search_notes", query.clone()).await;
    assert_eq!(answer["confidence"], "none");
    vault.write("Sheep.md", "The sheep dip is on Monday.");
    let answer = client.content("search_notes", query.clone()).await;
    assert_eq!(answer["passages"][0]["note"], "Sheep.md");
    lorewell_setup::edit::set(&environment, None, "exclude_globs", "Sheep.md").unwrap();
    let answer = client.content("search_notes", query).await;
    assert!(!answer.to_string().contains("Monday"), "{answer}");
    let read = client.call("read_note", json!({"note": "Sheep.md"})).await;
    assert_eq!(read["structuredContent"]["error"]["code"], "no_such_note");
}
