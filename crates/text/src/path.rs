//! The path of a note inside its vault.

use std::fmt;

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
        let file = self.0.rsplit('/').next().unwrap_or(&self.0);
        for extension in [".md", ".markdown"] {
            let at = file.len().saturating_sub(extension.len());
            if at > 0 && file.is_char_boundary(at) && file[at..].eq_ignore_ascii_case(extension) {
                return &file[..at];
            }
        }
        file
    }

    /// The folder that holds the note, without a trailing `/`; empty for the root.
    pub fn folder(&self) -> &str {
        self.0.rsplit_once('/').map_or("", |(folder, _)| folder)
    }
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
}
