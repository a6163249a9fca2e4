//! One warm process for every client.
//!
//! [`serve`] keeps the vaults of one user open and fresh, and answers over two roads: a socket
//! that only the user's own programs reach, and HTTP on this machine, where every request bears
//! the token of an approved agent. Both go through [`Bridge::answer`], the one place where it is
//! decided who asks what, how fresh the index is, and what is logged; the answer has the bytes that
//! every surface gives.
//!
//! - [`Client`] is the other end of the socket, for the command line and the MCP shim.
//! - [`find_or_start`] finds the bridge, or starts one in the background.
//! - [`State`] says which process serves, and proves it.
//! - [`service`] has a bridge started at login.
//!
//! The runtime that waits for connections stays in this crate; the work is done on plain threads.

mod backend;
mod bridge;
mod client;
mod error;
mod fresh;
mod hearing;
mod http;
mod kept;
mod limits;
mod listener;
mod log;
mod news;
mod office;
mod places;
mod protocol;
mod serve;
pub mod service;
mod shares;
mod socket;
mod start;
mod state;
mod stream;
mod vaults;
mod work;

pub use bridge::{Ask, Bridge};
pub use client::Client;
pub use error::{BridgeError, Refusal};
pub use hearing::{Cancel, Hearing, Progress, StageName};
pub use http::openapi;
pub use kept::print;
pub use limits::Limits;
pub use log::Level;
pub use news::News;
pub use places::Places;
pub use protocol::{As, Doing, Greeting, Offer, PROTOCOL, Reply, Request};
pub use serve::{Options, serve};
pub use start::{find_or_start, wait_until_gone};
pub use state::{State, VERSION, is_running};
