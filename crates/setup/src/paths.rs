//! Paths as people write them, made absolute, and folders made canonical.

use std::io;
use std::path::{Component, Path, PathBuf};

use lorewell_text::percent_decoded;

/// Expands `~` and `~/…` with `home`; anything relative starts at `base`.
pub(crate) fn absolute(text: &str, home: &Path, base: &Path) -> PathBuf {
    if text == "~" {
        return home.to_path_buf();
    }
    let rest = text
        .strip_prefix("~/")
        .or_else(|| text.strip_prefix("~\\").filter(|_| cfg!(windows)));
    match rest {
        Some(rest) => home.join(rest),
        None => base.join(text),
    }
}

/// The folder that `text` names: as it stands, if that is there; else as it may be meant by who
/// copied it from elsewhere, in quotation marks, as a `file:` address, or with `..` behind a
/// folder that is not there.
pub(crate) fn meant_folder(text: &str, home: &Path, base: &Path) -> PathBuf {
    let given = absolute(text, home, base);
    if given.exists() {
        return given;
    }
    let bare = absolute(&unwrapped(text), home, base);
    let plain = without_dots(&bare);
    [bare, plain]
        .into_iter()
        .find(|path| path.exists())
        .unwrap_or(given)
}

/// Without quotation marks around it, and a `file:` address as the path that it means.
fn unwrapped(text: &str) -> String {
    const MARKS: [(char, char); 4] = [('"', '"'), ('\'', '\''), ('`', '`'), ('“', '”')];
    let text = text.trim();
    let quoted = MARKS
        .iter()
        .find_map(|(open, close)| text.strip_prefix(*open)?.strip_suffix(*close));
    let text = quoted.unwrap_or(text);
    let Some(address) = text.strip_prefix("file://") else {
        return text.to_string();
    };
    let path = address.strip_prefix("localhost").unwrap_or(address);
    let path = percent_decoded(path);
    match path.strip_prefix('/') {
        // `file:///C:/Notes`
        Some(drive) if drive.as_bytes().get(1) == Some(&b':') => drive.to_string(),
        _ => path,
    }
}

/// `a/./b/../c` as `a/c`, without a look at what is there.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

/// The one name of an existing file or folder: symbolic links resolved, and
/// without the `\\?\` that Windows puts before it.
pub(crate) fn canonical(path: &Path) -> io::Result<PathBuf> {
    let real = path.canonicalize()?;
    if cfg!(windows)
        && let Some(text) = real.to_str()
        && let Some(plain) = text.strip_prefix(r"\\?\")
        && !plain.starts_with("UNC\\")
    {
        return Ok(PathBuf::from(plain));
    }
    Ok(real)
}

/// [`canonical`] where the folder is there, else the path as it was given.
pub(crate) fn canonical_or_given(path: &Path) -> PathBuf {
    canonical(path).unwrap_or_else(|_| path.to_path_buf())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_found_however_its_path_was_copied() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let folder = home.join("My Vault's (Größe) 日本");
        std::fs::create_dir(&folder).unwrap();
        let path = folder.to_str().unwrap();
        let address = lorewell_text::percent_encoded_path(path.as_bytes());
        let forms = [
            path.to_string(),
            format!("{path}/"),
            format!("{path}/./gone/.."),
            "~/My Vault's (Größe) 日本".to_string(),
            "My Vault's (Größe) 日本".to_string(),
            format!("\"{path}\""),
            format!(" '{path}/' "),
            format!("file://{address}"),
            format!("file://localhost{address}/"),
        ];
        for form in forms {
            let found = meant_folder(&form, home, home);
            assert_eq!(
                canonical(&found).unwrap(),
                canonical(&folder).unwrap(),
                "{form}"
            );
        }
        let quoted = home.join("'quoted'");
        std::fs::create_dir(&quoted).unwrap();
        assert_eq!(meant_folder("'quoted'", home, home), quoted);
        let missing = meant_folder("~/does not exist", home, home);
        assert_eq!(missing, home.join("does not exist"));
    }
}
