//! The gate: the one place where it is decided who gets what.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use lorewell_capabilities::{Access, Entry, table};
use subtle::ConditionallySelectable as _;

use crate::agent::{Agent, Reader};
use crate::caller::{Caller, KnownAgent};
use crate::expiry::shown_time;
use crate::groups::group_of;
use crate::last_use::LastUses;
use crate::token::TokenHash;
use crate::{AgentsError, Register, name};

/// What tells the time.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// The gate before every request. One a process, shared by its threads.
///
/// The register's file, which is small, is read at each question and understood anew when
/// its bytes changed, so a revocation holds at once and nothing has to be told to a running
/// process. If the file cannot be used, no agent is let in.
pub struct Gate {
    register: Register,
    uses: LastUses,
    clock: Clock,
    known: Mutex<Known>,
}

/// The register as it was last read.
#[derive(Default)]
struct Known {
    bytes: Option<Vec<u8>>,
    agents: Arc<Vec<Agent>>,
    revision: u64,
}

/// What a caller is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// For whom the answer is made: a remote one comes from an index without fenced notes.
    pub reader: Reader,
    /// Whether the log must tell of the answer before it leaves.
    pub logged: bool,
}

impl Gate {
    /// The gate of the register in `folder`, by the system's clock.
    pub fn new(folder: &Path) -> Gate {
        Gate::with_clock(folder, Arc::new(Timestamp::now))
    }

    /// The same by another clock.
    pub fn with_clock(folder: &Path, clock: Clock) -> Gate {
        Gate {
            register: Register::at(folder),
            uses: LastUses::at(folder),
            clock,
            known: Mutex::default(),
        }
    }

    /// Lets in who shows the token of an approved agent whose approval has not ended.
    ///
    /// # Errors
    /// [`AgentsError::NotApproved`], [`AgentsError::Expired`]; the register cannot be used.
    pub fn admit(&self, token: &str) -> Result<Caller, AgentsError> {
        let shown = TokenHash::of(token);
        let agents = self.agents()?;
        // Every agent is compared, and the time does not tell which one it was.
        let mut found = u32::MAX;
        for (at, agent) in (0_u32..).zip(agents.iter()) {
            found.conditional_assign(&at, agent.token.is(&shown));
        }
        let agent = agents.get(found as usize).ok_or(AgentsError::NotApproved)?;
        self.admitted(agent, Some(shown))
    }

    /// Lets the owner take the place of an agent, without its token: for a program that came over
    /// the user's own socket and says as whom it asks.
    ///
    /// # Errors
    /// [`AgentsError::NoSuchAgent`], [`AgentsError::Expired`]; the register cannot be used.
    pub fn admit_as(&self, asked: &str) -> Result<Caller, AgentsError> {
        let agents = self.agents()?;
        let agent = agents.iter().find(|a| name::same(&a.name, asked.trim()));
        let agent = agent.ok_or_else(|| AgentsError::NoSuchAgent {
            asked: asked.to_owned(),
            approved: agents.iter().map(|agent| agent.name.clone()).collect(),
        })?;
        self.admitted(agent, None)
    }

    fn admitted(&self, agent: &Agent, shown: Option<TokenHash>) -> Result<Caller, AgentsError> {
        self.check_end(agent)?;
        Ok(Caller::Agent(KnownAgent::new(agent, shown)))
    }

    /// Decides one request: `entry` asked of the vault called `vault` in the canonical folder
    /// `folder`. Asked anew for each request, also of one connection.
    ///
    /// # Errors
    /// Why not: [`AgentsError::NotApproved`], [`AgentsError::Expired`],
    /// [`AgentsError::OutOfScope`], [`AgentsError::MayNotManage`], [`AgentsError::ToolOff`]; the
    /// register cannot be used.
    pub fn allow(
        &self,
        caller: &Caller,
        entry: &Entry,
        vault: &str,
        folder: &Path,
    ) -> Result<Grant, AgentsError> {
        let known = match caller {
            Caller::Owner => {
                return Ok(Grant {
                    reader: Reader::Local,
                    logged: false,
                });
            }
            Caller::Client(client) => {
                may_access(caller, Access::Read, entry)?;
                return Ok(Grant {
                    reader: client.reader,
                    logged: true,
                });
            }
            Caller::Agent(known) => known,
        };
        let agent = self.now(known)?;
        if !agent.vaults.holds(folder) {
            return Err(self.outside(caller, vault));
        }
        let highest = if agent.manage {
            Access::Manage
        } else {
            Access::Read
        };
        may_access(caller, highest, entry)?;
        let group = group_of(entry);
        if agent.off.iter().any(|off| off == group) {
            return Err(AgentsError::ToolOff {
                agent: agent.name.clone(),
                ability: entry.name().to_owned(),
                group: group.to_owned(),
            });
        }
        self.uses.used(&agent.id, (self.clock)());
        Ok(Grant {
            reader: agent.reader,
            logged: true,
        })
    }

