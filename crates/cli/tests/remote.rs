//! `--remote`: what an agent gets that runs the program itself.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use lorewell_capabilities::{Access, table};
use lorewell_testkit::{McpProcess, Program, TempVault};
use serde_json::{Value, json};

const NOTES: &str = "
=== Kiln.md ===
---
tags: [ceramics]
---
# Kiln
The kiln is fired slowly, for eleven hours, with [[Glaze]].
=== Glaze.md ===
The glaze for the kiln is celadon.
=== Home/Diary.md ===
The quokka slept in the kiln, see [[Kiln]].
";

/// Whether the bridge answers or the program itself.
const WAYS: [&str; 2] = ["never", "require"];

fn home(vault: &TempVault) -> Program {
    let home = Program::new(env!("CARGO_BIN_EXE_lorewell"), vault.beside("home"));
    let root = vault.root().display().to_string();
    home.done(&["vault", "add", &root, "--name", "Notes"]);
    home.done(&["config", "set", "fence_folders", "Home"]);
    home.done(&["config", "set", "fence_properties", "private"]);
    home
}

/// The log, without times and folders.
fn log(home: &Program) -> Vec<(String, String, Vec<String>)> {
    let log = home.json(&["audit", "--limit", "1000"]);
    let entries = log["entries"].as_array().unwrap().iter();
    entries
        .map(|entry| {
            let text = |name: &str| entry[name].as_str().unwrap_or_default().to_string();
            let passages = entry["passages"].as_array().unwrap().iter();
            let notes = passages.map(|passage| passage["note"].as_str().unwrap().to_string());
            (text("agent"), text("capability"), notes.collect())
        })
        .collect()
}

#[test]
fn notes_behind_fences_do_not_exist_for_any_command_and_all_of_them_are_in_the_log() {
    let vault = TempVault::new(NOTES);
    let home = home(&vault);
    let answer = vault.beside("home").join("answer.md");
    std::fs::write(&answer, "> The quokka slept in the kiln\n\n[[Diary]]\n").unwrap();
    let requests: &[&[&str]] = &[
        &["search", "quokka kiln"],
        &["context", "quokka kiln"],
        &["related", "Kiln"],
        &["read", "Kiln"],
        &["read", "Home/Diary.md"],
        &["links", "Kiln"],
        &["verify", "answer.md"],
        &["status"],
    ];
    let mut bridge = None;
    let mut answers = Vec::new();
    for way in WAYS {
        if way == "require" {
            bridge = Some(home.serve(&[]));
        }
        let mut of_this_way = Vec::new();
        for words in requests {
            let words = [words, &["--remote=scout", "--bridge", way, "--json"][..]].concat();
            let output = home.run(&words);
            let text = String::from_utf8(output.stdout).unwrap();
            let is_echo = text
                .replace("> The quokka slept in the kiln", "")
                .replace("The quokka slept in the kiln", "");
            assert!(!is_echo.contains("slept"), "{words:?}: {text}");
            assert!(!text.contains("\"note\":\"Home/"), "{words:?}: {text}");
            of_this_way.push(text);
        }
        answers.push(of_this_way);
        let told = log(&home);
        let names: Vec<&str> = told.iter().map(|(agent, _, _)| agent.as_str()).collect();
        assert_eq!(names, vec!["client:scout"; requests.len() * answers.len()]);
        assert!(
            told.iter()
                .all(|(_, _, notes)| notes.iter().all(|n| !n.contains("Diary")))
        );
        assert!(told.iter().any(|(_, ability, notes)| {
            ability == "knowledge.search" && notes.contains(&"Kiln.md".to_string())
        }));
    }
    // The bytes are the same, whoever answered; but the status tells of the bridge's watcher.
    let [alone, bridged] = [0, 1].map(|way| answers[way].split_last().unwrap().1.to_vec());
    assert_eq!(alone, bridged);
    drop(bridge);
    // The owner sees the note and is not in the log.
    let owner = home.json(&["search", "quokka kiln"]).to_string();
    assert!(owner.contains("Home/Diary.md"), "{owner}");
    assert_eq!(log(&home).len(), 2 * requests.len());
    let only = home.json(&["audit", "--agent", "client"]);
    assert_eq!(
        only["entries"].as_array().unwrap().len(),
        2 * requests.len()
    );
    let none = home.json(&["audit", "--agent", "scout"]);
    assert_eq!(none["entries"], json!([]), "no approved agent is called so");
}

