//! The client's side of the socket, for programs of the same user. It blocks, and needs no
//! runtime.

use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::time::Duration;

use lorewell_capabilities::Failure;
use lorewell_engine::Observer;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::hearing::Relay;
use crate::protocol::{Greeting, PROTOCOL, Reply, Request};
use crate::state::VERSION;
use crate::stream::Stream;
use crate::{BridgeError, Places, State};

/// How long the bridge may take to greet.
const GREETING: Duration = Duration::from_secs(5);

/// How often a client that waits looks whether its user has had enough.
const SLICE: Duration = Duration::from_millis(100);

/// A connection to the bridge.
pub struct Client {
    lines: BufReader<Stream>,
    /// What came of a line that is not whole yet.
    begun: Vec<u8>,
    state: State,
}

impl Client {
    /// Connects to the bridge of the user, after checking that it is theirs and of this version.
    ///
    /// # Errors
    /// [`BridgeError::NotRunning`], [`BridgeError::Unsafe`], [`BridgeError::Impostor`],
    /// [`BridgeError::OtherVersion`].
    pub fn connect(places: &Places) -> Result<Client, BridgeError> {
        let client = Client::of_any_version(places)?;
        match client.state.version.as_str() {
            VERSION => Ok(client),
            theirs => Err(BridgeError::OtherVersion {
                theirs: theirs.to_string(),
                ours: VERSION,
            }),
        }
    }

    /// The same, of whatever version: to ask it to end.
    ///
    /// # Errors
    /// As [`Client::connect`], except for the version of the program.
    pub fn of_any_version(places: &Places) -> Result<Client, BridgeError> {
        let state = State::read(places)?;
        let stream = Stream::connect(places)?;
        let fail = |source| BridgeError::io(places.socket(), source);
        stream.set_patience(Some(GREETING)).map_err(fail)?;
        let mut client = Client {
            lines: BufReader::new(stream),
            begun: Vec::new(),
            state,
        };
        let line = client.line(&|| false).map_err(fail)?;
        let greeting: Greeting =
            serde_json::from_slice(&line).map_err(|_| client.impostor(places))?;
        if greeting.instance != client.state.instance {
            return Err(client.impostor(places));
        }
        if greeting.protocol != PROTOCOL {
            return Err(BridgeError::OtherVersion {
                theirs: greeting.version,
                ours: VERSION,
            });
        }
        client.state.version = greeting.version;
        let stream = client.lines.get_ref();
        stream.set_patience(Some(SLICE)).map_err(fail)?;
        Ok(client)
    }

    fn impostor(&self, places: &Places) -> BridgeError {
        BridgeError::Impostor {
            place: places.socket().display().to_string(),
        }
    }

    /// The bridge's state file.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Sends a request and gives its answer as the bridge wrote it. `observer` hears of long work;
    /// when it says to stop, the request is called off.
    ///
    /// # Errors
    /// What the bridge says; `bridge_failed` where it went away.
    pub fn send(
        &mut self,
        request: &Request,
        observer: &dyn Observer,
    ) -> Result<Box<RawValue>, Failure> {
        let mut line = serde_json::to_vec(request).map_err(|error| {
            Failure::internal(format!("the request cannot be written: {error}"))
        })?;
        line.push(b'\n');
        self.lines.get_mut().write_all(&line).map_err(gone)?;
        let mut heard = Relay::default();
        loop {
            let line = match self.line(&|| observer.stopped()) {
                Ok(line) => line,
                Err(error) if error.kind() == ErrorKind::Interrupted => {
                    return Err(Failure::interrupted(heard.left()));
                }
                Err(error) => return Err(gone(error)),
            };
            match serde_json::from_slice(&line) {
                Ok(Reply::Progress(progress)) => heard.tell(progress, observer),
                Ok(Reply::Output(output)) => return Ok(output),
                Ok(Reply::Error(failure)) => return Err(failure),
                Err(error) => return Err(gone(std::io::Error::other(error))),
            }
        }
    }

    /// Sends a request and reads its answer.
    ///
    /// # Errors
    /// As [`Client::send`].
    pub fn get<T: DeserializeOwned>(&mut self, request: &Request) -> Result<T, Failure> {
        let output = self.send(request, &lorewell_engine::Quiet)?;
        serde_json::from_str(output.get()).map_err(|error| gone(std::io::Error::other(error)))
    }

    /// One line. Looks now and then whether to give up, which is [`ErrorKind::Interrupted`].
    fn line(&mut self, enough: &dyn Fn() -> bool) -> std::io::Result<Vec<u8>> {
        loop {
            match self.lines.read_until(b'\n', &mut self.begun) {
                Ok(_) if self.begun.ends_with(b"\n") => return Ok(std::mem::take(&mut self.begun)),
                Ok(_) => return Err(ErrorKind::UnexpectedEof.into()),
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
                {
                    if enough() {
                        return Err(ErrorKind::Interrupted.into());
                    }
                    if self.lines.get_ref().patience() != Some(SLICE) {
                        return Err(error);
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// The bridge went away in the midst of a request.
fn gone(error: std::io::Error) -> Failure {
    Failure {
        code: "bridge_failed".to_string(),
        message: format!("the bridge went away: {error}"),
        hint: "Ask again; `lorewell serve --status` says whether it runs.".to_string(),
    }
}
