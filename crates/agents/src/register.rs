//! The register of approved agents: a private file, changed under a lock.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::agent::{Agent, Approval, VaultScope};
use crate::expiry::whole_seconds;
use crate::token::{Token, new_id};
use crate::{AgentsError, files, groups, name, stored};

const FILE: &str = "agents.json";

/// The approved agents, in a folder of their own: `agents.json`, readable by its owner alone.
#[derive(Clone, Debug)]
pub struct Register {
    folder: PathBuf,
}

/// What of an approved agent is to be changed; nothing stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Another end; the inner nothing is none.
    pub expires_at: Option<Option<Timestamp>>,
    /// Another beginning: an approval that is renewed counts from then.
    pub approved_at: Option<Timestamp>,
    /// Another token in place of the one that it has.
    pub new_token: bool,
    /// Tool groups to turn on.
    pub on: Vec<String>,
    /// Tool groups to turn off.
    pub off: Vec<String>,
}

impl Register {
    /// The register in `folder`, which need not exist yet. Nothing is read.
    pub fn at(folder: impl Into<PathBuf>) -> Register {
        Register {
            folder: folder.into(),
        }
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Its file, whether or not it is there.
    pub fn file(&self) -> PathBuf {
        self.folder.join(FILE)
    }

    /// Every approved agent, in the order of approval.
    ///
    /// # Errors
    /// The file cannot be read, is open to others, or is damaged.
    pub fn agents(&self) -> Result<Vec<Agent>, AgentsError> {
        match self.bytes()? {
            Some(bytes) => self.read(&bytes),
            None => Ok(Vec::new()),
        }
    }

    pub(crate) fn bytes(&self) -> Result<Option<Vec<u8>>, AgentsError> {
        files::read_private(&self.file())
    }

    pub(crate) fn read(&self, bytes: &[u8]) -> Result<Vec<Agent>, AgentsError> {
        stored::read(&self.file(), bytes)
    }

    /// The agent of that name, whatever the case.
    ///
    /// # Errors
    /// [`AgentsError::NoSuchAgent`]; the register cannot be used.
    pub fn agent(&self, asked: &str) -> Result<Agent, AgentsError> {
        let mut agents = self.agents()?;
        let at = position(&agents, asked)?;
        Ok(agents.swap_remove(at))
    }

    /// Approves an agent. Its token is in nobody's hands but the caller's: only a hash is kept.
    ///
    /// # Errors
    /// A name that cannot be or is taken, an unknown tool group, an end that has passed, a scope
    /// without a vault; the register cannot be used. Nothing is changed then.
    pub fn approve(
        &self,
        approval: Approval,
        now: Timestamp,
    ) -> Result<(Agent, Token), AgentsError> {
        name::checked(&approval.name)?;
        let token = Token::new()?;
        let agent = Agent {
            id: new_id()?,
            off: group_words(&approval.off)?,
            token: token.hash(),
            approved_at: whole_seconds(now),
            name: approval.name,
            vaults: approval.vaults,
            manage: approval.manage,
            reader: approval.reader,
            expires_at: approval.expires_at,
        };
        if agent.vaults == VaultScope::These(Vec::new()) {
            return Err(AgentsError::OutOfScope {
                agent: agent.name,
                vault: String::new(),
            });
        }
        self.edit(|agents| {
            if let Some(other) = agents.iter().find(|a| name::same(&a.name, &agent.name)) {
                let name = other.name.clone();
                return Err(AgentsError::NameTaken { name });
            }
            agents.push(agent.clone());
            Ok((agent, token))
        })
    }

    /// Takes an agent's approval away. Its token is worth nothing from then on.
    ///
    /// # Errors
    /// [`AgentsError::NoSuchAgent`]; the register cannot be used.
    pub fn revoke(&self, asked: &str) -> Result<Agent, AgentsError> {
        self.edit(|agents| {
            let at = position(agents, asked)?;
            Ok(agents.remove(at))
        })
    }

    /// Changes an agent; the new token, if one was wanted.
    ///
    /// # Errors
    /// [`AgentsError::NoSuchAgent`], [`AgentsError::UnknownGroup`]; the register cannot be used.
    pub fn change(
        &self,
        asked: &str,
        change: &Change,
    ) -> Result<(Agent, Option<Token>), AgentsError> {
        let (on, off) = (group_words(&change.on)?, group_words(&change.off)?);
        let token = change.new_token.then(Token::new).transpose()?;
        self.edit(|agents| {
            let at = position(agents, asked)?;
            let agent = &mut agents[at];
            if let Some(end) = change.expires_at {
                agent.expires_at = end.map(whole_seconds);
            }
            if let Some(start) = change.approved_at {
                agent.approved_at = whole_seconds(start);
            }
            if let Some(token) = &token {
                agent.token = token.hash();
            }
            agent.off.retain(|word| !on.contains(word));
            agent.off.extend(off.clone());
            agent.off = group_words(&agent.off)?;
            Ok((agent.clone(), token.clone()))
        })
    }

    /// Reads, edits and writes under the lock, so that two commands do not undo each other.
    fn edit<T>(
        &self,
        edit: impl FnOnce(&mut Vec<Agent>) -> Result<T, AgentsError>,
    ) -> Result<T, AgentsError> {
        let _lock = files::lock(&self.folder)?;
        let mut agents = self.agents()?;
        let done = edit(&mut agents)?;
        files::write_whole(&self.file(), &stored::written(&agents))?;
        Ok(done)
    }
}

fn position(agents: &[Agent], asked: &str) -> Result<usize, AgentsError> {
    let found = agents
        .iter()
        .position(|a| name::same(&a.name, asked.trim()));
    found.ok_or_else(|| AgentsError::NoSuchAgent {
        asked: asked.to_owned(),
        approved: agents.iter().map(|agent| agent.name.clone()).collect(),
    })
}

/// The words of groups, checked, each once, in the order of the groups.
fn group_words(words: &[String]) -> Result<Vec<String>, AgentsError> {
    let mut named = Vec::with_capacity(words.len());
    for word in words {
        named.push(groups::named(word)?.name);
    }
    let all = groups::tool_groups().iter().map(|group| group.name);
    Ok(all
        .filter(|name| named.contains(name))
        .map(str::to_owned)
        .collect())
}
