//! What the engine and the index under it promise, by subject.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "tests start programs and have settings of their own"
)]

mod carry_failures;
mod crash;
mod dear;
mod disk;
mod exclusions;
mod generations;
mod incremental;
mod kill;
mod later;
mod machines;
mod models;
mod permissions;
mod picture;
mod plugin_vectors;
mod portable;
mod processes;
mod reading;
mod script;
mod states;
mod status;
mod untouched;
mod world;
