//! Which events matter: those about notes, folders of notes and the settings that decide what is
//! searched. All others (pictures, leftovers of editors, excluded folders, the app's own state,
//! files that are only read) wake nobody.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use lorewell_engine::Rules;
use lorewell_text::split_note_extension;
use notify::EventKind;
use notify::event::{AccessKind, AccessMode, CreateKind, ModifyKind, RemoveKind};

/// Files of a vault that decide what is searched and how notes are classed.
const SETTINGS: [&str; 6] = [
    ".obsidian/app.json",
    ".obsidian/templates.json",
    ".obsidian/daily-notes.json",
    ".obsidian/plugins/templater-obsidian/data.json",
    ".obsidian/plugins/periodic-notes/data.json",
    ".lorewell/config.toml",
];

/// The folders of these files. They may be links, as the files may: they are read through them.
pub(crate) const SETTINGS_FOLDERS: [&str; 4] = [
    ".obsidian",
    ".obsidian/plugins/templater-obsidian",
    ".obsidian/plugins/periodic-notes",
    ".lorewell",
];

/// What is known when an event comes.
#[derive(Debug)]
pub(crate) struct Sight {
    pub(crate) root: PathBuf,
    pub(crate) rules: Rules,
    /// Folders that are watched.
    pub(crate) folders: HashSet<PathBuf>,
    /// Files outside of the vault that matter as its settings do.
    pub(crate) also: Vec<PathBuf>,
}

/// What an event asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Matter {
    /// A look at the notes.
    Look,
    /// The same, and that what is watched below the path is found anew.
    Folder,
    /// The same for the whole vault.
    Everything,
}

impl Sight {
    /// The path from the vault's root, with `/`; nothing for one outside, or not in Unicode.
    pub(crate) fn relative(&self, path: &Path) -> Option<String> {
        let inside = path.strip_prefix(&self.root).ok()?;
        let parts: Option<Vec<&str>> = inside.iter().map(|part| part.to_str()).collect();
        Some(parts?.join("/"))
    }

    /// Whether a folder of this path (from the root) is watched with its notes.
    pub(crate) fn is_searched(&self, folder: &str) -> bool {
        self.rules.excludes_folder_path(folder).is_none()
    }

    /// What an event of this kind asks for that is about this path.
    pub(crate) fn matter(&self, kind: &EventKind, path: &Path) -> Option<Matter> {
        if is_reading(kind) {
            return None;
        }
        if self.also.iter().any(|file| file == path) {
            return Some(Matter::Everything);
        }
        let relative = self.relative(path)?;
        if relative.is_empty() {
            let stays = matches!(kind, EventKind::Modify(ModifyKind::Metadata(_)));
            return Some(if stays {
                Matter::Look
            } else {
                Matter::Everything
            });
        }
        if SETTINGS.contains(&relative.as_str()) {
            return Some(Matter::Everything);
        }
        if SETTINGS_FOLDERS.contains(&relative.as_str()) {
            return (!is_about_content(kind)).then_some(Matter::Everything);
        }
        let (folder, name) = relative.rsplit_once('/').unwrap_or(("", &relative));
        if !self.is_searched(folder) {
            return None;
        }
        if self.is_folder(kind, path) {
            return self.is_searched(&relative).then_some(Matter::Folder);
        }
        let is_note = !split_note_extension(cloud_name(name)).1.is_empty();
        let at = || {
            format!(
                "{}{}",
                &relative[..relative.len() - name.len()],
                cloud_name(name)
            )
        };
        (is_note && self.rules.excludes_path(&at()).is_none()).then_some(Matter::Look)
    }

    /// Where the event does not say: what was watched was a folder, what is there now may be one.
    fn is_folder(&self, kind: &EventKind, path: &Path) -> bool {
        match kind {
            EventKind::Create(CreateKind::Folder) | EventKind::Remove(RemoveKind::Folder) => true,
            EventKind::Create(CreateKind::File)
            | EventKind::Remove(RemoveKind::File)
            | EventKind::Access(_)
            | EventKind::Modify(ModifyKind::Data(_)) => false,
            _ => {
                self.folders.contains(path)
                    || path
                        .symlink_metadata()
                        .is_ok_and(|metadata| metadata.is_dir())
            }
        }
    }
}

/// Whether nothing was changed.
fn is_reading(kind: &EventKind) -> bool {
    let written = AccessKind::Close(AccessMode::Write);
    matches!(kind, EventKind::Access(access) if *access != written)
}

/// Whether a folder stays what it is.
fn is_about_content(kind: &EventKind) -> bool {
    matches!(
        kind,
        EventKind::Modify(ModifyKind::Metadata(_) | ModifyKind::Data(_)) | EventKind::Access(_)
    )
}

