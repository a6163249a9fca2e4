//! `lorewell watch`: keeps a vault's index up to date until it is stopped.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use clap::ArgMatches;
use lorewell_capabilities::Failure;
use lorewell_direct::took_out;
use lorewell_engine::{EngineError, Freshness, Host, IndexError, Observer, Patience, Rules};
use lorewell_setup::{
    Config, Environment, Flags, Key, OpenError, Settings, SetupError, VaultRef, index_root,
    remote_is_left_over,
};
use lorewell_watch::{
    By, Comparison, Keeper, LateReport, LateVectors, Options, Report, Stop, Trouble, WatchError,
    WatchLock, WatchLockAttempt, Way, watch,
};
use serde_json::{Value, json};

use crate::audit_command::follow;
use crate::capability::chosen_vault;
use crate::outcome::{Outcome, Problem};
use crate::render::counted;
use crate::style;

/// The code of the error where another process watches the vault.
pub(crate) const ALREADY_WATCHED: &str = "already_watched";

/// So long a watcher that was asked to stop may take, unless an update is on its way.
const GRACE: Duration = Duration::from_secs(2);

/// A vault whose settings are read anew before each update: an index that is kept by settings of
/// yesterday would bring back what was excluded today.
struct Kept {
    environment: Environment,
    vault: VaultRef,
    flags: Flags,
    settings: Settings,
    /// The file of the model as it was when the host was opened.
    models: Vec<Option<SystemTime>>,
    host: Arc<Host>,
    late: LateVectors,
}

/// What was said last, so that nothing is said twice.
#[derive(Clone)]
struct Voice {
    vault: String,
    json: bool,
    /// Pending and unreadable notes; nothing before the first comparison.
    said: Option<(usize, usize)>,
    failed: bool,
}

/// Watches until it is stopped.
pub(crate) fn run(environment: &Environment, matches: &ArgMatches) -> Result<Outcome, Problem> {
    let config = Config::load(environment)?;
    let (vault, settings) = chosen_vault(&config, matches)?;
    for warning in config.warnings().iter().chain(settings.warnings()) {
        style::warn(&warning.message);
    }
    style::set_color(&settings.color());
    let host = lorewell_setup::open(&config, &settings, &vault)?;
    let mut lock = lock(&host)?;
    let stop = Stop::new();
    hear_signals(&stop);
    let options = options(&config, &settings);
    let root = host.root().to_path_buf();
    let mut voice = Voice {
        vault: vault.name.clone(),
        json: matches.get_flag("json"),
        said: None,
        failed: false,
    };
    let mut flags = Flags::new();
    // The index stays where it is while this process has its lock.
    let folder = index_root(environment, &settings);
    flags.set(Key::IndexDir, folder.display().to_string());
    let late = LateVectors::begin({
        let voice = voice.clone();
        move |report| voice.late(&report)
    });
    let late = late.map_err(|error| Failure::internal(format!("no thread: {error}")))?;
    let mut kept = Kept {
        environment: environment.clone(),
        vault,
        flags,
        models: model_times(environment, &settings),
        settings,
        host: Arc::new(host),
        late,
    };
    watch(&root, &mut kept, &options, &stop, &mut |report| {
        if let Report::Watching(way) = &report {
            lock.tell(way);
        }
        voice.tell(&report);
    })?;
    // What it embeds ends first.
    drop(kept);
    voice.say(&json!({ "event": "stopped" }), || "stopped".to_string());
    Ok(Outcome::Done)
}

/// The lock of the only watcher.
fn lock(host: &Host) -> Result<WatchLock, Problem> {
    let folder = host.index_folder();
    match WatchLock::attempt(folder) {
        Ok(WatchLockAttempt::Taken(lock)) => Ok(lock),
        Ok(WatchLockAttempt::HeldBy(process)) => {
            let who = process.map_or(String::new(), |id| format!(" ({id})"));
            Err(Problem(Failure {
                code: ALREADY_WATCHED.to_string(),
                message: format!("another process{who} watches “{}” already", host.name()),
                hint: "The index is kept up to date by that; there is nothing to do.".to_string(),
            }))
        }
        Err(error) => Err(EngineError::from(index_error(folder, error)).into()),
    }
}

fn index_error(folder: &Path, source: io::Error) -> IndexError {
    let path = folder.to_path_buf();
    match source.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => IndexError::DiskFull(path),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            IndexError::NoPermission(path)
        }
        ErrorKind::NotADirectory | ErrorKind::AlreadyExists => IndexError::NotAFolder(path),
        _ => IndexError::Io { path, source },
    }
}

