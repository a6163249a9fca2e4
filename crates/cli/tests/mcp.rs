//! `lorewell mcp` as a process: what is on its standard output, the bytes of its answers, the
//! forms of a vault's path, and the bridge behind it. The protocol itself is tested in the crate
//! `lorewell-mcp`.

#![cfg(unix)]

use std::fs;
use std::path::Path;

use lorewell_testkit::{McpProcess, Program, TempVault};
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
=== Diary/Monday.md ===
The kiln cracked.
";

fn program(home: &Path) -> Program {
    let program = Program::new(env!("CARGO_BIN_EXE_lorewell"), home.to_path_buf());
    program.with("XDG_RUNTIME_DIR", &home.display().to_string())
}

fn start(home: &Path, words: &[&str]) -> McpProcess {
    McpProcess::start(&program(home), words)
}

/// What stands in `degraded` where a server is not to ask the bridge; all else is as always.
const ALONE: &str = "\"bridge: it is not to be asked; this process answered itself\"";

#[test]
fn a_tool_answers_with_the_bytes_of_the_command_line() {
    let vault = TempVault::new(NOTES);
    let home = vault.beside("home");
    let root = vault.root().to_str().unwrap();
    let mut server = start(&home, &["--vault", root, "--bridge", "never"]);
    let requests = [
        (
            "search_notes",
            json!({"query": "how slow is the firing"}),
            vec![
                "search",
                "how slow is the firing",
                "--limit",
                "6",
                "--max-chars",
                "7900",
            ],
        ),
        (
            "search_notes",
            json!({"query": "kiln", "limit": 1, "max_chars": 9000, "tag": ["ceramics"]}),
            vec![
                "search",
                "kiln",
                "--limit",
                "1",
                "--max-chars",
                "9000",
                "--tag",
                "ceramics",
            ],
        ),
        (
            "vault_context",
            json!({"query": "celadon firing"}),
            vec![
                "context",
                "celadon firing",
                "--budget",
                "1200",
                "--brief",
                "--max-chars",
                "7900",
            ],
        ),
        (
            "vault_context",
            json!({"query": "celadon firing", "budget": 400}),
            vec!["context", "celadon firing", "--budget", "400", "--brief"],
        ),
        (
            "related_notes",
            json!({"note": "Oven"}),
            vec!["related", "Oven", "--limit", "8"],
        ),
        (
            "read_note",
            json!({"note": "Kiln", "heading": ["Cooling"]}),
            vec![
                "read",
                "Kiln",
                "--heading",
                "Cooling",
                "--max-chars",
                "6000",
            ],
        ),
        (
            "verify_quotes",
            json!({"quotes": [{"quote": "cone 6", "note": "Kiln"}]}),
            vec!["verify", "--quote", "cone 6", "--note", "Kiln"],
        ),
        ("vault_status", json!({}), vec!["status", "--list", "5"]),
    ];
    for (tool, arguments, words) in requests {
        let answered = server.bytes(tool, &arguments);
        assert!(answered.contains(ALONE), "{answered}");
        let words = [&words[..], &["--json", "--vault", root]].concat();
        let output = program(&home).run(&words);
        let printed = String::from_utf8(output.stdout).unwrap();
        // The command's bytes, and the line that says who answered behind what else is degraded.
        let mut expected: Value = serde_json::from_str(&printed).unwrap();
        let fields = expected.as_object_mut().unwrap();
        let degraded = fields.entry("degraded").or_insert_with(|| json!([]));
        let line: Value = serde_json::from_str(ALONE).unwrap();
        degraded.as_array_mut().unwrap().push(line);
        assert_eq!(answered, expected.to_string(), "{tool} {arguments}");
    }
    server.end();
}

