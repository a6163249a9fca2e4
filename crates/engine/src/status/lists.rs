//! The files that a status lists, each with its reason.

use lorewell_index::{Changes, Differs, SkippedFile, Unread, UnreadNotes};
use lorewell_vault::{Listing, Reason};

use super::LeftOutFile;

/// What is not searched. Placeholders that are in the index are searched by their last content.
pub(super) fn left_out(
    listing: &Listing,
    skipped: &[SkippedFile],
    unread: &UnreadNotes,
) -> Vec<LeftOutFile> {
    let listed = listing.left_out.iter().map(|file| LeftOutFile {
        path: file.path.clone(),
        folder: file.folder,
        code: file.reason.code().to_string(),
        reason: file.reason.to_string(),
    });
    let placeholders = listing
        .notes
        .iter()
        .filter(|entry| entry.placeholder && unread.why(entry.path.as_str()).is_none())
        .map(|entry| {
            of_note(
                entry.path.as_str(),
                Reason::Placeholder.code(),
                &Reason::Placeholder,
            )
        });
    let read = skipped.iter().filter(|file| !file.failed).map(from_skipped);
    let mut all: Vec<LeftOutFile> = listed.chain(placeholders).chain(read).collect();
    all.sort_by(|a, b| a.path.cmp(&b.path));
    all
}

/// What is there and cannot be read now.
pub(super) fn unreadable(
    listing: &Listing,
    skipped: &[SkippedFile],
    unread: &UnreadNotes,
) -> Vec<LeftOutFile> {
    let listed = listing.unreadable.iter().map(|file| LeftOutFile {
        path: file.path.clone(),
        folder: file.folder,
        code: "unreadable".to_string(),
        reason: file.message.clone(),
    });
    let away = unread.iter().filter(|note| note.why == Unread::NotLocal);
    listed
        .chain(skipped.iter().filter(|file| file.failed).map(from_skipped))
        .chain(away.map(|note| of_note(&note.path, note.why.code(), &Reason::Placeholder)))
        .collect()
}

/// The notes that differ from what the index holds, with the reason. Of those that cannot be read,
/// `unreadable` says more.
pub(super) fn pending(changes: &Changes, unreadable: &[LeftOutFile]) -> Vec<LeftOutFile> {
    let reason = |(path, differs): (&str, Differs)| {
        let said = || unreadable.iter().find(|file| file.path == path).cloned();
        match differs {
            Differs::Unread(Unread::Unreadable) => said(),
            _ => None,
        }
        .unwrap_or_else(|| differing(path, differs))
    };
    changes.differing().into_iter().map(reason).collect()
}

/// The notes of a vault that has no index yet.
pub(super) fn all_new(listing: &Listing) -> Vec<LeftOutFile> {
    let notes = listing.notes.iter().map(|entry| entry.path.as_str());
    notes.map(|path| differing(path, Differs::New)).collect()
}

/// How a note differs, for people.
pub(super) fn differing(path: &str, differs: Differs) -> LeftOutFile {
    match differs {
        Differs::New => of_note(path, "new", &"is new"),
        Differs::Changed => of_note(path, "changed", &"has changed"),
        Differs::Gone => of_note(path, "gone", &"is gone from the folder"),
        Differs::Unread(why @ Unread::Unreadable) => of_note(path, why.code(), &"cannot be read"),
        Differs::Unread(why @ Unread::NotLocal) => of_note(path, why.code(), &Reason::Placeholder),
    }
}

fn of_note(path: &str, code: &str, reason: &dyn std::fmt::Display) -> LeftOutFile {
    LeftOutFile {
        path: path.to_string(),
        folder: false,
        code: code.to_string(),
        reason: reason.to_string(),
    }
}

fn from_skipped(file: &SkippedFile) -> LeftOutFile {
    LeftOutFile {
        path: file.path.clone(),
        folder: false,
        code: file.code.clone(),
        reason: file.reason.clone(),
    }
}
