//! Errors of settings and of opening a vault, as every surface shows them.

use lorewell_capabilities::Failure;
use lorewell_setup::{OpenError, SetupError};

/// An error of the settings.
#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
pub fn of_setup(error: SetupError) -> Failure {
    Failure {
        code: error.code().to_string(),
        message: error.to_string(),
        hint: error.hint().unwrap_or_default(),
    }
}

/// Why a vault could not be opened.
pub fn of_opening(error: OpenError) -> Failure {
    match error {
        OpenError::Setup(error) => of_setup(error),
        OpenError::Engine(error) => error.into(),
    }
}
