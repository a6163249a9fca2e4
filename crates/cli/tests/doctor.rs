//! The doctor mends nothing, and finds what is broken. What a user sees stands in
//! `spec/23-doctor.md`.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]
#![expect(clippy::disallowed_types, reason = "the test starts programs")]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use lorewell_testkit::{Program, TempVault};
use serde_json::Value;

struct Machine(TempVault);

impl Machine {
    fn new() -> Machine {
        let machine = Machine(TempVault::new("=== Kiln.md ===\nCone 6, slow.\n"));
        fs::create_dir_all(machine.home()).unwrap();
        machine
    }

    /// With the vault listed, an index, registrations and the skill.
    fn in_use() -> Machine {
        let machine = Machine::new();
        let vault = machine.0.root().display().to_string();
        fs::create_dir_all(machine.home().join(".claude")).unwrap();
        fs::create_dir_all(machine.home().join(".codex")).unwrap();
        for words in [
            vec!["vault", "add", &vault, "--name", "Notes"],
            vec!["rebuild"],
            vec!["install", "claude-code", "codex", "--hook", "--yes"],
            vec!["skill", "install"],
        ] {
            assert!(
                machine.command(&words).output().unwrap().status.success(),
                "{words:?}"
            );
        }
        machine
    }

    fn home(&self) -> PathBuf {
        self.0.beside("home")
    }

    fn command(&self, words: &[&str]) -> Command {
        Program::new(env!("CARGO_BIN_EXE_lorewell"), self.home()).command(words)
    }

    fn json(&self, words: &[&str]) -> Value {
        let output = self.command(words).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Group, name and state of the checks that are not well.
    fn unwell(&self) -> Vec<String> {
        let report = self.json(&["doctor", "--json"]);
        let checks = report["checks"].as_array().unwrap().iter();
        let unwell = checks.filter(|check| check["state"] != "ok");
        let text =
            |check: &Value, field: &str| check[field].as_str().unwrap_or_default().to_string();
        unwell
            .map(|check| {
                assert!(check["todo"].is_string(), "{check}");
                [
                    text(check, "group"),
                    text(check, "state"),
                    text(check, "code"),
                ]
                .join(" ")
            })
            .collect()
    }

    fn index(&self) -> PathBuf {
        let status = self.json(&["status", "--json"]);
        PathBuf::from(status["index"]["folder"].as_str().unwrap())
    }
}

/// Every file and folder, its content and when it was changed.
fn everything(folder: &Path, found: &mut BTreeMap<PathBuf, (Vec<u8>, SystemTime)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let modified = fs::metadata(&path).unwrap().modified().unwrap();
        if path.is_dir() {
            found.insert(path.clone(), (Vec::new(), modified));
            everything(&path, found);
        } else {
            found.insert(path.clone(), (fs::read(&path).unwrap(), modified));
        }
    }
}

#[test]
fn it_changes_nothing() {
    for machine in [Machine::new(), Machine::in_use()] {
        let around = machine.home().parent().unwrap().to_path_buf();
        let (mut before, mut after) = (BTreeMap::new(), BTreeMap::new());
        // SQLite leaves a file beside its own on a first look, in which readers make their marks.
        machine.command(&["doctor"]).output().unwrap();
        everything(&around, &mut before);
        assert!(
            machine
                .command(&["doctor"])
                .output()
                .unwrap()
                .status
                .success()
        );
        everything(&around, &mut after);
        assert_eq!(
            before.keys().collect::<Vec<_>>(),
            after.keys().collect::<Vec<_>>()
        );
        before.retain(|path, _| !path.ends_with("catalogue.sqlite-shm"));
        for (path, was) in before {
            assert!(after[&path] == was, "{} was changed", path.display());
        }
    }
}

#[test]
fn all_is_well_where_it_should_be() {
    assert_eq!(Machine::in_use().unwell(), Vec::<String>::new());
    // Nothing set up is nothing broken.
    assert_eq!(Machine::new().unwell(), ["vaults warn "]);
}

