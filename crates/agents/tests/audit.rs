//! The log of what agents received.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use lorewell_agents::{
    AuditEntry, AuditFilter, AuditLimits, AuditLog, AuditPassage, AuditView, Caller, Reader,
};
use lorewell_capabilities::{Entry, Failure, table};
use serde_json::{Value, json};
use tempfile::TempDir;

const LIMITS: AuditLimits = AuditLimits {
    file_bytes: 1 << 20,
    files: 4,
};

fn log() -> (TempDir, AuditLog) {
    let holder = tempfile::tempdir().unwrap();
    let log = AuditLog::new(holder.path().join("audit"), LIMITS);
    (holder, log)
}

fn search() -> &'static Entry {
    table()
        .iter()
        .find(|entry| entry.name() == "search")
        .unwrap()
}

fn now() -> Timestamp {
    "2026-11-30T10:00:00Z".parse().unwrap()
}

fn output(note: &str) -> Value {
    json!({
        "contract": 1, "vault": "Notes", "query": "what of zeolite",
        "passages": [{"rank": 1, "note": note, "byte_range": [3, 9], "text": "zeolite",
            "content_hash": "ab", "signals": [{"kind": "text"}]}],
        "index": {"generation": 7},
    })
}

fn answered(note: &str) -> AuditEntry {
    let caller = (&Caller::client(Reader::Remote), Reader::Remote);
    let vault = ("Notes", Path::new("/v/Notes"));
    AuditEntry::new(now(), caller, search(), vault, Ok(&output(note)))
}

fn all(log: &AuditLog) -> AuditView {
    let filter = AuditFilter {
        limit: 1_000_000,
        ..AuditFilter::default()
    };
    log.read(&filter).unwrap()
}

fn notes(log: &AuditLog) -> Vec<String> {
    let entries = all(log).entries.into_iter();
    let passages = entries.flat_map(|entry| entry.passages);
    passages.map(|passage| passage.note).collect()
}

/// All that stands in the folder.
fn bytes(holder: &TempDir) -> String {
    let files = fs::read_dir(holder.path().join("audit")).unwrap();
    files
        .map(|file| String::from_utf8_lossy(&fs::read(file.unwrap().path()).unwrap()).into_owned())
        .collect()
}

#[test]
fn it_tells_who_received_what_and_neither_question_nor_text() {
    let (holder, log) = log();
    assert_eq!(all(&log), AuditView::default());
    log.record(&answered("Kiln.md")).unwrap();
    let refused = Failure::wrong_use("zeolite?", "zeolite!");
    let caller = (&Caller::client(Reader::Local), Reader::Local);
    let vault = ("Notes", Path::new("/v/Notes"));
    let entry = AuditEntry::new(now(), caller, search(), vault, Err(&refused));
    log.record(&entry).unwrap();
    let entries = all(&log).entries;
    assert_eq!(entries[0].time, "2026-11-30T10:00:00Z");
    assert_eq!(
        (
            entries[0].agent.as_str(),
            entries[0].reader.as_str(),
            entries[0].capability.as_str()
        ),
        ("client", "remote", "knowledge.search")
    );
    assert_eq!(
        (entries[0].generation, entries[0].error.as_deref()),
        (Some(7), None)
    );
    assert_eq!(
        entries[0].passages,
        [AuditPassage {
            note: "Kiln.md".to_owned(),
            byte_range: Some((3, 9)),
            content_hash: Some("ab".to_owned()),
        }]
    );
    assert_eq!(
        (entries[1].passages.len(), entries[1].error.as_deref()),
        (0, Some("wrong_use"))
    );
    assert!(!bytes(&holder).contains("zeolite"));
}

#[test]
fn it_is_of_bounded_size_and_number() {
    let (holder, _) = log();
    let limits = AuditLimits {
        file_bytes: 1_000,
        files: 3,
    };
    let log = AuditLog::new(holder.path().join("audit"), limits);
    for number in 0..50 {
        log.record(&answered(&format!("{number}.md"))).unwrap();
    }
    let mut sizes = Vec::new();
    for file in fs::read_dir(holder.path().join("audit")).unwrap() {
        let file = file.unwrap();
        if file.path().extension().is_some() {
            sizes.push(file.metadata().unwrap().len());
        }
    }
    assert_eq!(sizes.len(), 3, "{sizes:?}");
    assert!(sizes.iter().all(|size| *size <= 1_000), "{sizes:?}");
    // The newest are kept, in their order.
    let kept = notes(&log);
    let expected: Vec<String> = (50 - kept.len()..50).map(|n| format!("{n}.md")).collect();
    assert!(kept.len() > 6);
    assert_eq!(kept, expected);
    // A line longer than a file is kept all the same.
    log.record(&answered(&"x".repeat(2_000))).unwrap();
    assert_eq!(notes(&log).pop().unwrap().len(), 2_000);
}

