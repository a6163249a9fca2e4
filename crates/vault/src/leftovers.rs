//! Names that programs leave behind: what is a note by its name, and what only looks like one.

use lorewell_text::split_note_extension;

use crate::Reason;

/// Endings that editors and downloads put after a note's whole name.
const AFTER_NAME: [&str; 14] = [
    "~",
    "#",
    ".bak",
    ".backup",
    ".orig",
    ".old",
    ".tmp",
    ".temp",
    ".swp",
    ".swo",
    ".swx",
    ".part",
    ".crdownload",
    ".download",
];

/// Whether a file of this name is a note.
pub(crate) fn is_note(name: &str) -> bool {
    note_stem(name).is_some()
}

/// Why a folder of this name, under this path, is left out by default.
pub(crate) fn folder_reason(path: &str) -> Option<Reason> {
    let name = path.rsplit('/').next().unwrap_or(path);
    match name {
        ".git" => Some(Reason::Git),
        ".trash" | ".Trash" | ".Trashes" | "$RECYCLE.BIN" | "#recycle" => Some(Reason::Trash),
        "node_modules" => Some(Reason::DependencyFolder),
        "@eaDir" => Some(Reason::SyncLeftover),
        // Logseq's own copies of every edited page.
        _ if path == "logseq/bak" => Some(Reason::EditorLeftover),
        _ if name.starts_with('.') => Some(Reason::DotFolder),
        _ => None,
    }
}

/// Why a note-like file of this name is left out by default; nothing for notes and for files
/// that have nothing to do with notes.
pub(crate) fn file_reason(name: &str) -> Option<Reason> {
    let lower = name.to_lowercase();
    let stem = note_stem(&lower);
    if stem.is_none() && !is_note_with_ending(&lower) {
        return None;
    }
    if is_sync_leftover(&lower, stem) {
        Some(Reason::SyncLeftover)
    } else if stem.is_none() || is_editor_leftover(&lower, stem) {
        Some(Reason::EditorLeftover)
    } else if lower.starts_with('.') {
        Some(Reason::DotFile)
    } else {
        None
    }
}

/// The note that an iCloud stub (`.Name.md.icloud`) stands for.
pub(crate) fn icloud_note(name: &str) -> Option<&str> {
    let note = name.strip_prefix('.')?.strip_suffix(".icloud")?;
    is_note(note).then_some(note)
}

/// The name of the stub that iCloud leaves for a note that is not on this machine.
pub(crate) fn icloud_stub(note: &str) -> String {
    format!(".{note}.icloud")
}

/// A file's extension in lower case, empty if it has none.
pub(crate) fn extension(name: &str) -> String {
    match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => extension.to_lowercase(),
        _ => String::new(),
    }
}

/// A note's name without its extension; nothing for what is no note.
fn note_stem(name: &str) -> Option<&str> {
    let (stem, extension) = split_note_extension(name);
    (!extension.is_empty()).then_some(stem)
}

/// `Note.md~`, `#Note.md#`, `.Note.md.swp`, `Note.md.tmp.4711`, `.syncthing.Note.md.tmp`.
fn is_note_with_ending(lower: &str) -> bool {
    let is_left = |name: &str| {
        AFTER_NAME
            .iter()
            .filter_map(|end| name.strip_suffix(end))
            .any(is_note)
    };
    let unnumbered = lower.trim_end_matches(|c: char| c.is_ascii_alphanumeric());
    is_left(lower) || unnumbered.strip_suffix('.').is_some_and(is_left)
}

fn is_editor_leftover(lower: &str, stem: Option<&str>) -> bool {
    // Emacs locks, Word's owner files, macOS resource forks, and backups before the extension.
    [".#", "~$", "._", ".~"]
        .iter()
        .any(|start| lower.starts_with(start))
        || stem.is_some_and(|s| s.ends_with('~') || s.ends_with(".tmp") || s.ends_with(".bak"))
}

fn is_sync_leftover(lower: &str, stem: Option<&str>) -> bool {
    let marked = lower.contains(".sync-conflict-")
        || lower.starts_with(".syncthing.")
        || lower.starts_with("~syncthing~");
    marked || stem.is_some_and(has_conflict_parenthesis)
}

/// `Note (conflicted copy 2024-01-05)`, `Note (Ada's conflicted copy …)`, `Note (Case Conflict 1)`.
fn has_conflict_parenthesis(stem: &str) -> bool {
    stem.strip_suffix(')')
        .and_then(|s| s.rsplit_once('('))
        .is_some_and(|(before, inside)| {
            !before.trim().is_empty()
                && (inside.contains("conflicted copy") || inside.contains("case conflict"))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_programs_leave_behind_is_told_from_notes() {
        use Reason::{DotFile, EditorLeftover, SyncLeftover};
        for (name, note, reason) in [
            ("Note.md", true, None),
            ("NOTE.MD", true, None),
            ("a.b.markdown", true, None),
            (".md", false, None),
            ("image.png", false, None),
            ("image.png~", false, None),
            ("Note~.md", true, Some(EditorLeftover)),
            ("Note.md~", false, Some(EditorLeftover)),
            ("Note.tmp.md", true, Some(EditorLeftover)),
            (".#Note.md", true, Some(EditorLeftover)),
            ("#Note.md#", false, Some(EditorLeftover)),
            (".Note.md.swp", false, Some(EditorLeftover)),
            ("Note.md.tmp.4711", false, Some(EditorLeftover)),
            ("~$Note.md", true, Some(EditorLeftover)),
            ("._Note.md", true, Some(EditorLeftover)),
            (".hidden.md", true, Some(DotFile)),
            ("4913", false, None),
            (
                "x.sync-conflict-20240105-101010-ABCDEFG.md",
                true,
                Some(SyncLeftover),
            ),
            (".syncthing.Note.md.tmp", false, Some(SyncLeftover)),
            (
                "Note (Ada's conflicted copy 2024-01-05).md",
                true,
                Some(SyncLeftover),
            ),
            (
                "Note (Conflicted copy laptop 202401051010).md",
                true,
                Some(SyncLeftover),
            ),
            ("On a conflicted copy.md", true, None),
            ("(conflicted copy).md", true, None),
            ("#tag# and ~ inside.md", true, None),
            ("Note.md.html", false, None),
        ] {
            assert_eq!((is_note(name), file_reason(name)), (note, reason), "{name}");
        }
        assert_eq!(icloud_note(".Kiln.md.icloud"), Some("Kiln.md"));
        assert_eq!(icloud_note(".photo.png.icloud"), None);
        assert_eq!(extension("A.B.PNG"), "png");
        assert_eq!(extension(".gitignore"), "");
    }

    #[test]
    fn folders_that_are_no_notes() {
        for (path, reason) in [
            ("a/.git", Some(Reason::Git)),
            (".trash", Some(Reason::Trash)),
            (".obsidian", Some(Reason::DotFolder)),
            ("web/node_modules", Some(Reason::DependencyFolder)),
            ("logseq/bak", Some(Reason::EditorLeftover)),
            ("bak", None),
            ("Archive.md", None),
        ] {
            assert_eq!(folder_reason(path), reason, "{path}");
        }
    }
}
