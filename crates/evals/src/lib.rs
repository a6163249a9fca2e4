//! The developer's measurements of quality and speed: question sets over vaults, test
//! collections, other settings, and speed. How a question is asked and judged stands in
//! `lorewell-evaluation`, which the product shares.
//!
//! What is committed of a run holds ids, ranks, scores and times, and nothing of anybody's notes.

pub mod ablation;
pub mod bench;
pub mod calibration;
pub mod collections;
pub mod comparison;
pub mod confidence;
pub mod data;
pub mod goals;
pub mod logistic;
pub mod misses;
pub mod model;
pub mod names;
pub mod readings;
pub mod report;
pub mod results;
pub mod sample;
pub mod scan;
pub mod sets;
pub mod sweep;
pub mod workbench;