fn options(config: &Config, settings: &Settings) -> Options {
    let seconds = Duration::from_secs;
    Options {
        by: match settings.watch().as_str() {
            "events" => By::Events,
            "poll" => By::Poll,
            _ => By::Auto,
        },
        check: seconds(settings.watch_check_minutes() * 60),
        poll: seconds(settings.watch_poll_seconds()),
        also: also(config, settings),
        ..Options::default()
    }
}

/// Files outside of the vault that decide what an index holds.
fn also(config: &Config, settings: &Settings) -> Vec<PathBuf> {
    let models = lorewell_setup::model_files(config.environment(), settings);
    [config.path().to_path_buf()]
        .into_iter()
        .chain(models)
        .collect()
}

/// The first signal asks the watcher to stop, the second ends the process at once.
fn hear_signals(stop: &Stop) {
    static ASKED: AtomicBool = AtomicBool::new(false);
    let stop = stop.clone();
    let _ = ctrlc::set_handler(move || {
        if ASKED.swap(true, Ordering::SeqCst) {
            std::process::exit(2);
        }
        stop.stop();
        let stop = stop.clone();
        // It may be waiting for another process that writes the index; then nothing is half done.
        thread::spawn(move || {
            thread::sleep(GRACE);
            if !stop.is_working() {
                std::process::exit(0);
            }
        });
    });
}

impl Kept {
    fn read_anew(&mut self) -> Result<(), OpenError> {
        let config = Config::load(&self.environment)?;
        let settings = config.settings(Some(&self.vault), &self.flags)?;
        let models = model_times(&self.environment, &settings);
        if settings != self.settings || models != self.models {
            self.host = Arc::new(lorewell_setup::open(&config, &settings, &self.vault)?);
            (self.settings, self.models) = (settings, models);
        }
        Ok(())
    }
}

impl Keeper for Kept {
    fn ready(&mut self) -> Result<Rules, Trouble> {
        self.read_anew().map_err(|error| match error {
            OpenError::Setup(error) => setup_trouble(&error),
            OpenError::Engine(error) => error.into(),
        })?;
        Ok(self.host.rules_in_force())
    }

    fn update(&mut self, observer: &dyn Observer) -> Result<Freshness, Trouble> {
        let freshness = self.host.refresh(Patience::Read, observer)?;
        self.late.wake(Arc::clone(&self.host));
        if let Ok(config) = Config::load(&self.environment)
            && (took_out(&freshness) || remote_is_left_over(&config, &self.settings, &self.vault))
        {
            follow(&config, &self.settings, &self.vault, &self.host);
        }
        Ok(freshness)
    }
}

/// When the files of the wanted models were written; they may be fetched while this watches.
fn model_times(environment: &Environment, settings: &Settings) -> Vec<Option<SystemTime>> {
    let time = |file: PathBuf| std::fs::metadata(file).ok()?.modified().ok();
    let files = lorewell_setup::model_files(environment, settings);
    files.into_iter().map(time).collect()
}

fn setup_trouble(error: &SetupError) -> Trouble {
    Trouble {
        code: error.code().to_string(),
        message: error.to_string(),
        hint: error.hint().unwrap_or_default(),
    }
}

impl From<WatchError> for Problem {
    fn from(error: WatchError) -> Problem {
        Problem(Failure {
            code: error.code().to_string(),
            message: error.to_string(),
            hint: error.hint().to_string(),
        })
    }
}

impl Voice {
    fn tell(&mut self, report: &Report) {
        match report {
            Report::Watching(way) => self.watching(way),
            Report::Compared(comparison) => self.compared(comparison),
            Report::Failed { trouble, again_in } => self.failed(trouble, *again_in),
            Report::Away { root, bare } => self.away(root, *bare),
            Report::Back { root } => {
                let json = json!({ "event": "back", "path": root.display().to_string() });
                self.say(&json, || format!("{} is back", root.display()));
            }
        }
    }

    /// What came of the passages that waited for a vector.
    fn late(&self, report: &LateReport) {
        match report {
            LateReport::Embedded { model, embedding } => {
                let done = embedding.settled + embedding.refused;
                if done == 0 && (embedding.reason.is_none() || embedding.elsewhere) {
                    return;
                }
                let json = json!({
                    "event": "embedded",
                    "model": model,
                    "settled": embedding.settled,
                    "embedded": embedding.embedded,
                    "refused": embedding.refused,
                    "waiting": embedding.waiting,
                    "reason": embedding.reason,
                });
                self.say(&json, || {
                    let mut words =
                        format!("{} embedded by {model}", counted(done as u64, "passage"));
                    if embedding.waiting > 0 {
                        words += &format!(", {} to come", embedding.waiting);
                    }
                    if let Some(reason) = &embedding.reason {
                        words += &format!(": {reason}");
                    }
                    words
                });
            }
            LateReport::Failed(trouble) => {
                let json = json!({ "event": "failed", "error": {
                    "code": trouble.code, "message": trouble.message, "hint": trouble.hint,
                }});
                self.warn(&json, || trouble.message.clone());
            }
        }
    }