#[test]
fn a_torn_line_is_passed_over_and_counted() {
    let (holder, log) = log();
    log.record(&answered("a.md")).unwrap();
    let file = holder.path().join("audit/audit.jsonl");
    let whole = fs::read(&file).unwrap();
    for cut in [1, 20, whole.len() - 2] {
        let mut torn = whole.clone();
        torn.extend(&whole[..cut]);
        fs::write(&file, torn).unwrap();
        log.record(&answered("b.md")).unwrap();
        assert_eq!(notes(&log), ["a.md", "b.md"]);
        assert_eq!(all(&log).unreadable_lines, 1);
    }
    // A line of which only the end is missing is whole.
    fs::write(&file, &whole[..whole.len() - 1]).unwrap();
    log.record(&answered("b.md")).unwrap();
    assert_eq!((notes(&log).len(), all(&log).unreadable_lines), (2, 0));
}

#[test]
fn many_writers_lose_nothing() {
    let (holder, _) = log();
    let limits = AuditLimits {
        file_bytes: 2_000,
        files: 1_000,
    };
    std::thread::scope(|scope| {
        for writer in 0..6 {
            let log = AuditLog::new(holder.path().join("audit"), limits);
            scope.spawn(move || {
                for number in 0..20 {
                    log.record(&answered(&format!("{writer}-{number}.md")))
                        .unwrap();
                }
            });
        }
    });
    let log = AuditLog::new(holder.path().join("audit"), limits);
    let mut kept = notes(&log);
    kept.sort();
    kept.dedup();
    assert_eq!((kept.len(), all(&log).unreadable_lines), (120, 0));
}

#[test]
fn what_must_not_be_named_is_taken_out() {
    let (holder, log) = log();
    for note in ["Secret/quokkazorn.md", "Kiln.md"] {
        log.record(&answered(note)).unwrap();
    }
    // Of another vault, a note of the same path.
    let elsewhere = AuditEntry {
        folder: PathBuf::from("/v/Other"),
        ..answered("Secret/other.md")
    };
    log.record(&elsewhere).unwrap();
    let unnamed =
        |folder: &Path, note: &str| folder == Path::new("/v/Notes") && note.starts_with("Secret");
    // When it is read.
    let reading = log.clone().leaving_out(Arc::new(unnamed));
    assert_eq!(notes(&reading), ["Kiln.md", "Secret/other.md"]);
    assert_eq!(all(&reading).entries.len(), 3);
    assert!(bytes(&holder).contains("quokkazorn"));
    // For good.
    fs::OpenOptions::new()
        .append(true)
        .open(holder.path().join("audit/audit.jsonl"))
        .and_then(|mut file| std::io::Write::write_all(&mut file, b"{\"quokkazorn"))
        .unwrap();
    let dropped = log.forget(Path::new("/v/Notes"), &|note| note.starts_with("Secret"));
    assert_eq!(dropped.unwrap(), 1);
    assert!(!bytes(&holder).contains("quokkazorn"));
    assert_eq!(notes(&log), ["Kiln.md", "Secret/other.md"]);
    assert_eq!(
        log.folders().unwrap(),
        [PathBuf::from("/v/Notes"), PathBuf::from("/v/Other")]
    );
    // When a file is full.
    log.record(&answered("Secret/quokkazorn.md")).unwrap();
    let small = AuditLimits {
        file_bytes: 10,
        files: 9,
    };
    let full = AuditLog::new(holder.path().join("audit"), small).leaving_out(Arc::new(unnamed));
    full.record(&answered("b.md")).unwrap();
    assert!(!bytes(&holder).contains("quokkazorn"));
    assert_eq!(notes(&log), ["Kiln.md", "Secret/other.md", "b.md"]);
}

#[test]
fn it_can_be_asked_by_agent_vault_and_time() {
    let (_holder, log) = log();
    for (number, agent) in ["One", "Two", "One"].into_iter().enumerate() {
        log.record(&AuditEntry {
            agent: agent.to_owned(),
            time: format!("2026-11-30T10:00:0{number}Z"),
            ..answered(&format!("{number}.md"))
        })
        .unwrap();
    }
    let found = |filter: AuditFilter| {
        let view = log.read(&filter).unwrap();
        let notes: Vec<_> = view
            .entries
            .iter()
            .map(|e| e.passages[0].note.clone())
            .collect();
        (notes.join(" "), view.more)
    };
    let filter = || AuditFilter {
        limit: 9,
        ..AuditFilter::default()
    };
    assert_eq!(
        found(AuditFilter {
            agent: Some("one".into()),
            ..filter()
        }),
        ("0.md 2.md".into(), false)
    );
    assert_eq!(
        found(AuditFilter {
            folder: Some("/v/Other".into()),
            ..filter()
        }),
        (String::new(), false)
    );
    let since = Some("2026-11-30T10:00:01Z".parse().unwrap());
    assert_eq!(
        found(AuditFilter { since, ..filter() }),
        ("1.md 2.md".into(), false)
    );
    assert_eq!(
        found(AuditFilter {
            limit: 2,
            ..filter()
        }),
        ("1.md 2.md".into(), true)
    );
}

#[cfg(unix)]
#[test]
fn only_its_owner_can_read_it() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let (holder, log) = log();
    log.record(&answered("a.md")).unwrap();
    let folder = holder.path().join("audit");
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!(
        (mode(&folder), mode(&folder.join("audit.jsonl"))),
        (0o700, 0o600)
    );
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(
        log.record(&answered("b.md")).unwrap_err().code(),
        "agents_not_private"
    );
}
