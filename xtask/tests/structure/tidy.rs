//! What every file of the repository looks like. Each rule is a function from a
//! file to complaints, so that it can be shown to fail.

use crate::repository::{files, root, text};

const MAX_LINES: usize = 900;

/// Names that say nothing about what is inside.
const EMPTY_NAMES: &[&str] = &["utils", "util", "common", "types", "misc", "helpers"];

/// Beginnings of paths that exist on one machine only.
const MACHINE_PATHS: &[&str] = &[
    concat!("/", "work/"),
    concat!("/", "tmp/data"),
    concat!("/", "home/"),
];

/// The one file that may know where the evaluation data lies beside the checkout.
const KNOWS_DATA: &str = ".ci/run";
const DATA: &str = concat!("..", "/shared");

fn rust_file(file: &str, text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    if !text.trim_start_matches('\u{feff}').starts_with("//!") {
        complaints.push(format!("{file}: does not begin with //! and what it is"));
    }
    let lines = text.lines().count();
    if lines > MAX_LINES {
        complaints.push(format!(
            "{file}: {lines} lines, more than {MAX_LINES}: split it"
        ));
    }
    let parts = file.trim_end_matches(".rs").split('/');
    let empty = parts.filter(|part| EMPTY_NAMES.contains(part));
    complaints
        .extend(empty.map(|name| format!("{file}: `{name}` says nothing about what is inside")));
    for name in EMPTY_NAMES {
        if text.contains(&format!("mod {name} {{")) {
            complaints.push(format!(
                "{file}: `mod {name}` says nothing about what is inside"
            ));
        }
    }
    complaints
}

/// A package with a workspace of its own stands outside ours and cannot take our lints.
fn manifest(file: &str, text: &str) -> Vec<String> {
    let plain = text.replace("\r\n", "\n");
    let outside = plain.contains("[workspace]");
    if !outside && plain.contains("[package]") && !plain.contains("\n[lints]\nworkspace = true\n") {
        return vec![format!(
            "{file}: lacks the workspace's lints ([lints] workspace = true)"
        )];
    }
    Vec::new()
}

fn any_file(file: &str, text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let paths = MACHINE_PATHS.iter().filter(|path| line.contains(**path));
        complaints
            .extend(paths.map(|path| format!("{file}:{number}: a path of one machine, {path}")));
        if file != KNOWS_DATA && line.contains(DATA) {
            complaints.push(format!(
                "{file}:{number}: only {KNOWS_DATA} may name {DATA}"
            ));
        }
    }
    complaints
}

/// Paths that a page names between backticks and that are not among `files`.
fn dead_names(page: &str, files: &[String]) -> Vec<String> {
    let named = page.split('`').skip(1).step_by(2);
    let named = named.filter(|name| !name.contains(char::is_whitespace));
    let is_path =
        |name: &&str| name.starts_with("crates/") || (name.contains('/') && name.ends_with(".rs"));
    let exists = |name: &str| {
        let name = name.trim_end_matches('/');
        files.iter().any(|file| {
            file == name
                || file.ends_with(&format!("/{name}"))
                || file.starts_with(&format!("{name}/"))
        })
    };
    named
        .filter(is_path)
        .filter(|name| !exists(name))
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_file_is_tidy() {
    let mut complaints = Vec::new();
    let files = files();
    assert!(files.len() > 20, "these are not all files: {files:?}");
    for file in &files {
        let Some(text) = text(file) else { continue };
        complaints.extend(any_file(file, &text));
        if file.ends_with(".rs") {
            complaints.extend(rust_file(file, &text));
        }
        if file.ends_with("Cargo.toml") {
            complaints.extend(manifest(file, &text));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn the_architecture_page_names_only_what_exists() {
    let page = std::fs::read_to_string(root().join("ARCHITECTURE.md"));
    let page = page.expect("ARCHITECTURE.md says what every crate is for");
    assert_eq!(dead_names(&page, &files()), Vec::<String>::new());
    let crates = files().into_iter().filter_map(|file| {
        let name = file.strip_prefix("crates/")?.split('/').next()?;
        Some(format!("crates/{name}"))
    });
    let unnamed: std::collections::BTreeSet<String> = crates
        .filter(|name| !page.contains(name.as_str()))
        .collect();
    assert!(
        unnamed.is_empty(),
        "ARCHITECTURE.md does not name {unnamed:?}"
    );
}

#[test]
fn the_rules_can_fail() {
    let long = format!("//! x\n{}", "\n".repeat(MAX_LINES));
    let bad_path = format!("let path = \"{}\";", MACHINE_PATHS[0]);
    let bad_module = format!("//! x\nmod {} {{\n}}\n", EMPTY_NAMES[0]);
    let bad_data = format!("see {DATA}/x");
    let cases = [
        (rust_file("a/b.rs", "//! Good.\n"), 0),
        (rust_file("a/b.rs", "use x;\n"), 1),
        (rust_file("a/b.rs", &long), 1),
        (rust_file("a/utils.rs", "//! x\n"), 1),
        (rust_file("a/helpers/b.rs", "//! x\n"), 1),
        (rust_file("a/b.rs", &bad_module), 1),
        (
            manifest(
                "Cargo.toml",
                "[package]\nname = \"x\"\n\n[lints]\nworkspace = true\n",
            ),
            0,
        ),
        (manifest("Cargo.toml", "[package]\nname = \"x\"\n"), 1),
        (any_file("a", "a relative/path"), 0),
        (any_file("a", &bad_path), 1),
        (any_file("a", &bad_data), 1),
        (any_file(KNOWS_DATA, &bad_data), 0),
    ];
    for (number, (complaints, expected)) in cases.into_iter().enumerate() {
        assert_eq!(complaints.len(), expected, "case {number}: {complaints:?}");
    }
    let files = ["crates/a/src/b.rs".to_owned()];
    let page = "`crates/a`, `crates/a/`, `src/b.rs` and `a/src/b.rs`, but `crates/c`, `src/d.rs`";
    assert_eq!(dead_names(page, &files), ["crates/c", "src/d.rs"]);
}
