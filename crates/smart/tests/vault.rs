//! Vaults as the plugin leaves them.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lorewell_smart::read;

const NOW: u64 = 1_700_000_000;

/// Writes a file, last changed `seconds` after a fixed time.
fn write(root: &Path, path: &str, text: &str, seconds: u64) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    fs::write(&path, text).expect("written");
    let at: SystemTime = UNIX_EPOCH + Duration::from_secs(NOW + seconds);
    let file = fs::File::options().write(true).open(&path).expect("opened");
    file.set_modified(at).expect("set");
}

/// A line of a note that was read when it was last changed at that time.
fn line(path: &str, vec: &str, size: usize, seconds: u64) -> String {
    let mtime = (NOW + seconds) * 1000;
    format!(
        "\"smart_sources:{path}\": {{\"path\":\"{path}\",\"embeddings\":{{\"bge\":{{\"vec\":{vec}}}}},\
         \"last_import\":{{\"mtime\":{mtime},\"size\":{size},\"at\":{mtime},\"hash\":\"h\"}},\
         \"last_embed\":{{\"hash\":\"h\",\"at\":{mtime}}}}},\n"
    )
}

fn paths(found: &lorewell_smart::Likeness) -> Vec<&str> {
    found
        .neighbours
        .iter()
        .map(|near| near.path.as_str())
        .collect()
}

#[test]
fn the_last_line_of_a_note_holds_and_what_is_broken_is_passed_over() {
    let vault = tempfile::tempdir().expect("a folder");
    let root = vault.path();
    for name in ["Ale.md", "Beer.md", "Coal.md", "Coke.md", "Gone.md"] {
        write(root, name, "text", 0);
    }
    let first = line("Ale.md", "[0,0,1]", 4, 0)
        + "\"smart_blocks:Ale.md#Mash\": {\"embeddings\":{\"bge\":{\"vec\":[9,9,9]}}},\n"
        + "<<<<<<< conflict\n"
        + &line("Ale.md", "[1,0.2,0]", 4, 0);
    write(root, ".smart-env/multi/Ale_md.ajson", &first, 0);
    write(
        root,
        ".smart-env/multi/Beer_md.ajson",
        &line("Beer.md", "[1,0.3,0]", 4, 0),
        0,
    );
    let coal = line("Coal.md", "[0,1,0.1]", 4, 0) + &line("Coke.md", "[0.1,1,0]", 4, 0);
    write(
        root,
        ".smart-env/multi/Coal_md.ajson",
        &(coal + "\"smart_sources:Coa"),
        0,
    );
    let gone = line("Gone.md", "[1,0.2,0]", 4, 0) + "\"smart_sources:Gone.md\": null,\n";
    write(root, ".smart-env/multi/Gone_md.ajson", &gone, 0);

    let found = read(root).expect("vectors");
    assert_eq!(
        (found.model(), found.len(), found.stale, found.broken),
        ("bge", 4, 0, 2)
    );
    assert_eq!(paths(&found.near(&["Ale.md"], 1)), ["Beer.md"]);
    assert_eq!(paths(&found.near(&["Coal.md"], 1)), ["Coke.md"]);
    let all = found.near(&["Ale.md"], 9);
    assert!(
        all.neighbours[0].cosine > 0.9 && all.neighbours[2].cosine < 0.0,
        "{all:?}"
    );
    let none = found.near(&["Nowhere.md"], 9);
    assert_eq!((none.of, none.neighbours.len()), (0, 0));
}

#[test]
fn a_note_that_changed_since_has_no_vector() {
    let vault = tempfile::tempdir().expect("a folder");
    let root = vault.path();
    write(root, "Same.md", "text", 0);
    write(root, "Touched.md", "text", 60);
    write(root, "Longer.md", "more text", 0);
    let behind = line("Behind.md", "[1,0]", 4, 0).replace(
        "\"last_embed\":{\"hash\":\"h\"",
        "\"last_embed\":{\"hash\":\"g\"",
    );
    write(root, "Behind.md", "text", 0);
    let lines: String = ["Same.md", "Touched.md", "Longer.md", "Deleted.md"]
        .iter()
        .map(|path| line(path, "[1,0]", 4, 0))
        .collect();
    write(root, ".smart-env/multi/all.ajson", &(lines + &behind), 0);
    let found = read(root).expect("vectors");
    assert_eq!((found.len(), found.stale), (1, 4));
}

#[test]
fn the_model_in_use_is_taken_and_older_folders_are_read() {
    let vault = tempfile::tempdir().expect("a folder");
    let root = vault.path();
    write(root, "A.md", "text", 0);
    write(root, "B.md", "text", 0);
    let two = "\"smart_sources:A.md\": {\"embeddings\":{\"old\":{\"vec\":[1,0]},\"new\":{\"vec\":[0,1,0]}}},\n\
               \"smart_sources:B.md\": {\"embeddings\":{\"old\":{\"vec\":[1,0]}}},\n";
    write(root, ".smart-env/multi/all.ajson", two, 0);
    assert_eq!(read(root).expect("vectors").model(), "old");
    let settings = "{\"smart_sources\":{\"embed_model\":{\"adapter\":\"transformers\",\"transformers\":{\"model_key\":\"new\"}}}}";
    write(root, ".smart-env/smart_env.json", settings, 0);
    assert_eq!(read(root).expect("vectors").model(), "new");

    let older = tempfile::tempdir().expect("a folder");
    write(older.path(), "A.md", "text", 0);
    let lines = "\"A.md\": {\"path\":\"A.md\",\"embedding\":{\"vec\":[1,0]}},\n";
    write(
        older.path(),
        ".smart-connections/smart_notes-jina.ajson",
        lines,
        0,
    );
    assert_eq!(read(older.path()).expect("vectors").model(), "jina");
    assert!(read(tempfile::tempdir().expect("a folder").path()).is_none());
}

#[cfg(unix)]
#[test]
fn links_out_of_the_vault_are_not_followed() {
    let (vault, outside) = (
        tempfile::tempdir().expect("a folder"),
        tempfile::tempdir().expect("one"),
    );
    write(vault.path(), "A.md", "text", 0);
    write(
        outside.path(),
        "multi/a.ajson",
        &line("A.md", "[1,0]", 4, 0),
        0,
    );
    std::os::unix::fs::symlink(outside.path(), vault.path().join(".smart-env")).expect("linked");
    assert!(read(vault.path()).is_none());
}
