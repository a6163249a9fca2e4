//! Notes behind a fence are nowhere for a remote reader: it is answered, to the byte, as if they
//! did not exist. A local reader sees them.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::collections::BTreeSet;
use std::path::Path;

use lorewell_capabilities::{Desk, Entry, ErrorJson, table};
use lorewell_engine::{Host, Patience, Quiet};
use lorewell_setup::{Config, Environment, Flags, Settings, VaultRef, open, open_remote, vaults};
use lorewell_testkit::TempVault;
use serde_json::{Value, json};

/// What everybody may see.
const OPEN: &str = "
=== Kiln.md ===
---
tags: [ceramics]
---
# Kiln
The kiln fires slowly, see [[Diary]], [[Loose]] and [[Walls|the walls]]. ^slow
=== Glazes/Celadon.md ===
---
tags: [ceramics, glaze]
---
The celadon glaze needs a reduction firing in the [[Kiln]]. Cone 6 for eleven hours.
=== Glazes/Tenmoku.md ===
Tenmoku glaze: iron and a fast firing in the [[Kiln]].
=== Plan.md ===
Buy clay, sieve the glaze, fire the kiln.
";

/// What is behind a fence: by folder, by tag, by property. Every one holds the marker in its
/// words, name, headings, tags, links or aliases.
const FENCED: &str = "\
=== Home/Diary.md ===
---
aliases: [Quokkazorn, Loose]
---
# Quokkazorn diary
The quokkazorn kiln glaze firing of [[Kiln]] and [[Celadon]], eleven hours. ^quokkazorn
=== Home/Deep/Quokkazorn walls.md ===
quokkazorn celadon glaze needs a reduction firing in the kiln [[Nowhere quokkazorn]]
=== Walls.md ===
---
tags: [ceramics, private/quokkazorn]
---
The walls of the quokkazorn kiln [[Celadon]].
=== Plan copy.md ===
---
confidential: yes
---
Buy clay, sieve the glaze, fire the kiln. quokkazorn
=== Broken quokkazorn.md ===
---
confidential: yes
tags: [quokkazorn
---
quokkazorn
";

/// Other files of a fenced folder.
const BESIDE: &str = "=== Home/quokkazorn.pdf ===\nx\n=== Home/.quokkazorn.md ===\nx\n";

struct World {
    vault: TempVault,
    config: Config,
    settings: Settings,
    asked: VaultRef,
}

fn world(notes: &str, fences: &[(&str, &str)]) -> World {
    let vault = TempVault::new(notes);
    let home = vault.beside("home");
    std::fs::create_dir(&home).unwrap();
    let variables = fences.iter();
    let environment = Environment {
        home: home.clone(),
        config_dir: home.join(".config"),
        data_dir: home.join(".local/share"),
        vars: variables
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
        current_dir: home,
    };
    let config = Config::load(&environment).unwrap();
    let folder = vault.root().display().to_string();
    let asked = vaults::resolve(&config, &Flags::new(), Some(&folder)).unwrap();
    let settings = config.settings(Some(&asked), &Flags::new()).unwrap();
    World {
        vault,
        config,
        settings,
        asked,
    }
}

impl World {
    fn local(&self) -> Host {
        open(&self.config, &self.settings, &self.asked).unwrap()
    }

    fn remote(&self) -> Host {
        open_remote(&self.config, &self.settings, &self.asked).unwrap()
    }
}

fn fenced() -> World {
    let notes = format!("{OPEN}{FENCED}{BESIDE}");
    let world = world(
        &notes,
        &[
            ("LOREWELL_FENCE_FOLDERS", "home/"),
            ("LOREWELL_FENCE_TAGS", "#private"),
            ("LOREWELL_FENCE_PROPERTIES", "confidential"),
        ],
    );
    #[cfg(unix)]
    for (name, target) in [
        ("To walls.md", "Walls.md"),
        ("To home", "Home"),
        ("In.md", "Home/Diary.md"),
    ] {
        std::os::unix::fs::symlink(target, world.vault.path(name)).unwrap();
    }
    world
}

fn requests() -> Vec<(&'static str, Value)> {
    let mut requests = vec![
        ("search", json!({"query": "quokkazorn"})),
        ("search", json!({"query": "quokkazorn", "exact": true})),
        (
            "search",
            json!({"query": "kiln glaze firing eleven hours", "explain": true, "limit": 50}),
        ),
        ("search", json!({"query": "Diary", "lanes": ["title"]})),
        (
            "search",
            json!({"query": "quokkazron", "lanes": ["vocab", "dense", "title"]}),
        ),
        ("search", json!({"query": "glaze", "tag": ["private"]})),
        ("search", json!({"query": "glaze", "folder": ["Home"]})),
        (
            "search",
            json!({"query": "glaze", "property": ["confidential=yes"]}),
        ),
        ("search", json!({"query": "glaze", "links_to": ["Celadon"]})),
        (
            "search",
            json!({"query": "kiln", "lanes": ["text", "link", "tag", "recent"], "limit": 50}),
        ),
        (
            "context",
            json!({"query": "quokkazorn kiln", "budget": 4000}),
        ),
        ("related", json!({"note": "Kiln", "limit": 50})),
        ("related", json!({"note": "Plan"})),
        ("links", json!({})),
        ("links", json!({"note": "Celadon"})),
        ("links", json!({"note": "Kiln"})),
        (
            "verify",
            json!({"quotes": [
                {"quote": "The walls of the quokkazorn kiln", "note": "Walls.md"},
                {"quote": "eleven hours", "note": "Home/Diary.md"},
                {"quote": "the quokkazorn kiln glaze firing of"},
            ]}),
        ),
        (
            "verify",
            json!({"answer": "The kiln fires slowly [[Diary]]. “Buy clay” [[Plan copy]]."}),
        ),
        ("status", json!({"verify": true})),
        ("status", json!({"list": 1000})),
    ];
    let paths = [
        "Home/Diary.md",
        "Home/Diary",
        "Diary",
        "Quokkazorn",
        "Loose",
        "Home/Deep/Quokkazorn walls.md",
        "Walls.md",
        "walls",
        "Plan copy.md",
        "Broken quokkazorn.md",
        "[[Walls#^x]]",
        "Home",
        "Home/quokkazorn.pdf",
        "Home/.quokkazorn.md",
        "To walls.md",
        "In.md",
        "To home/Diary.md",
    ];
    for path in paths {
        requests.push(("read", json!({"note": path})));
        requests.push(("links", json!({"note": path})));
        requests.push(("related", json!({"note": path})));
        requests.push(("search", json!({"like": [path]})));
        requests.push(("context", json!({"query": "kiln", "attached": [path]})));
        requests.push(("status", json!({"why_not": path})));
        requests.push((
            "verify",
            json!({"quotes": [{"quote": "kiln", "note": path}]}),
        ));
    }
    // Last: what it says of an update, and how the index stands after it.
    requests.extend([
        ("rebuild", json!({"update": true})),
        ("rebuild", json!({})),
        ("status", json!({})),
    ]);
    requests
}

fn answer(host: &Host, entry: &Entry, request: &Value) -> String {
    let desk = match entry.fresh {
        true => Desk::refreshed(host, host.refresh(Patience::Read, &Quiet).unwrap()),
        false => Desk::new(host),
    };
    let answer = match (entry.run)(&desk, request.clone()) {
        Ok(mut output) => {
            // Times, and sizes of files with them, differ from run to run.
            if let Some(index) = output.get_mut("index").and_then(Value::as_object_mut) {
                index.retain(|name, _| name != "updated_at" && !name.ends_with("_bytes"));
            }
            output.to_string()
        }
        Err(error) => serde_json::to_string(&ErrorJson { error }).unwrap(),
    };
    let folder = |path: &Path| path.display().to_string();
    answer
        .replace(&folder(host.index_folder()), "[index]")
        .replace(&folder(host.root()), "[root]")
}

#[test]
fn a_remote_reader_is_answered_as_if_fenced_notes_did_not_exist() {
    let fenced = fenced();
    let open = world(OPEN, &[]);
    let (remote, bare) = (fenced.remote(), open.local());
    assert_ne!(remote.index_folder(), fenced.local().index_folder());
    let mut asked = BTreeSet::new();
    for (name, request) in requests() {
        let entry = table().iter().find(|entry| entry.name() == name).unwrap();
        let told = answer(&remote, entry, &request);
        assert_eq!(told, answer(&bare, entry, &request), "{name} {request}");
        let echo = request.to_string();
        let words = told
            .replace(echo.trim_matches(['{', '}']), "")
            .to_lowercase();
        let quoted = echo.to_lowercase().contains("quokka");
        assert!(
            quoted || !words.contains("quokka"),
            "{name} {request}: {told}"
        );
        asked.insert(entry.id);
    }
    let all: BTreeSet<_> = table().iter().map(|entry| entry.id).collect();
    assert_eq!(asked, all, "every capability is asked");
}

#[test]
fn a_local_reader_sees_them() {
    let fenced = fenced();
    fenced.remote().refresh(Patience::Wait, &Quiet).unwrap();
    let local = fenced.local();
    let search = &table()[0];
    let told = answer(&local, search, &json!({"query": "quokkazorn", "limit": 50}));
    for note in [
        "Home/Diary.md",
        "Walls.md",
        "Plan copy.md",
        "Broken quokkazorn.md",
    ] {
        assert!(
            told.contains(&format!("\"note\":\"{note}\"")),
            "{note}: {told}"
        );
    }
}

#[test]
fn a_note_that_comes_behind_a_fence_later_is_gone_at_once_and_from_the_disk() {
    let fenced = fenced();
    let remote = fenced.remote();
    remote.refresh(Patience::Wait, &Quiet).unwrap();
    let holds = |word: &str| {
        let mut files = vec![remote.index_folder().to_path_buf()];
        let mut found = false;
        while let Some(path) = files.pop() {
            if path.is_dir() {
                files.extend(std::fs::read_dir(path).unwrap().map(|e| e.unwrap().path()));
            } else {
                let bytes = std::fs::read(path).unwrap();
                found |= bytes
                    .windows(word.len())
                    .any(|part| part == word.as_bytes());
            }
        }
        found
    };
    assert!(!holds("quokkazorn kiln"));
    fenced.vault.write("Plan.md", "A wombatzorn plan.\n");
    remote.refresh(Patience::Wait, &Quiet).unwrap();
    assert!(holds("wombatzorn"));
    fenced.vault.write(
        "Plan.md",
        "---\nconfidential: true\n---\nA wombatzorn plan.\n",
    );
    let freshness = remote.refresh(Patience::Wait, &Quiet).unwrap();
    assert_eq!((freshness.pending, freshness.reason), (0, None));
    assert!(!holds("wombatzorn"));
    let search = &table()[0];
    let told = answer(&remote, search, &json!({"query": "wombatzorn plan"}));
    assert!(!told.contains("Plan.md"), "{told}");
    // What happens behind a fence shows in no number.
    let status = table()
        .iter()
        .find(|entry| entry.name() == "status")
        .unwrap();
    let stands = || answer(&remote, status, &json!({}));
    let before = stands();
    fenced.vault.write("Walls.md", "#private and longer\n");
    fenced.vault.write("Home/New.md", "new\n");
    fenced.vault.remove("Broken quokkazorn.md");
    assert_eq!(stands(), before);
    let freshness = remote.refresh(Patience::Wait, &Quiet).unwrap();
    assert_eq!(
        (freshness.pending, freshness.report.map_or(0, |r| r.skipped)),
        (0, 0)
    );
    assert_eq!(stands(), before);
    // Other fences, without a look for changes.
    fenced
        .vault
        .write(".lorewell/config.toml", "fence_folders = [\"Glazes\"]\n");
    let settings = fenced
        .config
        .settings(Some(&fenced.asked), &Flags::new())
        .unwrap();
    let remote = open_remote(&fenced.config, &settings, &fenced.asked).unwrap();
    let told = (search.run)(&Desk::new(&remote), json!({"query": "celadon glaze"})).unwrap();
    assert!(!told["passages"].to_string().contains("Glazes/"), "{told}");
    let here = open(&fenced.config, &settings, &fenced.asked).unwrap();
    let told = answer(&here, search, &json!({"query": "celadon glaze"}));
    assert!(told.contains("\"note\":\"Glazes/Celadon.md\""), "{told}");
}

#[test]
fn without_fences_a_remote_reader_needs_no_index_of_its_own() {
    let open = world(OPEN, &[("LOREWELL_FENCE_TAGS", " , ")]);
    assert_eq!(open.remote().index_folder(), open.local().index_folder());
}

#[test]
fn an_index_that_no_remote_reader_asks_any_more_does_not_stay() {
    let fenced = fenced();
    let remote = fenced.remote();
    remote.refresh(Patience::Wait, &Quiet).unwrap();
    // What is excluded by now goes out of it as well.
    fenced
        .vault
        .write(".lorewell/config.toml", "exclude_folders = [\"Glazes\"]\n");
    let settings = fenced
        .config
        .settings(Some(&fenced.asked), &Flags::new())
        .unwrap();
    lorewell_setup::follow_in_remote(&fenced.config, &settings, &fenced.asked).unwrap();
    let bytes = std::fs::read(remote.index_folder().join("catalogue.sqlite")).unwrap();
    assert!(!bytes.windows(7).any(|part| part == b"celadon"));
    let none = Settings::defaults();
    lorewell_setup::follow_in_remote(&fenced.config, &none, &fenced.asked).unwrap();
    assert!(!remote.index_folder().exists());
}
