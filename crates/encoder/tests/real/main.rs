//! Real models, and models of random weights, against plain computations of the same.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod cross;
mod models;
mod reference;
mod weights;
