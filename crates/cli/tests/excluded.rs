//! A note that is excluded is nowhere: not in an answer, not in the words of an error, not in a
//! file of the index, whichever way it is excluded.
//!
//! `status` says which files are left out and why: that list is the exclusions themselves.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]
#![expect(clippy::disallowed_types, reason = "the test starts programs")]

use std::fs;
use std::path::Path;
use std::process::Command;

use lorewell_testkit::TempVault;

/// A word that only the note has which is excluded.
const MARKER: &str = "quokkazorn";
/// Its name, and its alias.
const NAMES: [&str; 2] = ["zyxomma", "wombatine"];

const NOTES: &str = "
=== Kiln.md ===
---
tags: [ceramics]
---
The kiln is fired with ash, slowly, up to cone six. It is named in the log.
=== Glaze.md ===
A celadon glaze for the kiln. [[Nowhere]] #ceramics
=== Hidden/Zyxomma.md ===
---
tags: [ceramics, private]
aliases: [Wombatine]
secret: true
date: 2024-05-01
---
# Quokkazorn plan
The kiln of quokkazorn is fired with ash, slowly. [[Kiln]] [[Glaze]] [[Quokkazorn's place]]
";

/// A way to exclude a note.
type Exclude = fn(&World);

struct World {
    vault: TempVault,
}

impl World {
    fn run(&self, words: &[&str]) -> String {
        let home = self.vault.beside("home");
        fs::create_dir_all(&home).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_lorewell"))
            .args(words)
            .env_clear()
            .env("HOME", &home)
            .current_dir(&home)
            .output()
            .unwrap();
        let said = [output.stdout, output.stderr].concat();
        String::from_utf8_lossy(&said).to_lowercase()
    }

    fn set(&self, key: &str, value: &str) {
        self.run(&["config", "set", key, value]);
    }
}

/// Each way.
const WAYS: [(&str, Exclude); 7] = [
    ("folder", |world| world.set("exclude_folders", "Hidden")),
    ("glob", |world| world.set("exclude_globs", "**/Zyx*")),
    ("tag", |world| world.set("exclude_tags", "private")),
    ("property", |world| {
        world.set("exclude_properties", "secret");
    }),
    ("the app's own list", |world| {
        let filters = r#"{"userIgnoreFilters": ["Hidden/"]}"#;
        world.vault.write(".obsidian/app.json", filters);
    }),
    ("settings in the vault", |world| {
        let settings = "exclude_folders = [\"Hidden\"]";
        world.vault.write(".lorewell/config.toml", settings);
    }),
    ("removal", |world| world.vault.remove("Hidden")),
];

/// Questions whose answers would hold the note if it were anywhere.
const QUESTIONS: [&[&str]; 14] = [
    &["search", "quokkazor kiln fired with ash", "--explain"],
    &[
        "search",
        "kiln",
        "--lanes",
        "text,title,dense,vocab,link,tag,recent",
    ],
    &["search", "zyxomm plan"],
    &["search", "--tag", "ceramics"],
    &["search", "\"fired with ash\""],
    &["context", "how is the kiln fired"],
    &["related", "Kiln"],
    &["related", "Glaze"],
    &["links", "Kiln"],
    &["links"],
    &["read", "zyxomm"],
    &["links", "wombatin"],
    &["read", "Kiln"],
    &["verify", "--quote", "The kiln is fired with ash, slowly"],
];

#[test]
fn an_excluded_note_is_nowhere() {
    for (way, exclude) in WAYS {
        let world = World {
            vault: TempVault::new(NOTES),
        };
        let root = world.vault.root().display().to_string();
        world.run(&["vault", "add", &root]);
        world.run(&["rebuild"]);
        let before = world.run(&["search", "kiln fired with ash"]);
        assert!(before.contains("zyxomma"), "{way}: {before}");
        assert!(before.contains(MARKER), "{way}: {before}");

        exclude(&world);
        // Nothing has looked at the folder since.
        let status = world.run(&["status", "--json"]);
        let (_, pending) = status.split_once("\"pending\":[").unwrap();
        let (pending, _) = pending.split_once(']').unwrap();
        for word in [MARKER, NAMES[0], NAMES[1]] {
            let is_gone = way == "removal";
            assert!(is_gone || !pending.contains(word), "{way}: {pending}");
        }
        for words in QUESTIONS {
            for json in [&[][..], &["--json"]] {
                let words = [words, json].concat();
                let said = world.run(&words);
                for word in [MARKER, NAMES[0], NAMES[1]] {
                    assert!(!said.contains(word), "{way}: {words:?} says {word}: {said}");
                }
            }
        }
        let status = world.run(&["status", "--json", "--verify"]);
        assert!(!status.contains(MARKER), "{way}: {status}");
        assert!(status.contains("\"notes\":2,"), "{way}: {status}");
        assert!(status.contains("\"verified\":\"ok\""), "{way}: {status}");

        if way == "removal" {
            // Words of a deleted note lie dead in the files until those are written anew.
            continue;
        }
        let files = files_below(&world.vault.beside("home"));
        assert!(files.iter().any(|(path, _)| path.contains("catalogue")));
        for (path, bytes) in files {
            let is_index = path.contains("catalogue") || path.contains("segments");
            let holds = |word: &str| bytes.windows(word.len()).any(|w| w == word.as_bytes());
            assert!(!holds(MARKER), "{way}: {path} holds the marker");
            assert!(
                !is_index || !holds(NAMES[1]),
                "{way}: {path} holds the alias"
            );
            // The user's own settings may name it.
            assert!(
                !is_index || !holds(NAMES[0]),
                "{way}: {path} holds the name"
            );
        }
    }
}

/// Every file below a folder, with its bytes in small letters.
fn files_below(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_below(&path));
        } else {
            let bytes = fs::read(&path).unwrap().to_ascii_lowercase();
            files.push((path.display().to_string(), bytes));
        }
    }
    files
}
