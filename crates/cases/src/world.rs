//! Where a case takes place: a copy of its vault, an index beside it, and the results so far.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lorewell_capabilities::{Desk, Failure, table};
use lorewell_engine::{
    EngineSettings, Freshness, Host, ModelStatus, Patience, Quiet, StatusRequest,
};
use lorewell_index::{Layout, Snapshot};
use serde_json::Value;
use tempfile::TempDir;

use crate::embedding::Embedding;
use crate::processes::Processes;
use crate::reranking::CaseReranker;
use crate::watching::Watching;
use crate::{Case, Step, actions, vault_copy};

/// The vault, its index and what came of the steps.
pub(crate) struct World {
    // Held for its drop: it removes the folder.
    _place: TempDir,
    /// The folder that holds the vault, and what lies outside of it.
    pub(crate) place: PathBuf,
    /// The vault.
    pub(crate) root: PathBuf,
    index: PathBuf,
    pub(crate) settings: EngineSettings,
    /// The program as processes, where a step needs it.
    pub(crate) processes: Option<Processes>,
    /// The endpoint that embeds, if the case has one.
    pub(crate) embedding: Option<Embedding>,
    /// What judges the first passages of an answer again, once a step asked for it.
    pub(crate) reranker: Option<&'static CaseReranker>,
    /// What was searched for.
    pub(crate) questions: Vec<String>,
    /// The watcher, while there is one.
    pub(crate) watching: Option<Watching>,
    /// The program as it was started; nothing while it is stopped, or where no step starts it.
    running: Option<Host>,
    /// What the last look for changes found.
    pub(crate) freshness: Option<Freshness>,
    /// Named results.
    pub(crate) answers: HashMap<String, Answer>,
    /// Bytes of vectors before the last step of each name.
    vectors_before: HashMap<String, u64>,
    /// States of the vault that a step can bring about.
    pub(crate) branches: BTreeMap<String, BTreeMap<String, String>>,
    /// Steps that are to be done while the next one is at work.
    pub(crate) during: Vec<Step>,
    /// How long all steps took.
    pub(crate) took: Duration,
    /// Whether a step panicked.
    pub(crate) panicked: bool,
}

/// What came of a named step.
pub(crate) struct Answer {
    pub(crate) output: Result<Value, Failure>,
    pub(crate) took: Duration,
    /// The endpoint's model that the user wanted then.
    pub(crate) model: Option<String>,
}

/// Why a step did not come to its end.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The product said no.
    Said(Failure),
    /// The case or the machine is at fault.
    Case(String),
}

impl World {
    /// Lays a case out in a new temporary folder. `program` is where the product lies, for cases
    /// that start it.
    pub(crate) fn lay_out(case: &Case, program: Option<&Path>) -> Result<World, String> {
        let holder = tempfile::tempdir().map_err(|e| e.to_string())?;
        let place = fs::canonicalize(holder.path()).map_err(|e| e.to_string())?;
        vault_copy::lay_out(case, &place)?;
        let root = place.join("vault");
        let embedding = Embedding::of(case, &place);
        let settings = embedding.as_ref().map(Embedding::entries);
        let settings = settings.unwrap_or_default();
        let (processes, index) = match program.filter(|_| case.needs_program()) {
            Some(program) => {
                let (processes, index) = Processes::begin(program, &place, &root, &settings)?;
                (Some(processes), PathBuf::from(index))
            }
            None => (None, place.join("index")),
        };
        Ok(World {
            processes,
            root,
            index,
            _place: holder,
            settings: EngineSettings::default(),
            embedding,
            reranker: None,
            place,
            questions: Vec::new(),
            watching: None,
            running: None,
            freshness: None,
            answers: HashMap::new(),
            vectors_before: HashMap::new(),
            branches: BTreeMap::new(),
            during: Vec::new(),
            took: Duration::ZERO,
            panicked: false,
        })
    }

    /// Does a step. What the product says to a step with a name is its result; without one, it
    /// is trouble if it says no.
    pub(crate) fn take(&mut self, step: &Step) -> Result<(), Trouble> {
        let bytes = self.vector_bytes();
        self.vectors_before.insert(step.action.clone(), bytes);
        let names: Vec<&str> = [&*step.action]
            .into_iter()
            .chain(step.name.as_deref())
            .collect();
        if let Some(embedding) = &mut self.embedding {
            embedding.begin(&names);
        }
        let began = Instant::now();
        let outcome = actions::act(self, step);
        let took = began.elapsed();
        if let Some(embedding) = &mut self.embedding {
            embedding.end(&names);
        }
        self.took += took;
        let output = match outcome {
            Ok(output) => Ok(output),
            Err(Trouble::Said(failure)) => Err(failure),
            Err(trouble) => return Err(trouble),
        };
        match (&step.name, output) {
            (Some(name), output) => {
                let model = self.embedding.as_ref().map(|e| e.model().to_string());
                let answer = Answer {
                    output,
                    took,
                    model,
                };
                self.answers.insert(name.clone(), answer);
                Ok(())
            }
            (None, Ok(_)) => Ok(()),
            (None, Err(failure)) => Err(Trouble::Said(failure)),
        }
    }

    /// Starts the program: the vault is opened, and stays open until it is stopped.
    pub(crate) fn start(&mut self) -> Result<(), Failure> {
        self.running = self.host().ok();
        Ok(())
    }

