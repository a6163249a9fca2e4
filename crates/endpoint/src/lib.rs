//! Embedding by a server: [`Endpoint`] is an [`Embedder`](lorewell_embed::Embedder) over the OpenAI
//! form of `POST …/embeddings`, which Ollama, LM Studio, llama.cpp, vLLM, text-embeddings-inference
//! and many others speak.
//!
//! [`Address::read`] makes one address of every way to write it and refuses servers of another form;
//! [`Key`] holds the secret and masks it in whatever is said; `exchange.rs` is one request and its
//! answer, checked; `fault.rs` is what can go wrong and what that means for the texts; `run.rs` brings
//! many texts through, in batches that fit what the server takes (`limits.rs`), with texts cut where
//! they are too long (`pieces.rs`); `identity.rs` tells one model from another under the same name.
//!
//! This crate opens connections to the address that it was given and to no other, follows no
//! redirect, and asks no proxy on the way to this machine itself.

mod address;
mod endpoint;
mod error;
mod exchange;
mod families;
mod fault;
mod identity;
mod key;
mod limits;
mod pieces;
mod providers;
mod run;
mod wait;

pub use address::Address;
pub use endpoint::{Endpoint, EndpointSettings};
pub use error::EndpointError;
pub use families::{Prefixes, usual_prefixes};
pub use identity::{Identities, Identity, PROBE};
pub use key::Key;
