//! Transformer models of a user: which there are, where they lie, and one of them at work.
//!
//! - [`SHORTLIST`] names the models that were looked at and measured.
//! - [`Store`] is the folder of the models that were fetched, each with a [`Manifest`] that says
//!   what it is, so that nothing has to be opened to know it.
//! - [`Session`] is an [`Embedder`](lorewell_embed::Embedder) over one of them: it is loaded when it
//!   is first asked, let go when it is idle, and made anew after it failed. [`RerankSession`] is the
//!   same for a model that judges passages. At most one of each is loaded in a process.
//! - [`Hub`] is where they are fetched from, when the user asks and at no other time.
//!
//! It knows neither vaults nor settings.

mod digest;
mod error;
mod hub;
mod install;
mod known;
mod loaded;
mod manifest;
mod rerank;
mod session;
mod shortlist;
mod store;

pub use error::ModelError;
pub use hub::{Fit, Found, Hub, Progress, USUAL_HUB};
pub use install::WEIGHTS;
pub use loaded::{IDLE, rest};
pub use lorewell_embed::PassageInput;
pub use manifest::{Manifest, ModelFile, ModelRecipe, Origin, Task};
pub use rerank::RerankSession;
pub use session::Session;
pub use shortlist::{SHORTLIST, Vetted, vetted};
pub use store::{Listed, Store};
