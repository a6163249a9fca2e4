//! Answers in the process that was asked, where no bridge gives them, by the rules of the bridge:
//! the gate decides, a remote reader is answered from the index without fenced notes, and what
//! leaves is in the log before it leaves.
//!
//! [`Direct`] does it for one caller. [`audit_log`] is the log as the settings bound it, and
//! [`follow`] takes out of it, and out of the index for remote readers, what an update took out of
//! an index. The command line, the server on standard input and the hook use all three; the bridge
//! has a warmer way to the same end and shares the log.

mod direct;
mod failures;
mod following;

pub use direct::{Asked, Direct, look};
pub use failures::{of_opening, of_setup};
pub use following::{audit_log, follow, forget, took_out};
