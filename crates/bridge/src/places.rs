//! Where a bridge keeps its files, and whether these can be trusted.
//!
//! All lie in folders that only the user may enter. A folder or socket that belongs to somebody
//! else, or that others may write, is refused and not mended: whoever made it may have it open.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use lorewell_setup::Environment;

use crate::BridgeError;

/// The longest path of a socket that every Unix takes, in bytes.
const MAX_SOCKET_PATH: usize = 103;

/// The places of one user's bridge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    folder: PathBuf,
    socket: PathBuf,
}

impl Places {
    /// The places of the user whose surroundings these are. The socket lies in the folder for
    /// run-time files where the system has one (`runtime_dir`), else beside the other files.
    pub fn new(environment: &Environment, runtime_dir: Option<&Path>) -> Places {
        let folder = environment.data_dir.join("lorewell").join("bridge");
        let socket = match runtime_dir.filter(|folder| folder.is_absolute()) {
            Some(runtime) => {
                // Users of several data folders have several bridges.
                let id = blake3::hash(folder.as_os_str().as_encoded_bytes()).to_hex();
                let name = format!("bridge-{}.sock", &id[..12]);
                runtime.join("lorewell").join(name)
            }
            None => folder.join("bridge.sock"),
        };
        Places { folder, socket }
    }

    /// The same, of this process.
    pub fn of_process(environment: &Environment) -> Places {
        Places::new(environment, lorewell_setup::runtime_dir().as_deref())
    }

    /// The folder of the bridge's files.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The socket for programs of the same user.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// The pipe that stands for the socket on Windows.
    #[cfg(windows)]
    pub(crate) fn pipe(&self) -> String {
        let id = blake3::hash(self.folder.as_os_str().as_encoded_bytes()).to_hex();
        format!(r"\\.\pipe\lorewell-{}", &id[..32])
    }

    /// The file that says which process serves, and where.
    pub fn state(&self) -> PathBuf {
        self.folder.join("state.json")
    }

    /// The file whose lock the process that serves holds.
    pub fn lock(&self) -> PathBuf {
        self.folder.join("bridge.lock")
    }

    /// The log; older ones have a number behind their name.
    pub fn log(&self) -> PathBuf {
        self.folder.join("bridge.log")
    }

    /// Makes the folders, and checks that they are ours alone.
    ///
    /// # Errors
    /// A folder cannot be made, is somebody else's, or is open to others.
    pub fn make(&self) -> Result<(), BridgeError> {
        if self.socket.as_os_str().len() > MAX_SOCKET_PATH {
            return Err(BridgeError::LongPath(self.socket.clone()));
        }
        for folder in self.folders() {
            if !folder.is_dir() {
                make_private(folder)?;
            }
            check(folder)?;
        }
        Ok(())
    }

    /// Checks the folders and the socket, for a client.
    ///
    /// # Errors
    /// [`BridgeError::NotRunning`] where there is no socket; something is somebody else's, or open
    /// to others.
    pub fn check(&self) -> Result<(), BridgeError> {
        for place in self.folders().into_iter().chain([self.socket()]) {
            check(place)?;
        }
        Ok(())
    }

    fn folders(&self) -> Vec<&Path> {
        let of_socket = self.socket.parent().unwrap_or(&self.folder);
        let mut folders = vec![self.folder.as_path()];
        if of_socket != self.folder {
            folders.push(of_socket);
        }
        folders
    }
}

fn make_private(folder: &Path) -> Result<(), BridgeError> {
    let fail = |source| BridgeError::io(folder, source);
    if let Some(above) = folder.parent() {
        fs::create_dir_all(above).map_err(fail)?;
    }
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(fail(error)),
        _ => Ok(()),
    }
}

/// Whether a folder, file or socket is the user's, and nobody else may write or enter it. A
/// symbolic link is nothing to be trusted.
#[cfg(unix)]
pub(crate) fn check(path: &Path) -> Result<(), BridgeError> {
    use std::os::unix::fs::MetadataExt;
    let facts = fs::symlink_metadata(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => BridgeError::NotRunning,
        _ => BridgeError::io(path, error),
    })?;
    let own = rustix::process::geteuid().as_raw();
    let reason = if facts.is_symlink() {
        Some("it is a symbolic link".to_string())
    } else if facts.uid() != own {
        Some(format!("it belongs to another user ({})", facts.uid()))
    } else if facts.mode() & 0o077 != 0 {
        let mode = facts.mode() & 0o777;
        Some(format!("others may use it (its mode is {mode:o})"))
    } else {
        None
    };
    match reason {
        None => Ok(()),
        Some(reason) => Err(BridgeError::Unsafe {
            path: path.to_path_buf(),
            reason,
        }),
    }
}

/// The user's folders are the user's by what they inherit.
#[cfg(not(unix))]
pub(crate) fn check(path: &Path) -> Result<(), BridgeError> {
    if path.exists() {
        Ok(())
    } else {
        Err(BridgeError::NotRunning)
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn places(home: &Path) -> Places {
        let environment = Environment {
            home: home.to_path_buf(),
            config_dir: home.join("config"),
            data_dir: home.join("data"),
            vars: Default::default(),
            current_dir: home.to_path_buf(),
        };
        Places::new(&environment, Some(&home.join("run")))
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn folders_are_made_for_the_user_alone() {
        let home = tempfile::tempdir().unwrap();
        let places = places(home.path());
        assert!(matches!(places.check(), Err(BridgeError::NotRunning)));
        places.make().unwrap();
        assert_eq!(mode(places.folder()), 0o700);
        assert_eq!(mode(places.socket().parent().unwrap()), 0o700);
        places.make().unwrap();
    }

    #[test]
    fn what_others_may_use_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let places = places(home.path());
        places.make().unwrap();
        for open in [0o701, 0o750, 0o777] {
            fs::set_permissions(places.folder(), fs::Permissions::from_mode(open)).unwrap();
            let error = places.make().unwrap_err();
            assert_eq!(error.code(), "bridge_unsafe", "{open:o}: {error}");
        }
    }

    #[test]
    fn a_link_in_place_of_the_folder_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let places = places(home.path());
        let elsewhere = home.path().join("elsewhere");
        make_private(&elsewhere).unwrap();
        fs::create_dir_all(places.folder().parent().unwrap()).unwrap();
        symlink(&elsewhere, places.folder()).unwrap();
        assert_eq!(places.make().unwrap_err().code(), "bridge_unsafe");
    }

    #[test]
    fn what_belongs_to_another_user_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let places = places(home.path());
        places.make().unwrap();
        // Only the super-user can give a folder away, so that others see that it is skipped.
        if std::os::unix::fs::chown(places.folder(), Some(65534), None).is_err() {
            eprintln!("skipped: only the super-user can give a folder away");
            return;
        }
        let error = places.make().unwrap_err();
        assert_eq!(error.code(), "bridge_unsafe");
        assert!(
            error.to_string().contains("another user (65534)"),
            "{error}"
        );
    }

    #[test]
    fn a_long_path_is_told_before_the_system_cuts_it() {
        let home = tempfile::tempdir().unwrap();
        let places = places(&home.path().join("x".repeat(120)));
        assert_eq!(places.make().unwrap_err().code(), "socket_path_too_long");
    }
}
