//! A vault on disk with its index beside it, and the settings that both are looked at with.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use lorewell_embed::{Embedder, StaticModel};
use lorewell_engine::{
    EngineError, EngineSettings, Freshness, Host, Observer, Patience, Quiet, Request, RuleSettings,
    Rules,
};
use lorewell_index::{Layout, Snapshot};
use lorewell_testkit::TempHome;

use crate::picture::Picture;

pub(crate) struct World {
    pub(crate) home: TempHome,
    pub(crate) settings: EngineSettings,
    /// The model that is wanted.
    pub(crate) model: &'static dyn Embedder,
}

impl World {
    pub(crate) fn new(fixture: &str) -> World {
        World {
            home: TempHome::new(fixture),
            settings: EngineSettings::default(),
            model: World::built_in(),
        }
    }

    pub(crate) fn built_in() -> &'static dyn Embedder {
        StaticModel::built_in()
    }

    /// A world with its index built.
    pub(crate) fn built(fixture: &str) -> World {
        let world = World::new(fixture);
        world.settle();
        world
    }

    /// Refreshes until nothing is to do: a file that has only just changed is looked at once more.
    pub(crate) fn settle(&self) {
        self.refresh();
        while self.host().behind().unwrap() > 0 {
            self.refresh();
        }
    }

    pub(crate) fn host(&self) -> Host {
        self.host_in(&self.home.index_dir())
    }

    pub(crate) fn host_in(&self, index: &Path) -> Host {
        Host::open(
            "Notes",
            self.home.vault.root(),
            index,
            self.settings.clone(),
        )
        .unwrap()
        .with_embedder(self.model)
    }

    pub(crate) fn layout(&self) -> Layout {
        Layout::new(self.home.index_dir())
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        open_snapshot(&self.layout())
    }

    pub(crate) fn refresh(&self) -> Freshness {
        self.try_refresh().unwrap()
    }

    pub(crate) fn try_refresh(&self) -> Result<Freshness, EngineError> {
        self.host().refresh(Patience::Read, &Quiet)
    }

    pub(crate) fn exclude(&mut self, rules: RuleSettings) {
        self.settings.index.rules = Rules::new(rules).unwrap();
    }

    pub(crate) fn picture(&self) -> Picture {
        Picture::of_model(&self.host(), self.model)
    }

    /// The picture of an index made anew from the folder as it is now.
    pub(crate) fn rebuilt_picture(&self) -> Picture {
        let place = tempfile::tempdir().unwrap();
        let settings = EngineSettings {
            portable: None,
            ..self.settings.clone()
        };
        let root = self.home.vault.root();
        let host = Host::open("Notes", root, place.path(), settings).unwrap();
        let host = host.with_embedder(self.model);
        host.refresh(Patience::Wait, &Quiet).unwrap();
        host.embed_waiting(&Quiet).unwrap();
        Picture::of_model(&host, self.model)
    }

    /// Paths of the passages that a question finds.
    pub(crate) fn found(&self, question: &str) -> Vec<String> {
        let host = self.host();
        let answer = host
            .view()
            .unwrap()
            .search(&Request::new(question))
            .unwrap();
        let path = |p: &lorewell_engine::AnswerPassage| p.note.path.as_str().to_string();
        answer.passages.iter().map(path).collect()
    }

    /// The files of the index that hold a word of lower-case letters, in any case.
    pub(crate) fn files_holding(&self, word: &str) -> Vec<String> {
        let holds = |file: &PathBuf| {
            let bytes = std::fs::read(file).unwrap().to_ascii_lowercase();
            bytes.windows(word.len()).any(|w| w == word.as_bytes())
        };
        let files = self.index_files("").into_iter().filter(holds);
        let name = |file: PathBuf| file.file_name().unwrap().to_string_lossy().into_owned();
        files.map(name).collect()
    }

    /// The files of the index whose name ends so.
    pub(crate) fn index_files(&self, ending: &str) -> Vec<PathBuf> {
        files_below(&self.home.index_dir(), ending)
    }
}

pub(crate) fn open_snapshot(layout: &Layout) -> Snapshot {
    Snapshot::open(layout, StaticModel::built_in().fingerprint().as_str()).unwrap()
}

fn files_below(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_below(&path, ending));
        } else if path.to_string_lossy().ends_with(ending) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Stops an update after so many notes.
pub(crate) struct StopAfter {
    left: AtomicUsize,
}

impl StopAfter {
    pub(crate) fn new(notes: usize) -> StopAfter {
        StopAfter {
            left: AtomicUsize::new(notes),
        }
    }
}

impl Observer for StopAfter {
    fn note_done(&self, _: &str) {
        let _ = self
            .left
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
                left.checked_sub(1)
            });
    }

    fn stopped(&self) -> bool {
        self.left.load(Ordering::SeqCst) == 0
    }
}
