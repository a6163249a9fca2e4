//! Named places where a test can cut what writes short, as a crash would, or have the disk run
//! full. Without the feature `armed` they compile to nothing.
//!
//! A crate that writes names its places in a list of its own and calls [`reach`] at each; one test
//! can so go by the places of several crates.

#[cfg(feature = "armed")]
pub use armed::{Fault, arm, arm_any, is_armed, reach};

/// Goes on; or fails here, where a test wants that.
///
/// # Errors
/// Only where a test armed the place.
#[cfg(not(feature = "armed"))]
#[inline(always)]
pub fn reach(_: &'static str) -> std::io::Result<()> {
    Ok(())
}

#[cfg(feature = "armed")]
mod armed {
    use std::cell::Cell;
    use std::io;
    use std::panic::resume_unwind;

    /// What happens at an armed place.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Fault {
        /// It fails there, with an error that says nothing else.
        Cut,
        /// The disk has no room.
        DiskFull,
        /// It unwinds from there, past all that would put an error right; what closes itself when it
        /// is dropped still does.
        Crash,
        /// The process ends there at once, and closes nothing.
        Abort,
    }

    #[derive(Clone, Copy)]
    struct Armed {
        /// The place; nothing for any.
        point: Option<&'static str>,
        /// So often it is passed first.
        passes: usize,
        fault: Fault,
    }

    thread_local! {
        static ARMED: Cell<Option<Armed>> = const { Cell::new(None) };
    }

    /// Lets this thread fail at a place, after passing it so many times.
    pub fn arm(point: &'static str, passes: usize, fault: Fault) {
        let point = Some(point);
        ARMED.set(Some(Armed {
            point,
            passes,
            fault,
        }));
    }

    /// Lets this thread fail after passing so many places, whichever they are.
    pub fn arm_any(passes: usize, fault: Fault) {
        let point = None;
        ARMED.set(Some(Armed {
            point,
            passes,
            fault,
        }));
    }

    /// Whether this thread has yet to reach the armed place. Disarms it.
    pub fn is_armed() -> bool {
        ARMED.take().is_some()
    }

    /// Goes on; or fails here, where a test wants that.
    ///
    /// # Errors
    /// What the test armed the place with.
    pub fn reach(point: &'static str) -> io::Result<()> {
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
        match armed.fault {
            Fault::Cut => Err(io::Error::other("cut short by a test")),
            Fault::DiskFull => Err(io::ErrorKind::StorageFull.into()),
            // Without the noise of a panic: a test wants it.
            Fault::Abort => std::process::abort(),
            Fault::Crash => resume_unwind(Box::new(point)),
        }
    }

    #[cfg(test)]
    mod tests {
        use std::panic::catch_unwind;

        use super::*;

        #[test]
        fn it_fails_once_at_the_wanted_place() {
            assert!(reach("one").is_ok());
            arm("two", 1, Fault::DiskFull);
            assert!(reach("one").is_ok() && reach("two").is_ok());
            let kind = reach("two").map_err(|error| error.kind());
            assert_eq!(kind, Err(io::ErrorKind::StorageFull));
            assert!(reach("two").is_ok() && !is_armed());
            arm_any(1, Fault::Crash);
            assert!(reach("one").is_ok());
            assert!(catch_unwind(|| reach("two")).is_err());
            assert!(reach("two").is_ok());
            arm_any(9, Fault::Cut);
            assert!(is_armed() && !is_armed());
        }
    }
}
