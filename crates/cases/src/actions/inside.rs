//! Steps that look into the index, at what no capability shows.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use lorewell_engine::PassageSettings;
use lorewell_index::{IndexError, StoredPassage};
use serde_json::{Value, json};

use crate::Step;
use crate::world::{Trouble, World};

/// The passages of a note.
pub(crate) fn passages(world: &World, path: &str) -> Result<Vec<StoredPassage>, String> {
    let said = |error: IndexError| error.to_string();
    let snapshot = world.snapshot()?;
    let Some(note) = snapshot.note_at(path).map_err(said)? else {
        return Ok(Vec::new());
    };
    let ids = snapshot.passages_of(note.id).map_err(said)?;
    let passages = ids.into_iter().map(|id| snapshot.passage(id).map_err(said));
    Ok(passages
        .collect::<Result<Vec<_>, _>>()?
        .into_iter()
        .flatten()
        .collect())
}

/// The passages of a note as the index holds them.
pub(super) fn chunks(world: &mut World, step: &Step) -> Result<Value, Trouble> {
    let passages = passages(world, step.text("path")?)?;
    Ok(passages.iter().map(|p| json!(p.text)).collect())
}

/// The tags of a note.
pub(super) fn tags(world: &mut World, step: &Step) -> Result<Value, Trouble> {
    let path = step.text("path")?;
    let note = world.snapshot()?.note_at(path).map_err(|e| e.to_string())?;
    let note = note.ok_or_else(|| format!("“{path}” is not in the index"))?;
    Ok(json!(note.tags))
}

/// The headings of a note.
pub(super) fn outline(world: &mut World, step: &Step) -> Result<Value, Trouble> {
    let text = fs::read_to_string(world.path(step.text("path")?))?;
    let parsed = lorewell_markdown::parse(&text, &PassageSettings::default());
    let headings = parsed.note.headings.iter().map(|heading| &heading.text);
    Ok(headings.map(|text| json!(text)).collect())
}

/// The paths of all notes.
pub(super) fn listing(world: &mut World, _: &Step) -> Result<Value, Trouble> {
    Ok(json!(paths(world)?))
}

/// The paths of all notes in the index.
pub(crate) fn paths(world: &World) -> Result<Vec<String>, String> {
    let labels = world.snapshot()?.labels().map_err(|e| e.to_string())?;
    Ok(labels.into_iter().map(|label| label.path).collect())
}

/// Every link of the vault with what it means.
pub(super) fn snapshot_links(world: &mut World, _: &Step) -> Result<Value, Trouble> {
    let said = |error: IndexError| error.to_string();
    let mut lines = Vec::new();
    for path in paths(world)? {
        let snapshot = world.snapshot()?;
        let Some(note) = snapshot.note_at(&path).map_err(said)? else {
            continue;
        };
        let count = snapshot.links_from(&note).map_err(said)?.len();
        let links = world.ask("links", json!({ "note": path, "limit": 1000 }))?;
        let outgoing = links["outgoing"].as_array().cloned().unwrap_or_default();
        if outgoing.len() != count {
            return Err(format!("{path}: {count} links, {} shown", outgoing.len()).into());
        }
        lines.extend(outgoing.iter().map(|link| {
            json!([
                path,
                link["text"],
                link["leads_to"],
                link["note"],
                link["others"]
            ])
        }));
    }
    Ok(Value::Array(lines))
}

/// What index and folder disagree about; an empty list if nothing.
pub(super) fn compare_index_with_disk(world: &mut World, _: &Step) -> Result<Value, Trouble> {
    let mut on_disk = BTreeMap::new();
    hashes(&world.root, "", &mut on_disk)?;
    let snapshot = world.snapshot()?;
    let mut indexed = BTreeMap::new();
    for path in paths(world)? {
        let note = snapshot.note_at(&path).map_err(|e| e.to_string())?;
        indexed.insert(path, note.map_or([0; 32], |note| note.content_hash));
    }
    let differs = |(path, hash): &(&String, &[u8; 32])| indexed.get(*path) != Some(*hash);
    let missing = on_disk.iter().filter(differs).map(|(path, _)| path);
    let extra = indexed.keys().filter(|path| !on_disk.contains_key(*path));
    Ok(json!(missing.chain(extra).collect::<Vec<_>>()))
}

/// The content hashes of all notes below a folder that is not hidden.
fn hashes(
    folder: &Path,
    prefix: &str,
    found: &mut BTreeMap<String, [u8; 32]>,
) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        if name.starts_with('.') {
            continue;
        }
        if entry.file_type()?.is_dir() {
            hashes(&entry.path(), &format!("{path}/"), found)?;
        } else if name.ends_with(".md") {
            let hash = blake3::hash(&fs::read(entry.path())?);
            found.insert(path, *hash.as_bytes());
        }
    }
    Ok(())
}

/// The files of the index that hold a text, in any case of ASCII letters.
pub(super) fn grep_index_files(world: &mut World, step: &Step) -> Result<Value, Trouble> {
    let text = step.text("text")?.to_ascii_lowercase();
    let mut found = Vec::new();
    grep(world.index_folder(), text.as_bytes(), &mut found)?;
    Ok(json!(found))
}

fn grep(folder: &Path, text: &[u8], found: &mut Vec<String>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            grep(&path, text, found)?;
            continue;
        }
        let bytes = fs::read(&path)?.to_ascii_lowercase();
        if bytes.windows(text.len()).any(|window| window == text) {
            found.push(path.display().to_string());
        }
    }
    Ok(())
}
