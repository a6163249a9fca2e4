//! Embedding what waits, in this process: with `models use --wait`, or in the background.

use std::thread;
use std::time::Duration;

use clap::ArgMatches;
use lorewell_capabilities::Failure;
use lorewell_engine::{Host, Observer, Patience};
use lorewell_setup::{Config, Environment};

use crate::capability::chosen_vault;
use crate::outcome::{Outcome, Problem};
use crate::progress::Progress;

/// The code of the error where the model leaves passages without a vector.
pub(crate) const NOT_EMBEDDED: &str = "not_embedded";

/// While another process embeds, so often it is looked whether it is done.
const PAUSE: Duration = Duration::from_millis(200);

/// Embeds what waits for the model of a vault's settings, behind everything else.
pub(super) fn run(environment: &Environment, matches: &ArgMatches) -> Result<Outcome, Problem> {
    let config = Config::load(environment)?;
    let (vault, settings) = chosen_vault(&config, matches)?;
    let host = lorewell_setup::open(&config, &settings, &vault)?;
    let progress = Progress::new("never");
    host.refresh(Patience::Wait, &progress)?;
    lorewell_watch::run_behind(|| embed(&host, &progress))?;
    Ok(Outcome::Done)
}

/// Embeds until nothing waits. Where another process does, waits for it.
///
/// # Errors
/// It was stopped; the model does not answer; the index.
pub(super) fn embed(host: &Host, progress: &Progress) -> Result<(), Problem> {
    loop {
        let embedding = progress.through(|| host.embed_waiting(&Passages(progress)))?;
        if progress.interrupted() {
            return Err(Failure::interrupted(embedding.waiting).into());
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

/// Hears of passages, and not of the notes that they stand in.
struct Passages<'a>(&'a Progress);

impl Observer for Passages<'_> {
    fn vectors(&self, done: u64, all: u64) {
        self.0.vectors(done, all);
    }

    fn stopped(&self) -> bool {
        self.0.stopped()
    }
}
