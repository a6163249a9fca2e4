//! Steps that bring about whole states of a vault, as version control does.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::Step;
use crate::world::{Trouble, World};

/// Makes up a state with so many `notes`; of these, `overlap` have the path of a note of the state
/// before it, with another text.
pub(super) fn generate(world: &mut World, step: &Step) -> Result<Value, Trouble> {
    let name = step.text("name")?;
    let notes = step.number_or("notes", 10);
    let begin = world.branches.len() as u64 * (notes - step.number_or("overlap", 0).min(notes));
    let mut files = BTreeMap::new();
    for number in begin..begin + notes {
        let text = format!("Weir {number} as branch {name} has it.\n");
        files.insert(format!("weirs/{number}.md"), text);
    }
    world.branches.insert(name.to_string(), files);
    Ok(Value::Null)
}

/// Brings a state about: files of the others go, its own come.
pub(super) fn checkout(world: &mut World, step: &Step) -> Result<Value, Trouble> {
    let name = step.text("name")?;
    let wanted = world.branches.get(name);
    let wanted = wanted
        .ok_or_else(|| format!("there is no branch “{name}”"))?
        .clone();
    for other in world.branches.values().flat_map(BTreeMap::keys) {
        if !wanted.contains_key(other) && world.path(other).exists() {
            fs::remove_file(world.path(other))?;
        }
    }
    for (path, text) in wanted {
        let path = world.path(&path);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(path, text)?;
    }
    Ok(Value::Null)
}