/// The note that a name stands for where iCloud left a stub (`.Name.md.icloud`), or the name.
fn cloud_name(name: &str) -> &str {
    name.strip_prefix('.')
        .and_then(|rest| rest.strip_suffix(".icloud"))
        .unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use lorewell_engine::RuleSettings;
    use lorewell_testkit::TempVault;
    use notify::event::{DataChange, MetadataKind, RenameMode};

    use super::*;

    #[test]
    fn only_what_is_searched_wakes() {
        const CREATED: EventKind = EventKind::Create(CreateKind::File);
        const FOLDER: EventKind = EventKind::Create(CreateKind::Folder);
        const WRITTEN: EventKind = EventKind::Modify(ModifyKind::Data(DataChange::Any));
        const TOUCHED: EventKind = EventKind::Modify(ModifyKind::Metadata(MetadataKind::Any));
        const TO: EventKind = EventKind::Modify(ModifyKind::Name(RenameMode::To));
        const FROM: EventKind = EventKind::Modify(ModifyKind::Name(RenameMode::From));
        const OPENED: EventKind = EventKind::Access(AccessKind::Open(AccessMode::Any));
        const CLOSED: EventKind = EventKind::Access(AccessKind::Close(AccessMode::Write));
        const GONE: EventKind = EventKind::Remove(RemoveKind::Any);
        use Matter::{Everything, Folder, Look};
        let vault = TempVault::new("=== Here/a.md ===\n=== Private/b.md ===\n=== x.md/c.md ===\n");
        let rules = Rules::new(RuleSettings {
            folders: vec!["Private".into(), "Gone/Private".into()],
            globs: vec!["secret*".into()],
            ..RuleSettings::default()
        });
        let sight = Sight {
            root: vault.root().to_path_buf(),
            rules: rules.unwrap(),
            folders: [vault.path("Was.here")].into(),
            also: vec![vault.beside("config.toml")],
        };
        for (path, kind, matter) in [
            ("a.md", CREATED, Some(Look)),
            ("a.md", WRITTEN, Some(Look)),
            ("a.md", TOUCHED, Some(Look)),
            ("a.md", TO, Some(Look)),
            ("a.md", FROM, Some(Look)),
            ("a.md", GONE, Some(Look)),
            ("a.md", CLOSED, Some(Look)),
            ("a.md", OPENED, None),
            ("deep/down/A.MARKDOWN", EventKind::Any, Some(Look)),
            (".a.md.icloud", CREATED, Some(Look)),
            // Leftovers of editors and sync programs, and other files.
            (".a.md.swp", CREATED, None),
            ("4913", CREATED, None),
            ("~$a.md", CREATED, None),
            ("a.md~", TO, None),
            (".#a.md", CREATED, None),
            (".syncthing.a.md.tmp", WRITTEN, None),
            ("picture.png", WRITTEN, None),
            ("secret plan.md", WRITTEN, None),
            // Folders.
            ("New", FOLDER, Some(Folder)),
            ("Here", TO, Some(Folder)),
            ("Here", EventKind::Any, Some(Folder)),
            ("x.md", TO, Some(Folder)),
            ("Was.here", FROM, Some(Folder)),
            ("Never.here", FROM, None),
            // What is excluded, and what lies in it.
            ("Private", FOLDER, None),
            ("private/b.md", WRITTEN, None),
            ("Private/deep/b.md", WRITTEN, None),
            (".git/index", WRITTEN, None),
            (".git/refs", FOLDER, None),
            (".trash/a.md", TO, None),
            ("web/node_modules/x/readme.md", CREATED, None),
            // Settings.
            (".obsidian", FOLDER, Some(Everything)),
            (".obsidian", TOUCHED, None),
            (".obsidian/app.json", WRITTEN, Some(Everything)),
            (".obsidian/app.json", OPENED, None),
            (".obsidian/workspace.json", WRITTEN, None),
            (".lorewell/config.toml", TO, Some(Everything)),
            (".lorewell/notes.md", TO, None),
            ("../config.toml", TO, Some(Everything)),
            ("../other.md", TO, None),
            ("", GONE, Some(Everything)),
            ("", TOUCHED, Some(Look)),
        ] {
            let at = match path.strip_prefix("../") {
                Some(name) => vault.beside(name),
                None if path.is_empty() => vault.root().to_path_buf(),
                None => vault.path(path),
            };
            assert_eq!(sight.matter(&kind, &at), matter, "{path} {kind:?}");
        }
    }
}
