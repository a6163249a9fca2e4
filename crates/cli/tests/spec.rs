//! Runs the documents of `tests/spec/`: each tells what the command line does, in commands and
//! what they print, over notes that it holds itself.
//!
//! A block `vault NAME` writes files (`=== PATH ===` opens one) into the folder NAME of the
//! document's own home. A block `console` runs commands there through `sh`, one after another:
//! `$ COMMAND`, then what it writes to standard output, then what it writes to standard error
//! with `! ` before each line, then `[exit N]` if N is not 0. JSON is shown broken into lines.
//! What differs from run to run stands in brackets: `[hash]`, `[time]`, `[score]` and so on.
//!
//! `LOREWELL_WRITE_SPEC=1` writes what is printed into the documents: read the difference.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]
#![expect(clippy::disallowed_types, reason = "the test starts programs")]

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use regex::Regex;
use serde_json::Value;

/// What differs from run to run, and what it is shown as.
const VARIES: &[(&str, &str)] = &[
    (r"[0-9a-f]{64}", "[hash]"),
    (r"-[0-9a-f]{16}\b", "-[id]"),
    (r"\b[0-9a-f]{32}\b", "[id]"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "[time]"),
    (r#"("\w+_bytes"): \d+"#, "$1: [bytes]"),
    (r"(catalogue|words|vectors) [\d,]+([,)])", "$1 [bytes]$2"),
    (r"\d+\.\d MB", "[size] MB"),
    (
        r#"("(?:score|fused|added|coverage)"): [\d.]+"#,
        "$1: [score]",
    ),
    (r"(?m)^(   )\d\.\d\d ·", "$1[score] ·"),
    (r"(fused|score|adds) \d+\.\d+", "$1 [score]"),
    (r#"("fingerprint"): ".*""#, r#"$1: "[fingerprint]""#),
    (r"\.[0-9a-f]{8}\.([\w.]+)\.\d{8}T\d{9}Z", ".[id].$1.[time]"),
    (r"\d+\.\d GB", "[size] GB"),
    (
        r"\d+ watches and \d+ watchers",
        "[n] watches and [n] watchers",
    ),
];

#[test]
fn the_documents_tell_what_happens() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/spec");
    let mut documents: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    documents.sort();
    let mut wrong = Vec::new();
    for document in documents {
        let told = fs::read_to_string(&document).unwrap();
        let happened = played(&told);
        if std::env::var_os("LOREWELL_WRITE_SPEC").is_some() {
            fs::write(&document, &happened).unwrap();
        } else if told != happened {
            wrong.push(format!(
                "{}:\n{}",
                document.display(),
                difference(&told, &happened)
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The document with what its commands print now.
fn played(document: &str) -> String {
    let holder = tempfile::tempdir().unwrap();
    let home = holder.path().canonicalize().unwrap();
    let mut out = String::new();
    let mut block: Option<(&str, String)> = None;
    for line in document.split_inclusive('\n') {
        match &mut block {
            None => {
                out.push_str(line);
                block = line
                    .strip_prefix("```")
                    .map(|info| (info.trim(), String::new()));
            }
            Some((info, body)) if line.trim_end() == "```" => {
                match info.split_once(' ') {
                    Some(("vault", name)) => write_notes(&home.join(name), body),
                    _ if *info == "console" => *body = run_all(body, &home),
                    _ => {}
                }
                out.push_str(body);
                out.push_str(line);
                block = None;
            }
            Some((_, body)) => body.push_str(line),
        }
    }
    out
}

fn write_notes(folder: &Path, fixture: &str) {
    let mut files: Vec<(&str, String)> = Vec::new();
    for line in fixture.split_inclusive('\n') {
        let opened = line
            .strip_prefix("=== ")
            .and_then(|rest| rest.strip_suffix(" ===\n"));
        match (opened, files.last_mut()) {
            (Some(path), _) => files.push((path, String::new())),
            (None, Some((_, content))) => content.push_str(line),
            (None, None) => panic!("a vault begins with === PATH ===, not {line}"),
        }
    }
    for (path, content) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        // 2024-01-01: a note without a date has that of its file.
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_704_067_200);
        File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_modified(time)
            .unwrap();
    }
}

fn run_all(block: &str, home: &Path) -> String {
    let commands = block.lines().filter_map(|line| line.strip_prefix("$ "));
    commands
        .map(|command| format!("$ {command}\n{}", printed(command, home)))
        .collect()
}

fn printed(command: &str, home: &Path) -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_lorewell"));
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(home)
        .env_clear()
        .env(
            "PATH",
            format!("{}:/usr/bin:/bin", binary.parent().unwrap().display()),
        )
        .env("HOME", home)
        .output()
        .unwrap();
    let mut text = broken_into_lines(&String::from_utf8(output.stdout).unwrap());
    for line in String::from_utf8(output.stderr).unwrap().lines() {
        text += format!("! {line}").trim_end();
        text.push('\n');
    }
    match output.status.code() {
        Some(0) => {}
        Some(code) => text += &format!("[exit {code}]\n"),
        None => text += "[killed]\n",
    }
    let mut text = text.replace(&home.display().to_string(), "~");
    // As if it had been installed.
    text = text.replace(&binary.display().to_string(), "/usr/local/bin/lorewell");
    for (varies, shown) in VARIES {
        text = Regex::new(varies)
            .unwrap()
            .replace_all(&text, *shown)
            .into_owned();
    }
    text
}

/// JSON in lines, with lists of plain values on one.
fn broken_into_lines(text: &str) -> String {
    let Some(json) = text
        .lines()
        .next()
        .filter(|line| line.starts_with('{') && *line != "{")
    else {
        return text.to_string();
    };
    assert_eq!(
        text,
        format!("{json}\n"),
        "JSON is one line and nothing else"
    );
    let pretty = format!("{:#}\n", serde_json::from_str::<Value>(json).unwrap());
    let plain = Regex::new(r"\[\n\s+([^\[\]{}]*?)\n\s+\]").unwrap();
    let joined = |found: &regex::Captures<'_>| {
        let items: Vec<&str> = found[1].lines().map(str::trim).collect();
        format!("[{}]", items.join(" "))
    };
    plain.replace_all(&pretty, joined).into_owned()
}

/// The first lines that are not as told.
fn difference(told: &str, happened: &str) -> String {
    let same = told
        .lines()
        .zip(happened.lines())
        .take_while(|(a, b)| a == b)
        .count();
    let from = |text: &str, mark: &str| -> String {
        let lines = text.lines().skip(same).take(12);
        lines.map(|line| format!("{mark} {line}\n")).collect()
    };
    format!(
        "line {}\n{}{}",
        same + 1,
        from(told, "-"),
        from(happened, "+")
    )
}
