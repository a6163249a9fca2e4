//! The places where a test can cut the writing of files short, as a crash would, or have the disk
//! run full.

use std::io;

#[cfg(feature = "failpoints")]
pub use lorewell_failpoint::{Fault, arm, arm_any, is_armed};

/// Every place: of the device's name; then in the order of carrying, of which the places of writing
/// and of removing are passed for each file.
#[cfg(any(feature = "failpoints", debug_assertions))]
#[cfg_attr(
    not(feature = "failpoints"),
    expect(unreachable_pub, reason = "tests alone go by the list")
)]
pub const POINTS: [&str; 15] = [
    "device-draft-made",
    "device-draft-synced",
    "device-named",
    "carry-drafts-removed",
    "carry-folder-made",
    "carry-draft-made",
    "carry-draft-written",
    "carry-draft-synced",
    "carry-renamed",
    "carry-folder-synced",
    "carry-before-remove",
    "carry-after-remove",
    "carry-before-other-models",
    "carry-before-empty-folders",
    "carry-done",
];

/// Goes on; or fails here, where a test wants that.
pub(crate) fn failpoint(point: &'static str) -> io::Result<()> {
    #[cfg(debug_assertions)]
    assert!(POINTS.contains(&point), "{point} is not listed");
    lorewell_failpoint::reach(point)
}
