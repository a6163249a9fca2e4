//! Questions that are the name of a note, as written or with a slip of the pen: what the title lane
//! is for, and no question set asks.

use std::collections::BTreeMap;

use lorewell_evaluation::{Need, Question};
use lorewell_text::{NotePath, name_key};

use crate::collections::thinned;

/// How a name is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writing {
    /// As the file is called.
    Right,
    /// Two neighbouring letters in the middle have changed places.
    Slip,
}

/// A name with fewer letters is not misspelled: too much of it would be lost.
const LONG_ENOUGH: usize = 6;

/// The names of at most `count` of the notes at `paths`, at even distances. Every note of the same
/// name is right, and any passage of it.
pub fn questions(paths: &[String], writing: Writing, count: usize) -> Vec<Question> {
    let mut named: BTreeMap<String, Vec<&String>> = BTreeMap::new();
    for path in paths {
        let name = NotePath::new(path.as_str()).name().to_string();
        named.entry(name_key(&name)).or_default().push(path);
    }
    let asked = named.into_values().filter_map(|notes| {
        let name = NotePath::new(notes.first()?.as_str()).name().to_string();
        let question = match writing {
            Writing::Right => name,
            Writing::Slip => slipped(&name)?,
        };
        Some(Question {
            id: notes.first()?.to_string(),
            question,
            notes: notes.into_iter().cloned().collect(),
            need: Need::Any,
            ..Question::default()
        })
    });
    thinned(asked.collect(), Some(count))
}

/// With the two letters nearest the middle that differ swapped; nothing if there are none, or the
/// name is short.
fn slipped(name: &str) -> Option<String> {
    let mut letters: Vec<char> = name.chars().collect();
    if letters.len() < LONG_ENOUGH {
        return None;
    }
    let middle = letters.len() / 2;
    let at = (middle..letters.len() - 1).find(|at| {
        let (a, b) = (letters[*at], letters[at + 1]);
        a != b && a.is_alphabetic() && b.is_alphabetic()
    })?;
    letters.swap(at, at + 1);
    Some(letters.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_asked_once_and_a_slip_changes_them() {
        let paths = ["a/Madder.md", "b/madder.md", "Weld.md", "2024-05-03.md"].map(String::from);
        let asked = |writing| -> Vec<(String, usize)> {
            let questions = questions(&paths, writing, 10).into_iter();
            questions.map(|q| (q.question, q.notes.len())).collect()
        };
        let right = asked(Writing::Right);
        assert_eq!(right.len(), 3);
        assert!(right.contains(&("Madder".to_string(), 2)), "{right:?}");
        assert_eq!(asked(Writing::Slip), [("Madedr".to_string(), 2)]);
        assert_eq!(questions(&paths, Writing::Right, 2).len(), 2);
    }
}
