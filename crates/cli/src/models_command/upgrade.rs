//! Embedding what waits, in this process: with `models use --wait`, or in the background.

use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use clap::ArgMatches;
use lorewell_capabilities::Failure;
use lorewell_engine::{Host, Observer, Patience};
use lorewell_setup::{Config, Environment, Settings};

use crate::capability::chosen_vault;
use crate::outcome::{Outcome, Problem};
use crate::progress::Progress;

/// The code of the error where the model leaves passages without a vector.
pub(crate) const NOT_EMBEDDED: &str = "not_embedded";

/// So often it is looked whether another process that embeds is done, and what the settings say.
const PAUSE: Duration = Duration::from_millis(200);

/// Embeds what waits for the model of a vault's settings, behind everything else.
pub(super) fn run(environment: &Environment, matches: &ArgMatches) -> Result<Outcome, Problem> {
    let config = Config::load(environment)?;
    let (vault, settings) = chosen_vault(&config, matches)?;
    let host = lorewell_setup::open(&config, &settings, &vault)?;
    let progress = Progress::new(&settings.progress());
    host.refresh(Patience::Wait, &progress)?;
    let wanted = StillWanted::new(environment, matches, &settings);
    lorewell_watch::run_behind(|| embed(&host, &progress, &wanted))?;
    Ok(Outcome::Done)
}

/// Embeds until nothing waits. Where another process does, waits for it.
///
/// # Errors
/// It was stopped; the settings name another model by now; the model does not answer; the index.
pub(super) fn embed(
    host: &Host,
    progress: &Progress,
    wanted: &StillWanted<'_>,
) -> Result<(), Problem> {
    loop {
        let observer = Passages { progress, wanted };
        let embedding = progress.through(|| host.embed_waiting(&observer))?;
        if progress.interrupted() {
            return Err(Problem(Failure {
                code: "interrupted".to_string(),
                message: format!(
                    "stopped; {} passages have no vector of {} yet",
                    embedding.waiting,
                    host.embedder().model()
                ),
                hint: "What was embedded is kept; the same command goes on from there.".to_string(),
            }));
        }
        if let Some(other) = wanted.other() {
            let (model, waiting) = (host.embedder().model(), embedding.waiting);
            return Err(Problem(Failure {
                code: NOT_EMBEDDED.to_string(),
                message: format!(
                    "the settings name {other} now: {model} leaves off, with {waiting} passages to go"
                ),
                hint: "What was embedded is kept; `lorewell models use` goes on from there."
                    .to_string(),
            }));
        }
        if embedding.waiting == 0 {
            return Ok(());
        }
        if !embedding.elsewhere {
            let model = host.embedder().model();
            let reason = embedding
                .reason
                .unwrap_or_else(|| format!("{model} did not take them"));
            return Err(Problem(Failure {
                code: NOT_EMBEDDED.to_string(),
                message: format!(
                    "{} passages have no vector yet: {reason}",
                    embedding.waiting
                ),
                hint: "What was embedded is kept; the same command goes on from there.".to_string(),
            }));
        }
        thread::sleep(PAUSE);
    }
}

/// Whether the settings still name the model that is embedded for; looked at now and then.
pub(super) struct StillWanted<'a> {
    environment: &'a Environment,
    matches: &'a ArgMatches,
    model: [String; 2],
    seen: Mutex<(Instant, Option<String>)>,
}

impl<'a> StillWanted<'a> {
    /// `settings` are those that the model was taken from.
    pub(super) fn new(
        environment: &'a Environment,
        matches: &'a ArgMatches,
        settings: &Settings,
    ) -> StillWanted<'a> {
        StillWanted {
            environment,
            matches,
            model: model_of(settings),
            seen: Mutex::new((Instant::now(), None)),
        }
    }

    /// The model that they name instead, if they do. Settings that cannot be read now change
    /// nothing.
    fn other(&self) -> Option<String> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.1.is_none() && seen.0.elapsed() >= PAUSE {
            let now = Config::load(self.environment)
                .map_err(Problem::from)
                .and_then(|config| chosen_vault(&config, self.matches));
            let other = now.ok().map(|(_, settings)| model_of(&settings));
            let other = other.filter(|model| *model != self.model);
            *seen = (Instant::now(), other.map(|[model, _]| model));
        }
        seen.1.clone()
    }
}

fn model_of(settings: &Settings) -> [String; 2] {
    [settings.model(), settings.precision()]
}

/// Hears of passages, and not of the notes that they stand in.
struct Passages<'a> {
    progress: &'a Progress,
    wanted: &'a StillWanted<'a>,
}

impl Observer for Passages<'_> {
    fn vectors(&self, done: u64, all: u64) {
        self.progress.vectors(done, all);
    }

    fn stopped(&self) -> bool {
        self.progress.stopped() || self.wanted.other().is_some()
    }
}
