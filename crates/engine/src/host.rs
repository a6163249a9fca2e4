//! The host: one vault, its index, its settings.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lorewell_embed::{Cost, Embedder, Reranker, StaticModel};
use lorewell_index::{
    IndexError, IndexSettings, KnownVectors, Layout, Lock, LockAttempt, Siblings, Snapshot,
    UnreadNotes, Writer, known_filters,
};
use lorewell_retrieval::SearchSettings;
use lorewell_smart::SmartFolder;
use lorewell_vault::{Listing, Rules, Vault, VaultError};

use crate::deputy::Unusable;
use crate::portable::{PortableVectors, When};
use crate::shelf::Shelf;
use crate::{EngineError, Tokens, View};

/// Everything of the settings that the engine itself needs.
#[derive(Clone, Debug, Default)]
pub struct EngineSettings {
    /// How notes are read and cut, and what is left out.
    pub index: IndexSettings,
    /// How answers are made.
    pub search: SearchSettings,
    /// Notes larger than this are left out, in bytes; `None` for the usual limit.
    pub max_note_bytes: Option<u64>,
    /// How vectors travel with the vault; `None` for not at all.
    pub portable: Option<PortableVectors>,
    /// What counts tokens; `None` for an estimate.
    pub tokens: Option<Arc<dyn Tokens>>,
    /// The folder below which the indexes of all vaults lie. A model that is dear takes vectors of
    /// the same text from there; `None` if it may not look.
    pub index_root: Option<PathBuf>,
    /// Whether vectors of notes that the plugin Smart Connections left in the vault are used.
    pub smart_connections: bool,
}

/// Finds an embedding model of this machine by the name that other programs know it by
/// (`TaylorAI/bge-micro-v2`): none if it is not here; or why it cannot be used, for people.
pub type ModelsByName =
    Arc<dyn Fn(&str) -> Result<Option<&'static dyn Embedder>, String> + Send + Sync>;

/// One vault with its index. Cheap to open; nothing is read until it is asked.
pub struct Host {
    pub(crate) vault: Vault,
    pub(crate) name: String,
    pub(crate) layout: Layout,
    pub(crate) settings: EngineSettings,
    /// The model that is wanted.
    pub(crate) embedder: &'static dyn Embedder,
    /// Judges the first passages of an answer again, if there is one.
    pub(crate) reranker: Option<&'static dyn Reranker>,
    /// A reranker that is wanted and cannot be asked at all.
    pub(crate) unusable_reranker: Option<Unusable>,
    /// The model that answers until the wanted one covers everything.
    pub(crate) deputy: Option<&'static dyn Embedder>,
    /// A model that is wanted and cannot be asked at all.
    pub(crate) unusable: Option<Unusable>,
    /// The vectors of another program in the vault, where they are to be used.
    pub(crate) smart: Option<SmartFolder>,
    /// Finds the model that made those vectors, where it is here.
    pub(crate) models_by_name: Option<ModelsByName>,
    /// Places that may have vectors.
    known: Vec<Arc<dyn KnownVectors>>,
    shelf: Shelf,
}

impl Host {
    /// Opens the folder of notes at `root`, called `name`, with its index in `index_folder`,
    /// which need not exist yet.
    ///
    /// # Errors
    /// The folder of notes is missing, is a file, or may not be read; the index would lie in it.
    pub fn open(
        name: &str,
        root: &Path,
        index_folder: &Path,
        settings: EngineSettings,
    ) -> Result<Host, EngineError> {
        let mut vault = Vault::open(root)?;
        if lies_in(index_folder, vault.root()) {
            return Err(EngineError::IndexInVault {
                index: index_folder.to_path_buf(),
                vault: vault.root().to_path_buf(),
            });
        }
        if let Some(bytes) = settings.max_note_bytes {
            vault = vault.with_max_bytes(bytes);
        }
        Ok(Host {
            // The plugin knows nothing of fences.
            smart: (settings.smart_connections && !settings.index.rules.has_fences())
                .then(|| SmartFolder::of(vault.root())),
            vault,
            name: name.to_string(),
            layout: Layout::new(index_folder),
            settings,
            embedder: StaticModel::built_in(),
            reranker: None,
            unusable_reranker: None,
            deputy: None,
            unusable: None,
            models_by_name: None,
            known: Vec::new(),
            shelf: Shelf::default(),
        })
    }