#[test]
fn every_command_that_reads_takes_the_flag_and_no_other() {
    let vault = TempVault::new(NOTES);
    let home = home(&vault);
    for entry in table() {
        let help = home.done(&[entry.name(), "--help"]);
        let reads = entry.access == Access::Read;
        assert_eq!(help.contains("--remote"), reads, "{}", entry.name());
    }
}

#[test]
fn what_the_owner_alone_may_do_is_refused() {
    let vault = TempVault::new(NOTES);
    let home = home(&vault);
    let unlisted = vault.beside("Unlisted");
    std::fs::create_dir(&unlisted).unwrap();
    let unlisted = unlisted.display().to_string();
    let diary = vault.path("Home/Diary.md").display().to_string();
    let link = vault.beside("home").join("link.md");
    std::os::unix::fs::symlink(&diary, &link).unwrap();
    let refused: &[&[&str]] = &[
        &["rebuild", "--remote"],
        &["search", "--remote", "--vault", &unlisted, "x"],
        &["search", "--remote", "--index-dir", &unlisted, "x"],
        &["search", "--remote=no/name", "x"],
        // A file of the vault, also by a link, would come back as a list of what it claims.
        &["verify", "--remote", &diary],
        &["verify", "--remote", "link.md"],
        &["verify", "--remote", "--quote", "x", "--sources", &diary],
    ];
    for words in refused {
        let output = home.run(&[words, &["--json"][..]].concat());
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(!text.contains("slept"), "{words:?}: {text}");
    }
    // A word of the question is never taken for the name.
    let found = home.json(&["search", "--remote", "celadon"]);
    assert_eq!(found["query"], "celadon");
    assert_eq!(log(&home)[0].0, "client");
}

#[test]
fn no_variable_lifts_a_fence_or_changes_what_the_owner_alone_says() {
    let vault = TempVault::new(NOTES);
    let home = home(&vault);
    let ask = [
        "search",
        "--remote",
        "--bridge",
        "never",
        "--json",
        "quokka slept",
    ];
    for name in ["LOREWELL_FENCE_FOLDERS", "LOREWELL_FENCE_PROPERTIES"] {
        let output = home.command(&ask).env(name, "").output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(!text.contains("The quokka"), "{text}");
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.contains(name) && told.contains("only add"), "{told}");
    }
    let elsewhere = vault.beside("elsewhere");
    let folder = elsewhere.display().to_string();
    for (name, value) in [
        ("LOREWELL_INDEX_DIR", folder.as_str()),
        ("LOREWELL_MODEL", "endpoint"),
        ("LOREWELL_ENDPOINT_URL", "http://example.org"),
        ("LOREWELL_ENDPOINT_ALLOWED_HOSTS", "example.org"),
        ("LOREWELL_AUDIT_FILES", "1"),
    ] {
        let output = home.command(&ask).env(name, value).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{name}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(
            text.contains("not_for_remote") && text.contains(name),
            "{text}"
        );
    }
    // The `env` of a registration.
    let fences = Program::new(env!("CARGO_BIN_EXE_lorewell"), vault.beside("home"))
        .with("LOREWELL_FENCE_FOLDERS", "");
    let mut server = McpProcess::start(&fences, &["--bridge", "never"]);
    let found = server.call("search_notes", &json!({"query": "quokka slept"}));
    assert!(!found.to_string().contains("The quokka"), "{found}");
    server.end();
    for way in ["never", "auto"] {
        let place = Program::new(env!("CARGO_BIN_EXE_lorewell"), vault.beside("home"))
            .with("LOREWELL_INDEX_DIR", &folder);
        let mut server = McpProcess::start(&place, &["--bridge", way]);
        let refused = server.call("search_notes", &json!({"query": "kiln"}));
        assert_eq!(refused["isError"], true, "{refused}");
        assert!(
            refused.to_string().contains("LOREWELL_INDEX_DIR"),
            "{refused}"
        );
        server.end();
    }
    assert!(!elsewhere.exists());
}

#[test]
fn with_the_last_fence_the_index_for_remote_readers_goes() {
    let vault = TempVault::new(NOTES);
    let home = home(&vault);
    let indexes = home.home().join(".local/share/lorewell/indexes");
    let of_remote = || {
        let folders = std::fs::read_dir(&indexes).unwrap();
        let mut names = folders.map(|folder| folder.unwrap().file_name());
        names.any(|name| name.to_string_lossy().ends_with("-remote"))
    };
    home.done(&["search", "--remote", "celadon glaze"]);
    assert!(of_remote());
    home.done(&["config", "unset", "fence_properties"]);
    home.done(&["config", "unset", "fence_folders"]);
    // Nothing of the notes changed.
    home.done(&["search", "celadon glaze"]);
    assert!(!of_remote());
}

