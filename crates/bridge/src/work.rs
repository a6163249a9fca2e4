//! Places at work: so many requests are worked on at once, and one is kept for the owner whatever
//! agents ask.

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

    /// Waits until `until` for a place. All who are not the owner leave one to the owner, and each
    /// of them leaves one to the others, as far as there are so many.
    pub(crate) fn place(&self, caller: &Caller, until: Instant) -> Option<Place<'_>> {
        self.place_of(caller.counted_as(), until)
    }

    fn place_of(&self, name: &str, until: Instant) -> Option<Place<'_>> {
        let of_agents = self.places.saturating_sub(1).max(1);
        let of_agent = self.places.saturating_sub(2).max(1);
        let owner = Caller::Owner.counted_as();
        let mut at_work = self.at_work();
        loop {
            let held = |name: &str| at_work.get(name).copied().unwrap_or(0);
            let (own, all) = (held(name), at_work.values().sum::<usize>());
            let agents = all - held(owner);
            let is_within = name == owner || own < of_agent && agents < of_agents;
            if is_within && all < self.places {
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
    use super::*;

    #[test]
    fn agents_leave_a_place_to_the_owner_and_each_leaves_one_to_the_others() {
        let owner = Caller::Owner.counted_as();
        let now = Instant::now;
        let work = Work::new(4);
        let _first = work.place_of("one", now()).unwrap();
        let second = work.place_of("one", now()).unwrap();
        assert!(work.place_of("one", now()).is_none(), "one is for others");
        let _third = work.place_of("two", now()).unwrap();
        // All agents together have not all.
        assert!(work.place_of("two", now()).is_none());
        assert!(work.place_of("three", now()).is_none());
        let own = work.place_of(owner, now()).unwrap();
        assert!(work.place_of(owner, now()).is_none());
        drop((second, own));
        let _own = work.place_of(owner, now()).unwrap();
        let _own_too = work.place_of(owner, now()).unwrap();
        assert!(work.place_of("two", now()).is_none(), "all are taken");
    }

    #[test]
    fn where_there_is_one_place_alone_it_is_everybodys() {
        let only = Work::new(1);
        assert!(only.place_of("one", Instant::now()).is_some());
        assert!(only.place(&Caller::Owner, Instant::now()).is_some());
    }
}
