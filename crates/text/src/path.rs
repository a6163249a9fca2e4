//! The path of a note inside its vault, and what of a path counts as the note's name.

use std::fmt;

use crate::name_key;

/// Endings of the names of notes, in lower case.
const NOTE_EXTENSIONS: [&str; 2] = [".md", ".markdown"];

/// A note's path: relative to the vault's root, segments joined by `/`, spelled as on disk.
///
/// Two paths that differ only in Unicode form are different paths; compare through
/// [`crate::name_key`] where that must not matter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NotePath(String);

impl NotePath {
    /// Takes a relative path whose segments are joined by `/`.
    pub fn new(path: impl Into<String>) -> NotePath {
        NotePath(path.into())
    }

    /// The whole path, as on disk.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last segment without `.md` or `.markdown`.
    pub fn name(&self) -> &str {
        split_note_extension(self.0.rsplit('/').next().unwrap_or(&self.0)).0
    }

    /// The folder that holds the note, without a trailing `/`; empty for the root.
    pub fn folder(&self) -> &str {
        self.0.rsplit_once('/').map_or("", |(folder, _)| folder)
    }
}

/// A name or path without its `.md` or `.markdown` (in any letter case), and that extension as it
/// is spelled; empty where the path has neither. A file whose whole name is `.md` has no extension.
pub fn split_note_extension(path: &str) -> (&str, &str) {
    let name_at = path.rfind('/').map_or(0, |slash| slash + 1);
    NOTE_EXTENSIONS
        .iter()
        .filter_map(|extension| {
            let at = path.len().checked_sub(extension.len())?;
            let fits = at > name_at && path.get(at..)?.eq_ignore_ascii_case(extension);
            fits.then(|| path.split_at(at))
        })
        .next()
        .unwrap_or((path, ""))
}

/// The key under which paths, and patterns for paths, are compared: each segment folded by
/// [`name_key`].
pub fn path_key(path: &str) -> String {
    let mut key = String::with_capacity(path.len());
    for (n, segment) in path.split('/').enumerate() {
        if n > 0 {
            key.push('/');
        }
        key.push_str(&name_key(segment));
    }
    key
}

impl fmt::Display for NotePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for NotePath {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_and_folder() {
        for (path, name, folder) in [
            ("Kiln.md", "Kiln", ""),
            ("A/B/Kiln.MD", "Kiln", "A/B"),
            ("A/x.markdown", "x", "A"),
            (".md", ".md", ""),
            ("a/é", "é", "a"),
            ("日本.md", "日本", ""),
        ] {
            let p = NotePath::new(path);
            assert_eq!((p.name(), p.folder()), (name, folder), "{path}");
        }
    }

    #[test]
    fn an_extension_is_cut_off_the_last_segment_only() {
        for (path, stem, extension) in [
            ("A/Kiln.md", "A/Kiln", ".md"),
            ("Kiln.MarkDown", "Kiln", ".MarkDown"),
            ("a.md.md", "a.md", ".md"),
            ("a.md/b", "a.md/b", ""),
            ("a/.md", "a/.md", ""),
            (".markdown", ".markdown", ""),
            ("日.md", "日", ".md"),
            ("日本", "日本", ""),
            ("md", "md", ""),
            ("", "", ""),
        ] {
            assert_eq!(split_note_extension(path), (stem, extension), "{path}");
        }
    }

    #[test]
    fn a_path_is_folded_segment_by_segment() {
        for (path, key) in [
            ("Projects/ Big  Kiln .md", "projects/big kiln .md"),
            ("STRASSE/É", "strasse/é"),
            ("/a//b/", "/a//b/"),
            ("", ""),
        ] {
            assert_eq!(path_key(path), key, "{path}");
        }
    }
}
