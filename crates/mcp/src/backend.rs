//! What answers the requests of a client.

use lorewell_capabilities::{Failure, Listener};
use serde_json::Value;

/// Answers requests for one caller. Its methods block; they are called on threads for that.
pub trait Backend: Send + Sync + 'static {
    /// Asks the capability `capability` (`knowledge.search`) of the vault called `vault`, or of
    /// the one that is meant where none is named. `listener` hears of long work, and says when
    /// nobody waits for the answer any longer.
    ///
    /// # Errors
    /// What the capability says, or why it may not be asked.
    fn call(
        &self,
        capability: &str,
        vault: Option<&str>,
        input: Value,
        listener: Listener<'_>,
    ) -> Result<Value, Failure>;

    /// Hears what the client calls itself, as often as it says so: for the log, and for no rights.
    fn client_says(&self, _name: &str) {}

    /// Names of the vaults that may be asked. Where none is named, the user's usual one is meant if
    /// there is one, or the only one.
    fn vaults(&self) -> Vec<String>;

    /// Capabilities that are switched off for this caller, by id. Asked for each request, so that
    /// a switch holds at once.
    fn switched_off(&self) -> Vec<String> {
        Vec::new()
    }

    /// Whether [`Backend::vaults`] or [`Backend::switched_off`] may change while a client listens.
    fn may_change(&self) -> bool {
        false
    }
}
