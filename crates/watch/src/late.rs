//! Vectors that come later: what waits for a model that is dear is embedded in a thread of its own,
//! behind everything else, and again whenever an update leaves something.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use lorewell_engine::{Cost, Embedding, Host, Observer};

use crate::{Trouble, background};

/// The first wait before what a model did not take is tried again; it doubles each time.
const FIRST_RETRY: Duration = Duration::from_secs(5);
/// But does not grow further than this.
const LONGEST_RETRY: Duration = Duration::from_secs(600);

/// One vault at a time is embedded in a process, so that models do not take turns.
static TURN: Mutex<()> = Mutex::new(());

/// The thread that embeds for one vault. It ends when this is dropped, at its next safe point.
pub struct LateVectors {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// What came of the embedding of what waited.
#[derive(Debug)]
pub enum LateReport {
    /// It ran, whole or not.
    Embedded {
        /// The model.
        model: String,
        /// What came of it.
        embedding: Embedding,
    },
    /// The index could not be read or written. It is tried again.
    Failed(Trouble),
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    bell: Condvar,
    stopped: AtomicBool,
    /// The settings changed while it ran: it begins anew by those that hold now.
    outdated: AtomicBool,
}

#[derive(Default)]
struct State {
    /// The vault by the settings that held last, if there is something to look at.
    wanted: Option<Arc<Host>>,
    /// What runs now, by the fingerprint of its model.
    running: Option<String>,
}

impl LateVectors {
    /// Begins a thread, which sleeps until it is woken. `tell` hears what it does.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn begin(tell: impl FnMut(LateReport) + Send + 'static) -> std::io::Result<LateVectors> {
        let shared = Arc::new(Shared::default());
        let of_thread = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name("late vectors".to_string())
            .spawn(move || of_thread.run(tell))?;
        Ok(LateVectors {
            shared,
            thread: Some(thread),
        })
    }

    /// Has it look whether something waits, by the settings that `host` was opened with. Where it
    /// embeds for another model, it leaves off.
    pub fn wake(&self, host: Arc<Host>) {
        let mut state = self.shared.state();
        let is_other = |running: &String| *running != host.embedder().fingerprint().as_str();
        if state.running.as_ref().is_some_and(is_other) {
            self.shared.outdated.store(true, Ordering::SeqCst);
        }
        state.wanted = Some(host);
        self.shared.bell.notify_all();
    }

    /// Asks it to end, without waiting for it.
    pub fn stop(&self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        let _state = self.shared.state();
        self.shared.bell.notify_all();
    }
}

impl Drop for LateVectors {
    fn drop(&mut self) {
        self.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn run(&self, mut tell: impl FnMut(LateReport)) {
        let mut failures = 0;
        // What to try again, and when.
        let mut again: Option<(Arc<Host>, Instant)> = None;
        while let Some(host) = self.next(&mut again) {
            if host.embedder().cost() == Cost::Cheap {
                self.ended();
                continue;
            }
            let outcome = {
                let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
                background::run_behind(|| host.embed_waiting(self))
            };
            self.ended();
            // Whatever else came of it: what was outdated has ended now.
            let was_outdated = self.outdated.swap(false, Ordering::SeqCst);
            let is_over = outcome.as_ref().is_ok_and(|embedding| {
                embedding.waiting == 0 || self.stopped.load(Ordering::SeqCst)
            });
            if is_over || was_outdated {
                failures = 0;
            } else {
                let wait = FIRST_RETRY.saturating_mul(1 << failures.min(20));
                failures += 1;
                again = Some((Arc::clone(&host), Instant::now() + wait.min(LONGEST_RETRY)));
            }
            tell(match outcome {
                Ok(embedding) => LateReport::Embedded {
                    model: host.embedder().model().to_string(),
                    embedding,
                },
                Err(error) => LateReport::Failed(error.into()),
            });
        }
    }

    /// The vault to look at, once there is one; nothing when it is to end.
    fn next(&self, again: &mut Option<(Arc<Host>, Instant)>) -> Option<Arc<Host>> {
        let mut state = self.state();
        loop {
            if self.stopped.load(Ordering::SeqCst) {
                return None;
            }
            let now = Instant::now();
            let due = again.as_ref().is_some_and(|(_, at)| *at <= now);
            let host = match state.wanted.take() {
                Some(host) => Some(host),
                None if due => again.take().map(|(host, _)| host),
                None => None,
            };
            if let Some(host) = host {
                *again = None;
                state.running = Some(host.embedder().fingerprint().as_str().to_string());
                return Some(host);
            }
            state = match again {
                Some((_, at)) => {
                    let left = at.saturating_duration_since(now);
                    let waited = self.bell.wait_timeout(state, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self
                    .bell
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    fn ended(&self) {
        self.state().running = None;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Shared {
    fn stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst) || self.outdated.load(Ordering::SeqCst)
    }
}
