//! Why a model cannot be had or used.

use std::io;
use std::path::PathBuf;

use lorewell_encoder::EncoderError;

/// What is wrong with a model, or with what was asked of it.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// It was not fetched.
    #[error("the model `{name}` is not on this machine")]
    NotPulled {
        /// The model.
        name: String,
    },
    /// A name that is no model's.
    #[error("`{name}` cannot be the name of a model: {reason}")]
    BadName {
        /// The name.
        name: String,
        /// Why not.
        reason: &'static str,
    },
    /// Its files are not those that were fetched.
    #[error("the model `{name}` is damaged: {reason}")]
    Damaged {
        /// The model.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// A file or folder cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The encoder does not take it.
    #[error(transparent)]
    Encoder(#[from] EncoderError),
}

impl ModelError {
    /// A stable name.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotPulled { .. } => "model_not_pulled",
            Self::BadName { .. } => "bad_model_name",
            Self::Damaged { .. } => "model_damaged",
            Self::Io { source, .. } if is_full(source) => "disk_full",
            Self::Io { .. } => "model_unreadable",
            Self::Encoder(error) => error.code(),
        }
    }

    /// What to try.
    pub fn hint(&self) -> String {
        match self {
            Self::NotPulled { name } => format!(
                "Fetch it with `lorewell models pull {name}`; `lorewell models list` shows which there are."
            ),
            Self::BadName { .. } => {
                "`lorewell models list` shows the models that there are.".to_string()
            }
            Self::Damaged { name, .. } => {
                format!("Fetch it again with `lorewell models pull {name}`.")
            }
            Self::Io { source, .. } if is_full(source) => "Make room on that disk.".to_string(),
            Self::Io { .. } => "Check the permissions of the folder, and the disk.".to_string(),
            Self::Encoder(error) => error.hint().to_string(),
        }
    }
}

fn is_full(source: &io::Error) -> bool {
    matches!(
        source.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    )
}
