//! What is said over the socket: JSON objects, one a line.
//!
//! The bridge greets first ([`Greeting`]). Then the client asks ([`Request`]) and the bridge
//! answers with any number of [`Reply::Progress`] and one of the others; then the client may ask
//! again. A client that goes away calls its request off.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use lorewell_capabilities::Failure;

use crate::hearing::Progress;

/// The version of this protocol. Programs of two versions do not talk.
pub const PROTOCOL: u32 = 1;

/// The bridge's first line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Greeting {
    /// [`PROTOCOL`]
    pub protocol: u32,
    /// The version of the program.
    pub version: String,
    /// Which process it is: what the state file calls it.
    pub instance: String,
}

/// What a client wants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// An answer of a capability.
    Ask {
        /// Its id or name.
        capability: String,
        /// The vault: a name or a folder; nothing where it is clear which.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        vault: Option<String>,
        /// Its input.
        input: serde_json::Value,
        /// Whether changes made just now are waited for.
        #[serde(default = "yes")]
        refresh: bool,
        /// Whether progress is wanted.
        #[serde(default)]
        progress: bool,
        /// The print of the client's settings.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        print: Option<String>,
        /// In whose name.
        #[serde(default, skip_serializing_if = "As::is_owner", rename = "as")]
        caller: As,
    },
    /// What may be asked.
    Offered {
        /// In whose name.
        #[serde(default, skip_serializing_if = "As::is_owner", rename = "as")]
        caller: As,
    },
    /// How the bridge does.
    State,
    /// It is to end.
    Stop,
}

/// In whose name a program of the user's asks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum As {
    /// The user's.
    #[default]
    Owner,
    /// That of a client without an approval, whose reader is on this machine.
    LocalClient,
    /// The same, whose reader is elsewhere.
    RemoteClient,
    /// The same, by a name that the log tells.
    RemoteClientCalled(String),
    /// That of a client without an approval, by what the program calls itself.
    Program {
        /// What it calls itself, in its own words.
        name: String,
        /// Whether its reader is elsewhere.
        remote: bool,
    },
    /// An approved agent's.
    Agent(String),
}

/// What the bridge says.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// It is working.
    Progress(Progress),
    /// The answer, as it is written everywhere.
    Output(Box<RawValue>),
    /// Why there is none.
    Error(Failure),
}

/// The answer to [`Request::Offered`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// Names of the vaults; the one that is meant where none is named comes first.
    pub vaults: Vec<String>,
    /// Ids of the capabilities that may be asked.
    pub capabilities: Vec<String>,
}

/// The answer to [`Request::State`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doing {
    /// The process.
    pub pid: u32,
    /// The version of its program.
    pub version: String,
    /// Which process it is.
    pub instance: String,
    /// Where it listens for HTTP.
    pub addresses: Vec<std::net::SocketAddr>,
    /// Its socket.
    pub socket: std::path::PathBuf,
    /// Its log.
    pub log: std::path::PathBuf,
    /// Folders of the vaults that are open.
    pub open: Vec<std::path::PathBuf>,
    /// Requests that are being answered.
    pub running: usize,
    /// For how many seconds it runs.
    pub up_seconds: u64,
    /// After how many seconds without a request it ends by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_after_seconds: Option<u64>,
}

impl As {
    fn is_owner(&self) -> bool {
        *self == As::Owner
    }
}

fn yes() -> bool {
    true
}
