//! Why an endpoint cannot be used at all. What goes wrong with texts is told text by text, as
//! [`Embedded`](lorewell_embed::Embedded).

use std::path::PathBuf;

/// A fault of the settings, or of the server when it is tried.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// What was given as the address is none.
    #[error("{given} is not an address of embeddings: {why}")]
    Address {
        /// What was given, without a password.
        given: String,
        /// Why.
        why: String,
    },
    /// A server without embeddings of the OpenAI form.
    #[error("{host} cannot be used: {why}")]
    Provider {
        /// Its host.
        host: String,
        /// Why.
        why: &'static str,
    },
    /// The key is missing or cannot be one.
    #[error("the key of the endpoint: {0}")]
    Key(String),
    /// It was asked and gave no vector.
    #[error("{0}")]
    Trial(String),
    /// What is known of the models of endpoints cannot be kept.
    #[error("{}: {source}", path.display())]
    Memory {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
}
