//! Portable vectors: files in a vault that the user's own sync carries to other devices.
//!
//! They lie in `.lorewell/vectors/` of the vault, one folder for each model fingerprint. A
//! *carried segment* is a file that never changes: its name is the hash of its content, and it says
//! which device wrote it (layout in the `format` module). A device writes and removes its own files
//! only, so that a sync program never finds two versions of one. What is wrong, half there or not
//! ours is passed over and can be listed; nothing here is ever needed to answer, it saves work.
//!
//! - [`Store`] is the place in one vault; [`Store::inventory`] lists what is there.
//! - [`Store::library`] looks vectors up, by key.
//! - [`Store::carry`] brings a device's own files in line with what its index holds, and
//!   [`Store::withdraw`] takes them away.
//! - [`DeviceId`] names a device; it is made once and kept outside of the vault.
//!
//! This crate does not know what a key stands for, nor how vectors are made or compared.

mod carry;
mod device;
mod error;
#[cfg(feature = "failpoints")]
pub mod failpoint;
#[cfg(not(feature = "failpoints"))]
mod failpoint;
mod format;
mod inventory;
mod library;
mod local;
mod merge;
mod own;
mod place;
mod segment;
mod write;

pub use carry::{Carried, Dead, Live, Own};
pub use device::DeviceId;
pub use error::PortableError;
pub use format::MAX_DIMENSION;
pub use inventory::{CarriedSegment, Fault, Inventory, Skipped};
pub use library::Library;
pub use place::Store;

/// Names what was embedded: a hash of its content.
pub type Key = [u8; 16];
