//! Questions with known answers.

use std::collections::BTreeMap;

use lorewell_text::fold_white_space;
use serde::Deserialize;

/// A question of a set.
#[derive(Clone, Debug, Deserialize)]
pub struct Question {
    /// Its name in results.
    pub id: String,
    /// What is asked.
    pub question: String,
    /// The notes that answer it; none for a question that nothing answers.
    #[serde(default)]
    pub notes: Vec<String>,
    /// What the answer says, word for word, in the first of `notes`.
    #[serde(default)]
    pub snippet: String,
    /// `exact`, `paraphrase`, `deep`, `multi` or `none`.
    pub kind: String,
    /// Whether each of several notes is wanted, or any one of them.
    #[serde(default)]
    pub need: Need,
    /// One snippet for each of `notes`, where they differ.
    #[serde(default)]
    pub snippets: Vec<String>,
    /// Other notes that repeat a note's snippet.
    #[serde(default)]
    pub alternates: BTreeMap<String, Vec<String>>,
}

/// What several right notes mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Need {
    /// Each is wanted.
    #[default]
    All,
    /// One is enough.
    Any,
}

/// One thing that an answer should bring: right notes, any of which will do, each with what a
/// passage of it must say (white space folded).
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Path and snippet.
    pub notes: Vec<(String, String)>,
}

impl Wanted {
    /// Whether this note is one of the right ones.
    pub fn is_note(&self, path: &str) -> bool {
        self.notes.iter().any(|(note, _)| note == path)
    }

    /// Whether a passage with this text (white space folded) of this note is right.
    pub fn is_passage(&self, path: &str, folded: &str) -> bool {
        self.notes
            .iter()
            .any(|(note, snippet)| note == path && folded.contains(snippet.as_str()))
    }
}

impl Question {
    /// Whether some note answers it.
    pub fn is_answerable(&self) -> bool {
        self.kind != "none"
    }

    /// Everything that an answer should bring; nothing for an unanswerable question.
    pub fn wanted(&self) -> Vec<Wanted> {
        if !self.is_answerable() {
            return Vec::new();
        }
        let each = self.notes.iter().enumerate().map(|(index, note)| {
            let snippet = fold_white_space(self.snippets.get(index).unwrap_or(&self.snippet));
            let others = self.alternates.get(note).into_iter().flatten();
            let notes = std::iter::once(note).chain(others);
            Wanted {
                notes: notes.map(|note| (note.clone(), snippet.clone())).collect(),
            }
        });
        match self.need {
            Need::All => each.collect(),
            Need::Any => {
                let notes = each.flat_map(|wanted| wanted.notes).collect();
                vec![Wanted { notes }]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_is_one_wish_and_all_are_several() {
        let question = |need: &str| -> Question {
            let line = format!(
                r#"{{"id":"q","question":"?","kind":"multi","notes":["a.md","b.md"],"snippet":"one  two",
                   "snippets":["one  two","three"],"need":"{need}","alternates":{{"a.md":["c.md"]}}}}"#
            );
            serde_json::from_str(&line).unwrap()
        };
        let all = question("all").wanted();
        assert_eq!(all.len(), 2);
        assert!(all[0].is_passage("c.md", "it says one two here") && !all[0].is_note("b.md"));
        assert!(!all[1].is_passage("b.md", "one two"));
        let any = question("any").wanted();
        assert_eq!(any.len(), 1);
        assert!(any[0].is_passage("b.md", "three") && any[0].is_note("c.md"));
    }
}
