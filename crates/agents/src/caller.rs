//! Who asks.

use crate::agent::{Agent, Reader};
use crate::token::TokenHash;

/// Who asks. It holds no rights itself: [`crate::Gate::allow`] looks them up for each request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Caller {
    /// The person: the program itself, or one of theirs that came over the user's own socket. May
    /// do everything, reads on this machine, and is not in the log.
    Owner,
    /// A program that the person started and that passes on what it is given, such as the MCP shim
    /// of a client without an approval. It came over the user's own socket or runs in the program
    /// itself. May read every vault and manage none.
    Client(Reader),
    /// An approved agent.
    Agent(KnownAgent),
}

/// An approved agent that came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownAgent {
    pub(crate) id: String,
    pub(crate) name: String,
    /// The token that it showed; nothing where the owner takes its place.
    pub(crate) shown: Option<TokenHash>,
}

impl Caller {
    /// What it is called in the log and in limits: its name, `owner` or `client`.
    pub fn name(&self) -> &str {
        match self {
            Caller::Owner => "owner",
            Caller::Client(_) => "client",
            Caller::Agent(agent) => &agent.name,
        }
    }
}

impl KnownAgent {
    pub(crate) fn new(agent: &Agent, shown: Option<TokenHash>) -> KnownAgent {
        KnownAgent {
            id: agent.id.clone(),
            name: agent.name.clone(),
            shown,
        }
    }

    /// The name that it was approved by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its number, unique for good.
    pub fn id(&self) -> &str {
        &self.id
    }
}
