//! Which process serves, and where: a lock that the system holds, and a file that says the rest.
//!
//! The lock decides. The file only tells; a process that dies leaves it behind, and whoever reads
//! it asks the process before it is believed. Over the socket, whose folder is the user's alone,
//! the instance must be the one of the file. At a port anybody may sit, so there the process must
//! prove that it knows the file's secret for this very port.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;

use crate::places::check;
use crate::{BridgeError, Places};

/// The version of this program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What the state file says.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// The process.
    pub pid: u32,
    /// The version of its program.
    pub version: String,
    /// A number of its own, hex: another each time a bridge starts.
    pub instance: String,
    /// Where it listens for HTTP.
    pub addresses: Vec<std::net::SocketAddr>,
    /// The port of the first of them.
    pub port: u16,
    /// Its socket.
    pub socket: PathBuf,
    /// What it proves itself with at its port, hex. Never sent.
    secret: String,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State")
            .field("pid", &self.pid)
            .field("version", &self.version)
            .field("instance", &self.instance)
            .field("addresses", &self.addresses)
            .finish_non_exhaustive()
    }
}

impl State {
    /// Of this process, at its start.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub(crate) fn new(
        places: &Places,
        addresses: Vec<std::net::SocketAddr>,
    ) -> Result<State, BridgeError> {
        Ok(State {
            pid: std::process::id(),
            version: VERSION.to_string(),
            instance: random(places)?,
            port: addresses.first().map_or(0, std::net::SocketAddr::port),
            addresses,
            socket: places.socket().to_path_buf(),
            secret: random(places)?,
        })
    }

    /// What the last bridge said of itself, whether or not it still runs.
    ///
    /// # Errors
    /// [`BridgeError::NotRunning`] where there is none or it makes no sense; the file is not the
    /// user's alone.
    pub fn read(places: &Places) -> Result<State, BridgeError> {
        let path = places.state();
        check(places.folder())?;
        check(&path)?;
        let text = fs::read_to_string(&path).map_err(|source| BridgeError::io(&path, source))?;
        serde_json::from_str(&text).map_err(|_| BridgeError::NotRunning)
    }

    /// Writes the file, whole or not at all.
    pub(crate) fn write(&self, places: &Places) -> Result<(), BridgeError> {
        let path = places.state();
        let draft = path.with_extension("json.new");
        let fail = |source| BridgeError::io(&path, source);
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        let _ = fs::remove_file(&draft);
        let mut file = private_file(&draft).map_err(fail)?;
        file.write_all(text.as_bytes()).map_err(fail)?;
        drop(file);
        fs::rename(&draft, &path).map_err(fail)
    }

    /// What only a process with this file's secret can say to `challenge` at `port`.
    pub fn proof(&self, port: u16, challenge: &str) -> String {
        let key = blake3::derive_key("lorewell bridge instance proof 1", self.secret.as_bytes());
        let said = format!("{port} {challenge}");
        blake3::keyed_hash(&key, said.as_bytes())
            .to_hex()
            .to_string()
    }

    /// Whether `proof` is what this process would say.
    pub fn is_proven(&self, port: u16, challenge: &str, proof: &str) -> bool {
        let expected = self.proof(port, challenge);
        bool::from(expected.as_bytes().ct_eq(proof.as_bytes()))
    }
}

/// 256 bits, hex.
fn random(places: &Places) -> Result<String, BridgeError> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes)
        .map_err(|error| BridgeError::io(places.folder(), std::io::Error::other(error)))?;
    Ok(blake3::Hash::from_bytes(bytes).to_hex().to_string())
}

/// A new file that only the user may read.
pub(crate) fn private_file(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// The lock of the only bridge, held until dropped or until the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct Hold {
    file: File,
}

impl Hold {
    /// Takes the lock.
    ///
    /// # Errors
    /// [`BridgeError::Running`]; the file cannot be made.
    pub(crate) fn take(places: &Places) -> Result<Hold, BridgeError> {
        let path = places.lock();
        let fail = |source| BridgeError::io(&path, source);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path).map_err(fail)?;
        check(&path)?;
        for pause in [5, 20, 0] {
            match file.try_lock() {
                Ok(()) => return Ok(Hold { file }),
                // It may only be somebody who asks whether it is held.
                Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(pause)),
                Err(TryLockError::Error(error)) => return Err(fail(error)),
            }
        }
        let process = State::read(places).ok().map(|state| state.pid);
        Err(BridgeError::Running(process))
    }
}

/// Whether a process holds the lock.
pub fn is_running(places: &Places) -> bool {
    let file = OpenOptions::new().read(true).open(places.lock());
    file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

impl Drop for Hold {
    /// Said aloud, for a process that was started meanwhile may still have the file open.
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}
