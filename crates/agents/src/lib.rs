//! Who may ask what: approved agents with their tokens and scopes, and the log of what left.
//!
//! - [`Register`] is the file of approved agents. The command line changes it.
//! - [`Gate`] stands before every request: [`Gate::admit`] turns a token into a [`Caller`], and
//!   [`Gate::allow`] says for a caller, a capability and a vault what it gets ([`Grant`]) or why
//!   not. Nothing is remembered between two requests that a change of the register could not
//!   undo: a revocation holds from the next request on.
//! - [`Reader`] is on which machine a caller reads. Notes behind the vault's fences are kept from
//!   [`Reader::Remote`]: such a caller is answered from an index without them.
//! - [`AuditLog`] keeps which passages left, to whom and when.
//!
//! How a surface uses it:
//!
//! ```
//! use lorewell_agents::{Caller, Gate};
//! # let folder = tempfile::tempdir().unwrap();
//! # let (folder, header) = (folder.path(), None);
//! # let entry = &lorewell_capabilities::table()[0];
//! # let vault = std::path::Path::new("/notes");
//! let gate = Gate::new(folder); // once a process
//! let caller = match header {
//!     Some(token) => gate.admit(token)?, // HTTP: the bearer of `Authorization`
//!     None => Caller::Owner,             // the user's own socket, or the program itself
//! };
//! let grant = gate.allow(&caller, entry, "Notes", vault)?; // each request
//! // Answer from the index for `grant.reader`; where `grant.logged`, `AuditLog::record` an
//! // `AuditEntry` of the answer before it leaves.
//! # Ok::<(), lorewell_agents::AgentsError>(())
//! ```
//!
//! The crate knows no network, no settings and no note. It is told the time and the folder.

mod agent;
mod audit;
mod audit_entry;
mod caller;
mod error;
mod expiry;
mod files;
mod gate;
mod groups;
mod last_use;
mod name;
mod register;
mod stored;
mod token;

pub use agent::{Agent, Approval, Reader, ScopedVault, VaultScope};
pub use audit::{AuditFilter, AuditLimits, AuditLog, AuditView, Unnamed};
pub use audit_entry::{AuditEntry, AuditPassage};
pub use caller::{Caller, ClientProgram, KnownAgent};
pub use error::AgentsError;
pub use expiry::{end_of, shown_time};
pub use gate::{Clock, Gate, Grant};
pub use groups::{ToolGroup, group_of, tool_groups};
pub use last_use::LastUses;
pub use register::{Change, Register};
pub use token::{Token, TokenHash};
