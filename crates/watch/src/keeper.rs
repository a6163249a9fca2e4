//! What a watcher keeps up to date.

use lorewell_engine::{EngineError, Freshness, Host, Observer, Patience, Rules};

/// Something that can be brought up to date with a folder, again and again.
pub trait Keeper: Send {
    /// Makes ready for an update, and says which exclusions hold now. Called before each, so that
    /// settings that changed meanwhile can be read anew.
    ///
    /// # Errors
    /// Whatever stands in the way, such as settings that cannot be understood.
    fn ready(&mut self) -> Result<Rules, Trouble>;

    /// Compares the folder with the index, and takes in what changed.
    ///
    /// # Errors
    /// Whatever stands in the way; it is tried again later.
    fn update(&mut self, observer: &dyn Observer) -> Result<Freshness, Trouble>;
}

/// Why an update failed: a stable word for programs, words for people, and what to try (empty
/// where there is nothing).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// A stable word for programs.
    pub code: String,
    /// Where and what, for people.
    pub message: String,
    /// What to try.
    pub hint: String,
}

impl Keeper for Host {
    fn ready(&mut self) -> Result<Rules, Trouble> {
        Ok(self.rules_in_force())
    }

    fn update(&mut self, observer: &dyn Observer) -> Result<Freshness, Trouble> {
        Ok(self.refresh(Patience::Read, observer)?)
    }
}

impl From<EngineError> for Trouble {
    fn from(error: EngineError) -> Trouble {
        Trouble {
            code: error.code().to_string(),
            message: error.to_string(),
            hint: error.hint(),
        }
    }
}
