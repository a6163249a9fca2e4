//! Why a model cannot be used.

use std::io;
use std::path::PathBuf;

/// What is wrong with a folder of a model, or with what was asked of it.
#[derive(Debug, thiserror::Error)]
pub enum EncoderError {
    /// A file is missing or cannot be read.
    #[error("{}: {source}", path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file is not what it should be.
    #[error("{}: {reason}", path.display())]
    Malformed {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A sound model, which this encoder does not compute.
    #[error("{}: {reason}", path.display())]
    Unsupported {
        /// The file that says so.
        path: PathBuf,
        /// What it asks for, and what there is.
        reason: String,
    },
    /// The weights lack a tensor.
    #[error("{}: the tensor `{tensor}` is missing", path.display())]
    MissingTensor {
        /// The file of weights.
        path: PathBuf,
        /// The tensor's name.
        tensor: String,
    },
    /// The prepared form of the model cannot be written anywhere.
    #[error("{}: the prepared model cannot be written: {source}", path.display())]
    Unwritable {
        /// Where it should be.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A device or precision that is not there.
    #[error("{0}")]
    Unavailable(String),
}

impl EncoderError {
    /// A stable name.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "model_unreadable",
            Self::Malformed { .. } => "model_malformed",
            Self::Unsupported { .. } => "model_unsupported",
            Self::MissingTensor { .. } => "model_incomplete",
            Self::Unwritable { .. } => "model_unwritable",
            Self::Unavailable(_) => "model_device_unavailable",
        }
    }

    /// What to try.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => {
                "a model is a folder with config.json, tokenizer.json and model.safetensors"
            }
            Self::Malformed { .. } | Self::MissingTensor { .. } => "get the model's files again",
            Self::Unsupported { .. } => {
                "take a model of the BERT or XLM-RoBERTa family, such as bge-small-en-v1.5"
            }
            Self::Unwritable { .. } => {
                "make room, or allow writing in the model's folder or the folder for temporary files"
            }
            Self::Unavailable(_) => "use the device `cpu` and a precision of q8, f16 or f32",
        }
    }
}
