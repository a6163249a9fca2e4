//! What the roads into the bridge share: the bridge, who it is, and when it is to end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{Semaphore, watch};

use crate::hearing::Cancel;
use crate::protocol::Doing;
use crate::shares::Shares;
use crate::{Bridge, Places, State};

/// Shared by all connections.
pub(crate) struct Office {
    pub(crate) bridge: Arc<Bridge>,
    pub(crate) state: State,
    places: Places,
    began: Instant,
    exit_after: Option<Duration>,
    closing: watch::Sender<bool>,
    /// Places for those who listen.
    pub(crate) listeners: Arc<Shares>,
    /// Requests over HTTP that are being read or answered, from the moment that it is known whose
    /// they are.
    pub(crate) requests: Arc<Shares>,
    /// Connections over HTTP, of all addresses. The socket has places of its own.
    pub(crate) connections: Arc<Semaphore>,
}

impl Office {
    pub(crate) fn new(
        bridge: Arc<Bridge>,
        state: State,
        places: Places,
        exit_after: Option<Duration>,
    ) -> Office {
        let limits = bridge.limits();
        let listeners = Shares::new(limits.listeners_of_agent, limits.listeners);
        let requests = Shares::new(limits.of_agent, usize::MAX);
        let connections = Arc::new(Semaphore::new(limits.connections));
        Office {
            bridge,
            state,
            places,
            began: Instant::now(),
            exit_after,
            closing: watch::Sender::new(false),
            listeners,
            requests,
            connections,
        }
    }

    /// Asks everything to end. Requests that are being answered are still answered.
    pub(crate) fn stop(&self) {
        self.bridge.stop();
        self.closing.send_replace(true);
    }

    /// Ready when it is to end.
    pub(crate) async fn closing(&self) {
        let mut closing = self.closing.subscribe();
        // The sender is ours, so it is there.
        let _ = closing.wait_for(|closing| *closing).await;
    }

    pub(crate) fn cancel(&self) -> Cancel {
        self.bridge.cancel()
    }

    pub(crate) fn addresses(&self) -> &[SocketAddr] {
        &self.state.addresses
    }

    pub(crate) fn doing(&self) -> Doing {
        Doing {
            pid: self.state.pid,
            version: self.state.version.clone(),
            instance: self.state.instance.clone(),
            addresses: self.state.addresses.clone(),
            socket: self.places.socket().to_path_buf(),
            log: self.places.log(),
            open: self.bridge.open_vaults(),
            running: self.bridge.running_now(),
            up_seconds: self.began.elapsed().as_secs(),
            exit_after_seconds: self.exit_after.map(|time| time.as_secs()),
        }
    }
}
