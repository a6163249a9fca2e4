//! Whether two paths are of versions of one note: `Kiln.md` and `Archive/Kiln old.md`.

use lorewell_text::{fold, split_note_extension};

/// What people add to the name of a version, or call a folder of them; folded.
const WORDS: [&str; 24] = [
    "old", "older", "archive", "archives", "archived", "backup", "backups", "copy", "copies",
    "version", "versions", "previous", "original", "orig", "draft", "drafts", "final", "alt",
    "archiv", "alte", "kopie", "copie", "copia", "ancien",
];

/// Whether the file names are the same but for such words, and such a word stands in a name or a
/// folder. Notes of one name alone are no versions: every project has a `README`.
pub(crate) fn are_versions(one: &str, two: &str) -> bool {
    let (one, two) = (Name::of(one), Name::of(two));
    !one.rest.is_empty() && one.rest == two.rest && one.is_marked != two.is_marked
}

/// A path's file name without the words, and whether the path had any.
struct Name {
    rest: Vec<String>,
    is_marked: bool,
}

impl Name {
    fn of(path: &str) -> Name {
        let (stem, _) = split_note_extension(path);
        let (folder, name) = stem.rsplit_once('/').unwrap_or(("", stem));
        let mut rest = words(name);
        let all = rest.len();
        rest.retain(|word| !WORDS.contains(&word.as_str()));
        let is_marked =
            rest.len() < all || words(folder).iter().any(|w| WORDS.contains(&w.as_str()));
        Name { rest, is_marked }
    }
}

fn words(text: &str) -> Vec<String> {
    let folded = fold(text);
    let words = folded.split(|c: char| !c.is_alphanumeric());
    words
        .filter(|word| !word.is_empty())
        .map(str::to_string)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::are_versions;

    #[test]
    fn versions_of_one_note() {
        for (one, two, are) in [
            ("Kiln.md", "Archive/Kiln.md", true),
            ("Kiln.md", "Kiln old.md", true),
            ("Projects/Kiln.md", "Kiln (copy).md", true),
            ("A/README.md", "B/README.md", false),
            ("Kiln.md", "Kiln 2.md", false),
            ("Kiln.md", "Archive/Wheel.md", false),
            ("old.md", "Archive.md", false),
            ("Archive/Kiln.md", "Archive/2023/Kiln.md", false),
        ] {
            assert_eq!(are_versions(one, two), are, "{one} {two}");
            assert_eq!(are_versions(two, one), are, "{two} {one}");
        }
    }
}
