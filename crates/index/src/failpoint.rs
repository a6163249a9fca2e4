//! Named places where a test can cut the writer short, as a crash would. Without the feature
//! `failpoints` they compile to nothing.

#[cfg(feature = "failpoints")]
pub use armed::{POINTS, arm, is_armed};

/// Goes on; or fails here, where a test wants that.
#[cfg(not(feature = "failpoints"))]
#[inline(always)]
pub(crate) fn failpoint(_: &'static str) -> Result<(), crate::IndexError> {
    Ok(())
}

#[cfg(feature = "failpoints")]
pub(crate) use armed::failpoint;

#[cfg(feature = "failpoints")]
mod armed {
    use std::cell::Cell;
    use std::path::PathBuf;

    use crate::IndexError;

    /// Every place, in the order of an update with an exclusion and a merge; then those of reading
    /// everything anew, of compacting vectors, and of discarding.
    pub const POINTS: [&str; 22] = [
        "after-settings-commit",
        "after-purge-write",
        "after-purge-commit",
        "after-vacuum",
        "before-remove-commit",
        "after-remove-commit",
        "after-vectors-append",
        "after-segment-write",
        "after-vectors-sync",
        "before-commit",
        "after-commit",
        "after-merge-write",
        "before-merge-commit",
        "after-merge-commit",
        "before-checkpoint",
        "before-whole-commit",
        "after-whole-commit",
        "after-compact-write",
        "before-compact-commit",
        "after-compact-commit",
        "discard-after-catalogue",
        "discard-after-segments",
    ];

    thread_local! {
        static ARMED: Cell<Option<(&'static str, usize)>> = const { Cell::new(None) };
    }

    /// Lets this thread's writer fail at a place, after passing it so many times.
    pub fn arm(point: &'static str, passes: usize) {
        ARMED.set(Some((point, passes)));
    }

    /// Whether this thread's writer has yet to reach the armed place. Disarms it.
    pub fn is_armed() -> bool {
        ARMED.take().is_some()
    }

    pub(crate) fn failpoint(point: &'static str) -> Result<(), IndexError> {
        debug_assert!(POINTS.contains(&point), "{point} is not listed");
        match ARMED.get() {
            Some((armed, 0)) if armed == point => {
                ARMED.set(None);
                Err(IndexError::Io {
                    path: PathBuf::from(point),
                    source: std::io::Error::other("cut short by a test"),
                })
            }
            Some((armed, passes)) if armed == point => {
                ARMED.set(Some((armed, passes - 1)));
                Ok(())
            }
            _ => Ok(()),
        }
    }
}
