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
pub(crate) static EMBEDS: Place<Encoder> = Place::empty(IDLE);
/// The reranker.
pub(crate) static RERANKS: Place<CrossEncoder> = Place::empty(IDLE);

/// Lets the loaded models go that are not in use.
pub fn rest() {
    EMBEDS.rest();
    RERANKS.rest();
}

/// Where one model of a kind is loaded.
pub(crate) struct Place<M> {
    slot: Mutex<Slot<M>>,
    changed: Condvar,
    /// What nobody used for so long is let go.
    idle: Duration,
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
    const fn empty(idle: Duration) -> Self {
        Self {
            slot: Mutex::new(Slot {
                loaded: None,
                loading: false,
                watched: false,
            }),
            changed: Condvar::new(),
            idle,
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
            if idle >= self.idle {
                held.loaded = None;
                self.changed.notify_all();
                continue;
            }
            let waited = self.changed.wait_timeout(held, self.idle - idle);
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

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    type Texts = &'static Place<String>;

    fn place(idle: Duration) -> Texts {
        Box::leak(Box::new(Place::empty(idle)))
    }

    fn ask(place: Texts, owner: u64) -> Result<String, String> {
        let load = || Ok(format!("model {owner}"));
        place.with(owner, load, String::clone)
    }

    #[test]
    fn one_model_is_loaded_at_a_time_and_who_wants_another_waits() {
        let place = place(IDLE);
        let (begun, begins) = mpsc::channel();
        let (go_on, goes_on) = mpsc::channel::<()>();
        let first = thread::spawn(move || {
            let work = |model: &String| {
                begun.send(()).unwrap();
                goes_on.recv().unwrap();
                model.clone()
            };
            place.with(1, || Ok("model 1".to_string()), work)
        });
        begins.recv().unwrap();
        let second = thread::spawn(move || ask(place, 2));
        assert!(place.is_loaded(1));
        // The same model may be used by several at once.
        assert_eq!(ask(place, 1).unwrap(), "model 1");
        assert!(place.is_loaded(1) && !place.is_loaded(2));
        go_on.send(()).unwrap();
        assert_eq!(first.join().unwrap().unwrap(), "model 1");
        assert_eq!(second.join().unwrap().unwrap(), "model 2");
        assert!(place.is_loaded(2) && !place.is_loaded(1));
    }

    #[test]
    fn a_model_that_fails_is_made_anew() {
        let place = place(IDLE);
        ask(place, 1).unwrap();
        let work = |_: &String| -> () { panic!("a fault") };
        let reason = place.with(1, || Ok(String::new()), work).unwrap_err();
        assert!(reason.contains("loaded anew"), "{reason}");
        assert!(!place.is_loaded(1));
        assert_eq!(ask(place, 1).unwrap(), "model 1");
        let broken = place.with(2, || Err("no such file".to_string()), String::clone);
        assert_eq!(broken.unwrap_err(), "no such file");
        assert_eq!(ask(place, 2).unwrap(), "model 2");
    }

    #[test]
    fn what_nobody_uses_is_let_go() {
        let place = place(Duration::ZERO);
        ask(place, 1).unwrap();
        let mut slot = place.slot();
        while slot.loaded.is_some() {
            slot = place.wait(slot);
        }
        drop(slot);
        assert!(!place.is_loaded(1));
        assert_eq!(ask(place, 1).unwrap(), "model 1");
        place.rest();
        assert!(!place.is_loaded(1));
    }
}