#[test]
fn a_vault_is_meant_by_every_form_of_its_path() {
    let vault = TempVault::new(NOTES);
    let home = vault.beside("home");
    let folder = home.join("My Vault's (Größe) 日本");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("a.md"), "The sheep dip is on Monday.").unwrap();
    let link = home.join("link");
    std::os::unix::fs::symlink(&folder, &link).unwrap();
    let path = folder.to_str().unwrap();
    let mut indexes = Vec::new();
    for given in [
        path.to_string(),
        format!("{path}/"),
        format!("{path}/./sub/.."),
        "~/My Vault's (Größe) 日本".to_string(),
        link.to_str().unwrap().to_string(),
        format!("\"{path}\""),
        format!("file://{}", path.replace(' ', "%20").replace("ö", "%C3%B6")),
    ] {
        let mut server = start(&home, &["--vault", &given, "--bridge", "never"]);
        let answer = server.bytes("search_notes", &json!({"query": "sheep dip"}));
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["passages"][0]["note"], "a.md", "{given}");
        let status = server.bytes("vault_status", &json!({}));
        let status: Value = serde_json::from_str(&status).unwrap();
        indexes.push(status["index"]["folder"].clone());
        server.end();
    }
    indexes.dedup();
    assert_eq!(indexes.len(), 1, "{indexes:?}");
    let missing = format!("{path}/does not exist");
    let mut server = start(&home, &["--vault", &missing, "--bridge", "never"]);
    let refused = server.call("search_notes", &json!({"query": "sheep"}));
    assert_eq!(refused["isError"], true);
    let error = refused["structuredContent"]["error"].to_string();
    assert!(error.contains(&missing.replace('"', "\\\"")), "{error}");
    assert!(server.end().contains("does not exist"));
}

#[test]
fn fences_keep_notes_from_a_model_elsewhere_and_not_from_one_here() {
    let vault = TempVault::new(NOTES);
    let home = vault.beside("home");
    let root = vault.root().to_str().unwrap();
    program(&home).done(&["config", "set", "fence_folders", "Diary"]);
    let ask = |words: &[&str]| {
        let mut all = vec!["--vault", root, "--bridge", "never"];
        all.extend(words);
        let mut server = start(&home, &all);
        let answer = server.bytes("search_notes", &json!({"query": "what cracked"}));
        server.end();
        answer
    };
    assert!(!ask(&[]).contains("Monday"));
    assert!(ask(&["--local"]).contains("The kiln cracked."));
}

/// A bridge that a client started; it ends with the test.
struct Bridge<'h>(&'h Path);

impl Drop for Bridge<'_> {
    fn drop(&mut self) {
        program(self.0).run(&["serve", "--stop"]);
    }
}

#[test]
fn the_bridge_is_started_and_answers_with_the_same_bytes() {
    let vault = TempVault::new(NOTES);
    let home = vault.beside("home");
    let root = vault.root().to_str().unwrap();
    let _bridge = Bridge(&home);
    list_vault(&home, root);
    let query = json!({"query": "how slow is the firing"});
    let mut alone = start(&home, &["--vault", root, "--bridge", "never"]);
    let mut by_bridge = start(&home, &["--vault", root]);
    let answer = by_bridge.bytes("search_notes", &query);
    // But for the line that says so, one that is not to ask the bridge answers the same.
    let own = alone.bytes("search_notes", &query);
    assert!(own.contains(ALONE), "{own}");
    assert_eq!(answer, own.replace(ALONE, ""));
    assert!(!answer.contains("bridge:"), "{answer}");
    program(&home).done(&["serve", "--status"]);
    // A second client finds the first one's bridge.
    let mut second = start(&home, &["--vault", root, "--bridge", "require"]);
    assert_eq!(second.bytes("search_notes", &query), answer);
    program(&home).done(&["serve", "--stop"]);
    // What must be answered by the bridge is not answered without it.
    let refused = second.call("search_notes", &query);
    let code = &refused["structuredContent"]["error"]["code"];
    assert_eq!(code, "bridge_not_running", "{refused}");
    for server in [alone, by_bridge, second] {
        server.end();
    }
}

