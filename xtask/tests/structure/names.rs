//! The names of types and functions that ARCHITECTURE.md writes in backticks exist in the
//! sources, by a plain search: enough to catch what was renamed.

use crate::repository::{files, root, text};

/// What stands before a name where it is defined.
const DEFINITIONS: &[&str] = &[
    "fn ", "struct ", "enum ", "trait ", "type ", "const ", "static ",
];

/// Names between backticks in `page` that `sources` (path and text) do not define.
fn unknown<'a>(page: &'a str, sources: &[(String, String)]) -> Vec<&'a str> {
    let named = page.split('`').skip(1).step_by(2);
    named
        .filter(|name| is_path(name))
        .filter(|name| !is_known(name, sources))
        .collect()
}

/// Identifiers joined by `::`; crates' names are checked as such only where something follows.
fn is_path(name: &str) -> bool {
    let is_identifier = |part: &str| {
        part.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    // The program.
    name != "lorewell" && name.split("::").all(is_identifier)
}

fn is_known(name: &str, sources: &[(String, String)]) -> bool {
    let Some((owner, item)) = name.rsplit_once("::") else {
        return sources.iter().any(|(_, text)| defines(text, name));
    };
    let folder = owner
        .strip_prefix("lorewell_")
        .map(|name| format!("crates/{name}/"));
    sources.iter().any(|(file, text)| {
        let in_place = match &folder {
            Some(folder) => file.starts_with(folder.as_str()),
            // A method stands in a file with a block of its type.
            None => text.lines().any(|line| is_block_of(line, owner)),
        };
        in_place && defines(text, item)
    })
}

/// Whether the line opens an `impl`, or the definition, of the type.
fn is_block_of(line: &str, owner: &str) -> bool {
    let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
    let opens = line.starts_with("impl") || DEFINITIONS.iter().any(|word| line.contains(word));
    opens && words.any(|word| word == owner)
}

fn defines(text: &str, item: &str) -> bool {
    DEFINITIONS.iter().any(|word| {
        let definition = format!("{word}{item}");
        text.match_indices(&definition).any(|(at, _)| {
            let after = text[at + definition.len()..].chars().next();
            !after.is_some_and(|c| c.is_alphanumeric() || c == '_')
        })
    })
}

#[test]
fn the_architecture_page_names_what_the_sources_define() {
    let page = std::fs::read_to_string(root().join("ARCHITECTURE.md"));
    let page = page.expect("ARCHITECTURE.md");
    let sources: Vec<(String, String)> = files()
        .into_iter()
        .filter(|file| file.starts_with("crates/") && file.contains("/src/"))
        .filter_map(|file| text(&file).map(|text| (file, text)))
        .collect();
    let named = page.split('`').skip(1).step_by(2);
    assert!(named.filter(|name| is_path(name)).count() > 15);
    assert_eq!(unknown(&page, &sources), Vec::<&str>::new());
}

#[test]
fn the_check_can_fail() {
    let source = |file: &str, text: &str| (file.to_owned(), text.to_owned());
    let sources = [
        source(
            "crates/engine/src/host.rs",
            "pub struct Host {}\nimpl Host {\n    pub fn refresh(&self) {}\n}\n",
        ),
        source(
            "crates/text/src/lib.rs",
            "pub fn open_all() {}\nfn gone() {}",
        ),
    ];
    let page = "`Host`, `Host::refresh`, `lorewell_text::open_all`, `a/b.rs`, `x y`, `lorewell`; \
                `Hos`, `Host::gone`, `lorewell_text::open`, `lorewell_engine::gone`, `Guest`";
    let expected = [
        "Hos",
        "Host::gone",
        "lorewell_text::open",
        "lorewell_engine::gone",
        "Guest",
    ];
    assert_eq!(unknown(page, &sources), expected);
}
