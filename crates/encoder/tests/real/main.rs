//! Real models, and models of random weights, against plain computations of the same.

mod models;
mod reference;
mod weights;
