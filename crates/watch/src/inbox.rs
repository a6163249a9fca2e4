//! Where hints wait until it has been quiet for a moment (debouncing), and where a watcher sleeps.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lorewell_engine::Observer;

/// Ends a watcher, from any thread. An update that runs stops at its next safe point.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    pub(crate) inbox: Arc<Inbox>,
}

impl Stop {
    /// Of a watcher that is still to begin.
    pub fn new() -> Stop {
        Stop::default()
    }

    /// Asks the watcher to end.
    pub fn stop(&self) {
        self.inbox.stop();
    }

    /// Whether an update runs that must reach a safe point first. Waiting for another process
    /// that writes the index is none.
    pub fn is_working(&self) -> bool {
        self.inbox.working.load(Ordering::SeqCst)
    }

    /// How often the watcher was told something.
    pub fn told(&self) -> u64 {
        self.inbox.state().told
    }

    /// Waits until the watcher has looked once, and at all that it was told by the time that
    /// [`Stop::told`] was `told`; but not longer than `until`. Whether it has. What is gathered is
    /// looked at without waiting for a quiet moment.
    pub fn wait_until_looked(&self, told: u64, until: Instant) -> bool {
        self.inbox.wait_until_looked(told, until)
    }
}

/// What events were about, gathered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hints {
    /// The path of the first, from the vault's root.
    pub(crate) first: String,
    /// Folders that came, went or moved: what is watched below them must be found anew.
    pub(crate) folders: BTreeSet<PathBuf>,
    /// What is watched in the whole vault must be found anew.
    pub(crate) everything: bool,
    /// Somebody waits for the look at them.
    pub(crate) hurried: bool,
}

/// How long hints are gathered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// Until it was quiet for so long.
    pub(crate) quiet: Duration,
    /// But not longer than this after the first.
    pub(crate) longest: Duration,
}

/// One save is told as several events, at once. Where somebody waits, these are gathered and no
/// more: else the look at the first would be followed by one at the others.
const OF_ONE_SAVE: Duration = Duration::from_millis(2);

impl Pace {
    fn due(self, first: Instant, last: Instant) -> Instant {
        (last + self.quiet).min(first + self.longest)
    }

    /// The pace where somebody waits.
    fn hurried(self) -> Pace {
        Pace {
            quiet: self.quiet.min(OF_ONE_SAVE),
            longest: self.longest.min(OF_ONE_SAVE * 2),
        }
    }
}

/// Why a watcher woke up.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Wake {
    Stop,
    Hints(Hints),
    Time,
}

#[derive(Debug, Default)]
pub(crate) struct Inbox {
    state: Mutex<State>,
    bell: Condvar,
    stopped: AtomicBool,
    working: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    hints: Hints,
    /// When the first and the last hint came; nothing if there is none.
    times: Option<(Instant, Instant)>,
    /// Somebody waits for what is gathered.
    hurried: bool,
    /// How many hints came.
    told: u64,
    /// How many had come when the watcher last woke up.
    taken: u64,
    /// How many had come when its last look began that is over; nothing before the first.
    looked: Option<u64>,
}

impl Inbox {
    /// Adds a hint. Only the first of many wakes the watcher.
    pub(crate) fn hint(&self, path: &str, folder: Option<PathBuf>, everything: bool) {
        let now = Instant::now();
        let mut state = self.state();
        state.hints.folders.extend(folder);
        state.hints.everything |= everything;
        state.told += 1;
        match &mut state.times {
            Some((_, last)) => *last = now,
            times @ None => {
                *times = Some((now, now));
                state.hints.first = path.to_string();
                self.bell.notify_all();
            }
        }
    }

