//! A watcher on a thread of its own, as `lorewell watch` is one in a process of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use lorewell_engine::{EngineSettings, Freshness, Host, Observer, Rules};
use lorewell_watch::{
    Keeper, Options, Report, Stop, Trouble, WatchError, WatchLock, WatchLockAttempt, watch,
};

/// Whatever may happen on a busy machine, nothing takes so long.
const DEADLINE: Duration = Duration::from_secs(60);

/// A vault that is watched until this is dropped.
pub(crate) struct Watching {
    stop: Stop,
    reports: Receiver<Report>,
    thread: Option<JoinHandle<Result<(), WatchError>>>,
    shared: Arc<Mutex<Shared>>,
    /// A file that stands for the user's settings: the watcher looks at all anew when it changes.
    settings_file: PathBuf,
}

/// What the steps and the watcher have in common.
struct Shared {
    settings: EngineSettings,
    /// Counts the changes of the settings.
    wanted: u64,
    /// The settings of the update that ran last.
    applied: u64,
}

/// A vault that is opened anew before each update, with the settings as they are then.
struct Kept {
    root: PathBuf,
    index: PathBuf,
    shared: Arc<Mutex<Shared>>,
    open: Option<(u64, Host)>,
}

impl Watching {
    /// Begins to watch, and waits for the first comparison.
    pub(crate) fn begin(
        root: &Path,
        index: &Path,
        settings: &EngineSettings,
        settings_file: PathBuf,
    ) -> Result<Watching, String> {
        let said = |error: std::io::Error| error.to_string();
        fs::write(&settings_file, "0").map_err(said)?;
        let WatchLockAttempt::Taken(mut lock) = WatchLock::attempt(index).map_err(said)? else {
            return Err("another watcher is there".to_string());
        };
        let shared = Arc::new(Mutex::new(Shared {
            settings: settings.clone(),
            wanted: 0,
            applied: 0,
        }));
        let mut keeper = Kept {
            root: root.to_path_buf(),
            index: index.to_path_buf(),
            shared: Arc::clone(&shared),
            open: None,
        };
        let options = Options {
            also: vec![settings_file.clone()],
            poll: Duration::from_millis(50),
            away: Duration::from_millis(20),
            ..Options::default()
        };
        let (stop, root) = (Stop::new(), root.to_path_buf());
        let of_thread = stop.clone();
        let (send, reports) = mpsc::channel();
        let thread = thread::spawn(move || {
            let mut tell = |report: Report| {
                if let Report::Watching(way) = &report {
                    lock.tell(way);
                }
                drop(send.send(report));
            };
            watch(&root, &mut keeper, &options, &of_thread, &mut tell)
        });
        let watching = Watching {
            stop,
            reports,
            thread: Some(thread),
            shared,
            settings_file,
        };
        watching.next(Instant::now() + DEADLINE, |report| {
            !matches!(report, Report::Watching(_))
        })?;
        Ok(watching)
    }

    /// Gives the watcher other settings, and waits for an update by them.
    pub(crate) fn configure(&self, settings: &EngineSettings) -> Result<(), String> {
        let wanted = {
            let mut shared = lock(&self.shared);
            shared.settings = settings.clone();
            shared.wanted += 1;
            shared.wanted
        };
        fs::write(&self.settings_file, wanted.to_string()).map_err(|e| e.to_string())?;
        let until = Instant::now() + DEADLINE;
        while lock(&self.shared).applied < wanted {
            self.next(until, |report| matches!(report, Report::Compared(_)))?;
        }
        Ok(())
    }

    /// Waits until the watcher has seen what was done: the index is what the folder is, but for
    /// what cannot be read, or the folder is away.
    pub(crate) fn settled(&self, host: impl Fn() -> Option<Host>) -> Result<(), String> {
        let until = Instant::now() + DEADLINE;
        let mut unreadable = 0;
        loop {
            let behind = host().and_then(|host| host.behind().ok());
            if behind.is_some_and(|behind| behind <= unreadable) {
                return Ok(());
            }
            match self.next(until, |_| true)? {
                Report::Compared(comparison) => {
                    unreadable = comparison.freshness.unreadable.changed()
                }
                Report::Away { .. } => return Ok(()),
                _ => {}
            }
        }
    }

    fn next(&self, until: Instant, wanted: impl Fn(&Report) -> bool) -> Result<Report, String> {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let report = self.reports.recv_timeout(left);
            let report = report.map_err(|error| format!("the watcher says nothing: {error}"))?;
            if wanted(&report) {
                return Ok(report);
            }
        }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.stop.stop();
        // A watcher that panicked shows in the checks.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl Kept {
    fn host(&mut self) -> Result<(u64, &mut Host), Trouble> {
        let (version, settings) = {
            let shared = lock(&self.shared);
            (shared.wanted, shared.settings.clone())
        };
        let is_new = self.open.as_ref().is_none_or(|(of, _)| *of != version);
        if is_new {
            self.open = None;
        }
        let open = match self.open.take() {
            Some(open) => open,
            None => (
                version,
                Host::open("vault", &self.root, &self.index, settings)?,
            ),
        };
        let (version, host) = self.open.insert(open);
        Ok((*version, host))
    }
}

impl Keeper for Kept {
    fn ready(&mut self) -> Result<Rules, Trouble> {
        self.host()?.1.ready()
    }

    fn update(&mut self, observer: &dyn Observer) -> Result<Freshness, Trouble> {
        let (version, host) = self.host()?;
        let outcome = host.update(observer)?;
        lock(&self.shared).applied = version;
        Ok(outcome)
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
