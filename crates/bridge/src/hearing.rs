//! What hears of long work on behalf of one request, and what may end it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use lorewell_engine::{Observer, Stage};
use serde::{Deserialize, Serialize};

/// How far long work is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Notes that were read.
    pub done: usize,
    /// Notes that are to be read.
    pub of: usize,
    /// What is being done.
    pub stage: StageName,
}

/// The kinds of long work, as clients are told of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StageName {
    /// Notes are read.
    #[default]
    Notes,
    /// Words are indexed.
    Words,
    /// The catalogue is written.
    Catalogue,
    /// Segments are joined.
    Merge,
}

/// Ends the work of a request, from wherever it is known that nobody waits for it any more.
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    own: Arc<AtomicBool>,
    /// Ends the work of all.
    all: Arc<AtomicBool>,
}

/// What gets progress.
type Sink = Box<dyn Fn(Progress) + Send + Sync>;

/// Hears for one request.
pub struct Hearing {
    cancel: Cancel,
    sink: Sink,
    done: AtomicUsize,
    of: AtomicUsize,
    stage: AtomicUsize,
}

/// Work on fewer files is over before anybody could read of it.
const WORTH_TELLING: usize = 50;

impl Cancel {
    /// Nothing is cancelled yet.
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Nothing is cancelled yet; it will be when `all` is set.
    pub(crate) fn with(all: Arc<AtomicBool>) -> Cancel {
        Cancel {
            own: Arc::default(),
            all,
        }
    }

    /// Nobody waits any more.
    pub fn cancel(&self) {
        self.own.store(true, Ordering::SeqCst);
    }

    /// Whether it was called off.
    pub fn is_cancelled(&self) -> bool {
        self.own.load(Ordering::SeqCst) || self.all.load(Ordering::SeqCst)
    }
}

impl Hearing {
    /// Tells nobody of progress.
    pub fn silent(cancel: Cancel) -> Hearing {
        Hearing::telling(cancel, Box::new(|_| {}))
    }

    /// Tells `sink`, about a hundred times in all.
    pub fn telling(cancel: Cancel, sink: Sink) -> Hearing {
        Hearing {
            cancel,
            sink,
            done: AtomicUsize::new(0),
            of: AtomicUsize::new(0),
            stage: AtomicUsize::new(0),
        }
    }

    fn tell(&self) {
        let of = self.of.load(Ordering::Relaxed);
        if of >= WORTH_TELLING {
            (self.sink)(Progress {
                done: self.done.load(Ordering::Relaxed),
                of,
                stage: match self.stage.load(Ordering::Relaxed) {
                    0 => StageName::Notes,
                    1 => StageName::Words,
                    2 => StageName::Catalogue,
                    _ => StageName::Merge,
                },
            });
        }
    }
}

impl Observer for Hearing {
    fn begin(&self, files: usize) {
        self.of.store(files, Ordering::Relaxed);
        self.tell();
    }

    fn note_done(&self, _: &str) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if done.is_multiple_of(self.of.load(Ordering::Relaxed).div_ceil(100).max(1)) {
            self.tell();
        }
    }

    fn stage(&self, stage: Stage) {
        let number = match stage {
            Stage::Notes => 0,
            Stage::Words => 1,
            Stage::Catalogue => 2,
            Stage::Merge => 3,
        };
        self.stage.store(number, Ordering::Relaxed);
        self.tell();
    }

    fn stopped(&self) -> bool {
        self.cancel.is_cancelled()
    }
}

/// Tells an observer of work that runs elsewhere.
#[derive(Default)]
pub(crate) struct Relay {
    of: usize,
    done: usize,
    stage: StageName,
}

impl Relay {
    /// The work is so far.
    pub(crate) fn tell(&mut self, progress: Progress, observer: &dyn Observer) {
        if progress.of != self.of {
            observer.begin(progress.of);
            (self.of, self.done) = (progress.of, 0);
        }
        for _ in self.done..progress.done {
            observer.note_done("");
        }
        self.done = self.done.max(progress.done);
        if progress.stage != self.stage {
            self.stage = progress.stage;
            observer.stage(match progress.stage {
                StageName::Notes => Stage::Notes,
                StageName::Words => Stage::Words,
                StageName::Catalogue => Stage::Catalogue,
                StageName::Merge => Stage::Merge,
            });
        }
    }

    /// Notes that were still to be read.
    pub(crate) fn left(&self) -> u64 {
        self.of.saturating_sub(self.done) as u64
    }
}
