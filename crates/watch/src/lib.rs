//! Watching: keeps one vault's index up to date while its notes change.
//!
//! Events of the file system are hints and the disk is the truth. An event says only that a look
//! is worth while; what changed is found by the same comparison as always, so that a hint too
//! many costs a look and a hint too few costs time, never a note. Hints are gathered until it has
//! been quiet for a moment (they are debounced), so that a save that takes several steps is one
//! update. The folder is also compared at the start, when events were lost, after failures, and on
//! a slow timer; where events do not come (network drives, too few watches left) it is looked at
//! every few seconds.
//!
//! - [`watch`] is the loop. It blocks, and costs nothing until something happens.
//! - [`Keeper`] is what it keeps up to date; a [`lorewell_engine::Host`] is one.
//! - [`Stop`] ends it from another thread or a signal.
//! - [`LateVectors`] embeds behind it what waits for a model that is dear.
//! - [`WatchLock`] makes sure that a vault has one watcher.
//!
//! This crate compares nothing and writes no index itself, and knows no terminal.

mod background;
mod inbox;
mod keeper;
mod late;
mod lock;
mod matters;
mod place;
mod report;
mod session;
mod watched;

pub use background::{run as in_background, run_behind};
pub use inbox::Stop;
pub use keeper::{Keeper, Trouble};
pub use late::{LateReport, LateVectors};
pub use lock::{WatchLock, WatchLockAttempt};
pub use report::{Cause, Comparison, Report, Way};
pub use session::{By, Options, WatchError, watch};
