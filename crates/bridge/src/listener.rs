//! Where programs of the same user connect: a Unix socket that only the user may use, or a named
//! pipe on Windows.

#[cfg(unix)]
pub(crate) use self::unix::Listener;
#[cfg(windows)]
pub(crate) use self::windows::Listener;

#[cfg(unix)]
mod unix {
    use std::fs;
    use std::io;
    use std::os::unix::fs::{FileTypeExt, PermissionsExt};

    use tokio::net::{UnixListener, UnixStream};

    use crate::{BridgeError, Places};

    /// Takes connections.
    pub(crate) struct Listener {
        socket: UnixListener,
        places: Places,
    }

    impl Listener {
        /// Listens. The caller holds the bridge's lock, so a socket that is there is a leftover.
        pub(crate) fn bind(places: &Places) -> Result<Listener, BridgeError> {
            let path = places.socket();
            let fail = |source| BridgeError::io(path, source);
            if let Ok(facts) = fs::symlink_metadata(path) {
                if !facts.file_type().is_socket() {
                    return Err(BridgeError::Unsafe {
                        path: path.to_path_buf(),
                        reason: "it is no socket".to_string(),
                    });
                }
                fs::remove_file(path).map_err(fail)?;
            }
            let socket = UnixListener::bind(path).map_err(fail)?;
            // Its folder is the user's alone, so nobody came in between.
            fs::set_permissions(path, fs::Permissions::from_mode(0o600)).map_err(fail)?;
            Ok(Listener {
                socket,
                places: places.clone(),
            })
        }

        /// The next connection of a process of the same user. Others are sent away.
        pub(crate) async fn accept(&self) -> io::Result<UnixStream> {
            loop {
                let (stream, _) = self.socket.accept().await?;
                let own = rustix::process::geteuid().as_raw();
                match stream.peer_cred() {
                    Ok(peer) if is_welcome(peer.uid(), own) => return Ok(stream),
                    Ok(peer) => {
                        tracing::warn!(user = peer.uid(), "another user at the socket");
                    }
                    Err(error) => tracing::warn!(kind = ?error.kind(), "a nameless peer"),
                }
            }
        }
    }

    fn is_welcome(peer: u32, own: u32) -> bool {
        peer == own
    }

    impl Drop for Listener {
        fn drop(&mut self) {
            let _ = fs::remove_file(self.places.socket());
        }
    }
}

/// Built for Windows and never run there. The pipe's default access is its maker's and the
/// system's for writing; the first instance is ours or none.
#[cfg(windows)]
mod windows {
    use std::io;
    use std::sync::Mutex;

    use tokio::net::windows::named_pipe::{NamedPipeServer, ServerOptions};

    use crate::{BridgeError, Places};

    /// Takes connections.
    pub(crate) struct Listener {
        name: String,
        next: Mutex<Option<NamedPipeServer>>,
    }

    impl Listener {
        pub(crate) fn bind(places: &Places) -> Result<Listener, BridgeError> {
            let name = places.pipe();
            let first = ServerOptions::new()
                .first_pipe_instance(true)
                .reject_remote_clients(true)
                .create(&name)
                .map_err(|source| BridgeError::io(name.as_ref(), source))?;
            Ok(Listener {
                name,
                next: Mutex::new(Some(first)),
            })
        }

        pub(crate) async fn accept(&self) -> io::Result<NamedPipeServer> {
            let waiting = self.next.lock().ok().and_then(|mut next| next.take());
            let pipe = match waiting {
                Some(pipe) => pipe,
                None => self.instance()?,
            };
            pipe.connect().await?;
            let next = self.instance()?;
            if let Ok(mut place) = self.next.lock() {
                *place = Some(next);
            }
            Ok(pipe)
        }

        fn instance(&self) -> io::Result<NamedPipeServer> {
            ServerOptions::new()
                .reject_remote_clients(true)
                .create(&self.name)
        }
    }
}
