//! What the Model Context Protocol is answered by: the bridge itself, for who comes over HTTP, or
//! a connection to it, for who speaks on standard input and output.

use std::sync::Arc;

use lorewell_agents::Caller;
use lorewell_capabilities::{Failure, Listener};
use lorewell_engine::{Observer, Stage};
use lorewell_mcp::Backend;
use serde_json::Value;

use crate::protocol::{As, Offer, Request};
use crate::{Ask, Bridge, BridgeError, Cancel, Client, Places};

/// Answers one caller from the bridge of this process.
pub(crate) struct OfBridge {
    pub(crate) bridge: Arc<Bridge>,
    pub(crate) caller: Caller,
    /// Ends the work when the bridge stops.
    pub(crate) cancel: Cancel,
}

/// Answers one client through the bridge that runs. Each request has a connection of its own, so
/// that one does not wait for another.
pub struct ThroughBridge {
    places: Places,
    caller: As,
    /// The only vault that may be asked: a name of the list, or a folder.
    bound: Option<String>,
}

impl Backend for OfBridge {
    fn call(
        &self,
        capability: &str,
        vault: Option<&str>,
        input: Value,
        listener: Listener<'_>,
    ) -> Result<Value, Failure> {
        let observer = Either(listener, &self.cancel);
        let ask = Ask::new(capability, vault, input);
        self.bridge.answer(&self.caller, ask, &observer)
    }

    fn vaults(&self) -> Vec<String> {
        let vaults = self.bridge.vaults_of(&self.caller).unwrap_or_default();
        vaults.into_iter().map(|vault| vault.name).collect()
    }

    fn switched_off(&self) -> Vec<String> {
        let offered = self.bridge.gate().offered(&self.caller).unwrap_or_default();
        let is_offered = |id: &str| offered.iter().any(|entry| entry.id == id);
        let all = self.bridge.table().iter().map(|entry| entry.id);
        all.filter(|id| !is_offered(id))
            .map(str::to_string)
            .collect()
    }

    fn may_change(&self) -> bool {
        true
    }
}

impl ThroughBridge {
    /// Asks in the name of `caller`, of the vault `bound` alone if there is one.
    #[must_use]
    pub fn new(places: Places, caller: As, bound: Option<String>) -> ThroughBridge {
        ThroughBridge {
            places,
            caller,
            bound,
        }
    }

    fn offer(&self) -> Result<Offer, Failure> {
        let caller = self.caller.clone();
        let mut client = Client::connect(&self.places)?;
        client.get(&Request::Offered { caller })
    }
}

impl Backend for ThroughBridge {
    fn call(
        &self,
        capability: &str,
        vault: Option<&str>,
        input: Value,
        listener: Listener<'_>,
    ) -> Result<Value, Failure> {
        let vault = self.bound.as_deref().or(vault);
        let request = Request::Ask {
            capability: capability.to_string(),
            vault: vault.map(str::to_string),
            input,
            refresh: true,
            progress: true,
            print: None,
            caller: self.caller.clone(),
        };
        let mut client = Client::connect(&self.places)?;
        let output = client.send(&request, listener)?;
        serde_json::from_str(output.get())
            .map_err(|error| Failure::internal(format!("the answer is no JSON: {error}")))
    }

    fn vaults(&self) -> Vec<String> {
        match (&self.bound, self.offer()) {
            (Some(bound), _) => vec![bound.clone()],
            (None, offer) => offer.map(|offer| offer.vaults).unwrap_or_default(),
        }
    }

    fn switched_off(&self) -> Vec<String> {
        let Ok(offer) = self.offer() else {
            return Vec::new();
        };
        let is_offered = |id: &str| offer.capabilities.iter().any(|offered| offered == id);
        let all = lorewell_capabilities::table().iter().map(|entry| entry.id);
        all.filter(|id| !is_offered(id))
            .map(str::to_string)
            .collect()
    }

    fn may_change(&self) -> bool {
        true
    }
}

impl ThroughBridge {
    /// Whether the bridge can be asked now.
    ///
    /// # Errors
    /// As [`Client::connect`].
    pub fn check(&self) -> Result<(), BridgeError> {
        Client::connect(&self.places).map(drop)
    }
}

/// Ends work when either says so.
struct Either<'a>(Listener<'a>, &'a Cancel);

impl Observer for Either<'_> {
    fn begin(&self, files: usize) {
        self.0.begin(files);
    }

    fn note_done(&self, path: &str) {
        self.0.note_done(path);
    }

    fn stage(&self, stage: Stage) {
        self.0.stage(stage);
    }

    fn stopped(&self) -> bool {
        self.0.stopped() || self.1.is_cancelled()
    }
}
