//! `lorewell serve` as a process: signals, a second one, commands that it answers, and one that a
//! command starts. What it answers is told in the tests of the crate `lorewell-bridge`.

#![cfg(unix)]

use std::fs;
use std::process::Output;

use lorewell_testkit::{Program, TempVault, http};
use serde_json::{Value, json};

const NOTES: &str = "=== Kiln.md ===\nCone 6, slow.\n=== Glaze/Celadon.md ===\nCeladon glaze.\n";

fn program(vault: &TempVault) -> Program {
    Program::new(env!("CARGO_BIN_EXE_lorewell"), vault.beside("home"))
}

fn run(vault: &TempVault, words: &[&str]) -> Output {
    program(vault).run(words)
}

fn json_of(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

fn listed_vault() -> TempVault {
    let vault = TempVault::new(NOTES);
    let root = vault.root().display().to_string();
    assert!(run(&vault, &["vault", "add", &root]).status.success());
    vault
}

#[test]
fn a_second_one_finds_the_first_and_signals_end_it() {
    let vault = listed_vault();
    for signal in ["-TERM", "-INT"] {
        let mut serving = program(&vault).serve(&[]);
        let second = run(&vault, &["serve", "--json"]);
        assert_eq!(second.status.code(), Some(2));
        let error = json_of(&second)["error"].clone();
        assert_eq!(error["code"], "bridge_running", "{error}");
        let id = serving.child.id().to_string();
        assert!(error["message"].as_str().unwrap().contains(&id), "{error}");
        let status = json_of(&run(&vault, &["serve", "--status", "--json"]));
        assert_eq!(status["running"], true);
        assert_eq!(status["pid"], serving.child.id());

        serving.signal(signal);
        assert_eq!(serving.line()["event"], "stopped");
        assert_eq!(serving.child.wait().unwrap().code(), Some(0));
        let status = run(&vault, &["serve", "--status", "--json"]);
        assert_eq!(
            (status.status.code(), &json_of(&status)["running"]),
            (Some(1), &Value::Bool(false))
        );
    }
}

#[test]
fn one_that_was_killed_is_none_and_its_leftovers_hinder_nobody() {
    let vault = listed_vault();
    let mut first = program(&vault).serve(&[]);
    first.signal("-KILL");
    first.child.wait().unwrap();
    let running = run(&vault, &["search", "--json", "--bridge", "running", "kiln"]);
    assert_eq!(
        (running.status.code(), running.stderr.as_slice()),
        (Some(0), &b""[..])
    );
    let required = run(&vault, &["search", "--json", "--bridge", "require", "kiln"]);
    assert_eq!(json_of(&required)["error"]["code"], "bridge_not_running");
    let _second = program(&vault).serve(&[]);
    let required = run(&vault, &["search", "--json", "--bridge", "require", "kiln"]);
    assert_eq!(json_of(&required)["passages"][0]["note"], "Kiln.md");
    let stopped = run(&vault, &["serve", "--stop"]);
    assert_eq!(stopped.status.code(), Some(0));
}

#[test]
fn a_command_starts_one_that_ends_by_itself() {
    let vault = listed_vault();
    let first = run(&vault, &["search", "--json", "--bridge", "auto", "kiln"]);
    assert_eq!(first.status.code(), Some(0));
    let status = json_of(&run(&vault, &["serve", "--status", "--json"]));
    assert_eq!(status["running"], true);
    assert_eq!(status["exit_after_seconds"], 1800);
    let again = run(&vault, &["search", "--json", "--bridge", "auto", "kiln"]);
    assert_eq!(again.stdout, first.stdout);
    let after = json_of(&run(&vault, &["serve", "--status", "--json"]));
    assert_eq!(after["pid"], status["pid"]);
    assert!(run(&vault, &["serve", "--stop"]).status.success());
}

#[test]
fn what_is_not_the_bridge_of_the_state_file_is_told_and_not_asked() {
    let vault = listed_vault();
    let serving = program(&vault).serve(&[]);
    let path = program(&vault)
        .home()
        .join(".local/share/lorewell/bridge/state.json");
    let text = fs::read_to_string(&path).unwrap();
    // The bridge's own word decides; a state file that names another instance is no use either.
    let instance = text.find("\"instance\": \"").unwrap() + 13;
    let mut other = text.clone();
    other.replace_range(instance..instance + 8, "00000000");
    fs::write(&path, other).unwrap();
    let answer = run(&vault, &["search", "--json", "--bridge", "running", "kiln"]);
    assert_eq!(answer.status.code(), Some(0));
    let said = String::from_utf8_lossy(&answer.stderr);
    assert!(
        said.contains("is not the bridge that the state file names"),
        "{said}"
    );
    assert!(said.contains("answers itself"), "{said}");
    fs::write(&path, text).unwrap();
    drop(serving);
}

#[test]
fn other_settings_are_answered_by_the_command_itself() {
    let vault = listed_vault();
    let _serving = program(&vault).serve(&[]);
    let elsewhere = vault.beside("elsewhere").display().to_string();
    let words = [
        "search",
        "--json",
        "--index-dir",
        &elsewhere,
        "kiln",
        "--bridge",
    ];
    let running = run(&vault, &[&words[..], &["running"]].concat());
    assert_eq!(
        (running.status.code(), running.stderr.as_slice()),
        (Some(0), &b""[..])
    );
    assert!(vault.beside("elsewhere").is_dir());
    let required = run(&vault, &[&words[..], &["require"]].concat());
    assert_eq!(json_of(&required)["error"]["code"], "other_settings");
    let wrong = run(&vault, &["search", "--json", "kiln", "--bridge", "perhaps"]);
    assert_eq!(json_of(&wrong)["error"]["code"], "wrong_value");
}

#[test]
fn the_log_tells_of_requests_and_nothing_of_what_is_in_them() {
    let vault = listed_vault();
    let token = json_of(&run(
        &vault,
        &["agent", "approve", "scribe", "--local", "--json"],
    ));
    let token = token["token"].as_str().unwrap().to_string();
    let bridge = program(&vault).with("LOREWELL_LOG", "debug").serve(&[]);
    let ask = |path: &str, token: &str, body: Value| {
        let bearer = format!("Bearer {token}");
        let headers = [
            ("Authorization", bearer.as_str()),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        http(
            bridge.address(),
            ("POST", path),
            &headers,
            &body.to_string(),
        )
        .status
    };
    assert_eq!(
        ask(
            "/v1/search",
            &token,
            json!({"query": "xyzzy question of mine"})
        ),
        200
    );
    assert_eq!(ask("/v1/read", &token, json!({"note": "Unheard of"})), 404);
    assert_eq!(
        ask("/v1/search", "lorewell_made_up", json!({"query": "xyzzy"})),
        401
    );
    assert_eq!(ask("/v1/madeup", &token, json!({"query": "xyzzy"})), 404);
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params":
        {"name": "search_notes", "arguments": {"query": "xyzzy by a tool"}}});
    assert_eq!(ask("/mcp", &token, call), 200);
    run(
        &vault,
        &["search", "--bridge", "require", "xyzzy of the owner"],
    );
    run(&vault, &["serve", "--stop"]);
    let folder = program(&vault).home().join(".local/share/lorewell/bridge");
    let log = fs::read_to_string(folder.join("bridge.log")).unwrap();
    for told in [
        "serving",
        "scribe",
        "owner",
        "knowledge.search",
        "answered",
        "no_such_note",
    ] {
        assert!(log.contains(told), "{told}: {log}");
    }
    for secret in [
        "xyzzy",
        "Unheard",
        "made_up",
        "madeup",
        "Cone 6",
        "Kiln",
        token.as_str(),
    ] {
        assert!(!log.contains(secret), "{secret}: {log}");
    }
}
