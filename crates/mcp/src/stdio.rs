//! The protocol on standard input and output.

use std::io;
use std::sync::Arc;

use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::service::ServerInitializeError;
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{RoleServer, ServiceExt};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::{Backend, Server};

/// A message of more bytes is not read.
const MAX_MESSAGE: usize = 8 << 20;

/// Why a server ended before its client did.
#[derive(Debug)]
pub enum StdioError {
    /// Threads or standard output cannot be had.
    Io(io::Error),
    /// The client does not speak the protocol.
    Protocol(String),
}

impl std::fmt::Display for StdioError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StdioError::Io(error) => write!(f, "the server cannot run: {error}"),
            StdioError::Protocol(what) => write!(f, "the client does not speak MCP: {what}"),
        }
    }
}

impl std::error::Error for StdioError {}

/// Serves the client on the other side of `read` and `write` until it closes its side.
///
/// # Errors
/// The client cannot be understood from the beginning.
pub async fn serve<R, W>(backend: Arc<dyn Backend>, read: R, write: W) -> Result<(), StdioError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let lines = AsyncRwTransport::new_server(read, write).with_max_line_length(MAX_MESSAGE);
    let transport = Patient {
        lines,
        opened: false,
    };
    let running = match Server::new(backend).serve(transport).await {
        Ok(running) => running,
        // A client that looked and left.
        Err(
            ServerInitializeError::ConnectionClosed(_)
            | ServerInitializeError::TransportError { .. }
            | ServerInitializeError::Cancelled,
        ) => return Ok(()),
        Err(error) => return Err(StdioError::Protocol(error.to_string())),
    };
    // A panic of the loop is all that this can say.
    let _ = running.waiting().await;
    Ok(())
}

/// Serves the client of this process. Only messages of the protocol are written to standard
/// output: what the program or a library prints from now on goes to standard error.
///
/// # Errors
/// Standard output cannot be had, or the client cannot be understood from the beginning.
pub fn serve_stdio(backend: Arc<dyn Backend>) -> Result<(), StdioError> {
    let output = own_output().map_err(StdioError::Io)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(StdioError::Io)?;
    let output = tokio::fs::File::from_std(output);
    let outcome = runtime.block_on(serve(backend, tokio::io::stdin(), output));
    // Nobody waits for what is still at work.
    runtime.shutdown_background();
    outcome
}

/// Standard output, taken out of everybody else's reach.
#[cfg(unix)]
fn own_output() -> io::Result<std::fs::File> {
    // Not for programs that are started from here, such as a bridge: a client would wait for them
    // to close it.
    let output = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3)?;
    rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
    Ok(output.into())
}

/// Standard output. Nothing else of this program prints on it.
#[cfg(windows)]
fn own_output() -> io::Result<std::fs::File> {
    use std::os::windows::io::AsHandle as _;
    Ok(io::stdout().as_handle().try_clone_to_owned()?.into())
}

/// Until a client opened the conversation, passes on requests only: a stray notification is no
/// reason to end.
struct Patient<T> {
    lines: T,
    opened: bool,
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Patient<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.lines.send(item)
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let message = self.lines.receive().await?;
            self.opened |= matches!(message, ClientJsonRpcMessage::Request(_));
            if self.opened {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.lines.close().await
    }
}