    /// Why a caller gets nothing of a vault that it may not ask. The same words serve for a vault
    /// that does not exist, so that nobody learns the names of vaults by asking.
    pub fn outside(&self, caller: &Caller, vault: &str) -> AgentsError {
        AgentsError::OutOfScope {
            agent: caller.name().to_owned(),
            vault: vault.to_owned(),
        }
    }

    /// Whether a caller may know of the vault in the canonical folder `folder`.
    ///
    /// # Errors
    /// The caller is no longer approved; the register cannot be used.
    pub fn may_ask(&self, caller: &Caller, folder: &Path) -> Result<bool, AgentsError> {
        match caller {
            Caller::Owner | Caller::Client(_) => Ok(true),
            Caller::Agent(known) => Ok(self.now(known)?.vaults.holds(folder)),
        }
    }

    /// The folders of the vaults that a caller may ask; nothing where it may ask all.
    ///
    /// # Errors
    /// As [`Gate::may_ask`].
    pub fn folders(&self, caller: &Caller) -> Result<Option<Vec<PathBuf>>, AgentsError> {
        use crate::agent::VaultScope;
        match caller {
            Caller::Owner | Caller::Client(_) => Ok(None),
            Caller::Agent(known) => Ok(match self.now(known)?.vaults {
                VaultScope::All => None,
                VaultScope::These(vaults) => {
                    Some(vaults.into_iter().map(|vault| vault.path).collect())
                }
            }),
        }
    }

    /// Where a caller reads.
    ///
    /// # Errors
    /// As [`Gate::may_ask`].
    pub fn reader(&self, caller: &Caller) -> Result<Reader, AgentsError> {
        match caller {
            Caller::Owner => Ok(Reader::Local),
            Caller::Client(client) => Ok(client.reader),
            Caller::Agent(known) => Ok(self.now(known)?.reader),
        }
    }

    /// The capabilities that a caller is offered, for lists of tools.
    ///
    /// # Errors
    /// As [`Gate::may_ask`].
    pub fn offered(&self, caller: &Caller) -> Result<Vec<&'static Entry>, AgentsError> {
        let all = table().iter();
        Ok(match caller {
            Caller::Owner => all.collect(),
            Caller::Client(_) => all.filter(|e| e.access == Access::Read).collect(),
            Caller::Agent(known) => {
                let agent = self.now(known)?;
                let is_off = |entry: &Entry| agent.off.iter().any(|off| off == group_of(entry));
                all.filter(|entry| agent.manage || entry.access == Access::Read)
                    .filter(|entry| !is_off(entry))
                    .collect()
            }
        })
    }

    /// A number that is another when anything in the register changed: lists of tools that were
    /// given out may be old then.
    ///
    /// # Errors
    /// The register cannot be used.
    pub fn revision(&self) -> Result<u64, AgentsError> {
        self.agents()?;
        Ok(self.lock().revision)
    }

    /// The register that it reads.
    pub fn register(&self) -> &Register {
        &self.register
    }

    /// The agent as it is approved now.
    fn now(&self, known: &KnownAgent) -> Result<Agent, AgentsError> {
        let agents = self.agents()?;
        let agent = agents.iter().find(|agent| agent.id == known.id);
        let agent = agent.ok_or(AgentsError::NotApproved)?;
        // A token that was replaced opens nothing, also on a connection that it opened before.
        if known.shown.is_some_and(|shown| shown != agent.token) {
            return Err(AgentsError::NotApproved);
        }
        self.check_end(agent)?;
        Ok(agent.clone())
    }

    fn check_end(&self, agent: &Agent) -> Result<(), AgentsError> {
        match agent.expires_at {
            Some(end) if agent.is_expired((self.clock)()) => Err(AgentsError::Expired {
                agent: agent.name.clone(),
                end: shown_time(end),
            }),
            _ => Ok(()),
        }
    }

    fn agents(&self) -> Result<Arc<Vec<Agent>>, AgentsError> {
        let bytes = self.register.bytes()?;
        let mut known = self.lock();
        if known.revision == 0 || known.bytes != bytes {
            let agents = match &bytes {
                Some(bytes) => self.register.read(bytes)?,
                None => Vec::new(),
            };
            known.agents = Arc::new(agents);
            known.bytes = bytes;
            known.revision += 1;
        }
        Ok(Arc::clone(&known.agents))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn may_access(caller: &Caller, highest: Access, entry: &Entry) -> Result<(), AgentsError> {
    match (highest, entry.access) {
        (Access::Manage, _) | (Access::Read, Access::Read) => Ok(()),
        (Access::Read, Access::Manage) => Err(AgentsError::MayNotManage {
            agent: caller.name().to_owned(),
            ability: entry.name().to_owned(),
        }),
    }
}
