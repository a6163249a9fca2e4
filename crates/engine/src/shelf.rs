//! Snapshots that rest between questions. A process that answers many keeps a few; others none.

use std::ops::Deref;
use std::sync::{Mutex, MutexGuard, PoisonError};

use lorewell_index::Snapshot;

/// Where snapshots rest.
#[derive(Default)]
pub(crate) struct Shelf {
    places: usize,
    resting: Mutex<Vec<Snapshot>>,
}

/// A snapshot that goes back onto its shelf.
pub(crate) struct Lent<'h> {
    /// There until it is dropped.
    snapshot: Option<Snapshot>,
    shelf: &'h Shelf,
}

impl Shelf {
    /// A shelf for so many.
    pub(crate) fn with_places(places: usize) -> Shelf {
        Shelf {
            places,
            resting: Mutex::default(),
        }
    }

    /// One that shows the newest generation still. Those that do not are thrown away.
    pub(crate) fn take(&self) -> Option<Snapshot> {
        loop {
            let snapshot = self.resting().pop()?;
            if snapshot.wake() {
                return Some(snapshot);
            }
        }
    }

    pub(crate) fn lend(&self, snapshot: Snapshot) -> Lent<'_> {
        Lent {
            snapshot: Some(snapshot),
            shelf: self,
        }
    }

    pub(crate) fn clear(&self) {
        let resting = std::mem::take(&mut *self.resting());
        drop(resting);
    }

    fn give_back(&self, snapshot: Snapshot) {
        if self.places == 0 || !snapshot.rest() {
            return;
        }
        let mut resting = self.resting();
        if resting.len() < self.places {
            resting.push(snapshot);
        }
    }

    fn resting(&self) -> MutexGuard<'_, Vec<Snapshot>> {
        self.resting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Deref for Lent<'_> {
    type Target = Snapshot;

    fn deref(&self) -> &Snapshot {
        match &self.snapshot {
            Some(snapshot) => snapshot,
            None => unreachable!("it is taken when it is dropped"),
        }
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        // A panic may have left it in the midst of something.
        if let Some(snapshot) = self.snapshot.take()
            && !std::thread::panicking()
        {
            self.shelf.give_back(snapshot);
        }
    }
}
