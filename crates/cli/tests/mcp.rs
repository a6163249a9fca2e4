//! `lorewell mcp` as a process: what is on its standard output, the bytes of its answers, the
//! forms of a vault's path, and the bridge behind it. The protocol itself is tested in the crate
//! `lorewell-mcp`.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]
#![expect(clippy::disallowed_types, reason = "the test starts programs")]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use lorewell_testkit::TempVault;
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

fn lorewell(home: &Path, words: &[&str]) -> Command {
    fs::create_dir_all(home).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_lorewell"));
    command
        .args(words)
        .env_clear()
        .env("HOME", home)
        .env("XDG_RUNTIME_DIR", home)
        .current_dir(home);
    command
}

/// A server as a process.
struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    last_id: u64,
}

impl Server {
    fn start(home: &Path, words: &[&str]) -> Server {
        let mut all = vec!["mcp"];
        all.extend(words);
        let mut child = lorewell(home, &all)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut server = Server {
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
            last_id: 0,
        };
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}});
        server.result("initialize", &params);
        server
    }

    fn result(&mut self, method: &str, params: &Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        writeln!(self.input.as_mut().unwrap(), "{request}").unwrap();
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "no answer");
            // Whatever is on standard output is a message.
            let message: Value = serde_json::from_str(&line).unwrap();
            assert_eq!(message["jsonrpc"], "2.0", "{line}");
            if message["id"] == json!(id) {
                assert!(message.get("error").is_none(), "{message}");
                return message["result"].clone();
            }
        }
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.result("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    /// What a tool that does its work has for the model, as it is written.
    fn bytes(&mut self, tool: &str, arguments: &Value) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], false, "{result}");
        result["structuredContent"].to_string()
    }

    /// Closes its input; it ends well.
    fn end(mut self) -> String {
        drop(self.input.take());
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut self.output, &mut rest).unwrap();
        assert_eq!(rest, "");
        let output = self.child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stderr).unwrap()
    }
}

fn json_of(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.trim_end().to_string()
}

#[test]
fn a_tool_answers_with_the_bytes_of_the_command_line() {
    let vault = TempVault::new(NOTES);
    let home = vault.beside("home");
    let root = vault.root().to_str().unwrap();
    let mut server = Server::start(&home, &["--vault", root, "--bridge", "never"]);
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
        let mut command = lorewell(&home, &words);
        command.args(["--json", "--vault", root]);
        assert_eq!(answered, json_of(&mut command), "{tool} {arguments}");
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
        let mut server = Server::start(&home, &["--vault", &given, "--bridge", "never"]);
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
    let mut server = Server::start(&home, &["--vault", &missing, "--bridge", "never"]);
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
    let set = ["config", "set", "fence_folders", "Diary"];
    assert!(lorewell(&home, &set).output().unwrap().status.success());
    let ask = |words: &[&str]| {
        let mut all = vec!["--vault", root, "--bridge", "never"];
        all.extend(words);
        let mut server = Server::start(&home, &all);
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
        let _ = lorewell(self.0, &["serve", "--stop"]).output();
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
    let mut alone = Server::start(&home, &["--vault", root, "--bridge", "never"]);
    let mut by_bridge = Server::start(&home, &["--vault", root]);
    let answer = by_bridge.bytes("search_notes", &query);
    assert_eq!(answer, alone.bytes("search_notes", &query));
    assert!(!answer.contains("bridge:"), "{answer}");
    let runs = lorewell(&home, &["serve", "--status"]).output().unwrap();
    assert!(runs.status.success());
    // A second client finds the first one's bridge.
    let mut second = Server::start(&home, &["--vault", root, "--bridge", "require"]);
    assert_eq!(second.bytes("search_notes", &query), answer);
    assert!(
        lorewell(&home, &["serve", "--stop"])
            .output()
            .unwrap()
            .status
            .success()
    );
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
    // A vault that is not listed is not the bridge's; then, where its socket would lie is a file.
    for reason in ["is not listed", "did not start"] {
        let mut server = Server::start(&home, &["--vault", root]);
        let query = json!({"query": "how slow is the firing"});
        let answer = server.bytes("search_notes", &query);
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["passages"][0]["note"], "Kiln.md");
        let said = answer["degraded"].to_string();
        assert!(said.contains("bridge: ") && said.contains(reason), "{said}");
        assert!(said.contains("this process answered itself"), "{said}");
        server.end();
        fs::write(home.join("lorewell"), "").unwrap();
        list_vault(&home, root);
    }
}

/// An approved agent asks in its own scope; the user's default vault does not matter to it.
#[test]
fn an_agent_is_answered_from_its_own_vault_and_never_without_the_bridge() {
    let personal = TempVault::new("=== Kiln.md ===\nThe private kiln.\n");
    let work = TempVault::new(NOTES);
    let home = work.beside("home");
    let _bridge = Bridge(&home);
    list_vault(&home, personal.root().to_str().unwrap());
    let words = [
        "vault",
        "add",
        work.root().to_str().unwrap(),
        "--name",
        "Work",
    ];
    assert!(lorewell(&home, &words).output().unwrap().status.success());
    let words = ["agent", "approve", "scout", "--vault", "Work"];
    assert!(lorewell(&home, &words).output().unwrap().status.success());

    let query = json!({"query": "how slow is the firing"});
    let mut server = Server::start(&home, &["--as", "scout"]);
    let answer = server.bytes("search_notes", &query);
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["vault"], "Work", "{answer}");
    let stop = lorewell(&home, &["serve", "--stop"]).output().unwrap();
    assert!(stop.status.success());
    let mut none = Server::start(&home, &["--as", "scout", "--bridge", "never"]);
    let refused = none.call("search_notes", &query);
    assert_eq!(refused["isError"], true, "{refused}");
    for server in [server, none] {
        server.end();
    }
    let log = json_of(&mut lorewell(&home, &["audit", "--json"]));
    assert!(log.contains("scout") && log.contains("Kiln.md"), "{log}");
}

fn list_vault(home: &Path, root: &str) {
    let listed = lorewell(home, &["vault", "add", root]).output().unwrap();
    assert!(listed.status.success());
}
