//! The endpoint of a case: a stub of an embedding server on this machine, and the product's model
//! over it. Cases in which nothing is said of an embedder use the built-in model.
//!
//! The stub's address, and what was last said of the model, are the settings that a user would have.
//! What the stub served is counted from marks: how many calls there were when a step began.

use std::cell::Cell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use lorewell_endpoint::{Address, Endpoint, EndpointSettings, PROBE, Prefixes, usual_prefixes};
use lorewell_engine::{EngineSettings, Host, Patience, Quiet};
use lorewell_testkit::{StubCall, StubEndpoint};
use serde_json::{Value, json};

use crate::{Case, Step};

/// The variable that tells a started test program to embed until it is killed.
pub const TO_KILL: &str = "LOREWELL_CASE_TO_KILL";

/// What a queue is given to become quiet.
const QUIET: Duration = Duration::from_secs(10);

/// Steps that are about an embedder.
const STEPS: &[&str] = &["embedder", "try_config", "reembed", "vector_audit"];

/// The endpoint of a world.
pub(crate) struct Embedding {
    pub(crate) stub: StubEndpoint,
    memory: PathBuf,
    model: String,
    question_prefix: Option<String>,
    open: Cell<Option<&'static Endpoint>>,
    /// The user named another model, and did not ask yet for everything to be embedded by it.
    pub(crate) is_switching: bool,
    /// How many calls there were when the last step of a name began, and when it ended.
    marks: HashMap<String, (usize, usize)>,
    pub(crate) background: Option<JoinHandle<Result<(), String>>>,
}

impl Embedding {
    /// The endpoint of a case, if it has one.
    pub(crate) fn of(case: &Case, place: &Path) -> Option<Embedding> {
        let is_wanted = |step: &Step| STEPS.contains(&step.action.as_str());
        case.steps.iter().any(is_wanted).then(|| Embedding {
            stub: StubEndpoint::start(PROBE),
            memory: place.join("endpoints.json"),
            model: "stub".to_string(),
            question_prefix: None,
            open: Cell::new(None),
            is_switching: false,
            marks: HashMap::new(),
            background: None,
        })
    }

    /// The settings that a user would have.
    fn settings(&self) -> Result<EndpointSettings, String> {
        let usual = usual_prefixes(&self.model);
        Ok(EndpointSettings {
            address: Address::read(&self.stub.url()).map_err(|error| error.to_string())?,
            model: self.model.clone(),
            key: Ok(None),
            prefixes: Prefixes {
                question: self.question_prefix.clone().unwrap_or(usual.question),
                passage: usual.passage,
            },
            batch: 64,
            timeout: Duration::from_secs(30),
            memory: self.memory.clone(),
        })
    }

    /// The model that the user named.
    pub(crate) fn model(&self) -> &str {
        &self.model
    }

    /// The same as entries of the user's own settings.
    pub(crate) fn entries(&self) -> Vec<(&'static str, String)> {
        vec![
            ("endpoint_url", self.stub.url()),
            ("endpoint_model", self.model.clone()),
            ("model", "endpoint".to_string()),
        ]
    }

