//! The register's file: one JSON object, checked in every part when it is read.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::agent::{Agent, Reader, ScopedVault, VaultScope};
use crate::expiry::shown_time;
use crate::token::TokenHash;
use crate::{AgentsError, groups, name};

/// Counts up when the file's form changes so that older programs would misread it.
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    version: u32,
    agents: Vec<Row>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    id: String,
    token_blake3: String,
    /// Absent for all vaults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    vaults: Option<Vec<VaultRow>>,
    manage: bool,
    remote: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    off: Vec<String>,
    approved_at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct VaultRow {
    name: String,
    path: PathBuf,
}

/// The agents that the bytes of the file at `path` tell.
///
/// # Errors
/// [`AgentsError::Damaged`] for anything that this program would not have written: an approval
/// that is misread could let somebody in.
pub(crate) fn read(path: &Path, bytes: &[u8]) -> Result<Vec<Agent>, AgentsError> {
    let damaged = |reason: String| AgentsError::Damaged {
        path: path.to_path_buf(),
        reason,
    };
    #[derive(Deserialize)]
    struct Head {
        version: u32,
    }
    let head: Head = serde_json::from_slice(bytes).map_err(|error| damaged(error.to_string()))?;
    if head.version != VERSION {
        let reason = format!(
            "it is of version {}, this program knows {VERSION}",
            head.version
        );
        return Err(damaged(reason));
    }
    let stored: Stored =
        serde_json::from_slice(bytes).map_err(|error| damaged(error.to_string()))?;
    let mut agents: Vec<Agent> = Vec::with_capacity(stored.agents.len());
    for (number, row) in (1..).zip(stored.agents) {
        let agent = agent(row).map_err(|reason| damaged(format!("agent {number}: {reason}")))?;
        let twice = |other: &Agent| name::same(&other.name, &agent.name) || other.id == agent.id;
        if agents.iter().any(twice) {
            return Err(damaged(format!("agent {number} is there twice")));
        }
        agents.push(agent);
    }
    Ok(agents)
}

fn agent(row: Row) -> Result<Agent, String> {
    let said = |error: AgentsError| error.to_string();
    let time = |text: &str| -> Result<Timestamp, String> {
        text.parse().map_err(|_| format!("{text:?} is no time"))
    };
    name::checked(&row.name).map_err(said)?;
    if row.id.is_empty() {
        return Err("it has no id".to_owned());
    }
    for word in &row.off {
        groups::named(word).map_err(said)?;
    }
    Ok(Agent {
        token: TokenHash::from_hex(&row.token_blake3).ok_or("its token's hash is none")?,
        vaults: match row.vaults {
            None => VaultScope::All,
            Some(vaults) => VaultScope::These(
                vaults
                    .into_iter()
                    .map(|VaultRow { name, path }| ScopedVault { name, path })
                    .collect(),
            ),
        },
        manage: row.manage,
        reader: if row.remote {
            Reader::Remote
        } else {
            Reader::Local
        },
        off: row.off,
        approved_at: time(&row.approved_at)?,
        expires_at: row.expires_at.as_deref().map(time).transpose()?,
        name: row.name,
        id: row.id,
    })
}

/// The bytes of the file that tells these agents.
pub(crate) fn written(agents: &[Agent]) -> Vec<u8> {
    let row = |agent: &Agent| Row {
        name: agent.name.clone(),
        id: agent.id.clone(),
        token_blake3: agent.token.to_hex(),
        vaults: match &agent.vaults {
            VaultScope::All => None,
            VaultScope::These(vaults) => Some(
                vaults
                    .iter()
                    .map(|vault| VaultRow {
                        name: vault.name.clone(),
                        path: vault.path.clone(),
                    })
                    .collect(),
            ),
        },
        manage: agent.manage,
        remote: agent.reader == Reader::Remote,
        off: agent.off.clone(),
        approved_at: shown_time(agent.approved_at),
        expires_at: agent.expires_at.map(shown_time),
    };
    let stored = Stored {
        version: VERSION,
        agents: agents.iter().map(row).collect(),
    };
    let mut bytes = serde_json::to_vec_pretty(&stored).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}
