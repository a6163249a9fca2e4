//! A vault that is watched on another thread, and what its watcher tells.

use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use lorewell_engine::{EngineSettings, Host, Request, RuleSettings, Rules};
use lorewell_testkit::TempVault;
use lorewell_watch::{Cause, Comparison, Options, Report, Stop, WatchError, watch};

pub(crate) const DEADLINE: Duration = Duration::from_secs(120);

/// A vault that is watched on another thread.
pub(crate) struct Watching {
    pub(crate) vault: TempVault,
    pub(crate) host: Host,
    pub(crate) stop: Stop,
    reports: Receiver<Report>,
    thread: Option<JoinHandle<Result<(), WatchError>>>,
}

impl Watching {
    /// Begins, and waits until all is taken in.
    pub(crate) fn new(notes: &str, options: Options) -> Watching {
        let vault = TempVault::new(notes);
        let index = vault.beside("index");
        Watching::with(vault, &index, options, settings())
    }

    /// The same with an index and settings of its own.
    pub(crate) fn with(
        vault: TempVault,
        index: &Path,
        options: Options,
        settings: EngineSettings,
    ) -> Watching {
        let open = || Host::open("Notes", vault.root(), index, settings.clone()).unwrap();
        let (host, mut keeper) = (open(), open());
        let (send, reports) = mpsc::channel();
        let stop = Stop::new();
        let of_thread = stop.clone();
        let thread = thread::spawn(move || {
            let root = keeper.root().to_path_buf();
            let mut tell = |report| drop(send.send(report));
            watch(&root, &mut keeper, &options, &of_thread, &mut tell)
        });
        let watching = Watching {
            vault,
            host,
            stop,
            reports,
            thread: Some(thread),
        };
        watching.update_where(|comparison| comparison.cause == Cause::Start);
        watching
    }

    pub(crate) fn report(&self, until: Instant) -> Report {
        let left = until.saturating_duration_since(Instant::now());
        match self.reports.recv_timeout(left) {
            Ok(report) => report,
            Err(RecvTimeoutError::Timeout) => panic!("nothing was reported in {DEADLINE:?}"),
            Err(RecvTimeoutError::Disconnected) => panic!("the watcher has ended"),
        }
    }

    /// The first report that is wanted.
    pub(crate) fn report_where<T>(&self, wanted: impl Fn(Report) -> Option<T>) -> T {
        let until = Instant::now() + DEADLINE;
        loop {
            if let Some(found) = wanted(self.report(until)) {
                return found;
            }
        }
    }

    pub(crate) fn update_where(&self, wanted: impl Fn(&Comparison) -> bool) -> Comparison {
        self.report_where(|report| match report {
            Report::Compared(comparison) if wanted(&comparison) => Some(comparison),
            _ => None,
        })
    }

    /// Waits until the index is what the folder is, by updates that events led to.
    pub(crate) fn caught_up(&self) -> &Watching {
        let until = Instant::now() + DEADLINE;
        while self.host.behind().unwrap() > 0 {
            if let Report::Compared(comparison) = self.report(until) {
                let cause = comparison.cause;
                assert!(!matches!(cause, Cause::Check | Cause::Poll), "{cause:?}");
            }
        }
        self
    }

    /// The notes in which these words stand together, by the index as it is.
    pub(crate) fn found(&self, words: &str) -> Vec<String> {
        let mut request = Request::new(words);
        request.exact = true;
        let answer = self.host.view().unwrap().search(&request).unwrap();
        let notes = answer.passages.into_iter();
        let mut notes: Vec<String> = notes.map(|p| p.note.path.as_str().to_string()).collect();
        notes.sort();
        notes
    }

    pub(crate) fn end(mut self) {
        self.stop.stop();
        self.thread.take().unwrap().join().unwrap().unwrap();
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

/// Those of most tests: a folder is left out.
pub(crate) fn settings() -> EngineSettings {
    let rules = RuleSettings {
        folders: vec!["Private".to_string()],
        ..RuleSettings::default()
    };
    let mut settings = EngineSettings::default();
    settings.index.rules = Rules::new(rules).unwrap();
    settings
}
