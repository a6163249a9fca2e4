//! How much one caller may ask for, and how much is done at once.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use lorewell_agents::Caller;

use crate::Refusal;

/// The limits of a bridge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of an HTTP request's body.
    pub body: usize,
    /// Bytes of a line on the socket, which only the user's own programs send.
    pub line: usize,
    /// Characters of a question.
    pub question: usize,
    /// Bytes of an answer to an agent.
    pub answer: usize,
    /// Requests of one agent at once.
    pub of_agent: usize,
    /// Requests of the user's own programs at once.
    pub of_owner: usize,
    /// Requests that are worked on at once; more wait.
    pub at_work: usize,
    /// How long an agent's request may take.
    pub time: Duration,
    /// How long an agent's request may take that builds an index.
    pub build_time: Duration,
    /// Connections at once, of HTTP and of the socket each.
    pub connections: usize,
    /// Listeners to news at once.
    pub listeners: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        let threads = std::thread::available_parallelism().map_or(2, usize::from);
        Limits {
            body: 1 << 20,
            line: 64 << 20,
            question: 10_000,
            answer: 4 << 20,
            of_agent: 16,
            of_owner: 256,
            at_work: threads.clamp(2, 16),
            time: Duration::from_secs(30),
            build_time: Duration::from_secs(600),
            connections: 512,
            listeners: 16,
        }
    }
}

/// Counts what is asked at once.
pub(crate) struct Counter {
    limits: Limits,
    of: Mutex<HashMap<String, usize>>,
    at_work: Mutex<usize>,
    bell: Condvar,
}

/// One request of a caller, counted until it is dropped.
pub(crate) struct Counted<'a> {
    counter: &'a Counter,
    name: String,
}

/// A place at work, held until it is dropped.
pub(crate) struct Place<'a>(&'a Counter);

impl Counter {
    pub(crate) fn new(limits: Limits) -> Counter {
        Counter {
            limits,
            of: Mutex::default(),
            at_work: Mutex::new(0),
            bell: Condvar::new(),
        }
    }

    /// Counts a request of `caller`.
    pub(crate) fn count(&self, caller: &Caller) -> Result<Counted<'_>, Refusal> {
        let most = match caller {
            Caller::Owner => self.limits.of_owner,
            _ => self.limits.of_agent,
        };
        let name = caller.counted_as().to_string();
        let mut of = self.of.lock().unwrap_or_else(PoisonError::into_inner);
        let count = of.entry(name.clone()).or_default();
        if *count >= most {
            return Err(Refusal::TooMany(*count + 1));
        }
        *count += 1;
        Ok(Counted {
            counter: self,
            name,
        })
    }

    /// Waits for a place at work until `until`.
    pub(crate) fn place(&self, until: Instant) -> Option<Place<'_>> {
        let mut at_work = self.at_work.lock().unwrap_or_else(PoisonError::into_inner);
        while *at_work >= self.limits.at_work {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            let waited = self.bell.wait_timeout(at_work, left);
            at_work = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        *at_work += 1;
        Some(Place(self))
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        let mut of = self
            .counter
            .of
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = of.get_mut(&self.name) {
            *count -= 1;
            if *count == 0 {
                of.remove(&self.name);
            }
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut at_work = self
            .0
            .at_work
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *at_work -= 1;
        self.0.bell.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_has_so_many_requests_at_once_and_no_more() {
        let counter = Counter::new(Limits {
            of_owner: 2,
            at_work: 1,
            ..Limits::default()
        });
        let first = counter.count(&Caller::Owner).unwrap();
        let _second = counter.count(&Caller::Owner).unwrap();
        let refused = counter.count(&Caller::Owner).err();
        assert_eq!(refused, Some(Refusal::TooMany(3)));
        drop(first);
        assert!(counter.count(&Caller::Owner).is_ok());

        let place = counter.place(Instant::now()).unwrap();
        assert!(counter.place(Instant::now()).is_none());
        drop(place);
        assert!(counter.place(Instant::now()).is_some());
    }
}
