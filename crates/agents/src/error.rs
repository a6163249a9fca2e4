//! Why somebody is not let in, or the register cannot be used: codes, words and what to try.

use std::io;
use std::path::PathBuf;

use lorewell_capabilities::Failure;

use crate::groups::tool_groups;

/// What can go wrong. `Display` says where and what, [`hint`](Self::hint) what to try.
#[derive(Debug, thiserror::Error)]
pub enum AgentsError {
    /// No approved agent has the token, or there was none. Which of both is not told.
    #[error("the request bears no token of an approved agent")]
    NotApproved,
    /// The approval has ended.
    #[error("the approval of “{agent}” ended at {end}")]
    Expired {
        /// The agent.
        agent: String,
        /// When, RFC 3339.
        end: String,
    },
    /// The agent may not ask this vault, or there is none of that name. Which of both is not told.
    #[error("“{agent}” may not ask a vault “{vault}”")]
    OutOfScope {
        /// The caller.
        agent: String,
        /// The vault that was asked.
        vault: String,
    },
    /// The agent may read and not manage.
    #[error("“{agent}” may read and not change anything, so not “{ability}”")]
    MayNotManage {
        /// The caller.
        agent: String,
        /// The capability.
        ability: String,
    },
    /// The capability's tool group is turned off for the agent.
    #[error("“{ability}” is turned off for “{agent}”")]
    ToolOff {
        /// The caller.
        agent: String,
        /// The capability.
        ability: String,
        /// Its group.
        group: String,
    },
    /// A name that an agent cannot have.
    #[error("{name:?} cannot be the name of an agent: {reason}")]
    BadName {
        /// The name.
        name: String,
        /// Why not.
        reason: &'static str,
    },
    /// Another agent has the name.
    #[error("an agent “{name}” is approved already")]
    NameTaken {
        /// Its name as it was approved.
        name: String,
    },
    /// No agent has the name.
    #[error("no agent “{asked}” is approved")]
    NoSuchAgent {
        /// What was asked for.
        asked: String,
        /// Names of all agents.
        approved: Vec<String>,
    },
    /// No tool group has the name.
    #[error("there is no tool group “{asked}”")]
    UnknownGroup {
        /// What was asked for.
        asked: String,
    },
    /// A time at which an approval cannot end.
    #[error("an approval cannot end at {text:?}: {reason}")]
    BadExpiry {
        /// What was given.
        text: String,
        /// Why not.
        reason: &'static str,
    },
    /// The file of approvals does not say what it should.
    #[error("{}: this is no register of approved agents: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// Others than the owner could read or change the file or its folder.
    #[error("{}: {reason}", path.display())]
    NotPrivate {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong.
        reason: &'static str,
    },
    /// A file cannot be read.
    #[error("{}: cannot be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file cannot be written.
    #[error("{}: cannot be written: {source}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The system gives no randomness.
    #[error("the system gives no randomness: {0}")]
    NoRandomness(String),
}

impl AgentsError {
    /// A stable word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            AgentsError::NotApproved => "not_approved",
            AgentsError::Expired { .. } => "expired",
            AgentsError::OutOfScope { .. } | AgentsError::MayNotManage { .. } => "out_of_scope",
            AgentsError::ToolOff { .. } => "tool_off",
            AgentsError::BadName { .. } => "bad_agent_name",
            AgentsError::NameTaken { .. } => "agent_name_taken",
            AgentsError::NoSuchAgent { .. } => "no_such_agent",
            AgentsError::UnknownGroup { .. } => "unknown_tool_group",
            AgentsError::BadExpiry { .. } => "bad_expiry",
            AgentsError::Damaged { .. } => "agents_damaged",
            AgentsError::NotPrivate { .. } => "agents_not_private",
            AgentsError::Unreadable { .. } => "agents_unreadable",
            AgentsError::Unwritable { .. } => "agents_unwritable",
            AgentsError::NoRandomness(_) => "no_randomness",
        }
    }

    /// What to try; empty where there is nothing to say.
    pub fn hint(&self) -> String {
        match self {
            AgentsError::NotApproved => {
                "`lorewell agent approve NAME` gives a token; send it as `Authorization: Bearer …`."
                    .to_owned()
            }
            AgentsError::Expired { agent, .. } => {
                format!("`lorewell agent renew \"{agent}\"` lets it go on.")
            }
            AgentsError::OutOfScope { agent, .. } => {
                format!("`lorewell agent show \"{agent}\"` names the vaults that it may ask.")
            }
            AgentsError::MayNotManage { .. } => {
                "Its owner can approve it with --manage.".to_owned()
            }
            AgentsError::ToolOff { agent, group, .. } => format!(
                "Its owner can turn it on with `lorewell agent tools \"{agent}\" --on {group}`."
            ),
            AgentsError::NameTaken { name } => format!(
                "`lorewell agent renew \"{name}\" --new-token` gives it another token, `lorewell agent revoke \"{name}\"` makes room."
            ),
            AgentsError::NoSuchAgent { approved, .. } if approved.is_empty() => {
                "None is; `lorewell agent approve NAME` approves one.".to_owned()
            }
            AgentsError::NoSuchAgent { approved, .. } => {
                format!("Approved: {}.", approved.join(", "))
            }
            AgentsError::UnknownGroup { .. } => {
                let names: Vec<_> = tool_groups().iter().map(|group| group.name).collect();
                format!("There are: {}.", names.join(", "))
            }
            AgentsError::Damaged { .. } => {
                "Nobody is let in by it. Move the file away and approve the agents anew.".to_owned()
            }
            AgentsError::NotPrivate { path, .. } => format!(
                "Nobody is let in by it. If you trust what stands there: `chmod go= '{}'`.",
                path.display()
            ),
            AgentsError::Unreadable { .. } => {
                "Nobody is let in by it. Check its permissions and the disk.".to_owned()
            }
            AgentsError::Unwritable { .. } => "Check its permissions and the disk.".to_owned(),
            AgentsError::BadName { .. }
            | AgentsError::BadExpiry { .. }
            | AgentsError::NoRandomness(_) => String::new(),
        }
    }
}

impl From<AgentsError> for Failure {
    fn from(error: AgentsError) -> Failure {
        Failure {
            code: error.code().to_owned(),
            message: error.to_string(),
            hint: error.hint(),
        }
    }
}
