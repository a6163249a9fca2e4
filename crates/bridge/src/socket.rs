//! The server's side of the socket.

use std::sync::Arc;

use lorewell_agents::{Caller, Reader};
use lorewell_capabilities::Failure;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::Instant;
use tracing::warn;

use crate::bridge::Ask;
use crate::hearing::Hearing;
use crate::listener::Listener;
use crate::office::Office;
use crate::protocol::{As, Greeting, Offer, PROTOCOL, Request};
use crate::state::VERSION;
use crate::{Bridge, Refusal};

/// Takes connections until the bridge stops.
pub(crate) async fn serve(listener: Listener, office: Arc<Office>) {
    let places = Arc::new(Semaphore::new(office.bridge.limits().connections));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else {
            return;
        };
        let stream = tokio::select! {
            stream = listener.accept() => stream,
            () = office.closing() => return,
        };
        match stream {
            Ok(stream) => {
                let office = Arc::clone(&office);
                tokio::spawn(async move {
                    let _place = place;
                    // A client that goes away is no error.
                    let _ = converse(stream, &office).await;
                });
            }
            Err(error) => {
                warn!(kind = ?error.kind(), "a connection was not taken");
                // The system has no more to give for now.
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            }
        }
    }
}

async fn converse(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    office: &Arc<Office>,
) -> std::io::Result<()> {
    let (reading, mut writing) = tokio::io::split(stream);
    let mut lines = BufReader::new(reading);
    let greeting = Greeting {
        protocol: PROTOCOL,
        version: VERSION.to_string(),
        instance: office.state.instance.clone(),
    };
    write(&mut writing, &greeting).await?;
    loop {
        let most = office.bridge.limits().line;
        let line = tokio::select! {
            line = line(&mut lines, most) => line?,
            () = office.closing() => return Ok(()),
        };
        let request = match line {
            Line::End => return Ok(()),
            Line::TooLong => {
                let refusal = Failure::from(Refusal::RequestTooLarge(most));
                return write(&mut writing, &json!({ "error": refusal })).await;
            }
            Line::Whole(line) => serde_json::from_slice(&line),
        };
        match request {
            Err(error) => {
                let refusal = Failure::from(Refusal::NotJson(error.to_string()));
                write(&mut writing, &json!({ "error": refusal })).await?;
            }
            Ok(Request::State) => {
                write(&mut writing, &json!({ "output": office.doing() })).await?;
            }
            Ok(Request::Stop) => {
                write(&mut writing, &json!({ "output": office.doing() })).await?;
                office.stop();
                return Ok(());
            }
            Ok(Request::Offered { caller }) => {
                let bridge = Arc::clone(&office.bridge);
                let offer = blocking(move || offer(&bridge, &caller)).await;
                write(&mut writing, &reply(offer)).await?;
            }
            Ok(ask @ Request::Ask { .. }) => {
                if !answer(ask, office, &mut lines, &mut writing).await? {
                    return Ok(());
                }
            }
        }
    }
}

/// Answers one request; whether the client is still there.
async fn answer<R: AsyncRead + Unpin>(
    request: Request,
    office: &Arc<Office>,
    lines: &mut BufReader<R>,
    writing: &mut (impl AsyncWrite + Unpin),
) -> std::io::Result<bool> {
    let Request::Ask {
        capability,
        vault,
        input,
        refresh,
        progress,
        print,
        caller,
    } = request
    else {
        return Ok(true);
    };
    let ask = Ask {
        capability,
        vault,
        input,
        refresh,
        print,
    };
    let cancel = office.cancel();
    let (send, mut told) = mpsc::unbounded_channel();
    let tell = move |progress| {
        let _ = send.send(progress);
    };
    let hearing = Hearing::telling(cancel.clone(), Box::new(tell));
    let time = match caller {
        As::Owner => office.bridge.limits().build_time,
        _ => office.bridge.time_for(&ask.capability),
    };
    let mut until = Instant::now() + time;
    let bridge = Arc::clone(&office.bridge);
    let mut work = std::pin::pin!(blocking(move || {
        let caller = caller_of(&bridge, &caller)?;
        let output = bridge.answer(&caller, ask, &hearing)?;
        Ok(output)
    }));
    // More of the client's than its next request cannot be seen while this one is answered.
    let mut listening = true;
    let outcome = loop {
        tokio::select! {
            outcome = &mut work => break outcome,
            Some(step) = told.recv() => {
                until = Instant::now() + time;
                if progress {
                    write(writing, &json!({ "progress": step })).await?;
                }
            }
            () = tokio::time::sleep_until(until) => {
                cancel.cancel();
                break Err(Refusal::TookTooLong(time).into());
            }
            more = lines.fill_buf(), if listening => {
                listening = false;
                if more.map_or(true, <[u8]>::is_empty) {
                    cancel.cancel();
                    // What was begun ends by itself; nobody reads of it.
                    let _ = work.await;
                    return Ok(false);
                }
            }
        }
    };
    write(writing, &reply(outcome)).await?;
    Ok(true)
}

fn offer(bridge: &Bridge, caller: &As) -> Result<Value, Failure> {
    let caller = caller_of(bridge, caller)?;
    let vaults = bridge.vaults_of(&caller)?;
    let offer = Offer {
        vaults: vaults.into_iter().map(|vault| vault.name).collect(),
        capabilities: bridge
            .gate()
            .offered(&caller)?
            .into_iter()
            .map(|entry| entry.id.to_string())
            .collect(),
    };
    serde_json::to_value(offer).map_err(|error| Failure::internal(error.to_string()))
}

fn caller_of(bridge: &Bridge, caller: &As) -> Result<Caller, Failure> {
    Ok(match caller {
        As::Owner => Caller::Owner,
        As::LocalClient => Caller::client(Reader::Local),
        As::RemoteClient => Caller::client(Reader::Remote),
        As::RemoteClientCalled(name) => Caller::client_called(Reader::Remote, name)?,
        As::Program { name, remote: true } => Caller::client_that_says(Reader::Remote, name),
        As::Program {
            name,
            remote: false,
        } => Caller::client_that_says(Reader::Local, name),
        As::Agent(name) => bridge.gate().admit_as(name)?,
    })
}

fn reply(outcome: Result<Value, Failure>) -> Value {
    match outcome {
        Ok(output) => json!({ "output": output }),
        Err(error) => json!({ "error": error }),
    }
}

/// Does blocking work on a thread for that.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|_| Err(Failure::internal("the answer could not be made")))
}

async fn write(
    writing: &mut (impl AsyncWrite + Unpin),
    line: &impl Serialize,
) -> std::io::Result<()> {
    let mut bytes = serde_json::to_vec(line)?;
    bytes.push(b'\n');
    writing.write_all(&bytes).await?;
    writing.flush().await
}

enum Line {
    Whole(Vec<u8>),
    TooLong,
    End,
}

/// One line of at most `most` bytes. Half a line at the end is none.
async fn line<R: AsyncRead + Unpin>(
    lines: &mut BufReader<R>,
    most: usize,
) -> std::io::Result<Line> {
    let mut whole = Vec::new();
    loop {
        let bytes = lines.fill_buf().await?;
        if bytes.is_empty() {
            return Ok(Line::End);
        }
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let take = end.unwrap_or(bytes.len());
        if whole.len() + take > most {
            return Ok(Line::TooLong);
        }
        whole.extend_from_slice(&bytes[..take]);
        lines.consume(end.map_or(take, |end| end + 1));
        if end.is_some() {
            return Ok(Line::Whole(whole));
        }
    }
}
