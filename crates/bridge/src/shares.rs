//! So much of something for each caller, and so much for all together: no caller can take what
//! another needs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lorewell_agents::Caller;

use crate::Refusal;

/// What is shared out.
pub(crate) struct Shares {
    /// For one caller.
    most: usize,
    /// For all together.
    of_all: usize,
    held: Mutex<HashMap<String, usize>>,
}

/// One of them, held until it is dropped.
pub(crate) struct Share {
    of: Arc<Shares>,
    name: String,
}

impl Shares {
    pub(crate) fn new(most: usize, of_all: usize) -> Arc<Shares> {
        Arc::new(Shares {
            most,
            of_all,
            held: Mutex::default(),
        })
    }

    /// One more for `caller`.
    ///
    /// # Errors
    /// [`Refusal::TooMany`]
    pub(crate) fn take(self: &Arc<Shares>, caller: &Caller) -> Result<Share, Refusal> {
        let name = caller.counted_as();
        let mut held = self.held();
        let own = held.get(name).copied().unwrap_or(0);
        if own >= self.most || held.values().sum::<usize>() >= self.of_all {
            return Err(Refusal::TooMany(own + 1));
        }
        held.insert(name.to_string(), own + 1);
        Ok(Share {
            of: Arc::clone(self),
            name: name.to_string(),
        })
    }

    fn held(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut held = self.of.held();
        if let Some(count) = held.get_mut(&self.name) {
            *count -= 1;
            if *count == 0 {
                held.remove(&self.name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use lorewell_agents::Reader;

    use super::*;

    #[test]
    fn a_caller_has_its_share_and_all_have_theirs() {
        let shares = Shares::new(2, 3);
        let (owner, client) = (Caller::Owner, Caller::client(Reader::Remote));
        let first = shares.take(&owner).unwrap();
        let _second = shares.take(&owner).unwrap();
        assert_eq!(shares.take(&owner).err(), Some(Refusal::TooMany(3)));
        let _third = shares.take(&client).unwrap();
        // Another name is no other caller.
        let other = Caller::client_called(Reader::Remote, "x").unwrap();
        assert_eq!(shares.take(&other).err(), Some(Refusal::TooMany(2)));
        drop(first);
        assert!(shares.take(&other).is_ok());
    }
}
