//! What a look at the whole folder found.

use std::collections::BTreeMap;

use lorewell_text::NotePath;

use crate::{AppFolders, Reason, Rules};

/// All that a vault's folder holds, each list in the order of paths.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// The notes, excluded ones not among them (but for exclusion by tag or property, which only
    /// the parsed note can tell: [`Rules::excludes_note`]).
    pub notes: Vec<FileEntry>,
    /// Folders and note-like files that are left out, and why. What lies in a folder that is left
    /// out is not looked at.
    pub left_out: Vec<LeftOut>,
    /// What exists but could not be looked at. Notes known from before that lie there, or there
    /// below, are **not** deleted.
    pub unreadable: Vec<Unreadable>,
    /// How many other files there are, by extension in lower case (empty: none).
    pub other_files: BTreeMap<String, u64>,
    /// The rules that held, Obsidian's filters included.
    pub rules: Rules,
    /// Where the app keeps templates and daily notes.
    pub app_folders: AppFolders,
    /// What was wrong with the vault's own settings, for people.
    pub warnings: Vec<String>,
}

/// A note as the file system shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEntry {
    /// Path from the root.
    pub path: NotePath,
    /// Bytes; 0 for an iCloud stub, whose real size is not known.
    pub size: u64,
    /// Time of the last write, in nanoseconds since 1970-01-01 UTC.
    pub modified_ns: i64,
    /// Time of the last change of content or attributes, in the same unit; 0 where the system
    /// does not keep one.
    pub changed_ns: i64,
    /// The file's number in its file system; 0 where there is none.
    pub inode: u64,
    /// The content is in the cloud and not on this machine: do not read it, do not drop it.
    ///
    /// On Linux this is a file of 4,096 bytes or more without allocated blocks (smaller ones may
    /// be stored in the inode), unless no file of the vault has blocks, for then the file system
    /// does not count them. macOS and Windows say so themselves; older iCloud leaves a stub
    /// `.Name.md.icloud`, which is listed under the note's own path.
    pub placeholder: bool,
}

/// A file or folder that is not searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Path from the root; a name that is not Unicode is shown with U+FFFD.
    pub path: String,
    /// Whether it is a folder, and so stands for all in it.
    pub folder: bool,
    /// Why.
    pub reason: Reason,
}

/// A file or folder that exists but could not be looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// Path from the root; empty for the root itself.
    pub path: String,
    /// Whether it is a folder, and so stands for all in it.
    pub folder: bool,
    /// What the system said.
    pub message: String,
}

impl Listing {
    /// Whether a path that is not among the notes may still exist: it, or a folder above it,
    /// could not be looked at.
    pub fn may_exist(&self, path: &str) -> bool {
        self.unreadable
            .iter()
            .any(|u| match path.strip_prefix(&u.path) {
                Some(rest) if u.folder => {
                    u.path.is_empty() || rest.is_empty() || rest.starts_with('/')
                }
                Some(rest) => rest.is_empty(),
                None => false,
            })
    }

    pub(crate) fn sort(&mut self) {
        self.notes.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        self.left_out.sort_by(|a, b| a.path.cmp(&b.path));
        self.unreadable.sort_by(|a, b| a.path.cmp(&b.path));
    }

    /// Takes in what another look found; the lists are not in order afterwards.
    pub(crate) fn absorb(&mut self, other: Listing) {
        self.notes.extend(other.notes);
        self.left_out.extend(other.left_out);
        self.unreadable.extend(other.unreadable);
        for (extension, count) in other.other_files {
            *self.other_files.entry(extension).or_default() += count;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_in_an_unreadable_folder_may_exist() {
        let may_exist = |at: &str, folder, path: &str| {
            let unreadable = vec![Unreadable {
                path: at.into(),
                folder,
                message: String::new(),
            }];
            Listing {
                unreadable,
                ..Listing::default()
            }
            .may_exist(path)
        };
        for (at, folder, path, may) in [
            ("shut", true, "shut/in.md", true),
            ("shut", true, "shut", true),
            ("shut", true, "shutter.md", false),
            ("shut", false, "shut/in.md", false),
            ("a.md", false, "a.md", true),
            ("", true, "any/where.md", true),
        ] {
            assert_eq!(may_exist(at, folder, path), may, "{at} {path}");
        }
    }
}