    /// Sleeps until hints are due, until a time, or until it is to stop.
    pub(crate) fn wait(&self, until: Instant, pace: Pace) -> Wake {
        let mut state = self.state();
        loop {
            if self.stopped() {
                return Wake::Stop;
            }
            let now = Instant::now();
            let pace_now = if state.hurried { pace.hurried() } else { pace };
            let due = state.times.map(|(first, last)| pace_now.due(first, last));
            if due.is_some_and(|due| due <= now) {
                let mut hints = std::mem::take(&mut state.hints);
                hints.hurried = state.hurried;
                (state.times, state.hurried, state.taken) = (None, false, state.told);
                return Wake::Hints(hints);
            }
            if due.is_none() && until <= now {
                return Wake::Time;
            }
            let at = due.unwrap_or(until);
            let waited = self.bell.wait_timeout(state, at.duration_since(now));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// A look is over, and what came of it was told.
    pub(crate) fn look_is_over(&self) {
        let mut state = self.state();
        state.looked = Some(state.taken);
        self.bell.notify_all();
    }

    fn wait_until_looked(&self, told: u64, until: Instant) -> bool {
        let mut state = self.state();
        loop {
            if state.looked.is_some_and(|looked| looked >= told) {
                return true;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || self.stopped() {
                return false;
            }
            if state.times.is_some() && !state.hurried {
                state.hurried = true;
                self.bell.notify_all();
            }
            let waited = self.bell.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    pub(crate) fn stop(&self) {
        // Under the mutex, so that no watcher falls asleep between its question and the bell.
        let _state = self.state();
        self.stopped.store(true, Ordering::SeqCst);
        self.bell.notify_all();
    }

    pub(crate) fn stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    pub(crate) fn update_is_over(&self) {
        self.working.store(false, Ordering::SeqCst);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Inbox {
    fn begin(&self, _files: usize) {
        self.working.store(true, Ordering::SeqCst);
    }

    fn stopped(&self) -> bool {
        self.stopped()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACE: Pace = Pace {
        quiet: Duration::from_millis(100),
        longest: Duration::from_millis(1000),
    };

    #[test]
    fn hints_are_due_when_it_is_quiet_or_after_the_longest_wait() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        for (first, last, due) in [(0, 0, 100), (0, 850, 950), (0, 950, 1000), (500, 700, 800)] {
            assert_eq!(PACE.due(at(first), at(last)), at(due), "{first} {last}");
        }
        // Where somebody waits, only what belongs to one save is waited for.
        for (first, last, due) in [(0, 0, 2), (0, 1, 3), (0, 900, 4)] {
            let hurried = PACE.hurried().due(at(first), at(last));
            assert_eq!(hurried, at(due), "{first} {last}");
        }
    }

    #[test]
    fn many_hints_are_one_and_stopping_comes_first() {
        let inbox = Inbox::default();
        let now = Instant::now();
        assert_eq!(inbox.wait(now, PACE), Wake::Time);
        inbox.hint("a.md", None, false);
        inbox.hint("b", Some("/v/b".into()), false);
        inbox.hint("c.md", None, false);
        let hints = Hints {
            first: "a.md".to_string(),
            folders: [PathBuf::from("/v/b")].into(),
            everything: false,
            hurried: false,
        };
        // Though the time is over, what is gathered comes as such.
        assert_eq!(inbox.wait(now, PACE), Wake::Hints(hints));
        assert_eq!(inbox.wait(now, PACE), Wake::Time);
        inbox.hint("d.md", None, true);
        inbox.stop();
        assert_eq!(inbox.wait(now, PACE), Wake::Stop);
    }
    #[test]
    fn who_waits_hurries_the_watcher_and_hears_when_it_is_done() {
        const SLOW: Pace = Pace {
            quiet: Duration::from_secs(600),
            longest: Duration::from_secs(600),
        };
        let stop = Stop::new();
        let inbox = Arc::clone(&stop.inbox);
        // Before the first look nothing is known.
        assert!(!stop.wait_until_looked(stop.told(), Instant::now()));
        inbox.look_is_over();
        assert!(stop.wait_until_looked(stop.told(), Instant::now()));
        inbox.hint("a.md", None, false);
        assert!(!stop.wait_until_looked(stop.told(), Instant::now()));
        let far = Instant::now() + Duration::from_secs(300);
        let asker = std::thread::spawn(move || stop.wait_until_looked(stop.told(), far));
        assert!(matches!(inbox.wait(far, SLOW), Wake::Hints(hints) if hints.hurried));
        assert!(!asker.is_finished(), "it has not looked yet");
        // What comes later is not for this asker to wait for.
        inbox.hint("b.md", None, false);
        inbox.look_is_over();
        assert!(asker.join().unwrap());
    }
}
