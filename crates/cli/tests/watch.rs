//! `lorewell watch` as a process: beside other commands, a second watcher, and signals. What it
//! makes of changes is told in the tests of the crate `lorewell-watch`.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]
#![expect(clippy::disallowed_types, reason = "the test starts programs")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use lorewell_testkit::{Program, TempVault};
use serde_json::Value;

const DEADLINE: Duration = Duration::from_secs(120);
const NOTES: &str = "=== Kiln.md ===\nCone 6, slow.\n=== Glaze/Celadon.md ===\nCeladon glaze.\n";

/// A watcher as a process, and the objects that it prints.
struct Watcher {
    child: Child,
    lines: Receiver<Value>,
}

impl Watcher {
    fn start(vault: &TempVault) -> Watcher {
        let mut child = lorewell(vault, &["watch", "--json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                let _ = send.send(serde_json::from_str(&line).unwrap());
            }
        });
        Watcher { child, lines }
    }

    /// The next object that is wanted.
    fn line_where(&self, wanted: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + DEADLINE;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left).unwrap();
            assert_eq!(line["contract"], 1, "{line}");
            if wanted(&line) {
                return line;
            }
        }
    }

    fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args([name, &id]).status();
        assert!(sent.unwrap().success());
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn lorewell(vault: &TempVault, words: &[&str]) -> Command {
    Program::new(env!("CARGO_BIN_EXE_lorewell"), vault.beside("home")).command(words)
}

fn run(vault: &TempVault, words: &[&str]) -> Output {
    lorewell(vault, words).output().unwrap()
}

