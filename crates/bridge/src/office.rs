//! What the roads into the bridge share: the bridge, who it is, and when it is to end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError, watch};

use crate::hearing::Cancel;
use crate::protocol::Doing;
use crate::{Bridge, Places, State};

/// Shared by all connections.
pub(crate) struct Office {
    pub(crate) bridge: Arc<Bridge>,
    pub(crate) state: State,
    places: Places,
    began: Instant,
    exit_after: Option<Duration>,
    closing: watch::Sender<bool>,
    listeners: Arc<Semaphore>,
}

impl Office {
    pub(crate) fn new(
        bridge: Arc<Bridge>,
        state: State,
        places: Places,
        exit_after: Option<Duration>,
    ) -> Office {
        let listeners = bridge.limits().listeners;
        Office {
            bridge,
            state,
            places,
            began: Instant::now(),
            exit_after,
            closing: watch::Sender::new(false),
            listeners: Arc::new(Semaphore::new(listeners)),
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

    /// A place for one who listens to news.
    pub(crate) fn listeners(&self) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        Arc::clone(&self.listeners).try_acquire_owned()
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