    /// With another model than the built-in one. Where it is dear, its vectors come when
    /// [`embed_waiting`](Self::embed_waiting) is called; the built-in model answers in its place
    /// until it covers everything.
    #[must_use]
    pub fn with_embedder(mut self, embedder: &'static dyn Embedder) -> Host {
        let built_in: &'static dyn Embedder = StaticModel::built_in();
        let other = embedder.fingerprint() != built_in.fingerprint();
        self.deputy = (embedder.cost() == Cost::Dear && other).then_some(built_in);
        self.embedder = embedder;
        self
    }

    /// With a model that judges the first passages of each answer again.
    #[must_use]
    pub fn with_reranker(mut self, reranker: &'static dyn Reranker) -> Host {
        self.reranker = Some(reranker);
        self
    }

    /// Without the reranker that is wanted, because it cannot be asked at all: every answer says so.
    /// `reason` is the end of a sentence that begins with the name.
    #[must_use]
    pub fn without_reranker(mut self, model: &str, reason: &str) -> Host {
        self.unusable_reranker = Some(Unusable {
            model: model.to_string(),
            reason: reason.to_string(),
        });
        self
    }

    /// With the built-in model, because the one that is wanted cannot be asked at all: every answer
    /// says so. `reason` is the end of a sentence that begins with the name.
    #[must_use]
    pub fn without_model(mut self, model: &str, reason: &str) -> Host {
        self.unusable = Some(Unusable {
            model: model.to_string(),
            reason: reason.to_string(),
        });
        self
    }

    /// With a way to find the model that another program made its vectors with.
    #[must_use]
    pub fn finding_models(mut self, by_name: ModelsByName) -> Host {
        self.models_by_name = Some(by_name);
        self
    }