fn json(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

/// A vault that is remembered, so that no flag names it.
fn listed_vault() -> TempVault {
    let vault = TempVault::new(NOTES);
    let root = vault.root().display().to_string();
    assert!(run(&vault, &["vault", "add", &root]).status.success());
    vault
}

/// At once, as editors save: nobody sees half of it.
fn save(vault: &TempVault, path: &str, text: &str) {
    vault.write(".saving.tmp", text);
    vault.rename(".saving.tmp", path);
}

fn took_in(line: &Value, notes: u64) -> bool {
    line["event"] == "updated" && line["taken_in"] == notes
}

fn first_note(vault: &TempVault, words: &[&str]) -> Value {
    let answer = json(&run(
        vault,
        &[&["search", "--json", "--lanes", "text"], words].concat(),
    ));
    answer["passages"][0]["note"].clone()
}

#[test]
fn a_save_is_searchable_and_others_work_beside() {
    let vault = listed_vault();
    let mut watcher = Watcher::start(&vault);
    let begun = watcher.line_where(|line| line["event"] == "watching");
    assert_eq!(begun["by"], "events", "{begun}");
    watcher.line_where(|line| took_in(line, 2));

    save(&vault, "Shelf.md", "A cordierite shelf.");
    let updated = watcher.line_where(|line| took_in(line, 1));
    assert_eq!(updated["pending"], 0, "{updated}");
    let found = first_note(&vault, &["--no-refresh", "cordierite"]);
    assert_eq!(found, "Shelf.md");

    // A command that looks for changes itself may be the first to take one in.
    for number in 0..5 {
        vault.write(&format!("{number}.md"), format!("Shard number {number}."));
        let found = first_note(&vault, &[&format!("shard {number}")]);
        assert_eq!(found, format!("{number}.md"));
    }
    let checked = json(&run(&vault, &["status", "--verify", "--json"]));
    assert_eq!(checked["verified"], "ok", "{checked}");
    assert_eq!(checked["index"]["notes"], 8, "{checked}");

    // What the user excludes meanwhile goes, and does not come back.
    let set = ["config", "set", "exclude_folders", "Glaze"];
    assert!(run(&vault, &set).status.success());
    watcher.line_where(|line| line["removed"].as_u64() > Some(0));
    vault.write("Glaze/Celadon.md", "Celadon glaze, again.");
    save(&vault, "Shelf.md", "A mullite shelf.");
    watcher.line_where(|line| took_in(line, 1));
    let found = first_note(&vault, &["--no-refresh", "mullite"]);
    assert_eq!(found, "Shelf.md");
    let gone = run(&vault, &["search", "--no-refresh", "--exact", "celadon"]);
    assert_eq!(gone.status.code(), Some(1));

    watcher.signal("-TERM");
    watcher.line_where(|line| line["event"] == "stopped");
    assert_eq!(watcher.child.wait().unwrap().code(), Some(0));
}

#[test]
fn stopped_in_the_midst_of_an_update_it_leaves_nothing_half_done() {
    let vault = listed_vault();
    let notes = 2000;
    for number in 2..notes {
        let text = format!("# Note {number}\n\n{}", "the kiln was slow; ".repeat(60));
        vault.write(&format!("{:02}/{number}.md", number % 40), text);
    }
    let mut watcher = Watcher::start(&vault);
    watcher.line_where(|line| line["event"] == "watching");
    watcher.signal("-TERM");
    let last = watcher.line_where(|line| line["event"] == "stopped");
    assert_eq!(last["vault"], "vault");
    assert_eq!(watcher.child.wait().unwrap().code(), Some(0));
    let done = json(&run(&vault, &["rebuild", "--update", "--json"]));
    assert_eq!(done["notes"], notes, "{done}");
    let checked = json(&run(&vault, &["status", "--verify", "--json"]));
    assert_eq!(checked["verified"], "ok", "{checked}");
}

#[test]
fn an_index_that_is_damaged_and_built_anew_is_gone_on_with() {
    let vault = listed_vault();
    run(&vault, &["rebuild"]);
    let status = json(&run(&vault, &["status", "--json"]));
    let folder = status["index"]["folder"].as_str().unwrap();
    fs::write(format!("{folder}/catalogue.sqlite"), "no catalogue").unwrap();
    let watcher = Watcher::start(&vault);
    let failed = watcher.line_where(|line| line["event"] == "failed");
    assert_eq!(failed["error"]["code"], "index_damaged", "{failed}");
    assert!(failed["again_in_seconds"].as_u64() >= Some(1), "{failed}");
    assert!(run(&vault, &["rebuild"]).status.success());
    watcher.line_where(|line| line["event"] == "updated" && line["pending"] == 0);
}

#[test]
fn settings_that_make_no_sense_are_waited_out() {
    let vault = listed_vault();
    let watcher = Watcher::start(&vault);
    watcher.line_where(|line| took_in(line, 2));
    save(&vault, ".lorewell/config.toml", "exclude_folders = [");
    let failed = watcher.line_where(|line| line["event"] == "failed");
    assert_eq!(failed["error"]["code"], "config_syntax", "{failed}");
    save(&vault, "Shelf.md", "A cordierite shelf.");
    save(
        &vault,
        ".lorewell/config.toml",
        "exclude_folders = [\"Glaze\"]",
    );
    watcher.line_where(|line| line["removed"] == 1 && took_in(line, 1));
}

#[test]
fn a_vault_has_one_watcher_and_a_dead_one_is_none() {
    let vault = listed_vault();
    let mut first = Watcher::start(&vault);
    first.line_where(|line| line["event"] == "updated");
    let second = run(&vault, &["watch", "--json"]);
    assert_eq!(second.status.code(), Some(2));
    let error = json(&second)["error"].clone();
    assert_eq!(error["code"], "already_watched", "{error}");
    let id = first.child.id().to_string();
    assert!(
        error["message"].as_str().unwrap().contains(&id),
        "{error} does not name {id}"
    );

    first.signal("-KILL");
    first.child.wait().unwrap();
    let mut third = Watcher::start(&vault);
    third.line_where(|line| line["event"] == "updated");
    third.signal("-INT");
    assert_eq!(third.child.wait().unwrap().code(), Some(0));
}
