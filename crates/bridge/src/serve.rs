//! From a start to a graceful end.

use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use lorewell_capabilities::Entry;
use lorewell_setup::{Environment, VaultRef};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tracing::{info, warn};

use crate::listener::Listener;
use crate::log::{self, Level};
use crate::office::Office;
use crate::state::Hold;
use crate::{Bridge, BridgeError, Limits, Places, State, http, socket};

/// How a bridge is to run.
#[derive(Clone)]
pub struct Options {
    /// The user's surroundings.
    pub environment: Environment,
    /// Where its files lie.
    pub places: Places,
    /// The abilities: those of the capability table.
    pub table: &'static [Entry],
    /// Vaults to open at once, known beside those of the list.
    pub vaults: Vec<VaultRef>,
    /// The wanted port; the next free one is taken where it is not. 0 for any.
    pub port: u16,
    /// Listen here instead of on this machine's own addresses.
    pub address: Option<IpAddr>,
    /// That address may be one that other machines reach.
    pub beyond_this_machine: bool,
    /// End after so long without a request.
    pub exit_after: Option<Duration>,
    /// What is kept warm is let go after so long without a request.
    pub rest_after: Duration,
    /// What a panic says, which may hold text of notes, is not printed.
    pub silent_panics: bool,
    /// How much is logged.
    pub level: Level,
    /// The limits.
    pub limits: Limits,
}

/// How long requests that are being answered may take to end when the bridge stops.
const GRACE: Duration = Duration::from_secs(20);

/// Serves until it is told to stop: by a signal, by `lorewell serve --stop`, or because nobody
/// asked for long. `started` is called once when it can be asked.
///
/// # Errors
/// Another bridge runs; a folder is not to be trusted; no port is free; the system.
pub fn serve(options: Options, started: impl FnOnce(&State)) -> Result<(), BridgeError> {
    check_address(&options)?;
    let places = options.places.clone();
    places.make()?;
    let hold = Hold::take(&places)?;
    log::begin(&places, options.level, options.silent_panics)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        // Threads wait in requests for builds; those are cheap.
        .max_blocking_threads(options.limits.of_owner + 64)
        .enable_all()
        .build()
        .map_err(|source| BridgeError::io(places.folder(), source))?;
    let outcome = runtime.block_on(run(options, started));
    runtime.shutdown_timeout(Duration::from_secs(2));
    drop(hold);
    outcome
}

fn check_address(options: &Options) -> Result<(), BridgeError> {
    match options.address {
        Some(address) if address.is_unspecified() => Err(BridgeError::NoAddress(address)),
        Some(address) if !address.is_loopback() && !options.beyond_this_machine => {
            Err(BridgeError::BeyondThisMachine(address))
        }
        _ => Ok(()),
    }
}

async fn run(options: Options, started: impl FnOnce(&State)) -> Result<(), BridgeError> {
    let places = options.places.clone();
    let listeners = http::bind(options.address, options.port).await?;
    let addresses = addresses(&listeners, &places)?;
    let socket = Listener::bind(&places)?;
    let state = State::new(&places, addresses)?;
    let bridge = Bridge::new(options.environment, options.vaults.clone(), options.limits);
    let bridge = Arc::new(bridge.with_table(options.table));
    let office = Arc::new(Office::new(
        Arc::clone(&bridge),
        state.clone(),
        places.clone(),
        options.exit_after,
    ));
    state.write(&places)?;
    info!(version = state.version, port = state.port, "serving");
    started(&state);
    open_at_once(&bridge, options.vaults);

    let mut roads = JoinSet::new();
    roads.spawn(socket::serve(socket, Arc::clone(&office)));
    let router = http::router(&office);
    for listener in listeners {
        roads.spawn(http::serve(listener, router.clone(), Arc::clone(&office)));
    }
    tokio::select! {
        () = signals() => info!("asked to stop by a signal"),
        () = office.closing() => info!("asked to stop"),
        () = idle(&bridge, options.rest_after, options.exit_after) => info!("nobody asked for long"),
    }
    office.stop();
    // The file goes first, so that nobody comes who would be sent away.
    let _ = fs::remove_file(places.state());
    let ended = tokio::time::timeout(GRACE, async {
        while roads.join_next().await.is_some() {}
        while bridge.running_now() > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    if ended.await.is_err() {
        warn!(
            running = bridge.running_now(),
            "requests did not end in time"
        );
    }
    let closing = tokio::task::spawn_blocking(move || bridge.close());
    let _ = closing.await;
    info!("stopped");
    Ok(())
}

fn addresses(listeners: &[TcpListener], places: &Places) -> Result<Vec<SocketAddr>, BridgeError> {
    let addresses = listeners.iter().map(TcpListener::local_addr);
    let addresses: std::io::Result<Vec<_>> = addresses.collect();
    addresses.map_err(|source| BridgeError::io(places.folder(), source))
}

fn open_at_once(bridge: &Arc<Bridge>, vaults: Vec<VaultRef>) {
    for vault in vaults {
        let bridge = Arc::clone(bridge);
        tokio::task::spawn_blocking(move || {
            if let Err(failure) = bridge.open(&vault) {
                warn!(vault = vault.name, code = failure.code, "not opened");
            }
        });
    }
}

/// Ready when nobody asked for so long. What is kept warm is let go before.
async fn idle(bridge: &Bridge, rest_after: Duration, exit_after: Option<Duration>) {
    let mut rested: Option<Instant> = None;
    loop {
        let used = bridge.last_used();
        let is_idle = bridge.running_now() == 0;
        let passed = used.elapsed();
        if is_idle && exit_after.is_some_and(|time| passed >= time) {
            return;
        }
        if is_idle && passed >= rest_after && rested != Some(used) {
            rested = Some(used);
            bridge.rest();
        }
        let times = [Some(rest_after), exit_after].into_iter().flatten();
        let next = if is_idle {
            times
                .filter_map(|time| time.checked_sub(passed))
                .filter(|left| !left.is_zero())
                .min()
        } else {
            // Work that runs puts the time off; it is looked at again.
            times.min()
        };
        let pause = next.unwrap_or(rest_after);
        tokio::time::sleep(pause.max(Duration::from_millis(10))).await;
    }
}

#[cfg(unix)]
async fn signals() {
    use tokio::signal::unix::{SignalKind, signal};
    let kinds = [
        SignalKind::terminate(),
        SignalKind::interrupt(),
        SignalKind::hangup(),
    ];
    let [mut terminate, mut interrupt, mut hangup] = kinds.map(|kind| signal(kind).ok());
    tokio::select! {
        Some(()) = heard(&mut terminate) => {}
        Some(()) = heard(&mut interrupt) => {}
        Some(()) = heard(&mut hangup) => {}
        else => std::future::pending().await,
    }
}

#[cfg(unix)]
async fn heard(signal: &mut Option<tokio::signal::unix::Signal>) -> Option<()> {
    match signal {
        Some(signal) => signal.recv().await,
        None => std::future::pending().await,
    }
}

#[cfg(not(unix))]
async fn signals() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
