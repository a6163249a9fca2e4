//! What the system watches for us.
//!
//! Linux watches single folders, so that those which are left out are not watched at all; other
//! systems watch the whole vault at once, and what does not matter is passed over when it comes.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lorewell_engine::Rules;
use notify::{
    Config, ErrorKind, Event, RecommendedWatcher, RecursiveMode, Watcher as _, WatcherKind,
};

use crate::inbox::Inbox;
use crate::matters::{Matter, SETTINGS_FOLDERS, Sight};

/// Deeper folders are not watched, as they are not searched.
const MAX_DEPTH: usize = 128;

/// A vault whose events come in as hints until this is dropped.
pub(crate) struct Watched {
    watcher: RecommendedWatcher,
    sight: Arc<Mutex<Sight>>,
    by_folder: bool,
}

impl Watched {
    /// Begins to watch the vault at `root`, and the files `also`.
    ///
    /// # Errors
    /// The system gives no (more) watches, or the root is not there.
    pub(crate) fn begin(
        root: &Path,
        rules: &Rules,
        also: &[PathBuf],
        inbox: &Arc<Inbox>,
    ) -> notify::Result<Watched> {
        let sight = Arc::new(Mutex::new(Sight {
            root: root.to_path_buf(),
            rules: rules.clone(),
            folders: Default::default(),
            also: also.to_vec(),
        }));
        let (seen, inbox) = (Arc::clone(&sight), Arc::clone(inbox));
        let hear = move |event: notify::Result<Event>| hear(&seen, &inbox, event);
        let config = Config::default().with_follow_symlinks(false);
        let mut watched = Watched {
            watcher: RecommendedWatcher::new(hear, config)?,
            sight,
            by_folder: RecommendedWatcher::kind() == WatcherKind::Inotify,
        };
        if watched.by_folder {
            watched.cover(root)?;
            for folder in SETTINGS_FOLDERS {
                watched.watch_if_there(&root.join(folder))?;
            }
        } else {
            watched.watcher.watch(root, RecursiveMode::Recursive)?;
        }
        for folder in also.iter().filter_map(|file| file.parent()) {
            watched.watch_if_there(folder)?;
        }
        Ok(watched)
    }

    /// Finds anew what is to be watched in these folders, which came, went or moved.
    ///
    /// # Errors
    /// As for [`Watched::begin`].
    pub(crate) fn follow(&mut self, folders: &BTreeSet<PathBuf>) -> notify::Result<()> {
        if !self.by_folder {
            return Ok(());
        }
        // All are let go first: a folder that moved would lose its new watch with its old one.
        for folder in folders {
            self.let_go(folder);
        }
        for folder in folders {
            if fs::symlink_metadata(folder).is_ok_and(|metadata| metadata.is_dir()) {
                self.cover(folder)?;
            }
        }
        Ok(())
    }

    /// How many folders are watched; 0 where the system watches the whole vault at once.
    pub(crate) fn folders(&self) -> usize {
        self.sight().folders.len()
    }

    /// Watches a folder and those in it that are not watched yet. A folder is watched before it is
    /// looked into, so that what comes meanwhile is either seen or told.
    fn cover(&mut self, folder: &Path) -> notify::Result<()> {
        let mut open = vec![(folder.to_path_buf(), 0)];
        while let Some((folder, depth)) = open.pop() {
            if depth > MAX_DEPTH || !self.take(&folder)? {
                continue;
            }
            let Ok(entries) = fs::read_dir(&folder) else {
                continue;
            };
            let below = entries
                .flatten()
                .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
            open.extend(below.map(|entry| (entry.path(), depth + 1)));
        }
        Ok(())
    }

