//! Notes of the index that cannot be read now, so that their last content stays.

use std::sync::Arc;

/// Why a note cannot be read now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unread {
    /// It, or a folder above it, may not be read, or the disk fails.
    Unreadable,
    /// Its content is in the cloud.
    NotLocal,
}

impl Unread {
    /// A stable name for programs.
    pub fn code(self) -> &'static str {
        match self {
            Unread::Unreadable => "unreadable",
            Unread::NotLocal => "not_local",
        }
    }
}

/// A note that cannot be read now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadNote {
    /// Its path in the vault.
    pub path: String,
    /// Why.
    pub why: Unread,
    /// Whether it differs from what the index holds; nothing where that cannot be told.
    pub differs: Option<bool>,
}

impl UnreadNote {
    pub(crate) fn of(path: &str, why: Unread, differs: Option<bool>) -> UnreadNote {
        let path = path.to_string();
        UnreadNote { path, why, differs }
    }
}

/// The notes of the index that cannot be read now, in the order of their paths. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadNotes(Arc<[UnreadNote]>);

impl UnreadNotes {
    pub(crate) fn new(mut notes: Vec<UnreadNote>) -> UnreadNotes {
        if notes.is_empty() {
            return UnreadNotes::default();
        }
        notes.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        UnreadNotes(notes.into())
    }

    /// Why the note at a path cannot be read now; nothing where it can, or is not in the index.
    pub fn why(&self, path: &str) -> Option<Unread> {
        let at = self.0.binary_search_by(|note| note.path.as_str().cmp(path));
        at.ok().and_then(|at| self.0.get(at)).map(|note| note.why)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &UnreadNote> {
        self.0.iter()
    }

    /// How many are known to differ from what the index holds.
    pub fn changed(&self) -> usize {
        self.iter()
            .filter(|note| note.differs == Some(true))
            .count()
    }

    /// How many may differ: what the index holds of them may be old.
    pub fn doubtful(&self) -> usize {
        self.iter()
            .filter(|note| note.differs != Some(false))
            .count()
    }
}

impl Default for UnreadNotes {
    fn default() -> UnreadNotes {
        UnreadNotes(Arc::new([]))
    }
}