    /// The model that is wanted.
    pub fn embedder(&self) -> &'static dyn Embedder {
        self.embedder
    }

    /// With another place that may have vectors. Places are asked in the order in which they came,
    /// after the index itself and before the other indexes of this machine.
    #[must_use]
    pub fn knowing(mut self, place: Arc<dyn KnownVectors>) -> Host {
        self.known.push(place);
        self
    }

    /// The places that may have vectors of the wanted model, apart from its own index. None where
    /// it is cheaper to embed.
    pub(crate) fn known_elsewhere(&self) -> Vec<Arc<dyn KnownVectors>> {
        if self.embedder.cost() == Cost::Cheap {
            return Vec::new();
        }
        let mut places = self.known.clone();
        places.extend(self.carried_vectors());
        if let Some(root) = &self.settings.index_root {
            let fingerprint = self.embedder.fingerprint().as_str();
            places.push(Arc::new(Siblings::new(root, &self.layout, fingerprint)));
        }
        places
    }

    /// The writer of the index, for the wanted model.
    pub(crate) fn writer(&self, lock: Lock) -> Result<Writer, IndexError> {
        let mut writer = Writer::open(&self.layout, lock, self.embedder)?;
        for place in self.known_elsewhere() {
            writer.ask_also(place);
        }
        Ok(writer)
    }

    /// Keeps so many views open between questions, for a process that answers many. A view that is
    /// kept holds no writer up, and one that is outdated is never given out again.
    #[must_use]
    pub fn keeping_views(mut self, views: usize) -> Host {
        self.shelf = Shelf::with_places(views);
        self
    }

    /// Closes the views that are kept and not in use.
    pub fn close_kept_views(&self) {
        self.shelf.clear();
    }

    /// The vault's name, as shown in answers.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The vault's real folder.
    pub fn root(&self) -> &Path {
        self.vault.root()
    }

    /// The folder of the index.
    pub fn index_folder(&self) -> &Path {
        self.layout.folder()
    }

    /// The settings it was opened with.
    pub fn settings(&self) -> &EngineSettings {
        &self.settings
    }

    /// Whether it answers a reader who must not learn of some notes
    /// ([`RuleSettings::fences`](crate::RuleSettings)). Then it tells of indexed notes alone: no
    /// other file is named or counted, for it may be behind a fence.
    pub fn has_fences(&self) -> bool {
        self.settings.index.rules.has_fences()
    }

    /// The newest generation, as it is on disk; [`IndexError::Absent`] before the first build.
    ///
    /// The folder is not compared with it. Only notes that are excluded by now are taken out
    /// first, by what is known of them.
    ///
    /// # Errors
    /// See [`IndexError`]; [`EngineError::ExclusionsChanged`] if such notes cannot be taken out.
    pub fn view(&self) -> Result<View<'_>, EngineError> {
        let snapshot = self.without_excluded()?;
        Ok(View {
            host: self,
            embedder: self.embedder_of(&snapshot),
            snapshot: self.shelf.lend(snapshot),
            unread: UnreadNotes::default(),
        })
    }

    /// The newest generation, without notes that the rules in force exclude.
    pub(crate) fn without_excluded(&self) -> Result<Snapshot, EngineError> {
        let snapshot = match self.shelf.take() {
            Some(snapshot) => snapshot,
            None => self.snapshot()?,
        };
        let known = || known_filters(&self.layout);
        let (rules, _) = self
            .vault
            .rules_in_force(&self.settings.index.rules, &known);
        if !snapshot.holds_excluded(&rules)? {
            return Ok(snapshot);
        }
        drop(snapshot);
        self.take_out(&rules)?;
        Ok(self.snapshot()?)
    }

    fn take_out(&self, rules: &Rules) -> Result<(), EngineError> {
        let lock = match Lock::attempt(&self.layout) {
            Ok(LockAttempt::Taken(lock)) => lock,
            Ok(LockAttempt::HeldBy(_)) => {
                let busy = IndexError::Busy(self.layout.folder().to_path_buf());
                return Err(EngineError::ExclusionsChanged(busy));
            }
            Err(error) => return Err(EngineError::ExclusionsChanged(error)),
        };
        Writer::open(&self.layout, lock, self.embedder)
            .and_then(|mut writer| writer.exclude(rules))
            .map(drop)
            .map_err(EngineError::ExclusionsChanged)?;
        self.tend_portable(When::Excluding);
        Ok(())
    }

    /// The settings of searches, with the weight of each lane as it is where the wanted model
    /// answers.
    #[must_use]
    pub fn search_in_force(&self) -> SearchSettings {
        let mut search = self.settings.search.clone();
        search.weights.dense.get_or_insert(self.embedder.weight());
        search
    }

    /// The newest generation, with the vectors of the model that answers.
    pub(crate) fn snapshot(&self) -> Result<Snapshot, IndexError> {
        let models = std::iter::once(self.embedder).chain(self.deputy);
        let mut fingerprints: Vec<&str> = models.map(|m| m.fingerprint().as_str()).collect();
        if self.is_troubled() {
            fingerprints.reverse();
        }
        Snapshot::open_for_any(&self.layout, &fingerprints)
    }

    /// Whether the wanted model is known not to answer now.
    pub(crate) fn is_troubled(&self) -> bool {
        self.deputy.is_some() && self.embedder.trouble().is_some()
    }

    /// The newest generation, with the vectors of the wanted model.
    pub(crate) fn wanted_snapshot(&self) -> Result<Snapshot, IndexError> {
        Snapshot::open(&self.layout, self.embedder.fingerprint().as_str())
    }

    /// The model whose vectors a snapshot has.
    fn embedder_of(&self, snapshot: &Snapshot) -> &'static dyn Embedder {
        let answers =
            |model: &&'static dyn Embedder| model.fingerprint().as_str() == snapshot.fingerprint();
        self.deputy.filter(answers).unwrap_or(self.embedder)
    }

    /// The exclusions that hold now: those of the settings, and those of the vault's own app.
    pub fn rules_in_force(&self) -> Rules {
        let known = || known_filters(&self.layout);
        let rules = &self.settings.index.rules;
        self.vault.rules_in_force(rules, &known).0
    }

    /// A look at the whole folder.
    pub(crate) fn list(&self) -> Result<Listing, VaultError> {
        let known = || known_filters(&self.layout);
        self.vault.list_knowing(&self.settings.index.rules, &known)
    }
}

/// Whether a folder, which need not exist yet, lies in another, also by way of links.
fn lies_in(folder: &Path, root: &Path) -> bool {
    let there = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf());
    let real = there
        .ancestors()
        .find_map(|a| std::fs::canonicalize(a).ok());
    real.is_some_and(|real| real.starts_with(root))
}
