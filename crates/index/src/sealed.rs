//! The names of excluded notes, as the catalogue keeps them: so that a file which was read and left
//! out need not be read again to know that, and its name stands in no file of the index.

use lorewell_vault::Listing;
use rustc_hash::FxHashMap;

/// What a sealed path begins with. No note's path is one: it has no ending.
const MARK: &str = "excluded:";

/// A path by which nobody can read what it was: a hash of it.
pub(crate) fn sealed(path: &str) -> String {
    let mut hasher = blake3::Hasher::new_derive_key("lorewell path of an excluded note");
    hasher.update(path.as_bytes());
    format!("{MARK}{}", &hasher.finalize().to_hex()[..32])
}

/// How the path of a file that is left out for a reason is kept.
pub(crate) fn kept(path: &str, code: &str) -> String {
    match code.starts_with("excluded") {
        true => sealed(path),
        false => path.to_string(),
    }
}

pub(crate) fn is_sealed(path: &str) -> bool {
    path.starts_with(MARK)
}

/// Where the files that some paths were sealed from stand in a listing.
pub(crate) fn places(
    listing: &Listing,
    may_be: impl Fn(usize) -> bool,
) -> FxHashMap<String, usize> {
    let listed = listing.notes.iter().enumerate();
    let listed = listed.filter(|(place, _)| may_be(*place));
    listed
        .map(|(place, entry)| (sealed(entry.path.as_str()), place))
        .collect()
}
