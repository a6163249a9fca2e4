//! Blocking work for a request: on a thread of its own, with progress told to the client, and told
//! to stop when nobody waits for it any longer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use lorewell_capabilities::{Failure, Listener};
use lorewell_engine::Observer;
use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::Backend;

/// So many steps of progress are told of one piece of work.
const STEPS: usize = 50;

/// Does `work` with `backend` for the request of `context`.
///
/// # Errors
/// What `work` says, or that it panicked.
pub(crate) async fn work<T: Send + 'static>(
    permits: &Semaphore,
    backend: Arc<dyn Backend>,
    context: &RequestContext<RoleServer>,
    work: impl FnOnce(&dyn Backend, Listener<'_>) -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    // Dropped with this future too: an HTTP client that hangs up stops the work.
    let abandoned = Abandoned::default();
    let busy = |_| Failure::internal("the server is stopping");
    let permit = permits.acquire().await.map_err(busy)?;
    let (sender, mut steps) = unbounded_channel();
    let token = context.meta.get_progress_token();
    let listener = Steps {
        abandoned: Arc::clone(&abandoned.0),
        tell: token.is_some().then_some(sender),
        all: AtomicUsize::new(0),
        done: AtomicUsize::new(0),
    };
    let mut task = tokio::task::spawn_blocking(move || work(&*backend, &listener));
    let mut told = 0;
    let outcome = loop {
        tokio::select! {
            biased;
            outcome = &mut task => break outcome,
            () = context.ct.cancelled(), if !abandoned.is_set() => abandoned.set(),
            Some(step) = next(&mut steps, token.is_some()) => {
                let Some(token) = token.clone().filter(|_| step.done > told) else {
                    continue;
                };
                told = step.done;
                let progress = ProgressNotificationParam::new(token, step.done as f64)
                    .with_total(step.all as f64)
                    .with_message(format!("{} of {} notes read", step.done, step.all));
                // A client that is gone is told nothing.
                let _ = context.peer.notify_progress(progress).await;
            }
        }
    };
    drop(permit);
    outcome.unwrap_or_else(|_| Err(Failure::internal("the request failed inside the program")))
}

async fn next(steps: &mut UnboundedReceiver<Step>, wanted: bool) -> Option<Step> {
    if wanted { steps.recv().await } else { None }
}

struct Step {
    done: usize,
    all: usize,
}

/// Set when nobody waits for the answer.
#[derive(Default)]
struct Abandoned(Arc<AtomicBool>);

impl Abandoned {
    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for Abandoned {
    fn drop(&mut self) {
        self.set();
    }
}

/// Hears of work and passes on every so many notes.
struct Steps {
    abandoned: Arc<AtomicBool>,
    tell: Option<UnboundedSender<Step>>,
    all: AtomicUsize,
    done: AtomicUsize,
}

impl Observer for Steps {
    fn begin(&self, files: usize) {
        self.all.fetch_add(files, Ordering::Relaxed);
    }

    fn note_done(&self, _: &str) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        let all = self.all.load(Ordering::Relaxed);
        let every = all.div_ceil(STEPS).max(1);
        if let Some(tell) = self.tell.as_ref().filter(|_| done.is_multiple_of(every)) {
            // The one who listens may have its answer already.
            let _ = tell.send(Step { done, all });
        }
    }

    fn stopped(&self) -> bool {
        self.abandoned.load(Ordering::Relaxed)
    }
}
