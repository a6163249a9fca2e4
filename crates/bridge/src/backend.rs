//! What the Model Context Protocol is answered by over HTTP: the bridge itself.

use std::sync::Arc;

use lorewell_agents::Caller;
use lorewell_capabilities::{Failure, Listener};
use lorewell_engine::{Observer, Stage};
use lorewell_mcp::Backend;
use serde_json::Value;

use crate::{Ask, Bridge, Cancel};

/// Answers one caller from the bridge of this process.
pub(crate) struct OfBridge {
    pub(crate) bridge: Arc<Bridge>,
    pub(crate) caller: Caller,
    /// Ends the work when the bridge stops.
    pub(crate) cancel: Cancel,
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
