//! The program is killed at any instant, whatever it does: what answers next is the last complete
//! generation, no lock is left, and the next update makes the index what the folder is.
//!
//! `LOREWELL_KILLS=500` for a long run.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]
#![expect(clippy::disallowed_types, reason = "the test starts programs")]

use std::fs;
use std::io::Read;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use lorewell_testkit::TempVault;
use serde_json::Value;

/// What is killed.
const WORK: [&[&str]; 6] = [
    &["rebuild", "--update"],
    &["rebuild"],
    &["search", "kiln", "--json"],
    &["watch", "--json"],
    &["related", "Anchor", "--json"],
    &["status", "--verify", "--json"],
];

const NOTES: usize = 150;

/// A command in a home of its own, with some notes excluded or not.
fn lorewell(vault: &TempVault, index: &str, words: &[&str], excluded: bool) -> Command {
    let home = vault.beside("home");
    fs::create_dir_all(&home).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_lorewell"));
    command
        .args(words)
        .args(["--vault", &vault.root().display().to_string()])
        .args(["--index-dir", &vault.beside(index).display().to_string()])
        .env_clear()
        .env("HOME", &home)
        .current_dir(home);
    if excluded {
        command.env("LOREWELL_EXCLUDE_FOLDERS", "Private");
    }
    command
}

fn json(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text} {error}"))
}

fn note(number: u64, round: u64) -> String {
    let words = ["celadon", "tenmoku", "shino", "ash", "salt", "raku", "slip"];
    let word = words[((number + round) % 7) as usize];
    let next = (number * 7 + round) % NOTES as u64;
    format!(
        "---\ntags: [{word}]\n---\n# Note {number}\n\nThe kiln was slow in round {round}. \
         See [[{next}]].\n\n## {word}\n\n{}",
        format!("A {word} glaze of sort {}. ", number % 13).repeat(30)
    )
}

fn path(number: u64) -> String {
    let folder = ["Glazes", "Log/2024", "Private", "Shop"][(number % 4) as usize];
    format!("{folder}/{number}.md")
}

/// One to twenty changes of the folder.
fn edit(vault: &TempVault, random: &mut Random, round: u64) {
    for _ in 0..=random.below(20) {
        let path = path(random.below(NOTES as u64));
        match random.below(5) {
            0 if vault.path(&path).exists() => vault.remove(&path),
            1 if vault.path(&path).exists() => {
                let to = format!("Moved/{}", path.replace('/', " "));
                if !vault.path(&to).exists() {
                    vault.rename(&path, &to);
                }
            }
            _ => vault.write(&path, note(random.below(NOTES as u64), round)),
        }
    }
}

/// Starts a command and kills it after so long, unless it ends before.
fn start_and_kill(mut command: Command, after: Duration) -> bool {
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut out = child.stdout.take().unwrap();
    let (ended, has_ended) = mpsc::channel();
    let reader = thread::spawn(move || {
        let _ = out.read_to_end(&mut Vec::new());
        let _ = ended.send(());
    });
    let killed = has_ended.recv_timeout(after).is_err();
    // SIGKILL. One that has ended is none the worse for it.
    let _ = child.kill();
    child.wait().unwrap();
    reader.join().unwrap();
    killed
}

/// What several questions are answered with, without what tells one index from another.
fn answers(vault: &TempVault, index: &str, excluded: bool) -> Vec<Value> {
    let questions: [&[&str]; 7] = [
        &["search", "kiln", "--limit", "50"],
        &["search", "celadon glaze of sort 4"],
        &["search", "round 3 slow", "--lanes", "text,dense,tag,link"],
        &["search", "\"tenmoku glaze\""],
        &["related", "Anchor"],
        &["links"],
        &["context", "which glaze is slow"],
    ];
    let ask = |words: &&[&str]| {
        let words = [*words, &["--json"]].concat();
        let mut answer = json(&lorewell(vault, index, &words, excluded).output().unwrap());
        if let Some(fields) = answer.as_object_mut() {
            fields.remove("index");
            fields.remove("next");
        }
        answer
    };
    questions.iter().map(ask).collect()
}

#[test]
fn killed_at_any_instant_it_answers_from_a_whole_generation() {
    let vault =
        TempVault::new("=== Anchor.md ===\nThe anchor line never changes. [[1]] #celadon\n");
    for number in 0..NOTES as u64 {
        vault.write(&path(number), note(number, 0));
    }
    let run = |words: &[&str], excluded| lorewell(&vault, "index", words, excluded).output();
    let kills: u64 = std::env::var("LOREWELL_KILLS").map_or(40, |n| n.parse().unwrap());
    let seed = std::env::var("LOREWELL_SEED").map_or(0x9E37_79B9_7F4A_7C15, |n| n.parse().unwrap());
    let mut random = Random(seed);
    let (mut killed, mut excluded, mut built) = (0, false, false);
    for round in 0_u64.. {
        if killed == kills {
            break;
        }
        edit(&vault, &mut random, round);
        if built && random.below(8) == 0 {
            fs::remove_dir_all(vault.beside("index")).unwrap();
            built = false;
        }
        excluded ^= random.below(6) == 0;
        let work = WORK[random.below(WORK.len() as u64) as usize];
        // The first moments of a new index are over soon.
        let most = if built { 120_000 } else { 40_000 };
        let after = Duration::from_micros(random.below(most));
        let was_killed = start_and_kill(lorewell(&vault, "index", work, excluded), after);
        killed += u64::from(was_killed);
        // The next start. Before the first generation it builds one.
        let words = ["search", "--exact", "anchor line never", "--json"];
        let quick = [&words[..], &["--no-refresh"]].concat();
        let answer = run(if built { &quick } else { &words }, excluded).unwrap();
        let answer = json(&answer);
        let said = format!("round {round}, {work:?} killed after {after:?}: {answer}");
        assert_eq!(answer["passages"][0]["note"], "Anchor.md", "{said}");
        built = true;
        if round % 5 == 0 {
            let checked = json(&run(&["status", "--verify", "--json"], excluded).unwrap());
            assert_eq!(checked["verified"], "ok", "{said}: {checked}");
            assert_eq!(
                checked["index"]["being_written"], false,
                "{said}: {checked}"
            );
            assert!(checked["watcher"].is_null(), "{said}: {checked}");
        }
        if round % 20 == 19 {
            let found = answers(&vault, "index", excluded);
            let fresh = format!("fresh {round}");
            assert_eq!(found, answers(&vault, &fresh, excluded), "{said}");
            fs::remove_dir_all(vault.beside(&fresh)).unwrap();
        }
    }
    assert!(
        run(&["rebuild", "--update"], false)
            .unwrap()
            .status
            .success()
    );
    let found = answers(&vault, "index", false);
    assert_eq!(found, answers(&vault, "fresh", false));
}

/// Xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}
