//! The places where a test can cut the writer short, as a crash would, or have the disk run full.

use std::path::Path;

use crate::IndexError;

#[cfg(feature = "failpoints")]
pub use lorewell_failpoint::{Fault, arm, arm_any, is_armed};

/// Every place, in the order of an update with an exclusion and a merge; then those of reading
/// everything anew, of compacting vectors, of vectors that come later, of models that go, and of
/// discarding.
#[cfg(any(feature = "failpoints", debug_assertions))]
#[cfg_attr(
    not(feature = "failpoints"),
    expect(unreachable_pub, reason = "tests alone go by the list")
)]
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

/// Goes on; or fails here, where a test wants that.
pub(crate) fn failpoint(point: &'static str) -> Result<(), IndexError> {
    #[cfg(debug_assertions)]
    assert!(POINTS.contains(&point), "{point} is not listed");
    lorewell_failpoint::reach(point).map_err(|error| IndexError::io(Path::new(point), error))
}