    /// One line: data with `--json`, else words.
    fn say(&self, event: &Value, words: impl FnOnce() -> String) {
        if self.json {
            style::print_data(&self.line(event));
        } else {
            style::note(&words());
        }
    }

    /// The same for what should be noticed.
    fn warn(&self, event: &Value, words: impl FnOnce() -> String) {
        if self.json {
            style::print_data(&self.line(event));
        } else {
            style::warn(&words());
        }
    }

    /// An event in the frame that all have.
    fn line(&self, event: &Value) -> String {
        let mut line = json!({ "contract": 1, "event": event["event"], "vault": self.vault });
        if let (Some(line), Some(event)) = (line.as_object_mut(), event.as_object()) {
            // Absent values are left out.
            let there = event.iter().filter(|(_, value)| !value.is_null());
            line.extend(there.map(|(name, value)| (name.clone(), value.clone())));
        }
        line.to_string()
    }

    fn watching(&self, way: &Way) {
        match way {
            Way::Events { folders } => {
                let json = json!({ "event": "watching", "by": "events", "folders": folders });
                self.say(&json, || format!("watching {}", self.vault));
            }
            Way::Poll { every, reason } => {
                let seconds = every.as_secs();
                let json = json!({
                    "event": "watching",
                    "by": "poll",
                    "every_seconds": seconds,
                    "reason": reason,
                });
                let words = format!("looking at {} every {seconds} s", self.vault);
                match reason {
                    Some(reason) => self.warn(&json, || format!("{reason}; {words}")),
                    None => self.say(&json, || words),
                }
            }
        }
    }

    /// Told at first, and when something changed, in the index or in how it stands.
    fn compared(&mut self, comparison: &Comparison) {
        let Freshness {
            pending,
            reason,
            unreadable,
            report,
        } = &comparison.freshness;
        let unreadable = unreadable.doubtful();
        let (taken_in, removed) = report.as_ref().map_or((0, 0), |r| (r.taken_in, r.removed));
        let stands = (*pending, unreadable);
        let news = taken_in + removed > 0 || self.said != Some(stands) || self.failed;
        self.said = Some(stands);
        self.failed = false;
        if !news {
            return;
        }
        let ms = comparison.took.as_millis() as u64;
        let json = json!({
            "event": "updated",
            "taken_in": taken_in,
            "removed": removed,
            "pending": pending,
            "unreadable": unreadable,
            "reason": reason,
            "generation": report.as_ref().map(|report| report.generation),
            "ms": ms,
        });
        self.say(&json, || {
            let mut words = match (taken_in, removed) {
                (0, 0) if *pending == 0 => "up to date".to_string(),
                (0, 0) => "not up to date".to_string(),
                (n, 0) => format!("taken in {}", counted(n as u64, "note")),
                (0, n) => format!("removed {}", counted(n as u64, "note")),
                (n, m) => format!("taken in {}, removed {m}", counted(n as u64, "note")),
            };
            words += &format!(", {ms} ms");
            if *pending > 0 {
                words += &format!("; {} to be taken in", counted(*pending as u64, "note"));
            }
            if let Some(reason) = reason {
                words += &format!(": {reason}");
            }
            words
        });
    }

    fn failed(&mut self, trouble: &Trouble, again_in: Duration) {
        self.failed = true;
        let error = Failure {
            code: trouble.code.clone(),
            message: trouble.message.clone(),
            hint: trouble.hint.clone(),
        };
        let seconds = again_in.as_secs();
        let json = json!({ "event": "failed", "error": error, "again_in_seconds": seconds });
        self.warn(&json, || {
            let mut words = format!("{}; trying again in {seconds} s", trouble.message);
            if !trouble.hint.is_empty() {
                words += &format!("\n  {}", trouble.hint);
            }
            words
        });
    }

    fn away(&self, root: &Path, bare: bool) {
        let path = root.display().to_string();
        let json = json!({ "event": "away", "path": path, "bare": bare });
        self.warn(&json, || {
            let how = if bare {
                "there is nothing in"
            } else {
                "there is no folder"
            };
            format!(
                "{how} {path} now; the index stays as it is, waiting for the notes to come back"
            )
        });
    }
}
