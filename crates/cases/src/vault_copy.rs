//! A case's files, laid out in a folder where they may be changed.

use std::fs;
use std::io;
use std::path::Path;

use serde_json::Value;

use crate::Case;

/// Copies `vault/` and `outside/` of a case into `place`, and writes the files that it only
/// describes.
pub(crate) fn lay_out(case: &Case, place: &Path) -> Result<(), String> {
    for name in ["vault", "outside"] {
        let from = case.folder.join(name);
        if from.is_dir() {
            copy(&from, &place.join(name)).map_err(|e| format!("{}: {e}", from.display()))?;
        }
    }
    fs::create_dir_all(place.join("vault")).map_err(|e| e.to_string())?;
    for file in &case.files {
        describe(file, place)?;
    }
    Ok(())
}

/// What the list of files says beyond their being there.
fn describe(file: &Value, place: &Path) -> Result<(), String> {
    let path = file["path"].as_str().ok_or("a file has no path")?;
    let wanted = match file["path_escaped"].as_str() {
        Some(escaped) => unescaped(escaped)?,
        None => path.to_string(),
    };
    let target = place.join(&wanted);
    if let Some(generate) = file.get("generate") {
        let text = generated(generate)?;
        let folder = target.parent().unwrap_or(place);
        fs::create_dir_all(folder).map_err(|e| e.to_string())?;
        return fs::write(&target, text).map_err(|e| format!("{wanted}: {e}"));
    }
    if !target.is_file() && place.join(path).is_file() {
        // An archive may have normalized the name on its way.
        let folder = target.parent().unwrap_or(place);
        fs::create_dir_all(folder).map_err(|e| e.to_string())?;
        fs::rename(place.join(path), &target).map_err(|e| format!("{wanted}: {e}"))?;
    }
    let size = fs::metadata(&target)
        .map_err(|e| format!("{wanted}: {e}"))?
        .len();
    match file["bytes"].as_u64() {
        Some(bytes) if bytes != size => {
            Err(format!("{wanted}: {size} bytes, and the case says {bytes}"))
        }
        _ => Ok(()),
    }
}

/// A text that is said by how it repeats: `repeat`, `times`, with `{i}` as the counter, and `then`.
pub(crate) fn generated(generate: &Value) -> Result<String, String> {
    let piece = generate["repeat"].as_str().ok_or("nothing to repeat")?;
    let times = generate["times"].as_u64().ok_or("no number of times")?;
    let mut text = String::new();
    for i in 0..times {
        if piece.contains("{i}") {
            text += &piece.replace("{i}", &i.to_string());
        } else {
            text += piece;
        }
    }
    text += generate["then"].as_str().unwrap_or_default();
    Ok(text)
}

/// `\xE9`, `\u1112` and `\U0001f331` as the characters that they are.
fn unescaped(text: &str) -> Result<String, String> {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        plain += before;
        let digits = match after.chars().next() {
            Some('x') => 2,
            Some('u') => 4,
            Some('U') => 8,
            _ => return Err(format!("“{text}” has an escape of no known kind")),
        };
        let code = after.get(1..=digits).unwrap_or_default();
        let character = u32::from_str_radix(code, 16).ok().and_then(char::from_u32);
        plain.push(character.ok_or_else(|| format!("“\\{after}” is no character"))?);
        rest = &after[1 + digits..];
    }
    Ok(plain + rest)
}

/// Copies a folder with all in it; what was read-only may be written there.
pub(crate) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::write(&target, fs::read(entry.path())?)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{generated, unescaped};

    #[test]
    fn names_and_texts_that_are_only_described() {
        assert_eq!(
            unescaped("a/Gro\\u0308\\xDFe \\U0001f331.md").unwrap(),
            "a/Gro\u{308}ße 🌱.md"
        );
        for wrong in ["\\q", "\\u12", "\\uD800"] {
            assert!(unescaped(wrong).is_err(), "{wrong}");
        }
        let text = json!({ "repeat": "{i};", "times": 3, "then": "end" });
        assert_eq!(generated(&text).unwrap(), "0;1;2;end");
    }
}
