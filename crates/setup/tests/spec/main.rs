//! What the crate promises, in tables; every test has a machine of its own in a temporary folder.

mod edits;
mod layers;
mod properties;
mod reference;
mod vault_list;
mod world;