#[test]
fn what_is_broken_is_found() {
    let machine = Machine::in_use();
    let index = machine.index();
    let catalogue = index.join("catalogue.sqlite");
    let bytes = fs::read(&catalogue).unwrap();
    fs::write(
        &catalogue,
        b"this is no catalogue any more, whatever its name says. ".repeat(200),
    )
    .unwrap();
    for beside in ["catalogue.sqlite-wal", "catalogue.sqlite-shm"] {
        let _ = fs::remove_file(index.join(beside));
    }
    let unwell = machine.unwell();
    assert_eq!(unwell.len(), 1, "{unwell:?}");
    assert!(unwell[0].starts_with("index fail"), "{unwell:?}");
    fs::write(&catalogue, bytes).unwrap();
    assert_eq!(machine.unwell(), Vec::<String>::new());

    let segment = fs::read_dir(index.join("segments"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let mut bytes = fs::read(&segment).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0xff;
    fs::write(&segment, bytes).unwrap();
    let unwell = machine.unwell();
    assert_eq!(unwell.len(), 1, "{unwell:?}");
    assert!(unwell[0].starts_with("index fail"), "{unwell:?}");

    fs::remove_dir_all(machine.0.root()).unwrap();
    assert_eq!(machine.unwell()[0], "vaults fail vault_missing");
}

#[test]
fn a_bridge_that_cannot_be_trusted_is_found() {
    use std::os::unix::fs::PermissionsExt as _;
    let machine = Machine::in_use();
    let program = Program::new(env!("CARGO_BIN_EXE_lorewell"), machine.home());
    let bridge = program.serve(&[]);
    assert_eq!(machine.unwell(), Vec::<String>::new());
    let folder = machine.home().join(".local/share/lorewell/bridge");
    let open_to = |mode| fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).unwrap();
    open_to(0o777);
    let unwell = machine.unwell();
    assert!(
        unwell.contains(&"bridge fail bridge_unsafe".to_string()),
        "{unwell:?}"
    );
    open_to(0o700);
    assert_eq!(machine.unwell(), Vec::<String>::new());
    // Its state file names another than the one that answers.
    let file = folder.join("state.json");
    let mut state: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    state["instance"] = "another".into();
    fs::write(&file, state.to_string()).unwrap();
    let unwell = machine.unwell();
    assert!(
        unwell.iter().any(|found| found.starts_with("bridge fail")),
        "{unwell:?}"
    );
    drop(bridge);
}

#[test]
fn who_holds_a_lock_is_told() {
    let machine = Machine::in_use();
    let hold = |name: &str| {
        let path = machine.index().join(name);
        let mut file = File::options()
            .create(true)
            .truncate(true)
            .write(true)
            .open(path)
            .unwrap();
        std::io::Write::write_all(&mut file, b"4711\n").unwrap();
        file.lock().unwrap();
        file
    };
    let (_writer, _watcher) = (hold("writer.lock"), hold("watcher.lock"));
    let report = machine.json(&["doctor", "--json"]);
    let checks = report["checks"].as_array().unwrap();
    let locks = checks
        .iter()
        .find(|check| check["group"] == "locks")
        .unwrap();
    assert_eq!(
        locks["found"],
        "the index is written now by process 4711; the vault is watched by process 4711"
    );
}

#[test]
fn the_report_is_as_its_schema_says() {
    let machine = Machine::in_use();
    fs::write(machine.home().join(".codex/config.toml"), "mcp_servers = [").unwrap();
    let schema = machine.json(&["doctor", "--schema"]);
    let report = machine.json(&["doctor", "--json"]);
    fits(&report, &schema, &schema, "report");
}

/// The parts of JSON Schema that are needed: types, enumerations, objects, lists, references.
fn fits(value: &Value, schema: &Value, root: &Value, place: &str) {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = root.pointer(reference.trim_start_matches('#')).unwrap();
        return fits(value, target, root, place);
    }
    if let Some(choices) = schema["oneOf"].as_array() {
        assert!(
            choices.iter().any(|choice| choice["const"] == *value),
            "{place}: {value}"
        );
        return;
    }
    match schema["type"].as_str() {
        Some("object") => {
            let members = value
                .as_object()
                .unwrap_or_else(|| panic!("{place}: {value}"));
            for (name, value) in members {
                let known = &schema["properties"][name];
                assert!(known.is_object(), "{place}.{name} is in no schema");
                fits(value, known, root, &format!("{place}.{name}"));
            }
            for name in schema["required"].as_array().into_iter().flatten() {
                assert!(
                    members.contains_key(name.as_str().unwrap()),
                    "{place} lacks {name}"
                );
            }
        }
        Some("array") => {
            for item in value.as_array().unwrap() {
                fits(item, &schema["items"], root, place);
            }
        }
        Some("integer") => assert!(value.is_u64(), "{place}: {value}"),
        Some("string") => assert!(value.is_string(), "{place}: {value}"),
        // A field that may be left out.
        None if schema["type"].is_array() => assert!(value.is_string(), "{place}: {value}"),
        other => panic!("{place}: {other:?} is not known to this test: {schema}"),
    }
}

#[test]
fn the_log_of_what_agents_received_is_looked_at() {
    let machine = Machine::in_use();
    machine
        .command(&["search", "--remote", "cone"])
        .output()
        .unwrap();
    assert_eq!(machine.unwell(), Vec::<String>::new());
    let folder = machine.home().join(".local/share/lorewell/audit");
    let file = folder.join("audit.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{text}torn\n")).unwrap();
    assert_eq!(machine.unwell(), ["agents warn "]);
    fs::write(&file, text).unwrap();
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    let unwell = machine.unwell();
    assert!(
        unwell.len() == 1 && unwell[0].starts_with("agents fail "),
        "{unwell:?}"
    );
}

#[test]
fn all_is_well_with_a_bridge_that_runs_and_notes_behind_fences() {
    let machine = Machine::in_use();
    machine.0.write("Home/Diary.md", "The quokka slept.\n");
    let home = Program::new(env!("CARGO_BIN_EXE_lorewell"), machine.home());
    home.done(&["config", "set", "fence_folders", "Home"]);
    let bridge = home.serve(&[]);
    home.done(&["search", "--remote", "--bridge", "require", "cone"]);
    let name = machine.index().file_name().unwrap().to_owned();
    let for_remote = format!("{}-remote", name.display());
    let remote = machine.index().with_file_name(&for_remote);
    assert!(remote.join("catalogue.sqlite").is_file());
    assert_eq!(machine.unwell(), Vec::<String>::new());
    let report = home.json(&["doctor"]);
    let said = report["checks"].to_string();
    assert!(!said.contains("not listed"), "{said}");
    assert!(!said.contains(&for_remote), "{said}");
    let process = format!("process {} answers", bridge.child.id());
    assert!(said.contains(&process), "{said}");
    assert!(!said.contains("Diary"), "{said}");
}
