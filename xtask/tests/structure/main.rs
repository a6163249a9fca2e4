//! The structure of the repository, held by tests: which crate may use which, and
//! what every file looks like. Whoever breaks a rule on purpose changes it here.

mod dependencies;
mod edges;
mod names;
mod repository;
mod secrets;
mod tidy;
