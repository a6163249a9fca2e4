//! Other programs: registering Lorewell with those that ask it, and the agent skill.
//!
//! A program that asks keeps its servers in a file of its own, in a format of its own. This crate
//! knows where ([`Places`]), makes the change as a text that can be looked at ([`Change`]), and
//! writes it whole ([`Registrar::apply`]). Comments, order and keys of others stay byte for byte;
//! a file that cannot be understood is left alone. The skill teaches an agent how to ask
//! ([`skill`]).
//!
//! The crate is handed its surroundings and looks nowhere else: no environment, no network.

mod client;
mod document;
mod error;
mod jsonc;
mod jsonc_edit;
mod registrar;
pub mod skill;
mod store;
mod toml_file;

pub use client::{Client, Places, Reach, SERVER, System, VARIABLES};
pub use document::{HOOK_WORDS, Server, hook_line};
pub use error::ClientError;
pub use registrar::{Action, Change, Part, Registrar, Standing};
