//! How many of a note's tags and aliases each of its passages carries. Tags for filters and names
//! for links are not meant: those are all kept, once a note.

/// So many go with every passage. Notes that people write have fewer; a note with thousands of
/// tags would else hold each of them once a passage.
const WITH_EVERY_PASSAGE: usize = 128;

/// The tags or aliases of a note that a passage (by its place in the note, from 0) carries. The
/// first passage carries all, so that none is lost.
pub(crate) fn carried(names: &[String], ordinal: usize) -> &[String] {
    match ordinal {
        0 => names,
        _ => names.get(..WITH_EVERY_PASSAGE).unwrap_or(names),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_once_and_a_bounded_number_with_every_passage() {
        let names: Vec<String> = (0..20_000).map(|n| n.to_string()).collect();
        assert_eq!(carried(&names, 0), names);
        assert_eq!(carried(&names, 1), &names[..WITH_EVERY_PASSAGE]);
        assert_eq!(carried(&names[..40], 1), &names[..40]);
        let all: usize = (0..1_000).map(|at| carried(&names, at).len()).sum();
        assert!(all < names.len() + 1_000 * 200);
    }
}
