//! What the processor has: products of matrices in its instructions, plain loops compiled for
//! them, and the memory map. All unsafe code of the crate is in this module.
//!
//! Invariants, which every function here keeps:
//!
//! 1. A model runs on a [`Kernel`] only if [`Kernel::chosen`] gave it, which asked the processor. So
//!    what a kernel's instructions need is there when it runs.
//! 2. [`Kernel::sums`] and [`Kernel::products`] check the lengths of all slices against rows,
//!    columns and depth before any pointer is formed; inner functions rely on it.
//! 3. Pointers come from slices that are borrowed for the whole call, and are read and written
//!    without alignment.
//! 4. AMX tiles are set up, used and released within one function, and the system allowed them.
#![expect(
    unsafe_code,
    reason = "instructions that not every processor has, and a memory map"
)]

#[cfg(target_arch = "x86_64")]
mod amx;
mod kernel;
mod map;
#[cfg(target_arch = "aarch64")]
mod neon;
mod plain;
#[cfg(target_arch = "x86_64")]
mod x86_f32;
#[cfg(target_arch = "x86_64")]
mod x86_i8;

#[cfg(test)]
mod tests;

pub use kernel::Kernel;
pub(crate) use kernel::{Bytes, Floats, Work};
pub(crate) use map::{floats, map};

/// Columns that stand together in a panel of weights.
pub(crate) const PANEL: usize = 16;

/// Inputs that stand together within a panel of bytes: what one instruction sums.
pub(crate) const GROUP: usize = 4;
