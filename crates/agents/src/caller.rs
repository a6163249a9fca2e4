//! Who asks.

use crate::agent::{Agent, Reader};
use crate::token::TokenHash;
use crate::{AgentsError, name};

/// What a program of the owner without an approval is called in the log; with a name of its own,
/// that follows behind a colon, which no agent's name holds.
const CLIENT: &str = "client";

/// Who asks. It holds no rights itself: [`crate::Gate::allow`] looks them up for each request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Caller {
    /// The person: the program itself, or one of theirs that came over the user's own socket. May
    /// do everything, reads on this machine, and is not in the log.
    Owner,
    /// A program that the person started and that passes on what it is given, such as the MCP shim
    /// of a client without an approval, or a command that an agent runs with `--remote`. It came
    /// over the user's own socket or runs in the program itself. May read every vault and manage
    /// none.
    Client(ClientProgram),
    /// An approved agent.
    Agent(KnownAgent),
}

/// A program of the owner that passes on what it is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientProgram {
    pub(crate) reader: Reader,
    label: String,
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
    /// A program of the owner that reads there.
    pub fn client(reader: Reader) -> Caller {
        Caller::Client(ClientProgram {
            reader,
            label: CLIENT.to_owned(),
        })
    }

    /// The same by a name, which the log tells. It gives no rights, and takes none.
    ///
    /// # Errors
    /// [`AgentsError::BadName`], as for agents.
    pub fn client_called(reader: Reader, name: &str) -> Result<Caller, AgentsError> {
        let name = name::checked(name.trim())?;
        Ok(Caller::Client(ClientProgram {
            reader,
            label: format!("{CLIENT}:{name}"),
        }))
    }

    /// The same by what the program calls itself, as far as a name can be made of that.
    pub fn client_that_says(reader: Reader, given: &str) -> Caller {
        let named = name::of_program(given);
        let named = named.and_then(|name| Caller::client_called(reader, &name).ok());
        named.unwrap_or_else(|| Caller::client(reader))
    }

    /// What it is called in the log: an agent's name, `owner`, `client` or `client:NAME`.
    pub fn name(&self) -> &str {
        match self {
            Caller::Owner => "owner",
            Caller::Client(client) => &client.label,
            Caller::Agent(agent) => &agent.name,
        }
    }

    /// What it is counted by where there are limits: all programs of the owner without an approval
    /// are one, whatever they call themselves.
    pub fn counted_as(&self) -> &str {
        match self {
            Caller::Client(_) => CLIENT,
            other => other.name(),
        }
    }
}

/// Whether the log's entry of somebody called `entry` is meant by `asked`: by its name, whatever the
/// case; `client` means all programs without an approval.
pub(crate) fn means(asked: &str, entry: &str) -> bool {
    let asked = asked.trim();
    let kind = entry.split_once(':').map_or(entry, |(kind, _)| kind);
    name::same(asked, entry) || name::same(asked, CLIENT) && kind == CLIENT
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
