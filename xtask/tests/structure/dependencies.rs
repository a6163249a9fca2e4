//! Every dependency that a crate declares is used by it. Which crate may use which is held in
//! edges.rs.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::repository::{files, metadata, text};

/// The package with a workspace of its own.
const OUTSIDE: &str = "benches-tantivy/Cargo.toml";

/// A file of a crate: its path below the crate's folder, and its text.
type Source<'a> = (&'a str, &'a str);

/// The dependencies of a package that its sources do not name. What only tests name must be a
/// dependency of tests.
fn unused(package: &Value, sources: &[Source]) -> Vec<String> {
    let name = package["name"].as_str().unwrap_or_default();
    let mut complaints = Vec::new();
    for dependency in package["dependencies"].as_array().into_iter().flatten() {
        let used = dependency["rename"]
            .as_str()
            .or(dependency["name"].as_str())
            .unwrap_or_default();
        let only_tests = dependency["kind"].as_str() == Some("dev");
        let place = if only_tests { "" } else { "src/" };
        let word = used.replace('-', "_");
        let named = sources
            .iter()
            .any(|(file, text)| file.starts_with(place) && has_word(text, &word));
        if !named {
            let kind = if only_tests { "dev-" } else { "" };
            complaints.push(format!(
                "{name}: the {kind}dependency {used} is named nowhere in {name}/{place}"
            ));
        }
    }
    complaints
}

/// The names in the table `[workspace.dependencies]` of a manifest.
fn in_table(manifest: &str) -> Vec<&str> {
    manifest
        .lines()
        .skip_while(|line| *line != "[workspace.dependencies]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.split_once(" =").map(|(name, _)| name))
        .collect()
}

fn has_word(text: &str, word: &str) -> bool {
    let in_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.match_indices(word).any(|(at, _)| {
        !text[..at].ends_with(in_word) && !text[at + word.len()..].starts_with(in_word)
    })
}

#[test]
fn every_declared_dependency_is_used() {
    let rust: Vec<(String, String)> = files()
        .into_iter()
        .filter(|file| file.ends_with(".rs"))
        .filter_map(|file| text(&file).map(|text| (file, text)))
        .collect();
    let mut complaints = Vec::new();
    let mut declared = BTreeSet::new();
    for manifest in ["Cargo.toml", OUTSIDE] {
        let metadata = metadata(manifest);
        for package in metadata["packages"].as_array().into_iter().flatten() {
            let path = package["manifest_path"].as_str().unwrap_or_default();
            let folder = folder_of(path);
            let sources: Vec<Source> = rust
                .iter()
                .filter_map(|(file, text)| Some((file.strip_prefix(&folder)?, text.as_str())))
                .collect();
            assert!(!sources.is_empty(), "no sources in {folder}");
            complaints.extend(unused(package, &sources));
            let dependencies = package["dependencies"].as_array();
            declared.extend(
                dependencies
                    .into_iter()
                    .flatten()
                    .filter_map(|dependency| Some(dependency["name"].as_str()?.to_owned())),
            );
        }
    }
    let manifest = text("Cargo.toml").unwrap_or_default();
    let table = in_table(&manifest);
    assert!(table.len() > 10, "this is not the whole table: {table:?}");
    let idle = table.into_iter().filter(|name| !declared.contains(*name));
    complaints.extend(idle.map(|name| format!("Cargo.toml: no crate uses {name}")));
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// A crate's folder from the root, with a `/` at the end, from the path of its manifest.
fn folder_of(manifest_path: &str) -> String {
    let path = manifest_path.replace('\\', "/");
    let root = crate::repository::root()
        .to_string_lossy()
        .replace('\\', "/");
    let inside = path.strip_prefix(&root).unwrap_or(&path);
    inside
        .trim_start_matches('/')
        .trim_end_matches("Cargo.toml")
        .to_owned()
}

#[test]
fn the_check_can_fail() {
    let package = serde_json::json!({ "name": "p", "dependencies": [
        { "name": "used-one", "kind": null },
        { "name": "idle", "kind": null },
        { "name": "in-tests", "kind": null },
        { "name": "for-tests", "kind": "dev" },
        { "name": "idle-dev", "kind": "dev" },
        { "name": "long", "rename": "short", "kind": null },
    ]});
    let sources = [
        (
            "src/lib.rs",
            "use used_one::X; idle_dev2 short::y(); idleness",
        ),
        ("tests/a.rs", "in_tests::x(); for_tests::y()"),
    ];
    assert_eq!(
        unused(&package, &sources),
        [
            "p: the dependency idle is named nowhere in p/src/",
            "p: the dependency in-tests is named nowhere in p/src/",
            "p: the dev-dependency idle-dev is named nowhere in p/",
        ]
    );
    let manifest =
        "[a]\nx = 1\n[workspace.dependencies]\nb = \"1\"\n\nc-d = { x = 1 }\n[e]\nf = 1\n";
    assert_eq!(in_table(manifest), ["b", "c-d"]);
}
