//! Which note a link means: names, paths, aliases and headings compared as Obsidian's users expect.
//!
//! Pure functions and one immutable table ([`Names`]); nothing here reads files, and nothing
//! parses Markdown. Neighbours in the graph are the index's business.

mod heading;
mod key;
mod names;
mod target;

pub use heading::heading_matches;
pub use key::{candidate_keys, link_key};
pub use names::{By, MAX_OTHERS, NameEntry, Names, Resolution};
pub use target::{Target, split_target};
