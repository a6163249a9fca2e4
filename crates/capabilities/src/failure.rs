//! Errors as every surface shows them.

use lorewell_engine::EngineError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why a capability failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// A stable word for programs.
    pub code: String,
    /// What is wrong, where.
    pub message: String,
    /// What to try; absent where there is nothing to say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hint: String,
}

/// The JSON of an error: `{"error": {…}}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorJson {
    /// The error.
    pub error: Failure,
}

impl Failure {
    /// The request itself is wrong.
    pub fn wrong_use(message: impl Into<String>, hint: impl Into<String>) -> Failure {
        Failure {
            code: "wrong_use".to_string(),
            message: message.into(),
            hint: hint.into(),
        }
    }

    /// Long work was stopped by the user; what was done is kept.
    pub fn interrupted(pending: u64) -> Failure {
        let notes = if pending == 1 { "note is" } else { "notes are" };
        Failure {
            code: "interrupted".to_string(),
            message: format!("stopped; {pending} {notes} still to be read"),
            hint: "What was read is kept: the next search or `lorewell rebuild --update` goes on \
                from here, and --no-refresh answers from what there is."
                .to_string(),
        }
    }

    /// A fault of the program.
    pub fn internal(message: impl Into<String>) -> Failure {
        Failure {
            code: "internal".to_string(),
            message: message.into(),
            hint: "Please report this.".to_string(),
        }
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Failure {
        Failure {
            code: error.code().to_string(),
            message: error.to_string(),
            hint: error.hint(),
        }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}
