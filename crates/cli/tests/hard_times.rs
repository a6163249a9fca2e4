//! What the command line does when times are hard: giant questions, shut folders, two processes,
//! interrupts, readers that go away. Shell-sized cases stand in `spec/5-wrong-use.md`.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]
#![expect(clippy::disallowed_types, reason = "the test starts programs")]

use std::fs::{self, File, Permissions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use lorewell_testkit::TempVault;
use serde_json::Value;

const NOTES: &str = "=== Kiln.md ===\nCone 6, slow.\n=== shut/Glaze.md ===\nCeladon glaze.\n";

/// The command in a home of its own.
fn lorewell(vault: &TempVault, words: &[&str]) -> Command {
    // The test that runs as another user has a copy of the program beside itself.
    let beside = std::env::current_exe().unwrap().with_file_name("lorewell");
    let built = PathBuf::from(env!("CARGO_BIN_EXE_lorewell"));
    let mut command = Command::new(if beside.exists() { beside } else { built });
    command
        .args(words)
        .args(["--vault", &vault.root().display().to_string()])
        .env_clear()
        .env("HOME", home(vault))
        .current_dir(home(vault));
    command
}

fn home(vault: &TempVault) -> PathBuf {
    let home = vault.beside("home");
    fs::create_dir_all(&home).unwrap();
    home
}

fn run(vault: &TempVault, words: &[&str]) -> Output {
    lorewell(vault, words).output().unwrap()
}

fn json(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

fn talk(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Many notes, so that a build takes a while.
fn large_vault(notes: usize) -> TempVault {
    let vault = TempVault::empty();
    for number in 0..notes {
        let text = format!(
            "# Note {number}\n\n{}",
            "the kiln was slow that day; ".repeat(60)
        );
        vault.write(&format!("{:02}/{number}.md", number % 40), text);
    }
    vault
}

/// The folder of the vault's index.
fn index_folder(vault: &TempVault) -> PathBuf {
    let status = json(&run(vault, &["status", "--json"]));
    PathBuf::from(status["index"]["folder"].as_str().unwrap())
}

/// The writer's lock, held as by another process until it is dropped.
fn hold_the_lock(folder: &Path) -> File {
    fs::create_dir_all(folder).unwrap();
    let lock = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(folder.join("writer.lock"))
        .unwrap();
    lock.lock().unwrap();
    lock
}

#[test]
fn a_giant_question_is_answered() {
    let vault = TempVault::new(NOTES);
    let mut asked = lorewell(&vault, &["search", "--json", "--lanes", "text", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let question = format!("cone {}", "wort ".repeat(200_000));
    asked
        .stdin
        .take()
        .unwrap()
        .write_all(question.as_bytes())
        .unwrap();
    let answer = json(&asked.wait_with_output().unwrap());
    assert_eq!(answer["query"].as_str().unwrap().len(), question.len());
    assert_eq!(answer["passages"][0]["note"], "Kiln.md");
    assert!(
        answer["notice"].as_str().unwrap().contains("long"),
        "{}",
        answer["notice"]
    );

    let longest = format!("cone {}", "x".repeat(120_000));
    let answer = json(&run(
        &vault,
        &["search", "--json", "--lanes", "text", &longest],
    ));
    assert_eq!(answer["passages"][0]["note"], "Kiln.md");

    let mut asked = lorewell(&vault, &["search", "--json", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // It stops reading at its limit, so the rest may find nobody.
    let _ = asked.stdin.take().unwrap().write_all(&vec![b'x'; 17 << 20]);
    let refused = asked.wait_with_output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert_eq!(
        json(&refused)["error"]["message"],
        "standard input holds more than 16 MiB"
    );
}

#[test]
fn every_page_is_new_until_the_last() {
    let vault = large_vault(30);
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = json(&run(
            &vault,
            &["search", "--json", "kiln slow", "--limit", "7", &cursor],
        ));
        for passage in page["passages"].as_array().unwrap() {
            seen.push((
                passage["note"].to_string(),
                passage["byte_range"].to_string(),
            ));
            assert_eq!(passage["rank"], seen.len());
        }
        match page["next"].as_str() {
            Some(next) => cursor = format!("--cursor={next}"),
            None => break assert_eq!(page["truncated"], false),
        }
    }
    let all = seen.len();
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), all, "a passage came twice");
}

/// The superuser may do anything, so the test starts itself again as another user.
#[test]
fn what_may_not_be_read_or_written_is_said_and_lost_nowhere() {
    let vault = TempVault::new(NOTES);
    if fs::metadata(vault.root()).unwrap().uid() == 0 {
        return again_without_privileges(
            "what_may_not_be_read_or_written_is_said_and_lost_nowhere",
        );
    }
    let mode = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    assert_eq!(run(&vault, &["rebuild"]).status.code(), Some(0));

    mode(&vault.path("shut"), 0o000);
    let answer = json(&run(&vault, &["search", "--json", "celadon"]));
    let status = json(&run(&vault, &["status", "--json"]));
    mode(&vault.path("shut"), 0o700);
    assert_eq!(
        answer["passages"][0]["note"], "shut/Glaze.md",
        "it is not gone"
    );
    assert_eq!(status["unreadable"][0]["path"], "shut", "{status}");

    mode(vault.root(), 0o000);
    let refused = run(&vault, &["search", "--json", "celadon"]);
    mode(vault.root(), 0o700);
    assert_eq!(refused.status.code(), Some(2));
    assert_eq!(
        json(&refused)["error"]["code"],
        "vault_no_permission",
        "{}",
        json(&refused)
    );

    // An index that cannot be written still answers, and says what it has not.
    let folder = index_folder(&vault);
    vault.write("New.md", "A new bag of grog.");
    mode(&folder, 0o500);
    let all: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    let files: Vec<&PathBuf> = all.iter().filter(|path| path.is_file()).collect();
    files.iter().for_each(|path| mode(path, 0o400));
    let answer = json(&run(&vault, &["search", "--json", "celadon"]));
    files.iter().for_each(|path| mode(path, 0o600));
    mode(&folder, 0o700);
    assert_eq!(answer["passages"][0]["note"], "shut/Glaze.md", "{answer}");
    assert_eq!(answer["index"]["pending"], 1, "{answer}");
    assert!(
        answer["degraded"][0]
            .as_str()
            .unwrap()
            .contains("one change is not in it yet"),
        "{answer}"
    );
}

fn again_without_privileges(test: &str) {
    // A copy where anyone may run it: the build folder may be closed to others.
    let place = tempfile::tempdir().unwrap();
    fs::set_permissions(place.path(), Permissions::from_mode(0o755)).unwrap();
    let copied = |from: &Path, name: &str| {
        let copy = place.path().join(name);
        fs::copy(from, &copy).unwrap();
        fs::set_permissions(&copy, Permissions::from_mode(0o755)).unwrap();
        copy
    };
    let runner = copied(&std::env::current_exe().unwrap(), "test");
    copied(Path::new(env!("CARGO_BIN_EXE_lorewell")), "lorewell");
    let run = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"])
        .arg(&runner)
        .args(["--exact", test, "--nocapture"])
        .env("TMPDIR", "/tmp")
        .current_dir("/")
        .output();
    match run {
        Ok(run) => {
            let said = String::from_utf8_lossy(&run.stdout) + String::from_utf8_lossy(&run.stderr);
            assert!(run.status.success() && said.contains("1 passed"), "{said}");
        }
        Err(e) => eprintln!("SKIPPED: running as root, and there is no setpriv ({e})"),
    }
}

#[test]
fn while_another_process_writes_a_search_answers_and_a_build_waits() {
    const WAITS: &str = "another process is writing this index; waiting for it to finish";
    let vault = TempVault::new(NOTES);
    run(&vault, &["rebuild"]);
    let folder = index_folder(&vault);
    let lock = hold_the_lock(&folder);
    vault.write("New.md", "Another cone.");
    let answer = json(&run(
        &vault,
        &["search", "--json", "cone", "--lanes", "text"],
    ));
    assert_eq!(answer["passages"].as_array().unwrap().len(), 1);
    assert_eq!(answer["index"]["pending"], 1, "{answer}");
    assert!(
        answer["degraded"][0]
            .as_str()
            .unwrap()
            .contains("another process"),
        "{answer}"
    );

    // Where there is nothing to keep, one interrupt ends the wait.
    let (mut waiting, said) = first_words(lorewell(&vault, &["rebuild"]));
    assert_eq!(said, WAITS);
    interrupt(waiting.id());
    assert_eq!(waiting.wait().unwrap().code(), Some(2));

    let (mut waiting, said) = first_words(lorewell(&vault, &["rebuild", "--update"]));
    assert_eq!(said, WAITS);
    drop(lock);
    assert_eq!(waiting.wait().unwrap().code(), Some(0));
    let answer = json(&run(&vault, &["search", "--json", "cone", "--no-refresh"]));
    assert_eq!(answer["index"]["notes"], 3);
}

/// A started command and the first line that it writes to standard error.
fn first_words(mut command: Command) -> (Child, String) {
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || send.send(lines.next()));
    match receive.recv_timeout(Duration::from_secs(30)) {
        Ok(line) => (child, line.unwrap().unwrap()),
        Err(_) => {
            child.kill().unwrap();
            panic!("it says nothing");
        }
    }
}

fn interrupt(process: u32) {
    let sent = Command::new("kill")
        .args(["-INT", &process.to_string()])
        .status();
    assert!(sent.unwrap().success());
}

#[test]
fn an_interrupted_build_keeps_what_it_did_and_is_taken_up_again() {
    let notes = 4000;
    let vault = large_vault(notes);
    let mut building = lorewell(&vault, &["rebuild", "--json"])
        .env("LOREWELL_PROGRESS", "always")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(building.stderr.take().unwrap()).lines();
    // Half of the notes are read: some are kept, others are still to come.
    lines.by_ref().nth(4).unwrap().unwrap();
    interrupt(building.id());
    for line in lines {
        line.unwrap();
    }
    let stopped = building.wait_with_output().unwrap();
    let error = json(&stopped)["error"].clone();
    assert_eq!(stopped.status.code(), Some(2), "{error}");
    assert_eq!(error["code"], "interrupted");
    assert!(
        error["hint"].as_str().unwrap().contains("--update"),
        "{error}"
    );

    let status = json(&run(&vault, &["status", "--json"]));
    let kept = status["index"]["notes"].as_u64().unwrap();
    assert!(kept > 0 && kept < notes as u64, "{kept} notes are kept");
    assert_eq!(status["index"]["unfinished"], true);
    assert_eq!(status["index"]["pending"], notes as u64 - kept);
    let said = talk(&run(&vault, &["rebuild", "--update"]));
    let done = json(&run(&vault, &["rebuild", "--update", "--json"]));
    assert_eq!(
        (said.as_str(), done["notes"].as_u64()),
        ("", Some(notes as u64))
    );
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let vault = large_vault(60);
    for words in [
        &["search", "kiln slow", "--limit", "50"][..],
        &["search", "--json", "kiln"],
        &["status"],
    ] {
        let mut asked = lorewell(&vault, words)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(asked.stdout.take());
        let ended = asked.wait_with_output().unwrap();
        assert_eq!(
            (talk(&ended).as_str(), ended.status.code()),
            ("", Some(0)),
            "{words:?}"
        );
    }
}
