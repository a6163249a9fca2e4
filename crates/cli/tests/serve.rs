//! `lorewell serve` as a process: signals, a second one, commands that it answers, and one that a
//! command starts. What it answers is told in the tests of the crate `lorewell-bridge`.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]
#![expect(clippy::disallowed_types, reason = "the test starts programs")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use lorewell_testkit::TempVault;
use serde_json::Value;

const NOTES: &str = "=== Kiln.md ===\nCone 6, slow.\n=== Glaze/Celadon.md ===\nCeladon glaze.\n";

/// A bridge as a process, and what it prints.
struct Serving {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Serving {
    fn start(vault: &TempVault, words: &[&str]) -> Serving {
        let mut child = lorewell(vault, &["serve", "--port", "0", "--json"])
            .args(words)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let mut serving = Serving { child, out };
        assert_eq!(serving.line()["event"], "serving");
        serving
    }

    fn line(&mut self) -> Value {
        let mut line = String::new();
        self.out.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line:?}"))
    }

    fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args([name, &id])
                .status()
                .unwrap()
                .success()
        );
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn home(vault: &TempVault) -> PathBuf {
    let home = vault.beside("home");
    fs::create_dir_all(&home).unwrap();
    home
}

fn lorewell(vault: &TempVault, words: &[&str]) -> Command {
    let home = home(vault);
    let mut command = Command::new(env!("CARGO_BIN_EXE_lorewell"));
    command
        .args(words)
        .env_clear()
        .env("HOME", &home)
        .current_dir(home);
    command
}

fn run(vault: &TempVault, words: &[&str]) -> Output {
    lorewell(vault, words).output().unwrap()
}

fn json(output: &Output) -> Value {
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
        let mut serving = Serving::start(&vault, &[]);
        let second = run(&vault, &["serve", "--json"]);
        assert_eq!(second.status.code(), Some(2));
        let error = json(&second)["error"].clone();
        assert_eq!(error["code"], "bridge_running", "{error}");
        let id = serving.child.id().to_string();
        assert!(error["message"].as_str().unwrap().contains(&id), "{error}");
        let status = json(&run(&vault, &["serve", "--status", "--json"]));
        assert_eq!(status["running"], true);
        assert_eq!(status["pid"], serving.child.id());

        serving.signal(signal);
        assert_eq!(serving.line()["event"], "stopped");
        assert_eq!(serving.child.wait().unwrap().code(), Some(0));
        let status = run(&vault, &["serve", "--status", "--json"]);
        assert_eq!(
            (status.status.code(), &json(&status)["running"]),
            (Some(1), &Value::Bool(false))
        );
    }
}

#[test]
fn one_that_was_killed_is_none_and_its_leftovers_hinder_nobody() {
    let vault = listed_vault();
    let mut first = Serving::start(&vault, &[]);
    first.signal("-KILL");
    first.child.wait().unwrap();
    let auto = run(&vault, &["search", "--json", "--bridge", "auto", "kiln"]);
    assert_eq!(
        (auto.status.code(), auto.stderr.as_slice()),
        (Some(0), &b""[..])
    );
    let required = run(&vault, &["search", "--json", "--bridge", "require", "kiln"]);
    assert_eq!(json(&required)["error"]["code"], "bridge_not_running");
    let _second = Serving::start(&vault, &[]);
    let required = run(&vault, &["search", "--json", "--bridge", "require", "kiln"]);
    assert_eq!(json(&required)["passages"][0]["note"], "Kiln.md");
    let stopped = run(&vault, &["serve", "--stop"]);
    assert_eq!(stopped.status.code(), Some(0));
}

#[test]
fn a_command_starts_one_that_ends_by_itself() {
    let vault = listed_vault();
    let first = run(&vault, &["search", "--json", "--bridge", "start", "kiln"]);
    assert_eq!(first.status.code(), Some(0));
    let status = json(&run(&vault, &["serve", "--status", "--json"]));
    assert_eq!(status["running"], true);
    assert_eq!(status["exit_after_seconds"], 1800);
    let again = run(&vault, &["search", "--json", "--bridge", "start", "kiln"]);
    assert_eq!(again.stdout, first.stdout);
    let after = json(&run(&vault, &["serve", "--status", "--json"]));
    assert_eq!(after["pid"], status["pid"]);
    assert!(run(&vault, &["serve", "--stop"]).status.success());
}

#[test]
fn what_is_not_the_bridge_of_the_state_file_is_told_and_not_asked() {
    let vault = listed_vault();
    let serving = Serving::start(&vault, &[]);
    let path = home(&vault).join(".local/share/lorewell/bridge/state.json");
    let text = fs::read_to_string(&path).unwrap();
    // The bridge's own word decides; a state file that names another instance is no use either.
    let instance = text.find("\"instance\": \"").unwrap() + 13;
    let mut other = text.clone();
    other.replace_range(instance..instance + 8, "00000000");
    fs::write(&path, other).unwrap();
    let answer = run(&vault, &["search", "--json", "--bridge", "auto", "kiln"]);
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
    let _serving = Serving::start(&vault, &[]);
    let elsewhere = vault.beside("elsewhere").display().to_string();
    let words = [
        "search",
        "--json",
        "--index-dir",
        &elsewhere,
        "kiln",
        "--bridge",
    ];
    let auto = run(&vault, &[&words[..], &["auto"]].concat());
    assert_eq!(
        (auto.status.code(), auto.stderr.as_slice()),
        (Some(0), &b""[..])
    );
    assert!(vault.beside("elsewhere").is_dir());
    let required = run(&vault, &[&words[..], &["require"]].concat());
    assert_eq!(json(&required)["error"]["code"], "other_settings");
    let wrong = run(&vault, &["search", "--json", "kiln", "--bridge", "perhaps"]);
    assert_eq!(json(&wrong)["error"]["code"], "wrong_value");
}
