//! The file `.lorewell/config.toml` inside a vault. It travels with the notes, so
//! it is untrusted: it can leave more notes out, for all or for remote readers, and do nothing else.

use std::path::Path;

use crate::config::{Entry, line_at, parse_toml, read_entry};
use crate::error::{SetupError, Warning};
use crate::origin::Origin;
use crate::settings::{Reach, Setting};
use crate::value::Bases;

/// A larger file is not read: exclusions are a few lines.
const MAX_BYTES: u64 = 1 << 20;

/// The exclusions that the vault at `vault` asks for, and a warning for every
/// other key. No file, no exclusions.
pub(crate) fn exclusions(vault: &Path) -> Result<(Vec<Entry>, Vec<Warning>), SetupError> {
    let path = vault.join(".lorewell").join("config.toml");
    let text = match read_small_file(&path) {
        Ok(Some(text)) => text,
        Ok(None) => return Ok((Vec::new(), Vec::new())),
        // Of a folder that may not be entered nothing is read at all; opening it says so.
        Err(_) if vault.read_dir().is_err() => return Ok((Vec::new(), Vec::new())),
        Err(error) => return Err(error),
    };
    let document = parse_toml(&path, &text)?;
    let bases = Bases {
        home: Path::new(""),
        base: vault,
    };
    let mut entries = Vec::new();
    let mut warnings = Vec::new();
    for (name, item) in document.as_table() {
        let key = document.as_table().get_key_value(name);
        let span = key.and_then(|(key, _)| key.span());
        let line = line_at(&text, span.map_or(0, |span| span.start));
        let path = path.clone();
        match Setting::named(name).filter(|setting| setting.reach == Reach::Notes) {
            Some(setting) => {
                let origin = Origin::InVault { path, line };
                entries.push(read_entry(setting, item, origin, bases)?);
            }
            None => warnings.push(ignored(&path, line, name)),
        }
    }
    Ok((entries, warnings))
}

fn ignored(path: &Path, line: usize, name: &str) -> Warning {
    Warning {
        code: "ignored_in_vault",
        message: format!(
            "{} line {line}: `{}` is ignored: a file inside a vault can only exclude notes (exclude_folders, exclude_globs, exclude_tags, exclude_properties) or keep them from agents that read elsewhere (fence_folders, fence_tags, fence_properties)",
            path.display(),
            crate::config::shortened(name),
        ),
    }
}

/// Reads a plain file of at most [`MAX_BYTES`]; pipes and devices would block or never end.
fn read_small_file(path: &Path) -> Result<Option<String>, SetupError> {
    let Ok(metadata) = path.metadata() else {
        return crate::config::read_if_there(path);
    };
    let refusal = if !metadata.is_file() {
        "it is not a file"
    } else if metadata.len() > MAX_BYTES {
        "it is larger than 1 MiB"
    } else {
        return crate::config::read_if_there(path);
    };
    Err(SetupError::Unreadable {
        path: path.to_path_buf(),
        source: std::io::Error::other(refusal),
    })
}
