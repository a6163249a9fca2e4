//! Keys by which a catalogue finds the notes that a link could mean, and the links that could mean
//! a note, without a table of all names.

use lorewell_text::{name_key, split_note_extension};

/// The key under which a link and the note that it means meet: the last segment of a target, a
/// file name or an alias, folded by [`name_key`], both slashes separating segments, without `.md`
/// or `.markdown` (also where it is there twice).
///
/// If [`crate::Names`] finds that a target means a note, then the target has the same key as the
/// note's file name or as one of its aliases. The reverse does not hold: what has the same key is
/// a candidate. Empty for a target without any name.
pub fn link_key(text: &str) -> String {
    let folded = name_key(text);
    let mut name = folded
        .rsplit(['/', '\\'])
        .map(str::trim)
        .find(|segment| !segment.is_empty())
        .unwrap_or_default();
    loop {
        let (bare, extension) = split_note_extension(name);
        if extension.is_empty() {
            return name.to_owned();
        }
        name = bare.trim_end();
    }
}

/// The keys ([`name_key`]) of names that `target` could mean: a note that the target means has one
/// of them as the key of its file name or of an alias. Without repetition, none empty.
pub fn candidate_keys(target: &str) -> Vec<String> {
    let target = target.trim();
    let slashed = target.contains('\\').then(|| target.replace('\\', "/"));
    let mut keys: Vec<String> = Vec::with_capacity(2);
    let mut add = |key: String| {
        if !key.is_empty() && !keys.contains(&key) {
            keys.push(key);
        }
    };
    for form in std::iter::once(target).chain(slashed.as_deref()) {
        let last = form
            .rsplit('/')
            .find(|segment| !segment.trim().is_empty())
            .unwrap_or_default();
        add(name_key(last));
        let (bare, extension) = split_note_extension(last);
        if !extension.is_empty() {
            add(name_key(bare));
        }
        // An alias may hold slashes.
        if last.len() < form.len() {
            add(name_key(form));
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_and_the_names_it_could_mean_have_keys() {
        for (target, key, candidates) in [
            ("Kiln", "kiln", &["kiln"][..]),
            ("Kiln.md", "kiln", &["kiln.md", "kiln"]),
            ("Twice.md.md", "twice", &["twice.md.md", "twice.md"]),
            (
                "Projects/Deep/Kiln  log",
                "kiln log",
                &["kiln log", "projects/deep/kiln log"],
            ),
            ("../Kiln", "kiln", &["kiln", "../kiln"]),
            ("Projects/", "projects", &["projects", "projects/"]),
            (
                "a\\B",
                "b",
                // A name may hold the sign.
                &["a\\b", "b", "a/b"],
            ),
            ("釉料", "釉料", &["釉料"]),
            ("", "", &[]),
            ("/", "", &["/"]),
        ] {
            assert_eq!(link_key(target), key, "{target}");
            assert_eq!(candidate_keys(target), candidates, "{target}");
        }
    }
}
