//! Why a model cannot be had or used.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use lorewell_encoder::EncoderError;

use crate::Task;

/// What is wrong with a model, or with what was asked of it.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// It was not fetched.
    #[error("the model `{name}` is not on this machine")]
    NotPulled {
        /// The model.
        name: String,
    },
    /// No model of the shortlist has that name, and it is no repository's.
    #[error("no model of the shortlist is called `{name}`")]
    Unknown {
        /// The name.
        name: String,
    },
    /// It cannot be used here.
    #[error("{name} cannot be used: {reason}")]
    Unfit {
        /// The model.
        name: String,
        /// Why.
        reason: String,
    },
    /// The address of a hub is none that can be used.
    #[error("{address} cannot be the address of a hub: {reason}")]
    BadHub {
        /// The address, without what is secret.
        address: String,
        /// Why not.
        reason: &'static str,
    },
    /// A hub cannot be reached.
    #[error("{hub} cannot be reached: {reason}")]
    HubUnreachable {
        /// Its address.
        hub: String,
        /// What the system says.
        reason: String,
    },
    /// A hub has no such thing.
    #[error("{hub} has nothing at {what}")]
    NotOnHub {
        /// Its address.
        hub: String,
        /// What was asked for.
        what: String,
    },
    /// The terms of a model must be accepted first.
    #[error("{what} is gated: its terms must be accepted on the hub first")]
    Gated {
        /// What was asked for.
        what: String,
        /// Whether a token was sent.
        has_token: bool,
    },
    /// A hub does not let in.
    #[error("{hub} does not give {what} to {}", if *has_token { "the owner of this token" } else { "everybody" })]
    Unauthorized {
        /// Its address.
        hub: String,
        /// What was asked for.
        what: String,
        /// Whether a token was sent.
        has_token: bool,
    },
    /// A hub has too much to do, or had too many requests.
    #[error("{hub} asks to come back later")]
    HubBusy {
        /// Its address.
        hub: String,
        /// After how long, if it said.
        pause: Option<Duration>,
    },
    /// A hub answers what it should not.
    #[error("{hub} did not answer as a hub does: {reason}")]
    HubFailed {
        /// Its address.
        hub: String,
        /// What it did.
        reason: String,
    },
    /// What came is not what the hub said it would be.
    #[error("{path} came with another checksum than the hub says, and was thrown away")]
    WrongChecksum {
        /// The file.
        path: String,
    },
    /// The user stopped it.
    #[error("it was stopped; what came by now is kept")]
    Stopped,
    /// A name that is no model's.
    #[error("`{name}` cannot be the name of a model: {reason}")]
    BadName {
        /// The name.
        name: String,
        /// Why not.
        reason: &'static str,
    },
    /// It is for something else.
    #[error("{name} is {} {}", is.article(), is.noun())]
    OtherTask {
        /// The model.
        name: String,
        /// What it is for.
        is: Task,
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
            Self::Unknown { .. } => "no_such_model",
            Self::Unfit { .. } => "model_unsupported",
            Self::OtherTask { .. } => "model_other_task",
            Self::BadHub { .. } => "bad_hub",
            Self::HubUnreachable { .. } => "hub_unreachable",
            Self::NotOnHub { .. } => "not_on_hub",
            Self::Gated { .. } => "model_gated",
            Self::Unauthorized { .. } => "hub_unauthorized",
            Self::HubBusy { .. } => "hub_busy",
            Self::HubFailed { .. } => "hub_failed",
            Self::WrongChecksum { .. } => "wrong_checksum",
            Self::Stopped => "interrupted",
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
            Self::Unknown { .. } => "`lorewell models list` shows the shortlist; any other model of a hub is named OWNER/NAME, and `lorewell models search WORDS` looks for one.".to_string(),
            Self::Unfit { .. } => "Take a model of the BERT or XLM-RoBERTa family, such as bge-small-en-v1.5.".to_string(),
            Self::BadHub { .. } => "Set HF_ENDPOINT to an address such as https://huggingface.co, or unset it.".to_string(),
            Self::HubUnreachable { .. } => "Check the network and the proxy (HTTPS_PROXY); what came by now is kept. Without a network, `lorewell models pull NAME --from DIR` takes a folder.".to_string(),
            Self::NotOnHub { .. } => "Check owner, name and revision; of a private repository the hub says the same, then set HF_TOKEN.".to_string(),
            Self::Gated { has_token: true, .. } => "Accept the terms on the model's page with the account of this token.".to_string(),
            Self::Gated { .. } => "Accept the terms on the model's page, and set HF_TOKEN to a token of that account.".to_string(),
            Self::Unauthorized { has_token: true, .. } => "Check HF_TOKEN: it may have ended, or may not read this repository.".to_string(),
            Self::Unauthorized { .. } => "Set HF_TOKEN to a token that may read it.".to_string(),
            Self::HubBusy { pause: Some(pause), .. } => format!("Try again in {} s; what came by now is kept.", pause.as_secs()),
            Self::HubBusy { .. } => "Try again later; what came by now is kept.".to_string(),
            Self::HubFailed { .. } => "Check HF_ENDPOINT, or try again later.".to_string(),
            Self::WrongChecksum { .. } => "Try again; if it stays, something between here and the hub changes what is fetched.".to_string(),
            Self::Stopped => "The same command goes on from there.".to_string(),
            Self::OtherTask { name, is: Task::Rerank } => format!(
                "It is the setting `reranker` that names it: `lorewell models use {name} --vault NAME`."
            ),
            Self::OtherTask { name, .. } => format!(
                "It is the setting `model` that names it: `lorewell models use {name} --vault NAME`."
            ),
            Self::BadName { .. } => {
                "`lorewell models list` shows the models that there are.".to_string()
            }
            Self::Damaged { name, .. } => {
                format!("Fetch it again with `lorewell models pull {name}`.")
            }
            Self::Io { source, .. } if is_full(source) => "Make room on that disk.".to_string(),
            Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                "Check the path; nothing is there.".to_string()
            }
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
