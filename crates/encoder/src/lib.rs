//! Transformer models of the BERT family, run on the processor.
//!
//! [`Encoder`] reads a folder with a model (BGE, MiniLM, GTE, multilingual E5) and turns texts into
//! vectors, in floats or in bytes, with the instructions that the machine has. It is an
//! [`Embedder`](lorewell_embed::Embedder) like the built-in static model. What would be computed
//! wrongly is refused with the reason; nothing is ever replaced in silence. [`CrossEncoder`] computes
//! models that read a question and a passage together.

mod attention;
mod config;
mod container;
mod cross;
mod error;
mod machine;
mod model;
mod network;
mod numbers;
mod precision;
mod prepare;
mod product;
mod recipe;
mod tokenizer;

#[cfg(test)]
mod layers_tests;

pub use config::check_config;
pub use cross::{CrossEncoder, Relevance, check_cross_config, is_classifier};
pub use error::EncoderError;
pub use machine::Kernel;
pub use model::{Encoder, Encoding, Options, WEIGHT, fingerprint};
pub use precision::{Device, Precision};
pub use prepare::is_prepared_well;
pub use recipe::{Pooling, Recipe};