    /// Stops the program, and the watcher with it.
    pub(crate) fn stop(&mut self) {
        self.watching = None;
        self.running = None;
        if let Some(embedding) = &mut self.embedding {
            embedding.restart();
        }
    }

    /// The vault, opened anew: nothing is kept from one step to the next but what is on disk.
    pub(crate) fn host(&self) -> Result<Host, Failure> {
        let settings = self.settings.clone();
        let host = Host::open("vault", &self.root, &self.index, settings)?;
        let host = match self.reranker {
            Some(reranker) => host.with_reranker(reranker),
            None => host,
        };
        match &self.embedding {
            Some(embedding) => {
                let endpoint = embedding.endpoint().map_err(Failure::internal)?;
                Ok(host.with_embedder(endpoint))
            }
            None => Ok(host),
        }
    }

    /// The models of the vault: the wanted one first.
    pub(crate) fn models(&self) -> Result<Vec<ModelStatus>, String> {
        let host = self.host().map_err(|failure| failure.message)?;
        let status = host.status(&StatusRequest::default());
        Ok(status.map_err(|error| error.to_string())?.models)
    }

    /// The vectors of the wanted model, beside the text that each is of: `[said, vector]`.
    pub(crate) fn vectors(&self) -> Result<Vec<Value>, String> {
        let said = |error: lorewell_index::IndexError| error.to_string();
        let snapshot = self.snapshot()?;
        let Some((reader, live)) = snapshot.vectors() else {
            return Ok(Vec::new());
        };
        let mut vectors = Vec::new();
        for row in live.iter() {
            for id in snapshot.passages_of_row(row).map_err(said)? {
                let passage = snapshot.passage(id).map_err(said)?;
                let text = passage.map_or(String::new(), |passage| passage.said().into_owned());
                vectors.push(serde_json::json!([text, reader.vector(row)]));
            }
        }
        Ok(vectors)
    }

    /// Asks a capability by its short name.
    pub(crate) fn ask(&self, name: &str, input: Value) -> Result<Value, Trouble> {
        let entry = table().iter().find(|entry| entry.name() == name);
        let entry = entry.ok_or_else(|| Trouble::Case(format!("no capability “{name}”")))?;
        let host = self.host()?;
        let desk = Desk {
            host: &host,
            freshness: self.freshness.clone(),
            listener: &Quiet,
        };
        Ok((entry.run)(&desk, input)?)
    }

    /// Looks for changes and takes them in.
    pub(crate) fn refresh(&mut self) -> Result<(), Trouble> {
        let freshness = self
            .host()?
            .refresh(Patience::Wait, &Quiet)
            .map_err(Failure::from)?;
        self.freshness = Some(freshness);
        Ok(())
    }

    /// Waits until a watcher has taken in what was done; without one, looks for changes.
    pub(crate) fn settle(&mut self) -> Result<(), Trouble> {
        match &self.watching {
            Some(watching) => watching.settled(|| self.host().ok())?,
            None => self.refresh()?,
        }
        Ok(())
    }

    /// Half of a change is done; a watcher sees it as it is.
    pub(crate) fn seen(&mut self) -> Result<(), Trouble> {
        match self.watching {
            Some(_) => self.settle(),
            None => Ok(()),
        }
    }

    /// The newest generation, to look at from inside.
    pub(crate) fn snapshot(&self) -> Result<Snapshot, String> {
        let models = self.models()?;
        let fingerprint = models.first().map_or("", |model| &model.fingerprint);
        let layout = Layout::new(&self.index);
        Snapshot::open(&layout, fingerprint).map_err(|error| error.to_string())
    }

    /// A result that must be there and no failure.
    pub(crate) fn output(&self, name: &str) -> Result<&Value, String> {
        let said = |failure: &Failure| format!("{name} failed: {}: {failure}", failure.code);
        self.answer(name)?.output.as_ref().map_err(said)
    }

    /// What came of a named step.
    pub(crate) fn answer(&self, name: &str) -> Result<&Answer, String> {
        let answer = self.answers.get(name);
        answer.ok_or_else(|| format!("no step is called “{name}”"))
    }

    /// How many bytes of vectors were added since the last step of this name began.
    pub(crate) fn vector_bytes_since(&self, action: &str) -> Result<u64, String> {
        let action = action.strip_prefix("last_").unwrap_or(action);
        let before = self.vectors_before.get(action);
        let before = before.ok_or_else(|| format!("no step does “{action}”"))?;
        Ok(self.vector_bytes().saturating_sub(*before))
    }

    fn vector_bytes(&self) -> u64 {
        Layout::new(&self.index).sizes().vectors
    }

    /// Where a file of the vault lies.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// The index is another from now on.
    pub(crate) fn set_index(&mut self, folder: PathBuf) {
        self.index = folder;
    }

    /// The folder of the index.
    pub(crate) fn index_folder(&self) -> &Path {
        &self.index
    }
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Trouble {
        Trouble::Said(failure)
    }
}

impl From<String> for Trouble {
    fn from(what: String) -> Trouble {
        Trouble::Case(what)
    }
}

impl From<std::io::Error> for Trouble {
    fn from(error: std::io::Error) -> Trouble {
        Trouble::Case(error.to_string())
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Said(failure) => write!(f, "{}: {failure}", failure.code),
            Trouble::Case(what) => f.write_str(what),
        }
    }
}
