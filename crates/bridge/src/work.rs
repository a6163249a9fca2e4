//! Places at work: so many requests are worked on at once, and no agent has all of them.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use lorewell_agents::Caller;

/// The places.
pub(crate) struct Work {
    places: usize,
    at_work: Mutex<HashMap<String, usize>>,
    bell: Condvar,
}

/// A place at work, held until it is dropped.
pub(crate) struct Place<'a> {
    work: &'a Work,
    name: String,
}

impl Work {
    pub(crate) fn new(places: usize) -> Work {
        Work {
            places,
            at_work: Mutex::default(),
            bell: Condvar::new(),
        }
    }

    /// Waits until `until` for a place. Who is not the owner leaves one to others.
    pub(crate) fn place(&self, caller: &Caller, until: Instant) -> Option<Place<'_>> {
        let most = match caller {
            Caller::Owner => self.places,
            _ => self.places.saturating_sub(1).max(1),
        };
        let name = caller.counted_as();
        let mut at_work = self.at_work();
        loop {
            let own = at_work.get(name).copied().unwrap_or(0);
            if own < most && at_work.values().sum::<usize>() < self.places {
                at_work.insert(name.to_string(), own + 1);
                return Some(Place {
                    work: self,
                    name: name.to_string(),
                });
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            let waited = self.bell.wait_timeout(at_work, left);
            at_work = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn at_work(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        self.at_work.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut at_work = self.work.at_work();
        if let Some(count) = at_work.get_mut(&self.name) {
            *count -= 1;
            if *count == 0 {
                at_work.remove(&self.name);
            }
        }
        // Not for everyone who waits is there a place now.
        self.work.bell.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use lorewell_agents::Reader;

    use super::*;

    #[test]
    fn an_agent_leaves_a_place_to_others() {
        let work = Work::new(2);
        let (owner, client) = (Caller::Owner, Caller::client(Reader::Remote));
        let now = || Instant::now();
        let first = work.place(&client, now()).unwrap();
        assert!(work.place(&client, now()).is_none());
        let _others = work.place(&owner, now()).unwrap();
        assert!(work.place(&owner, now()).is_none());
        drop(first);
        assert!(work.place(&owner, now()).is_some());
        // Where there is one place alone, it is everybody's.
        let only = Work::new(1);
        assert!(only.place(&client, now()).is_some());
    }
}
