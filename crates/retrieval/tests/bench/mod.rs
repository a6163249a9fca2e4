//! A small vault with its index, to ask.

use lorewell_embed::{Embedder, StaticModel};
use lorewell_index::{IndexSettings, Layout, Lock, LockAttempt, Quiet, Snapshot, Writer};
use lorewell_retrieval::{Answer, Request, search};
use lorewell_testkit::TempHome;
use lorewell_vault::{Rules, Vault};

/// A vault with its index.
pub(crate) struct Bench {
    pub(crate) home: TempHome,
    pub(crate) layout: Layout,
}

impl Bench {
    /// Notes as `lorewell_testkit` reads them, indexed.
    pub(crate) fn new(notes: &str) -> Bench {
        let home = TempHome::new(notes);
        let layout = Layout::new(home.index_dir());
        let bench = Bench { home, layout };
        bench.update();
        bench
    }

    /// Brings the index up to date.
    pub(crate) fn update(&self) {
        let vault = Vault::open(self.home.vault.root()).expect("a vault");
        let listing = vault.list(&Rules::default()).expect("a listing");
        let LockAttempt::Taken(lock) = Lock::attempt(&self.layout).expect("a lock") else {
            panic!("locked")
        };
        let model = StaticModel::built_in();
        let mut writer = Writer::open(&self.layout, lock, model).expect("a writer");
        writer
            .update(&vault, &listing, &IndexSettings::default(), model, &Quiet)
            .expect("an update");
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        let model = StaticModel::built_in();
        Snapshot::open(&self.layout, model.fingerprint().as_str()).expect("a snapshot")
    }

    pub(crate) fn ask(&self, request: &Request) -> Answer {
        search(&self.snapshot(), StaticModel::built_in(), request).expect("an answer")
    }
}

/// The notes of an answer, best first.
pub(crate) fn notes(answer: &Answer) -> Vec<&str> {
    let paths = answer.passages.iter().map(|p| p.note.path.as_str());
    paths.collect()
}
