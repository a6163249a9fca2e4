//! Measures how well and how fast the engine answers: question sets over vaults, test
//! collections, and speed. It sees the engine as every user does and holds no logic of it.
//!
//! What is committed of a run holds ids, ranks, scores and times, and nothing of anybody's notes.

pub mod bench;
pub mod collections;
pub mod data;
pub mod measures;
pub mod misses;
pub mod outcome;
pub mod question;
pub mod report;
pub mod results;
pub mod sample;
pub mod sets;
pub mod sweep;
pub mod system;
pub mod table;
pub mod workbench;