    /// The model, opened anew where the settings or what is at the endpoint changed.
    pub(crate) fn endpoint(&self) -> Result<&'static Endpoint, String> {
        let settings = self.settings()?;
        let open = self
            .open
            .get()
            .filter(|open| !open.is_outdated() && *open.settings() == settings);
        // Hosts ask for models that live as long as the process; a case makes a few.
        let open = open.unwrap_or_else(|| Box::leak(Box::new(Endpoint::open(settings))));
        self.open.set(Some(open));
        Ok(open)
    }

    /// The stub behaves in another way; a model that is named is the user's setting, too.
    pub(crate) fn set(&mut self, step: &Step, root: &Path) -> Result<(), String> {
        let mut options = step.fields();
        if let Some(values) = options["values"].as_object() {
            // A piece may be the name of a note: its text is meant, for names are not sent.
            let of_note = |(piece, how): (&String, &Value)| {
                let text = std::fs::read_to_string(root.join(format!("{piece}.md")));
                let piece = text.map_or(piece.clone(), |text| text.trim().to_string());
                (piece, how.clone())
            };
            options["values"] = Value::Object(values.iter().map(of_note).collect());
        }
        self.stub.set(&options);
        if let Ok(model) = step.text("model")
            && model != self.model
        {
            self.is_switching = !self.stub.calls().is_empty();
            self.model = model.to_string();
        }
        Ok(())
    }

    pub(crate) fn set_question_prefix(&mut self, prefix: &str) {
        self.question_prefix = Some(prefix.to_string());
    }

    /// The program starts again: nothing is left in memory.
    pub(crate) fn restart(&mut self) {
        self.open.set(None);
    }

    /// Tries an address, as the command does that sets one.
    pub(crate) fn try_address(&self, given: &str) -> Result<Value, String> {
        let given = given.replace("{port}", &self.stub.port().to_string());
        let address = Address::read(&given).map_err(|error| error.to_string())?;
        let settings = EndpointSettings {
            address,
            ..self.settings()?
        };
        let endpoint = Endpoint::try_out(settings).map_err(|error| error.to_string())?;
        Ok(json!({ "url": endpoint.settings().address.url() }))
    }

    /// Marks the beginning of a step.
    pub(crate) fn begin(&mut self, names: &[&str]) {
        let calls = self.stub.calls().len();
        for name in names {
            self.marks.insert((*name).to_string(), (calls, usize::MAX));
        }
    }

    /// Marks the end of a step.
    pub(crate) fn end(&mut self, names: &[&str]) {
        let calls = self.stub.calls().len();
        for name in names {
            if let Some((_, end)) = self.marks.get_mut(*name) {
                *end = calls;
            }
        }
    }

    /// The calls since the last step of a name began, those that asked for the probe alone left out.
    pub(crate) fn calls_since(&self, name: Option<&str>) -> Result<Vec<StubCall>, String> {
        let begin = match name {
            Some(name) => self.mark(name)?.0,
            None => 0,
        };
        Ok(self.calls_from(begin, usize::MAX))
    }

    /// The calls while a step was done.
    pub(crate) fn calls_during(&self, name: &str) -> Result<Vec<StubCall>, String> {
        let (begin, end) = self.mark(name)?;
        Ok(self.calls_from(begin, end))
    }

    fn mark(&self, name: &str) -> Result<(usize, usize), String> {
        let name = name.strip_prefix("last_").unwrap_or(name);
        let mark = self.marks.get(name).copied();
        mark.ok_or_else(|| format!("no step is “{name}”"))
    }

    fn calls_from(&self, begin: usize, end: usize) -> Vec<StubCall> {
        let calls = self.stub.calls();
        let end = end.min(calls.len());
        let calls = calls.get(begin..end).unwrap_or_default().iter();
        calls
            .filter(|call| !call.inputs.is_empty())
            .cloned()
            .collect()
    }

    /// Inputs that were served before the last step of a name began; all, without a name.
    pub(crate) fn served_before(&self, name: Option<&str>) -> Result<u64, String> {
        let end = match name {
            Some(name) => self.mark(name)?.0,
            None => usize::MAX,
        };
        Ok(served(&self.calls_from(0, end)))
    }

    /// The calls of searches, whose inputs are questions.
    pub(crate) fn is_question(&self, call: &StubCall, questions: &[String]) -> bool {
        let asks = |question: &String| call.inputs.iter().any(|input| input.ends_with(question));
        call.inputs.len() == 1 && questions.iter().any(asks)
    }
}

/// Inputs that were served.
pub(crate) fn served(calls: &[StubCall]) -> u64 {
    let inputs = calls.iter().filter(|call| call.status == 200);
    inputs.map(|call| call.inputs.len() as u64).sum()
}

/// Takes in what changed, and embeds what waits.
pub(crate) fn bring_up(host: &Host, embeds: bool) -> Result<(), String> {
    let said = |error: lorewell_engine::EngineError| error.to_string();
    host.refresh(Patience::Wait, &Quiet).map_err(said)?;
    if embeds {
        host.embed_waiting(&Quiet).map_err(said)?;
    }
    Ok(())
}

/// Embeds until nothing waits that could be embedded, at most for [`QUIET`].
pub(crate) fn embed_until_quiet(host: &Host) -> Result<(), String> {
    let until = Instant::now() + QUIET;
    loop {
        let embedding = host
            .embed_waiting(&Quiet)
            .map_err(|error| error.to_string())?;
        if embedding.waiting == 0 || Instant::now() > until {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Starts a test program that embeds what waits, as another process.
pub(crate) fn start_to_kill(
    root: &Path,
    index: &Path,
    embedding: &Embedding,
) -> Result<Child, String> {
    let asked = json!({
        "root": root,
        "index": index,
        "url": embedding.stub.url(),
        "model": embedding.model,
        "memory": embedding.memory,
    });
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    Command::new(program)
        .args(["--exact", "the_case_that_is_asked_for"])
        .env(TO_KILL, asked.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| error.to_string())
}

/// What the program that is started to be killed does: it embeds, as [`TO_KILL`] says.
///
/// # Panics
/// What it is told is not what this crate tells it.
pub fn embed_until_killed(asked: &str) {
    let asked: Value = serde_json::from_str(asked).expect("JSON");
    let text = |key: &str| asked[key].as_str().expect("a text").to_string();
    let model = text("model");
    let settings = EndpointSettings {
        address: Address::read(&text("url")).expect("an address"),
        prefixes: usual_prefixes(&model),
        model,
        key: Ok(None),
        batch: 1,
        timeout: QUIET,
        memory: text("memory").into(),
    };
    let endpoint: &'static Endpoint = Box::leak(Box::new(Endpoint::open(settings)));
    let (root, index) = (text("root"), text("index"));
    let host = Host::open(
        "vault",
        root.as_ref(),
        index.as_ref(),
        EngineSettings::default(),
    );
    let host = host.expect("it opens").with_embedder(endpoint);
    bring_up(&host, true).expect("it embeds");
}
