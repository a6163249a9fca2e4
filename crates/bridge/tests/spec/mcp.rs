//! The Model Context Protocol at `/mcp`: the same gate, the same fences, the same log.

use std::fs;

use lorewell_agents::{
    AuditFilter, AuditLimits, AuditLog, Change, Reader, ScopedVault, VaultScope,
};
use lorewell_setup::audit_dir;
use lorewell_testkit::TempVault;
use serde_json::{Value, json};

use crate::house::{House, NOTES};

fn names(house: &House, token: &str) -> Vec<String> {
    let listed = house.mcp(token, "tools/list", &json!({})).json();
    let tools = listed["result"]["tools"].as_array().unwrap().clone();
    tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_string())
        .collect()
}

#[test]
fn a_tool_answers_with_what_the_route_answers() {
    let house = House::new(NOTES);
    let token = house.approve("scribe", |_| {});
    let by_route = house.post(
        &token,
        "/v1/read",
        &json!({"note": "Kiln", "max_chars": 6000}),
    );
    let by_tool = house.tool(&token, "read_note", &json!({"note": "Kiln"}));
    assert_eq!(by_tool["structuredContent"], by_route.json());
}

#[test]
fn who_is_not_approved_gets_nothing_and_a_revocation_holds_from_the_next_request_on() {
    let house = House::new(NOTES);
    let token = house.approve("scribe", |_| {});
    assert_eq!(names(&house, &token).len(), 6);
    house.register().revoke("scribe").unwrap();
    for token in [token.as_str(), "lorewell_none", ""] {
        for method in ["initialize", "tools/list", "tools/call", "resources/list"] {
            let answer = house.mcp(token, method, &json!({}));
            assert_eq!(
                (answer.status, answer.code().as_str()),
                (401, "not_approved"),
                "{method}"
            );
        }
    }
}

#[test]
fn a_scope_holds_for_tools_and_resources() {
    let house = House::new(NOTES);
    let other = house.vault.beside("other");
    fs::create_dir(&other).unwrap();
    let outside = house.approve("outside", |approval| {
        approval.vaults = VaultScope::These(vec![ScopedVault {
            name: "Other".to_string(),
            path: fs::canonicalize(other).unwrap(),
        }]);
    });
    let refused = house.tool(&outside, "search_notes", &json!({"query": "kiln"}));
    assert_eq!(
        refused["structuredContent"]["error"]["code"], "out_of_scope",
        "{refused}"
    );
    let named = json!({"query": "kiln", "vault": "Notes"});
    let refused = house.tool(&outside, "search_notes", &named);
    assert_eq!(
        refused["structuredContent"]["error"]["code"], "out_of_scope",
        "{refused}"
    );
    for (method, params) in [
        ("resources/list", json!({})),
        ("resources/read", json!({"uri": "lorewell://Notes/Kiln.md"})),
    ] {
        let answer = house.mcp(&outside, method, &params);
        assert!(!answer.body.contains("Kiln.md\""), "{method}: {answer:?}");
        assert!(!answer.body.contains("Cone 6"), "{method}: {answer:?}");
    }
}

#[test]
fn a_tool_group_that_is_off_is_gone_at_once() {
    let house = House::new(NOTES);
    let token = house.approve("scribe", |_| {});
    assert!(names(&house, &token).contains(&"read_note".to_string()));
    let change = Change {
        off: vec!["read".to_string()],
        ..Change::default()
    };
    house.register().change("scribe", &change).unwrap();
    assert!(!names(&house, &token).contains(&"read_note".to_string()));
    let params = json!({"name": "read_note", "arguments": {"note": "Kiln"}});
    let refused = house.mcp(&token, "tools/call", &params);
    assert!(
        refused.json()["error"]["message"]
            .as_str()
            .unwrap()
            .contains("switched off")
    );
    let read = house.mcp(
        &token,
        "resources/read",
        &json!({"uri": "lorewell://Notes/Kiln.md"}),
    );
    assert!(read.json().get("error").is_some(), "{read:?}");
}

#[test]
fn a_note_behind_a_fence_does_not_exist_for_a_remote_agent() {
    let vault = TempVault::new(NOTES);
    vault.write("Home/Diary.md", "The quokkazorn slept in the kiln.");
    let house = House::around(
        vault,
        "fence_folders = [\"Home\"]\nfence_properties = [\"private\"]",
        |_| {},
    )
    .unwrap();
    let remote = house.approve("remote", |approval| approval.reader = Reader::Remote);
    let local = house.approve("local", |_| {});
    let asks = |token: &str| -> Vec<Value> {
        vec![
            house.tool(token, "search_notes", &json!({"query": "quokkazorn kiln"})),
            house.tool(token, "vault_context", &json!({"query": "quokkazorn kiln"})),
            house.tool(token, "read_note", &json!({"note": "Home/Diary.md"})),
            house.mcp(token, "resources/list", &json!({})).json(),
            house
                .mcp(
                    token,
                    "resources/read",
                    &json!({"uri": "lorewell://Notes/Home/Diary.md"}),
                )
                .json(),
        ]
    };
    for answer in asks(&local) {
        assert!(answer.to_string().contains("Diary"), "{answer}");
    }
    for answer in asks(&remote) {
        let said = answer.to_string();
        assert!(
            !said.contains("slept") && !said.contains("\"Home/Diary.md\","),
            "{said}"
        );
    }
    // A note that comes behind a fence is not given, also to who does not want to wait.
    house.vault.write("Plan.md", "A wombat plan.");
    let plan = |refresh: bool| {
        let asked = json!({"query": "wombat plan", "lanes": ["text"], "refresh": refresh});
        house.post(&remote, "/v1/search", &asked).json()
    };
    while plan(true)["passages"].as_array().unwrap().is_empty() {}
    house
        .vault
        .write("Plan.md", "---\nprivate: yes\n---\nA wombat plan.");
    // Once the bridge was told of it, which is the system's to do.
    house.ask_until("search", &json!({"property": ["private"]}), |answer| {
        answer["passages"][0]["note"] == "Plan.md"
    });
    let answer = plan(false);
    assert_eq!(answer["passages"], json!([]), "{answer}");
    assert_eq!(answer["index"]["pending"], 0, "{answer}");
}

#[test]
fn what_leaves_is_in_the_log_before_it_leaves() {
    let house = House::new(NOTES);
    let token = house.approve("scribe", |_| {});
    house.tool(&token, "search_notes", &json!({"query": "celadon"}));
    house.tool(&token, "read_note", &json!({"note": "Nowhere"}));
    let folder = audit_dir(&house.environment);
    let log = AuditLog::new(
        &folder,
        AuditLimits {
            file_bytes: 1 << 20,
            files: 2,
        },
    );
    let all = AuditFilter {
        limit: 100,
        ..AuditFilter::default()
    };
    let entries = log.read(&all).unwrap().entries;
    assert_eq!(entries[0].agent, "scribe");
    assert!(
        entries[0]
            .passages
            .iter()
            .any(|passage| passage.note == "Glazes/Celadon.md")
    );
    assert_eq!(entries[1].error.as_deref(), Some("no_such_note"));
    // Where it cannot be written, nothing leaves.
    fs::remove_dir_all(&folder).unwrap();
    fs::write(&folder, "").unwrap();
    let refused = house.tool(&token, "search_notes", &json!({"query": "celadon"}));
    assert_eq!(refused["isError"], true, "{refused}");
    assert!(!refused.to_string().contains("Celadon.md"), "{refused}");
}
