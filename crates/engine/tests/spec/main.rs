//! What the engine and the index under it promise, by subject.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod crash;
mod disk;
mod incremental;
mod kill;
mod permissions;
mod picture;
mod processes;
mod reading;
mod states;
mod status;
mod world;
