//! A running bridge, asked over its real roads.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]
#![expect(clippy::disallowed_methods, reason = "the tests connect to the bridge")]

mod house;

mod freshness;
mod http;
mod life;
mod limits;
mod load;
mod mcp;
mod safety;
mod socket;
