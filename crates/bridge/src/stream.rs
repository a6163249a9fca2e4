//! A connection to the user's own bridge: a Unix socket, or a named pipe on Windows.

#[cfg(unix)]
pub(crate) use self::unix::Stream;
#[cfg(windows)]
pub(crate) use self::windows::Stream;

#[cfg(unix)]
mod unix {
    use std::cell::Cell;
    use std::io::{self, ErrorKind, Read, Write};
    use std::os::unix::net::UnixStream;
    use std::time::Duration;

    use crate::{BridgeError, Places};

    /// The client's end.
    pub(crate) struct Stream {
        socket: UnixStream,
        patience: Cell<Option<Duration>>,
    }

    impl Stream {
        /// Connects, if the socket and its folders are ours and a process of ours answers there.
        pub(crate) fn connect(places: &Places) -> Result<Stream, BridgeError> {
            places.check()?;
            let path = places.socket();
            let socket = UnixStream::connect(path).map_err(|error| match error.kind() {
                ErrorKind::NotFound | ErrorKind::ConnectionRefused => BridgeError::NotRunning,
                _ => BridgeError::io(path, error),
            })?;
            #[cfg(target_os = "linux")]
            {
                let peer = rustix::net::sockopt::socket_peercred(&socket)
                    .map_err(|error| BridgeError::io(path, error.into()))?;
                if peer.uid != rustix::process::geteuid() {
                    return Err(BridgeError::Unsafe {
                        path: path.to_path_buf(),
                        reason: "a process of another user listens there".to_string(),
                    });
                }
            }
            Ok(Stream {
                socket,
                patience: Cell::new(None),
            })
        }

        /// How long reading may wait.
        pub(crate) fn set_patience(&self, patience: Option<Duration>) -> io::Result<()> {
            self.patience.set(patience);
            self.socket.set_read_timeout(patience)
        }

        pub(crate) fn patience(&self) -> Option<Duration> {
            self.patience.get()
        }
    }

    impl Read for Stream {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.socket.read(buffer)
        }
    }

    impl Write for Stream {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.socket.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            self.socket.flush()
        }
    }
}

/// Built for Windows and never run there. A pipe is a file to its client, and has no timeouts:
/// a request cannot be called off while its answer is awaited.
#[cfg(windows)]
mod windows {
    use std::cell::Cell;
    use std::fs::{File, OpenOptions};
    use std::io::{self, ErrorKind, Read, Write};
    use std::time::Duration;

    use crate::{BridgeError, Places};

    /// The client's end.
    pub(crate) struct Stream {
        pipe: File,
        patience: Cell<Option<Duration>>,
    }

    impl Stream {
        pub(crate) fn connect(places: &Places) -> Result<Stream, BridgeError> {
            let name = places.pipe();
            let pipe = OpenOptions::new().read(true).write(true).open(&name);
            let pipe = pipe.map_err(|error| match error.kind() {
                ErrorKind::NotFound => BridgeError::NotRunning,
                _ => BridgeError::io(name.as_ref(), error),
            })?;
            Ok(Stream {
                pipe,
                patience: Cell::new(None),
            })
        }

        pub(crate) fn set_patience(&self, patience: Option<Duration>) -> io::Result<()> {
            self.patience.set(patience);
            Ok(())
        }

        pub(crate) fn patience(&self) -> Option<Duration> {
            self.patience.get()
        }
    }

    impl Read for Stream {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.pipe.read(buffer)
        }
    }

    impl Write for Stream {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.pipe.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            self.pipe.flush()
        }
    }
}
