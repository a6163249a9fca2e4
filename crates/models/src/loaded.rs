//! The one embedding model and the one reranker that are loaded in this process. Whoever needs
//! another waits until nobody uses it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use lorewell_encoder::{CrossEncoder, Encoder};

/// A model that nobody used for so long is let go.
pub const IDLE: Duration = Duration::from_secs(300);

/// The embedding model.
pub(crate) static EMBEDS: Place<Encoder> = Place::empty();
/// The reranker.
pub(crate) static RERANKS: Place<CrossEncoder> = Place::empty();

/// Lets the loaded models go that are not in use.
pub fn rest() {
    EMBEDS.rest();
    RERANKS.rest();
}

/// Where one model of a kind is loaded.
pub(crate) struct Place<M> {
    slot: Mutex<Slot<M>>,
    changed: Condvar,
}

struct Slot<M> {
    loaded: Option<Loaded<M>>,
    /// Some thread is loading one.
    loading: bool,
    /// A thread waits for it to be idle.
    watched: bool,
}

struct Loaded<M> {
    /// Whose it is.
    owner: u64,
    model: Arc<M>,
    users: usize,
    used: Instant,
}

impl<M: Send + Sync + 'static> Place<M> {
    const fn empty() -> Self {
        Self {
            slot: Mutex::new(Slot {
                loaded: None,
                loading: false,
                watched: false,
            }),
            changed: Condvar::new(),
        }
    }

    fn rest(&self) {
        let mut slot = self.slot();
        if slot.loaded.as_ref().is_some_and(|loaded| loaded.users == 0) {
            slot.loaded = None;
            self.changed.notify_all();
        }
    }

    /// Works with the model of `owner`, which `load` gives where it is not loaded.
    ///
    /// # Errors
    /// Why it cannot be loaded; or the work came to an end that it should not have. Then it is made
    /// anew the next time.
    pub(crate) fn with<T>(
        &'static self,
        owner: u64,
        load: impl FnOnce() -> Result<M, String>,
        work: impl FnOnce(&M) -> T,
    ) -> Result<T, String> {
        let model = self.take(owner, load)?;
        let outcome = catch_unwind(AssertUnwindSafe(|| work(&model)));
        drop(model);
        self.give_back(owner, outcome.is_ok());
        outcome.map_err(|_| "it failed while it computed, and is loaded anew the next time".into())
    }

    /// Whether the model of `owner` is loaded.
    pub(crate) fn is_loaded(&self, owner: u64) -> bool {
        let slot = self.slot();
        slot.loaded
            .as_ref()
            .is_some_and(|loaded| loaded.owner == owner)
    }

    fn take(
        &'static self,
        owner: u64,
        load: impl FnOnce() -> Result<M, String>,
    ) -> Result<Arc<M>, String> {
        let mut held = self.slot();
        loop {
            let loading = held.loading;
            match &mut held.loaded {
                Some(loaded) if loaded.owner == owner => {
                    loaded.users += 1;
                    return Ok(Arc::clone(&loaded.model));
                }
                Some(loaded) if loaded.users == 0 => held.loaded = None,
                None if !loading => break,
                _ => held = self.wait(held),
            }
        }
        held.loading = true;
        drop(held);
        let loaded = catch_unwind(AssertUnwindSafe(load))
            .unwrap_or_else(|_| Err("it failed while it was loaded".to_string()));
        let mut held = self.slot();
        held.loading = false;
        self.changed.notify_all();
        let model = Arc::new(loaded?);
        held.loaded = Some(Loaded {
            owner,
            model: Arc::clone(&model),
            users: 1,
            used: Instant::now(),
        });
        if !held.watched {
            held.watched = thread::Builder::new()
                .name("idle model".to_string())
                .spawn(|| self.let_go_when_idle())
                .is_ok();
        }
        Ok(model)
    }

    fn give_back(&self, owner: u64, is_sound: bool) {
        let mut slot = self.slot();
        let of_owner = |loaded: &&mut Loaded<M>| loaded.owner == owner;
        if let Some(loaded) = slot.loaded.as_mut().filter(of_owner) {
            loaded.users = loaded.users.saturating_sub(1);
            loaded.used = Instant::now();
            if !is_sound {
                // Others that use it keep it until they are done.
                slot.loaded = None;
            }
        }
        self.changed.notify_all();
    }

    fn let_go_when_idle(&self) {
        let mut held = self.slot();
        loop {
            let Some(loaded) = &held.loaded else {
                held.watched = held.loading;
                if !held.loading {
                    return;
                }
                held = self.wait(held);
                continue;
            };
            let idle = match loaded.users {
                0 => loaded.used.elapsed(),
                _ => Duration::ZERO,
            };
            if idle >= IDLE {
                held.loaded = None;
                self.changed.notify_all();
                continue;
            }
            let waited = self.changed.wait_timeout(held, IDLE - idle);
            held = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn wait<'s>(&self, held: MutexGuard<'s, Slot<M>>) -> MutexGuard<'s, Slot<M>> {
        let waited = self.changed.wait(held);
        waited.unwrap_or_else(PoisonError::into_inner)
    }

    fn slot(&self) -> MutexGuard<'_, Slot<M>> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
