//! One vault's host, made anew when the settings change: an index that answers by settings of
//! yesterday would show what was excluded today.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use lorewell_agents::{AuditLog, Reader};
use lorewell_capabilities::Failure;
use lorewell_direct::{follow, of_opening, of_setup};
use lorewell_engine::Host;
use lorewell_setup::{
    Config, Environment, Flags, Key, Reach, Settings, VaultRef, index_root, model_files, open,
    open_remote, remote_is_left_over,
};

/// So many views of a vault rest between questions.
const VIEWS: usize = 8;

/// Where a vault's own settings lie in it.
const IN_VAULT: &str = ".lorewell/config.toml";

/// What a file was at some instant; nothing if there was none.
type Stamp = Option<(u64, SystemTime, u64, i64)>;

/// What the files were by which a host was opened.
#[derive(PartialEq)]
struct Stamps {
    settings: [Stamp; 2],
    models: Vec<Stamp>,
}

/// A vault, and how it is opened.
pub(crate) struct Kept {
    environment: Environment,
    pub(crate) vault: VaultRef,
    /// For whom it answers: a remote reader gets no note behind a fence.
    reader: Reader,
    flags: Flags,
    current: Mutex<Current>,
}

/// A host, and what it was opened by.
struct Current {
    stamps: Stamps,
    /// Where the files of the wanted models lie.
    models: Vec<PathBuf>,
    settings: Settings,
    host: Arc<Host>,
    print: String,
}

impl Kept {
    /// Opens the vault as the settings say now. Its index stays where it is from then on.
    pub(crate) fn open(
        environment: &Environment,
        vault: VaultRef,
        reader: Reader,
    ) -> Result<Kept, Failure> {
        let config = Config::load(environment).map_err(of_setup)?;
        let settings = config
            .settings(Some(&vault), &Flags::new())
            .map_err(of_setup)?;
        let mut flags = Flags::new();
        let folder = index_root(environment, &settings);
        flags.set(Key::IndexDir, folder.display().to_string());
        let current = Current::open(environment, &vault, reader, &flags)?;
        Ok(Kept {
            environment: environment.clone(),
            vault,
            reader,
            flags,
            current: Mutex::new(current),
        })
    }

    /// The host by the settings that hold now, and the print of these settings.
    pub(crate) fn host(&self) -> Result<(Arc<Host>, String), Failure> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let stamps = Stamps::of(&self.environment, &self.vault.path, &current.models);
        if stamps != current.stamps {
            let read = Current::open(&self.environment, &self.vault, self.reader, &self.flags)?;
            if read.settings == current.settings && read.stamps.models == current.stamps.models {
                current.stamps = read.stamps;
            } else {
                *current = read;
            }
        }
        Ok((Arc::clone(&current.host), current.print.clone()))
    }

    /// The settings as they were read last.
    pub(crate) fn settings(&self) -> Settings {
        let current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        current.settings.clone()
    }

    /// Whether an index for remote readers is there that nobody asks any more.
    pub(crate) fn has_left_over(&self) -> bool {
        let Ok(config) = Config::load(&self.environment) else {
            return false;
        };
        let settings = config.settings(Some(&self.vault), &self.flags);
        settings.is_ok_and(|settings| remote_is_left_over(&config, &settings, &self.vault))
    }

    /// Takes what is out of the usual index out of that for remote readers and out of the log.
    pub(crate) fn follow(&self, host: &Host, log: &AuditLog) -> Result<(), Failure> {
        if self.reader == Reader::Remote {
            return Ok(());
        }
        let config = Config::load(&self.environment).map_err(of_setup)?;
        let settings = config
            .settings(Some(&self.vault), &self.flags)
            .map_err(of_setup)?;
        follow(&config, &settings, &self.vault, host, log).map(drop)
    }

    /// The user's configuration file.
    pub(crate) fn config_file(&self) -> PathBuf {
        self.environment.config_file()
    }

    /// The files of the wanted models.
    pub(crate) fn model_files(&self) -> Vec<PathBuf> {
        let current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        current.models.clone()
    }

    /// Closes views that nobody uses.
    pub(crate) fn close_views(&self) {
        let current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        current.host.close_kept_views();
    }
}

impl Current {
    fn open(
        environment: &Environment,
        vault: &VaultRef,
        reader: Reader,
        flags: &Flags,
    ) -> Result<Current, Failure> {
        // Before they are read: what changes meanwhile is read again.
        let mut stamps = Stamps::of(environment, &vault.path, &[]);
        let config = Config::load(environment).map_err(of_setup)?;
        let settings = config.settings(Some(vault), flags).map_err(of_setup)?;
        let models = model_files(environment, &settings);
        stamps.models = models.iter().map(|file| stamp(file)).collect();
        let host = match reader {
            Reader::Local => open(&config, &settings, vault),
            Reader::Remote => open_remote(&config, &settings, vault),
        };
        let host = host.map_err(of_opening)?;
        let host = Arc::new(host.keeping_views(VIEWS));
        Ok(Current {
            stamps,
            models,
            print: print(environment, &settings),
            settings,
            host,
        })
    }
}

/// What tells whether two programs answer by the same settings: everything that may decide what
/// an answer holds.
pub fn print(environment: &Environment, settings: &Settings) -> String {
    let mut hasher = blake3::Hasher::new();
    for (setting, resolved) in settings.iter() {
        if setting.reach != Reach::Machine {
            hasher.update(format!("{}={:?}\n", setting.name, resolved.value).as_bytes());
        }
    }
    let indexes = index_root(environment, settings);
    hasher.update(indexes.as_os_str().as_encoded_bytes());
    hasher.finalize().to_hex().to_string()
}

impl Stamps {
    fn of(environment: &Environment, vault: &Path, models: &[PathBuf]) -> Stamps {
        Stamps {
            settings: [
                stamp(&environment.config_file()),
                stamp(&vault.join(IN_VAULT)),
            ],
            models: models.iter().map(|file| stamp(file)).collect(),
        }
    }
}

fn stamp(path: &Path) -> Stamp {
    let facts = fs::metadata(path).ok()?;
    #[cfg(unix)]
    let (inode, changed) = {
        use std::os::unix::fs::MetadataExt;
        let ns = facts.ctime().wrapping_mul(1_000_000_000);
        (facts.ino(), ns.wrapping_add(facts.ctime_nsec()))
    };
    #[cfg(not(unix))]
    let (inode, changed) = (0, 0);
    Some((facts.len(), facts.modified().ok()?, inode, changed))
}