#[test]
fn a_note_that_came_behind_a_fence_is_not_given_whatever_the_asker_wishes() {
    let vault = TempVault::new(NOTES);
    let home = home(&vault);
    let mut bridge = None;
    for (number, way) in (0..).zip(WAYS) {
        let note = format!("Plan{number}.md");
        vault.write(&note, "A wombat plan.\n");
        if way == "require" {
            bridge = Some(home.serve(&[]));
        }
        let ask = |more: &[&str]| {
            let words = ["search", "--remote", "--bridge", way, "wombat plan"];
            home.json(&[&words, more].concat())
        };
        let holds = |answer: &Value| answer["passages"].to_string().contains(&note);
        while !holds(&ask(&[])) {}
        vault.write(&note, "---\nprivate: yes\n---\nA wombat plan.\n");
        let answer = ask(&["--no-refresh"]);
        assert!(!holds(&answer), "{way}: {answer}");
        // It was looked at all the same, and the answer says so.
        assert_eq!(answer["index"]["pending"], 0, "{answer}");
        // Without fences the wish holds.
        home.done(&["config", "unset", "fence_properties"]);
        home.done(&["config", "unset", "fence_folders"]);
        ask(&[]);
        let degraded = ask(&["--no-refresh"])["degraded"].to_string();
        assert!(degraded.contains("not looked at for changes"), "{degraded}");
        home.done(&["config", "set", "fence_folders", "Home"]);
        home.done(&["config", "set", "fence_properties", "private"]);
    }
    drop(bridge);
}

#[test]
fn what_is_excluded_goes_out_of_the_log_by_whoever_looks_next() {
    for (fences, by_mcp) in [(true, false), (false, false), (true, true), (false, true)] {
        let vault = TempVault::new(NOTES);
        let home = home(&vault);
        if !fences {
            home.done(&["config", "unset", "fence_folders"]);
            home.done(&["config", "unset", "fence_properties"]);
        }
        let file = home.home().join(".local/share/lorewell/audit/audit.jsonl");
        let ask = || {
            if by_mcp {
                let mut server = McpProcess::start(&home, &["--bridge", "never"]);
                server.bytes("search_notes", &json!({"query": "celadon glaze"}));
                server.end();
            } else {
                home.done(&["search", "--remote", "celadon glaze"]);
            }
            std::fs::read_to_string(&file).unwrap()
        };
        let before = ask();
        assert!(before.contains("\"Glaze.md\""), "{before}");
        vault.write(".lorewell/config.toml", "exclude_globs = [\"Glaze.md\"]\n");
        home.run(&["search", "--remote", "celadon glaze"]);
        if by_mcp {
            let mut server = McpProcess::start(&home, &["--bridge", "never"]);
            server.bytes("search_notes", &json!({"query": "celadon glaze"}));
            server.end();
        }
        let after = std::fs::read_to_string(&file).unwrap();
        assert!(
            !after.contains("\"Glaze.md\""),
            "{fences} {by_mcp}: {after}"
        );
        assert!(after.contains("\"Kiln.md\""), "{after}");
    }
}

#[test]
fn a_server_without_the_bridge_writes_down_what_it_gives() {
    let vault = TempVault::new(NOTES);
    let home = home(&vault);
    for (words, reader) in [
        (&["--bridge", "never"][..], "remote"),
        (&["--bridge", "never", "--local"], "local"),
    ] {
        let mut server = McpProcess::start(&home, words);
        server.bytes("search_notes", &json!({"query": "kiln"}));
        let refused = server.call("read_note", &json!({"note": "Nowhere"}));
        assert_eq!(refused["isError"], true);
        server.end();
        let log = home.json(&["audit"]);
        let entries = log["entries"].as_array().unwrap();
        let last: Vec<&Value> = entries.iter().rev().take(2).collect();
        assert_eq!(last[0]["error"], "no_such_note", "{log}");
        assert_eq!(last[1]["capability"], "knowledge.search");
        for entry in last {
            assert_eq!(
                (&entry["agent"], &entry["reader"]),
                (&json!("client:test"), &json!(reader))
            );
        }
    }
}
