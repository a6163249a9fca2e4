//! `models pull`.

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use clap::ArgMatches;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lorewell_models::{Manifest, Origin, Progress, Task};
use lorewell_setup::{Config, Environment, Flags, model_store};
use serde_json::json;

use super::{given, hub};
use crate::outcome::{Outcome, Problem};
use crate::progress;
use crate::style::{self, inert_line};

/// Fetches a model.
pub(super) fn run(environment: &Environment, matches: &ArgMatches) -> Result<Outcome, Problem> {
    let config = Config::load(environment)?;
    let settings = config.settings(None, &Flags::new())?;
    let store = model_store(environment);
    let asked = given(matches, "name");
    let bar = Bar::new(&settings.progress());
    let outcome = match matches.get_one::<String>("from") {
        Some(folder) => {
            let folder = environment.current_dir.join(PathBuf::from(folder));
            store.pull_from(asked, &folder, &bar)
        }
        None => {
            let revision = matches.get_one::<String>("revision").map(String::as_str);
            store.pull(asked, revision, &hub()?, &bar)
        }
    };
    bar.end();
    let manifest = outcome?;
    if matches.get_flag("json") {
        style::print_data(&as_json(&manifest).to_string());
        return Ok(Outcome::Done);
    }
    let name = inert_line(&manifest.name);
    let mut said = format!("{name} is here.\n");
    if let Origin::Folder { folder } = &manifest.origin {
        said += &format!(
            "Its files were taken from {} as they are: nothing here can tell whether they are those of \
             {name}.\n",
            inert_line(folder)
        );
    }
    if manifest.task == Task::Rerank {
        said +=
            "It is a reranker: it judges the first passages of an answer, and embeds nothing.\n";
    }
    if !manifest.vetted && manifest.task == Task::Rerank {
        said += "It is not on the shortlist, so nobody here knows how good it is.\n";
    } else if !manifest.vetted {
        said += &format!(
            "It is not on the shortlist, so nobody here knows how good it is. By its files it is used \
             with the pooling `{}`, “{}” before questions and “{}” before passages, up to {} tokens.\n",
            manifest.recipe.pooling,
            inert_line(&manifest.recipe.question_prefix),
            inert_line(&manifest.recipe.passage_prefix),
            manifest.longest
        );
    }
    said += &format!("`lorewell models use {name} --vault NAME` gives it to a vault.\n");
    style::print_text(&said);
    Ok(Outcome::Done)
}

fn as_json(manifest: &Manifest) -> serde_json::Value {
    let origin = match &manifest.origin {
        Origin::Hub {
            hub,
            repository,
            revision,
        } => json!({ "hub": hub, "repository": repository, "revision": revision }),
        Origin::Folder { folder } => json!({ "folder": folder }),
    };
    json!({
        "contract": 1,
        "model": manifest.name,
        "task": manifest.task,
        "vetted": manifest.vetted,
        "origin": origin,
        "dimension": manifest.dimension,
        "recipe": {
            "pooling": manifest.recipe.pooling,
            "question_prefix": manifest.recipe.question_prefix,
            "passage_prefix": manifest.recipe.passage_prefix,
            "longest": manifest.longest,
        },
        "bytes": manifest.files.iter().map(|file| file.bytes).sum::<u64>(),
    })
}

/// A bar for each file on a terminal; elsewhere a line now and then, if that is wanted.
pub(super) struct Bar {
    bar: ProgressBar,
    lines: bool,
    said: Mutex<Instant>,
}

impl Bar {
    /// `when`: the setting `progress`.
    pub(super) fn new(when: &str) -> Bar {
        progress::hear_interrupts();
        progress::work(true);
        let bar = ProgressBar::hidden();
        let template = "{msg}  {bytes}/{total_bytes}  {bytes_per_sec}  {wide_bar}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        let on_terminal = progress::on_terminal();
        if when != "never" && on_terminal {
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        Bar {
            bar,
            lines: when == "always" && !on_terminal,
            said: Mutex::new(Instant::now()),
        }
    }

    pub(super) fn end(&self) {
        self.bar.finish_and_clear();
        progress::work(false);
    }
}

impl Progress for Bar {
    fn file(&self, path: &str, bytes: u64) {
        self.bar.set_message(inert_line(path));
        self.bar.set_length(bytes);
        self.bar.set_position(0);
        self.bar.reset_eta();
    }

    fn at(&self, bytes: u64) {
        self.bar.set_position(bytes);
        if !self.lines {
            return;
        }
        let Ok(mut said) = self.said.try_lock() else {
            return;
        };
        let whole = self.bar.length() == Some(bytes);
        if whole || said.elapsed() > Duration::from_secs(5) {
            *said = Instant::now();
            let all = self.bar.length().unwrap_or(0);
            style::note(&format!("{}: {bytes} of {all} bytes", self.bar.message()));
        }
    }

    fn says(&self, words: &str) {
        self.bar.suspend(|| style::note(&inert_line(words)));
    }

    fn stopped(&self) -> bool {
        progress::was_interrupted()
    }
}
