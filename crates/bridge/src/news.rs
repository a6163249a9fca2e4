//! What happens to the vaults that are open, for whoever listens. It names no note.

use std::path::PathBuf;

use lorewell_agents::Reader;
use lorewell_setup::VaultRef;
use serde::Serialize;
use tokio::sync::broadcast;

use crate::hearing::Progress;

/// A listener that is slower than this misses some.
const KEPT: usize = 256;

/// Something that happened to a vault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum News {
    /// Notes are being taken in.
    Building(Progress),
    /// Changes were taken in.
    Updated {
        /// Notes that were taken in.
        taken_in: u64,
        /// Notes that were removed.
        removed: u64,
        /// Notes that are not taken in yet.
        pending: u64,
        /// The new generation.
        generation: u64,
    },
    /// An update failed; it is tried again.
    Failed {
        /// The code of the error.
        code: String,
    },
    /// The folder is not there now.
    Away,
    /// It is back.
    Back,
}

/// News of a vault.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) vault: String,
    pub(crate) folder: PathBuf,
    /// Who may hear of it: what remote readers hear counts no note behind a fence.
    pub(crate) reader: Reader,
    pub(crate) news: News,
}

/// Where news go out.
#[derive(Clone, Debug)]
pub(crate) struct Sender(broadcast::Sender<Item>);

impl Sender {
    pub(crate) fn new() -> Sender {
        Sender(broadcast::Sender::new(KEPT))
    }

    pub(crate) fn tell(&self, vault: &VaultRef, reader: Reader, news: News) {
        // Nobody may be listening.
        let _ = self.0.send(Item {
            vault: vault.name.clone(),
            folder: vault.path.clone(),
            reader,
            news,
        });
    }

    pub(crate) fn listen(&self) -> broadcast::Receiver<Item> {
        self.0.subscribe()
    }
}
