//! The Model Context Protocol: what agents see of Lorewell.
//!
//! One [`Server`] speaks every revision of the protocol, on standard input and output
//! ([`serve_stdio`]) and over HTTP ([`http_service`]). It offers a few read-only tools made from
//! the capability table, the notes as resources, and prompts that teach how to ask. What answers
//! is a [`Backend`]: this process ([`InProcess`]), or a bridge that another process runs.

mod backend;
mod calls;
mod http;
mod in_process;
mod instructions;
mod prompts;
mod resources;
mod schema;
mod server;
mod shape;
mod stdio;
mod tools;

pub use backend::Backend;
pub use http::{AskedThrough, McpService, http_service};
pub use in_process::InProcess;
pub use server::Server;
pub use stdio::{StdioError, serve, serve_stdio};
pub use tools::{DEFAULT_ANSWER_CHARS, TOOLS, Tool};