#[test]
fn a_bridge_that_cannot_be_had_is_said_in_the_answer() {
    let vault = TempVault::new(NOTES);
    let home = vault.beside("home");
    let root = vault.root().to_str().unwrap();
    // Where its socket would lie is a file.
    fs::create_dir_all(&home).unwrap();
    fs::write(home.join("lorewell"), "").unwrap();
    for listed in [false, true] {
        let mut server = start(&home, &["--vault", root]);
        let query = json!({"query": "how slow is the firing"});
        let answer = server.bytes("search_notes", &query);
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["passages"][0]["note"], "Kiln.md");
        let said = answer["degraded"].to_string();
        assert!(
            said.contains("bridge: ") && said.contains("did not start"),
            "{said}"
        );
        assert!(said.contains("this process answered itself"), "{said}");
        let status = server.bytes("vault_status", &json!({}));
        assert!(status.contains("this process answered itself"), "{status}");
        server.end();
        if !listed {
            list_vault(&home, root);
        }
    }
}

#[test]
fn a_folder_that_is_not_listed_is_answered_by_the_bridge_too() {
    let vault = TempVault::new(NOTES);
    let home = vault.beside("home");
    let root = vault.root().to_str().unwrap();
    let _bridge = Bridge(&home);
    let mut server = start(&home, &["--vault", root]);
    let answer = server.bytes("search_notes", &json!({"query": "how slow is the firing"}));
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["passages"][0]["note"], "Kiln.md");
    assert_eq!(answer["degraded"], json!([]), "{answer}");
    server.end();
    let status = program(&home).json(&["serve", "--status"]);
    assert_eq!(status["open_vaults"], json!([root]), "{status}");
    let log = program(&home).json(&["audit"]);
    assert!(log["entries"].to_string().contains("Kiln.md"), "{log}");
    // By what it called itself.
    assert_eq!(log["entries"][0]["agent"], "client:test", "{log}");
}

/// An approved agent asks in its own scope; the user's default vault does not matter to it.
#[test]
fn an_agent_is_answered_from_its_own_vault_and_never_without_the_bridge() {
    let personal = TempVault::new("=== Kiln.md ===\nThe private kiln.\n");
    let work = TempVault::new(NOTES);
    let home = work.beside("home");
    let _bridge = Bridge(&home);
    list_vault(&home, personal.root().to_str().unwrap());
    let root = work.root().to_str().unwrap();
    program(&home).done(&["vault", "add", root, "--name", "Work"]);
    program(&home).done(&["agent", "approve", "scout", "--vault", "Work"]);

    let query = json!({"query": "how slow is the firing"});
    let mut server = start(&home, &["--as", "scout"]);
    let answer = server.bytes("search_notes", &query);
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["vault"], "Work", "{answer}");
    program(&home).done(&["serve", "--stop"]);
    let mut none = start(&home, &["--as", "scout", "--bridge", "never"]);
    let refused = none.call("search_notes", &query);
    assert_eq!(refused["isError"], true, "{refused}");
    for server in [server, none] {
        server.end();
    }
    let log = program(&home).json(&["audit"]).to_string();
    assert!(log.contains("scout") && log.contains("Kiln.md"), "{log}");
}

/// A client that listens and asks nothing keeps no bridge alive: one that was ended stays so until
/// it is needed again.
#[test]
fn an_idle_agent_starts_no_bridge_again() {
    let vault = TempVault::new(NOTES);
    let home = vault.beside("home");
    let _bridge = Bridge(&home);
    list_vault(&home, vault.root().to_str().unwrap());
    program(&home).done(&["agent", "approve", "scout"]);
    let mut server = start(&home, &["--as", "scout"]);
    let query = json!({"query": "how slow is the firing"});
    let answer = server.bytes("search_notes", &query);
    program(&home).done(&["serve", "--stop"]);
    // It looks once a second whether its tools are others; these looks are what is waited for.
    for _ in 0..5 {
        std::thread::sleep(std::time::Duration::from_millis(500));
        let status = program(&home).run(&["serve", "--status", "--json"]);
        assert!(!status.status.success(), "{status:?}");
    }
    assert_eq!(server.bytes("search_notes", &query), answer);
    server.end();
}

fn list_vault(home: &Path, root: &str) {
    program(home).done(&["vault", "add", root]);
}