    /// Whether the folder is watched from now on and was not before.
    fn take(&mut self, folder: &Path) -> notify::Result<bool> {
        let is_root = {
            // Not held while the system is asked: its answers wait for events to be heard.
            let mut sight = self.sight();
            let Some(relative) = sight.relative(folder) else {
                return Ok(false);
            };
            let is_root = relative.is_empty();
            if !is_root && !sight.is_searched(&relative) {
                return Ok(false);
            }
            if !sight.folders.insert(folder.to_path_buf()) {
                return Ok(false);
            }
            is_root
        };
        match self.watcher.watch(folder, RecursiveMode::NonRecursive) {
            Ok(()) => Ok(true),
            Err(error) => {
                self.sight().folders.remove(folder);
                if !is_root && is_of_folder(&error) {
                    Ok(false)
                } else {
                    Err(error)
                }
            }
        }
    }

    fn watch_if_there(&mut self, folder: &Path) -> notify::Result<()> {
        if !folder.is_dir() {
            return Ok(());
        }
        match self.watcher.watch(folder, RecursiveMode::NonRecursive) {
            Err(error) if !is_of_folder(&error) => Err(error),
            _ => Ok(()),
        }
    }

    fn let_go(&mut self, folder: &Path) {
        let gone: Vec<PathBuf> = self
            .sight()
            .folders
            .extract_if(|watched| watched.starts_with(folder))
            .collect();
        for folder in gone {
            // It may have let go by itself.
            let _ = self.watcher.unwatch(&folder);
        }
    }

    fn sight(&self) -> MutexGuard<'_, Sight> {
        self.sight.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sorts an event in. Called by the system's thread.
fn hear(sight: &Mutex<Sight>, inbox: &Inbox, event: notify::Result<Event>) {
    let Ok(event) = event else {
        return inbox.hint("", None, true);
    };
    if event.need_rescan() {
        return inbox.hint("", None, true);
    }
    for path in &event.paths {
        let sight = sight.lock().unwrap_or_else(PoisonError::into_inner);
        let matter = sight.matter(&event.kind, path);
        let relative = sight.relative(path).unwrap_or_default();
        drop(sight);
        match matter {
            None => {}
            Some(Matter::Look) => inbox.hint(&relative, None, false),
            Some(Matter::Folder) => inbox.hint(&relative, Some(path.clone()), false),
            Some(Matter::Everything) => inbox.hint(&relative, None, true),
        }
    }
}

/// Whether it is the one folder that cannot be watched: it is gone, or may not be read.
fn is_of_folder(error: &notify::Error) -> bool {
    match &error.kind {
        ErrorKind::PathNotFound => true,
        ErrorKind::Io(error) => matches!(
            error.kind(),
            io::ErrorKind::NotFound
                | io::ErrorKind::NotADirectory
                | io::ErrorKind::PermissionDenied
        ),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use lorewell_testkit::TempVault;
    use notify::EventKind;
    use notify::event::{CreateKind, Flag};

    use super::*;
    use crate::inbox::{Hints, Pace, Wake};

    const AT_ONCE: Pace = Pace {
        quiet: Duration::ZERO,
        longest: Duration::ZERO,
    };

    #[test]
    fn lost_events_and_errors_have_all_watched_anew() {
        let vault = TempVault::empty();
        let sight = Mutex::new(Sight {
            root: vault.root().to_path_buf(),
            rules: Rules::default(),
            folders: Default::default(),
            also: Vec::new(),
        });
        let woken = |event| {
            let inbox = Inbox::default();
            hear(&sight, &inbox, event);
            match inbox.wait(Instant::now(), AT_ONCE) {
                Wake::Hints(hints) => Some(hints),
                _ => None,
            }
        };
        let everything = Hints {
            everything: true,
            ..Hints::default()
        };
        let lost = Event::new(EventKind::Other).set_flag(Flag::Rescan);
        assert_eq!(woken(Ok(lost)), Some(everything.clone()));
        let error = notify::Error::generic("no more");
        assert_eq!(woken(Err(error)), Some(everything));

        let created = Event::new(EventKind::Create(CreateKind::Folder));
        let folder = vault.path("New");
        let hints = Hints {
            first: "New".to_string(),
            folders: [folder.clone()].into(),
            ..Hints::default()
        };
        assert_eq!(woken(Ok(created.clone().add_path(folder))), Some(hints));
        assert_eq!(woken(Ok(created.add_path(vault.path(".git")))), None);
    }
}
