//! Named places where a test can cut the writer short, as a crash would, or have the disk run
//! full. Without the feature `failpoints` they compile to nothing.

#[cfg(feature = "failpoints")]
pub use armed::{Fault, POINTS, arm, arm_any, is_armed};

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
    /// everything anew, of compacting vectors, of vectors that come later, of models that go, and
    /// of discarding.
    pub const POINTS: [&str; 27] = [
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
        "after-late-sync",
        "before-late-commit",
        "after-late-commit",
        "before-models-commit",
        "after-models-commit",
        "discard-after-catalogue",
        "discard-after-segments",
    ];

    /// What happens at an armed place.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Fault {
        /// The writer is cut short there.
        Cut,
        /// The disk has no room.
        DiskFull,
    }

    #[derive(Clone, Copy)]
    struct Armed {
        /// The place; nothing for any.
        point: Option<&'static str>,
        /// So often the writer passes it first.
        passes: usize,
        fault: Fault,
    }

    thread_local! {
        static ARMED: Cell<Option<Armed>> = const { Cell::new(None) };
    }

    /// Lets this thread's writer be cut short at a place, after passing it so many times.
    pub fn arm(point: &'static str, passes: usize) {
        ARMED.set(Some(Armed {
            point: Some(point),
            passes,
            fault: Fault::Cut,
        }));
    }

    /// Lets this thread's writer fail after passing so many places, whichever they are.
    pub fn arm_any(passes: usize, fault: Fault) {
        ARMED.set(Some(Armed {
            point: None,
            passes,
            fault,
        }));
    }

    /// Whether this thread's writer has yet to reach the armed place. Disarms it.
    pub fn is_armed() -> bool {
        ARMED.take().is_some()
    }

    pub(crate) fn failpoint(point: &'static str) -> Result<(), IndexError> {
        debug_assert!(POINTS.contains(&point), "{point} is not listed");
        let Some(armed) = ARMED.get() else {
            return Ok(());
        };
        if armed.point.is_some_and(|wanted| wanted != point) {
            return Ok(());
        }
        if armed.passes > 0 {
            let passes = armed.passes - 1;
            ARMED.set(Some(Armed { passes, ..armed }));
            return Ok(());
        }
        ARMED.set(None);
        let path = PathBuf::from(point);
        Err(match armed.fault {
            Fault::DiskFull => IndexError::DiskFull(path),
            Fault::Cut => IndexError::Io {
                path,
                source: std::io::Error::other("cut short by a test"),
            },
        })
    }
}
