//! What sessions have in common: there is one for each model, and one that failed rests for a while.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A model that could not be loaded is not tried again for so long.
const PAUSE: Duration = Duration::from_secs(30);

/// The sessions of a kind, by what they are of. They live as long as the process.
pub(crate) struct Known<S: 'static> {
    all: Mutex<(u64, Option<HashMap<String, &'static S>>)>,
}

impl<S> Known<S> {
    pub(crate) const fn new() -> Self {
        Self {
            all: Mutex::new((0, None)),
        }
    }

    /// The session of `key`; a new one, with a number of its own, where there is none that
    /// `is_same`.
    pub(crate) fn of(
        &self,
        key: String,
        is_same: impl FnOnce(&S) -> bool,
        make: impl FnOnce(u64) -> S,
    ) -> &'static S {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let (last, known) = &mut *all;
        let known = known.get_or_insert_default();
        if let Some(session) = known.get(&key).copied()
            && is_same(session)
        {
            return session;
        }
        *last += 1;
        let session: &'static S = Box::leak(Box::new(make(*last)));
        known.insert(key, session);
        session
    }
}

/// Whether a model is in trouble, and why.
#[derive(Default)]
pub(crate) struct Troubles(Mutex<Option<Trouble>>);

struct Trouble {
    reason: String,
    since: Instant,
}

impl Troubles {
    /// Why it cannot be used now.
    pub(crate) fn now(&self) -> Option<String> {
        let mut trouble = self.held();
        let is_over = |trouble: &Trouble| trouble.since.elapsed() >= PAUSE;
        if trouble.as_ref().is_some_and(is_over) {
            *trouble = None;
        }
        trouble.as_ref().map(|trouble| trouble.reason.clone())
    }

    /// Works, unless it is in trouble; what goes wrong is remembered.
    ///
    /// # Errors
    /// The trouble, of before or of now.
    pub(crate) fn unless_in_trouble<T>(
        &self,
        work: impl FnOnce() -> Result<T, String>,
    ) -> Result<T, String> {
        if let Some(reason) = self.now() {
            return Err(reason);
        }
        let outcome = work();
        if let Err(reason) = &outcome {
            *self.held() = Some(Trouble {
                reason: reason.clone(),
                since: Instant::now(),
            });
        }
        outcome
    }

    fn held(&self) -> MutexGuard<'_, Option<Trouble>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
