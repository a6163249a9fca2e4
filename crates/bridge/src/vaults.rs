//! The vaults that are open, and which of them a request means.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lorewell_agents::{Caller, Gate, Reader};
use lorewell_capabilities::Failure;
use lorewell_direct::of_setup;
use lorewell_setup::{Config, Environment, Flags, VaultRef, has_fences, vaults};

use crate::fresh::{FreshVault, Surroundings};
use crate::kept::Kept;

/// The vaults of one bridge.
pub(crate) struct Vaults {
    environment: Environment,
    /// Named when the bridge was started; known beside those of the list.
    named: Vec<VaultRef>,
    open: Mutex<BTreeMap<(PathBuf, bool), Slot>>,
    surroundings: Surroundings,
}

/// A vault that is open, or being opened; whoever comes second waits for the first.
type Slot = Arc<Mutex<Option<Arc<FreshVault>>>>;

impl Vaults {
    pub(crate) fn new(
        environment: Environment,
        named: Vec<VaultRef>,
        surroundings: Surroundings,
    ) -> Vaults {
        Vaults {
            environment,
            named,
            open: Mutex::default(),
            surroundings,
        }
    }

    /// The vault that `caller` means by `asked`: a name, or nothing where it is clear which. Only
    /// the user's own programs may name a folder.
    pub(crate) fn meant(
        &self,
        gate: &Gate,
        caller: &Caller,
        asked: Option<&str>,
    ) -> Result<VaultRef, Failure> {
        let config = Config::load(&self.environment).map_err(of_setup)?;
        if let Caller::Owner = caller {
            let named = |vault: &&VaultRef| asked.is_none_or(|asked| is_called(vault, asked));
            return match self.named.iter().find(named) {
                Some(vault) => Ok(vault.clone()),
                None => vaults::resolve(&config, &Flags::new(), asked).map_err(of_setup),
            };
        }
        let may = self.known_to(gate, caller, &config)?;
        let outside = || Failure::from(gate.outside(caller, asked.unwrap_or_default()));
        if let Some(asked) = asked {
            let called = may.iter().find(|vault| is_called(vault, asked));
            return match (called, caller) {
                (Some(vault), _) => Ok(vault.clone()),
                // It came over the user's own socket, started with this folder by the user.
                (None, Caller::Client(_)) if Path::new(asked).is_absolute() => {
                    vaults::resolve(&config, &Flags::new(), Some(asked)).map_err(of_setup)
                }
                (None, _) => Err(outside()),
            };
        }
        let default = config
            .settings(None, &Flags::new())
            .map_err(of_setup)?
            .default_vault();
        let is_default = |vault: &&VaultRef| default.as_ref().is_some_and(|d| is_called(vault, d));
        match (may.iter().find(is_default), may.as_slice()) {
            (Some(vault), _) => Ok(vault.clone()),
            (None, [only]) => Ok(only.clone()),
            (None, []) => Err(outside()),
            (None, several) => Err(which(several)),
        }
    }

    /// The vaults that a caller may know of, named ones first.
    pub(crate) fn known_to(
        &self,
        gate: &Gate,
        caller: &Caller,
        config: &Config,
    ) -> Result<Vec<VaultRef>, Failure> {
        let mut known = self.named.clone();
        for vault in vaults::list(config) {
            if known.iter().all(|other| other.path != vault.path) {
                known.push(vault.clone());
            }
        }
        let folders = gate.folders(caller)?;
        if let Some(folders) = folders {
            known.retain(|vault| folders.contains(&vault.path));
        }
        Ok(known)
    }

    /// [`Vaults::known_to`] by the settings that hold now.
    pub(crate) fn list(&self, gate: &Gate, caller: &Caller) -> Result<Vec<VaultRef>, Failure> {
        let config = Config::load(&self.environment).map_err(of_setup)?;
        self.known_to(gate, caller, &config)
    }

    /// The vault as `reader` may see it, opened if it is not yet.
    pub(crate) fn open(
        &self,
        vault: &VaultRef,
        reader: Reader,
    ) -> Result<Arc<FreshVault>, Failure> {
        let usual = self.slot(vault, Reader::Local)?;
        if reader == Reader::Local {
            return Ok(usual);
        }
        // Read anew if it changed, so that a fence holds from the next request on.
        usual.kept.host()?;
        match has_fences(&usual.kept.settings()) {
            true => self.slot(vault, Reader::Remote),
            false => {
                self.slots().remove(&key(vault, Reader::Remote));
                Ok(usual)
            }
        }
    }

    fn slot(&self, vault: &VaultRef, reader: Reader) -> Result<Arc<FreshVault>, Failure> {
        let slot = Arc::clone(self.slots().entry(key(vault, reader)).or_default());
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        match &*slot {
            // Under a new name it is another, for its name is in every answer.
            Some(open) if open.kept.vault.name == vault.name => Ok(Arc::clone(open)),
            _ => {
                *slot = None;
                let kept = Kept::open(&self.environment, vault.clone(), reader)?;
                let open = Arc::new(FreshVault::open(kept, reader, &self.surroundings)?);
                *slot = Some(Arc::clone(&open));
                Ok(open)
            }
        }
    }

    /// Whether notes of an open vault are kept from remote readers.
    pub(crate) fn has_fences(&self, folder: &Path) -> bool {
        let slot = self.slots().get(&(folder.to_path_buf(), false)).cloned();
        let open = slot.and_then(|slot| slot.try_lock().ok().and_then(|slot| slot.clone()));
        open.is_none_or(|open| has_fences(&open.kept.settings()))
    }

    /// Folders of the vaults that are open.
    pub(crate) fn folders(&self) -> Vec<PathBuf> {
        let slots = self.slots();
        let usual = slots.keys().filter(|(_, remote)| !remote);
        usual.map(|(folder, _)| folder.clone()).collect()
    }

    /// Closes what is kept warm for questions that do not come.
    pub(crate) fn rest(&self) {
        for open in self.all() {
            open.kept.close_views();
        }
    }

    /// Ends all watchers, and waits for them.
    pub(crate) fn close(&self) {
        for open in self.all() {
            open.stop();
        }
        let slots = std::mem::take(&mut *self.slots());
        drop(slots);
    }

    fn all(&self) -> Vec<Arc<FreshVault>> {
        let slots: Vec<Slot> = self.slots().values().cloned().collect();
        let open = |slot: &Slot| slot.try_lock().ok().and_then(|slot| slot.clone());
        slots.iter().filter_map(open).collect()
    }

    fn slots(&self) -> MutexGuard<'_, BTreeMap<(PathBuf, bool), Slot>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key(vault: &VaultRef, reader: Reader) -> (PathBuf, bool) {
    (vault.path.clone(), reader == Reader::Remote)
}

fn is_called(vault: &VaultRef, asked: &str) -> bool {
    vault.name.to_lowercase() == asked.trim().to_lowercase() || vault.path == Path::new(asked)
}

fn which(vaults: &[VaultRef]) -> Failure {
    let listed = vaults.iter().map(|vault| vault.name.clone()).collect();
    let mut failure = of_setup(lorewell_setup::SetupError::WhichVault { listed });
    failure.hint = "Name one in the field “vault”.".to_string();
    failure
}
