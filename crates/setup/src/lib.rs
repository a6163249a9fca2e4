//! Configuration and the list of vaults: where settings come from and what they mean.
//!
//! The crate is handed its surroundings as an [`Environment`] and looks nowhere
//! else: no process variables, no home folder, no current folder of its own.
//! It reads and edits one file, `<config_dir>/lorewell/config.toml`.
//!
//! - [`SETTINGS`] is the one table of settings; everything else derives from it.
//! - [`Config`] is the file as it was read; [`Config::settings`] lays the layers
//!   over one another (defaults, file, `[vaults.NAME]`, environment, flags, and
//!   what a vault itself excludes) and every value knows its [`Origin`].
//! - [`vaults`] lists, adds and removes vaults, and finds the one that was meant.
//! - [`edit`] changes the file and keeps its comments and order.
//! - [`index_root`] and [`index_dir_for`] say where an index is kept.
//!
//! - [`open`] makes a running engine of all that, [`open_remote`] one without the notes that are
//!   kept from remote readers.
//!
//! It does not walk a vault or read a note.

mod config;
mod draft;
pub mod edit;
mod endpoint;
mod environment;
mod error;
mod in_vault;
mod index_dir;
mod layers;
mod model;
mod nearest;
mod open;
mod origin;
mod paths;
mod reference;
mod settings;
mod tokenizer;
mod use_endpoint;
mod value;
pub mod vaults;

pub use config::{Config, ListedVault};
pub use endpoint::{EndpointSetupError, check_endpoint};
pub use environment::{Environment, OTHER_VARIABLES, program, runtime_dir, variables};
pub use error::{SetupError, Warning};
pub use index_dir::{agents_dir, audit_dir, index_dir_for, index_root, remote_index_dir};
pub use layers::{Flags, Resolved, Settings};
pub use model::{model_files, model_store, rest_models};
pub use open::{OpenError, follow_in_remote, has_fences, open, open_remote, remote_is_left_over};
pub use origin::Origin;
pub use reference::settings_reference;
pub use settings::{Key, Reach, SETTINGS, Setting};
pub use use_endpoint::{EndpointChoice, use_endpoint};
pub use value::{Kind, Value};
pub use vaults::VaultRef;
