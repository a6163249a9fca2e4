//! The one model that is loaded in this process. Whoever needs another waits until nobody uses it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use lorewell_encoder::Encoder;

/// A model that nobody used for so long is let go.
pub const IDLE: Duration = Duration::from_secs(300);

static SLOT: Mutex<Slot> = Mutex::new(Slot {
    loaded: None,
    loading: false,
    watched: false,
});
static CHANGED: Condvar = Condvar::new();

struct Slot {
    loaded: Option<Loaded>,
    /// Some thread is loading one.
    loading: bool,
    /// A thread waits for it to be idle.
    watched: bool,
}

struct Loaded {
    /// Whose it is.
    owner: u64,
    encoder: Arc<Encoder>,
    users: usize,
    used: Instant,
}

/// Lets the loaded model go, unless it is in use.
pub fn rest() {
    let mut slot = slot();
    if slot.loaded.as_ref().is_some_and(|loaded| loaded.users == 0) {
        slot.loaded = None;
        CHANGED.notify_all();
    }
}

/// Works with the encoder of `owner`, which `load` gives where it is not loaded.
///
/// # Errors
/// Why it cannot be loaded; or the work came to an end that it should not have. Then it is made anew
/// the next time.
pub(crate) fn with<T>(
    owner: u64,
    load: impl FnOnce() -> Result<Encoder, String>,
    work: impl FnOnce(&Encoder) -> T,
) -> Result<T, String> {
    let encoder = take(owner, load)?;
    let outcome = catch_unwind(AssertUnwindSafe(|| work(&encoder)));
    drop(encoder);
    give_back(owner, outcome.is_ok());
    outcome.map_err(|_| "it failed while it computed, and is loaded anew the next time".to_string())
}

/// Whether the model of `owner` is loaded.
pub(crate) fn is_loaded(owner: u64) -> bool {
    let slot = slot();
    slot.loaded
        .as_ref()
        .is_some_and(|loaded| loaded.owner == owner)
}

fn take(
    owner: u64,
    load: impl FnOnce() -> Result<Encoder, String>,
) -> Result<Arc<Encoder>, String> {
    let mut held = slot();
    loop {
        let loading = held.loading;
        match &mut held.loaded {
            Some(loaded) if loaded.owner == owner => {
                loaded.users += 1;
                return Ok(Arc::clone(&loaded.encoder));
            }
            Some(loaded) if loaded.users == 0 => held.loaded = None,
            None if !loading => break,
            _ => held = CHANGED.wait(held).unwrap_or_else(PoisonError::into_inner),
        }
    }
    held.loading = true;
    drop(held);
    let loaded = catch_unwind(AssertUnwindSafe(load))
        .unwrap_or_else(|_| Err("it failed while it was loaded".to_string()));
    let mut held = slot();
    held.loading = false;
    CHANGED.notify_all();
    let encoder = Arc::new(loaded?);
    held.loaded = Some(Loaded {
        owner,
        encoder: Arc::clone(&encoder),
        users: 1,
        used: Instant::now(),
    });
    if !held.watched {
        held.watched = thread::Builder::new()
            .name("idle model".to_string())
            .spawn(let_go_when_idle)
            .is_ok();
    }
    Ok(encoder)
}

fn give_back(owner: u64, is_sound: bool) {
    let mut slot = slot();
    let of_owner = |loaded: &&mut Loaded| loaded.owner == owner;
    if let Some(loaded) = slot.loaded.as_mut().filter(of_owner) {
        loaded.users = loaded.users.saturating_sub(1);
        loaded.used = Instant::now();
        if !is_sound {
            // Others that use it keep it until they are done.
            slot.loaded = None;
        }
    }
    CHANGED.notify_all();
}

fn let_go_when_idle() {
    let mut held = slot();
    loop {
        let Some(loaded) = &held.loaded else {
            held.watched = held.loading;
            if !held.loading {
                return;
            }
            held = CHANGED.wait(held).unwrap_or_else(PoisonError::into_inner);
            continue;
        };
        let idle = match loaded.users {
            0 => loaded.used.elapsed(),
            _ => Duration::ZERO,
        };
        if idle >= IDLE {
            held.loaded = None;
            CHANGED.notify_all();
            continue;
        }
        let waited = CHANGED.wait_timeout(held, IDLE - idle);
        held = waited.unwrap_or_else(PoisonError::into_inner).0;
    }
}

fn slot() -> MutexGuard<'static, Slot> {
    SLOT.lock().unwrap_or_else(PoisonError::into_inner)
}
