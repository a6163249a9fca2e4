//! Readable fixtures: folders of notes written down as one string. For tests only.
//!
//! A fixture lists several files in one text. A line `=== PATH ===` opens a file; what follows,
//! up to the next such line, is its content. No Markdown that a test is likely to hold begins a
//! line so (property fences are `---`, setext underlines carry no path), and a fixture that
//! needs such a line in a note writes the note with [`TempVault::write`].
//!
//! ```
//! use lorewell_testkit::TempVault;
//!
//! let vault = TempVault::new("
//! === Projects/Kiln.md ===
//! ---
//! tags: [ceramics]
//! ---
//! # Firing
//! Cone 6, slow.
//! === Empty.md ===
//! ");
//! assert!(vault.read("Projects/Kiln.md").ends_with("Cone 6, slow.\n"));
//! assert_eq!(vault.bytes("Empty.md"), b"");
//! ```

#[cfg(unix)]
#[expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "tests start programs and tell them where they are"
)]
mod elsewhere;
mod http;
mod program;
mod stdio;
mod stub_endpoint;
mod user;

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

#[cfg(target_os = "linux")]
pub use elsewhere::on_a_small_disk;
#[cfg(unix)]
pub use elsewhere::{is_superuser, start_as_ordinary_user};
pub use http::{HttpAnswer, http};
pub use program::{Program, Serving};
pub use stdio::McpProcess;
pub use stub_endpoint::{StubCall, StubEndpoint};
pub use user::as_another_user;

/// A folder of notes that vanishes when dropped.
pub struct TempVault {
    // Held for its drop: it removes the folder.
    holder: TempDir,
    root: PathBuf,
}

/// A vault with a place for its index beside it, as on a user's machine.
pub struct TempHome {
    /// The notes.
    pub vault: TempVault,
}

impl TempVault {
    /// Writes the files of `fixture` (see the crate's description) into a new folder named
    /// `vault`.
    ///
    /// # Panics
    /// If the fixture holds text before its first file line, or a file cannot be written.
    pub fn new(fixture: &str) -> TempVault {
        let holder = tempfile::tempdir().expect("a temporary folder");
        let root = holder.path().join("vault");
        fs::create_dir(&root).expect("the vault's folder");
        let vault = TempVault { holder, root };
        for (path, content) in files_of(fixture) {
            vault.write(path, content);
        }
        vault
    }

    /// A vault without any file.
    pub fn empty() -> TempVault {
        TempVault::new("")
    }

    /// The vault's root folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where a file of the vault lies on disk.
    pub fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// A path beside the vault, outside of it, in the same temporary folder.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.holder.path().join(name)
    }

    /// Writes a file, its folders included; an older one is replaced.
    ///
    /// # Panics
    /// If it cannot be written.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        }
        fs::write(&path, content).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    }

    /// Removes a file, or a folder with all in it.
    ///
    /// # Panics
    /// If there is none.
    pub fn remove(&self, path: &str) {
        let path = self.path(path);
        let done = if path.is_dir() && !path.is_symlink() {
            fs::remove_dir_all(&path)
        } else {
            fs::remove_file(&path)
        };
        done.unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    }

    /// Renames or moves a file or folder; the new place's folders are made.
    ///
    /// # Panics
    /// If that is not possible.
    pub fn rename(&self, from: &str, to: &str) {
        let (from, to) = (self.path(from), self.path(to));
        if let Some(folder) = to.parent() {
            fs::create_dir_all(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        }
        fs::rename(&from, &to).unwrap_or_else(|e| panic!("{}: {e}", from.display()));
    }

    /// The bytes of a file.
    ///
    /// # Panics
    /// If it cannot be read.
    pub fn bytes(&self, path: &str) -> Vec<u8> {
        let path = self.path(path);
        fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    }

    /// The text of a UTF-8 file.
    ///
    /// # Panics
    /// If it cannot be read or is not UTF-8.
    pub fn read(&self, path: &str) -> String {
        String::from_utf8(self.bytes(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
    }
}

impl TempHome {
    /// A vault made from `fixture`, and an empty folder for its index.
    ///
    /// # Panics
    /// As [`TempVault::new`].
    pub fn new(fixture: &str) -> TempHome {
        let vault = TempVault::new(fixture);
        let home = TempHome { vault };
        fs::create_dir(home.index_dir()).expect("the index folder");
        home
    }

    /// The folder for indexes: beside the vault, never in it.
    pub fn index_dir(&self) -> PathBuf {
        self.vault.beside("index")
    }
}

/// The paths and contents of a fixture's files.
fn files_of(fixture: &str) -> Vec<(&str, &str)> {
    let mut files: Vec<(&str, &str)> = Vec::new();
    let mut at = 0;
    let mut content_start = 0;
    let mut open: Option<&str> = None;
    for line in fixture.split_inclusive('\n') {
        if let Some(path) = path_of(line) {
            close(&mut files, open, &fixture[content_start..at]);
            open = Some(path);
            content_start = at + line.len();
        }
        at += line.len();
    }
    close(&mut files, open, &fixture[content_start..]);
    files
}

fn close<'a>(files: &mut Vec<(&'a str, &'a str)>, open: Option<&'a str>, content: &'a str) {
    match open {
        Some(path) => files.push((path, content)),
        None => assert!(
            content.trim().is_empty(),
            "a fixture begins with a line `=== PATH ===`, found {content:?}"
        ),
    }
}

fn path_of(line: &str) -> Option<&str> {
    let path = line
        .trim_end_matches(['\r', '\n'])
        .strip_prefix("=== ")?
        .strip_suffix(" ===")?;
    (!path.trim().is_empty()).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixture_is_its_files_byte_for_byte() {
        let fixture =
            "\n=== a b.md ===\n---\nx: 1\n---\nT\n===\n=== sub/e.md ===\n=== z.md ===\nend";
        assert_eq!(
            files_of(fixture),
            [
                ("a b.md", "---\nx: 1\n---\nT\n===\n"),
                ("sub/e.md", ""),
                ("z.md", "end")
            ]
        );
    }

    #[test]
    #[should_panic(expected = "begins with a line")]
    fn text_before_the_first_file_is_a_mistake() {
        files_of("lost text\n=== a.md ===\n");
    }

    #[test]
    fn a_home_keeps_its_index_outside_the_vault_and_vanishes_on_drop() {
        let home = TempHome::new("=== a.md ===\nx\n");
        assert!(home.index_dir().is_dir() && !home.index_dir().starts_with(home.vault.root()));
        home.vault.rename("a.md", "new/b.md");
        assert_eq!(home.vault.read("new/b.md"), "x\n");
        home.vault.remove("new");
        assert!(!home.vault.path("new").exists());
        let root = home.vault.root().to_owned();
        drop(home);
        assert!(!root.exists());
    }
}
