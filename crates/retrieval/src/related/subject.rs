//! The note that is asked about, line by line.

use std::hash::{Hash, Hasher};

use lorewell_index::{IndexError, Snapshot, StoredNote};
use lorewell_text::{fold, fold_white_space};
use rustc_hash::{FxHashSet, FxHasher};

/// Of a longer note only so many passages are looked at.
const MOST_PASSAGES: usize = 64;

/// A line with fewer letters and digits says nothing, and is not known again.
const SHORTEST: usize = 3;

/// The asked note, as far as the other reasons than links need it.
pub(crate) struct Subject {
    pub(crate) note: StoredNote,
    pub(crate) passages: Vec<SubjectPassage>,
}

/// One passage of it.
pub(crate) struct SubjectPassage {
    pub(crate) id: u32,
    pub(crate) heading_path: Vec<String>,
    pub(crate) lines: Vec<Line>,
    /// What passages with the same words have in common.
    pub(crate) key: u64,
}

/// One line of a passage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// What lines with the same words have in common; none where there is too little.
    pub(crate) key: Option<u64>,
    /// Its words, without addresses.
    pub(crate) words: String,
}

impl Subject {
    pub(crate) fn load(snapshot: &Snapshot, note: StoredNote) -> Result<Subject, IndexError> {
        let mut passages = Vec::new();
        for id in snapshot
            .passages_of(note.id)?
            .into_iter()
            .take(MOST_PASSAGES)
        {
            let Some(passage) = snapshot.passage(id)? else {
                continue;
            };
            let text = passage.said();
            passages.push(SubjectPassage {
                id,
                key: passage_key(&text),
                lines: lines(&text),
                heading_path: passage.heading_path,
            });
        }
        Ok(Subject { note, passages })
    }

    /// Drops lines that other notes have as well.
    pub(crate) fn without(&mut self, keys: &FxHashSet<u64>) {
        for passage in &mut self.passages {
            passage
                .lines
                .retain(|line| line.key.is_none_or(|key| !keys.contains(&key)));
        }
    }

    /// The share of its letters that stand in such lines, 0 to 1.
    pub(crate) fn share_of(&self, keys: &FxHashSet<u64>) -> f32 {
        share(self.passages.iter().flat_map(|p| &p.lines), keys)
    }
}

/// The share of the letters of some lines that stand in lines of these keys, 0 to 1.
pub(crate) fn share<'a>(lines: impl Iterator<Item = &'a Line>, keys: &FxHashSet<u64>) -> f32 {
    let (mut all, mut within) = (0, 0);
    for line in lines {
        all += line.words.len();
        if line.key.is_some_and(|key| keys.contains(&key)) {
            within += line.words.len();
        }
    }
    within as f32 / all.max(1) as f32
}

/// The lines of a text that hold anything.
pub(crate) fn lines(text: &str) -> Vec<Line> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines
        .map(|line| Line {
            key: line_key(line),
            words: without_addresses(line),
        })
        .collect()
}

/// Passages of the same words have the same key; white space, case, diacritics and digits do not
/// count.
pub(crate) fn passage_key(text: &str) -> u64 {
    hash_of(&masked(text))
}

fn line_key(line: &str) -> Option<u64> {
    let masked = masked(line);
    let letters = masked.chars().filter(|c| c.is_alphanumeric()).count();
    (letters >= SHORTEST).then(|| hash_of(&masked))
}

/// Folded, with a 0 for each run of digits: a date does not make a line of a template another.
fn masked(text: &str) -> String {
    let folded = fold(&fold_white_space(text));
    let mut masked = String::with_capacity(folded.len());
    for c in folded.chars() {
        match c.is_numeric() {
            true if masked.ends_with('0') => {}
            true => masked.push('0'),
            false => masked.push(c),
        }
    }
    masked
}

fn hash_of(text: &str) -> u64 {
    let mut hasher = FxHasher::default();
    text.hash(&mut hasher);
    hasher.finish()
}

/// A line without the destinations of its links and bare addresses: their words are nobody's.
fn without_addresses(line: &str) -> String {
    if !line.contains("](") && !line.contains("://") {
        return line.to_string();
    }
    let mut words = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find("](") {
        words.push_str(&rest[..=at]);
        let inside = &rest[at + 2..];
        rest = inside.find(')').map_or("", |end| &inside[end + 1..]);
    }
    words.push_str(rest);
    let is_address = |word: &&str| word.contains("://");
    let kept: Vec<&str> = words
        .split_whitespace()
        .filter(|w| !is_address(w))
        .collect();
    kept.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_known_again_whatever_their_case_and_dates() {
        let keys = |text: &str| -> Vec<Option<u64>> { lines(text).iter().map(|l| l.key).collect() };
        assert_eq!(
            keys("## Agenda\n\n- x\nOn 2024-01-05"),
            keys("## AGENDA\n- y\nOn 2023-12-31")
        );
        assert_ne!(keys("## Agenda"), keys("## Decisions"));
        assert_eq!(keys("- x\n***"), [None, None]);
        let shown =
            lines("See [the kiln](https://x.test/a_b) or https://y.test now ![p](z.png) end");
        assert_eq!(shown[0].words, "See [the kiln] or now ![p] end");
    }
}
