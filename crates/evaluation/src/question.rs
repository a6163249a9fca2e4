//! Questions with known answers, and files of them: one JSON object a line.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use lorewell_text::fold_white_space;
use serde::{Deserialize, Serialize};

use crate::EvaluationError;

/// The kind of a question that nothing answers.
pub const UNANSWERABLE: &str = "none";

/// A question of a set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Question {
    /// Its name in results.
    pub id: String,
    /// What is asked.
    pub question: String,
    /// The notes that answer it; none for a question that nothing answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What the answer says, word for word, in the first of `notes`; empty: any passage of it is
    /// right.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub snippet: String,
    /// `exact`, `paraphrase`, `deep`, `multi`, or any other word; `none` for a question that
    /// nothing answers.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// Whether each of several notes is wanted, or any one of them.
    #[serde(default, skip_serializing_if = "Need::is_all")]
    pub need: Need,
    /// One snippet for each of `notes`, where they differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub snippets: Vec<String>,
    /// Other notes that repeat a note's snippet.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub alternates: BTreeMap<String, Vec<String>>,
}

/// What several right notes mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
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

impl Need {
    fn is_all(&self) -> bool {
        *self == Need::All
    }
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
        self.kind != UNANSWERABLE
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

/// The questions of a file.
///
/// # Errors
/// The file cannot be read, or a line is no question: the error names the line.
pub fn questions_in(path: &Path) -> Result<Vec<Question>, EvaluationError> {
    let text = fs::read_to_string(path).map_err(|source| EvaluationError::Unreadable {
        path: path.to_path_buf(),
        source,
    })?;
    questions_of(path, &text)
}

/// The questions in the text of the file at `path`.
pub(crate) fn questions_of(path: &Path, text: &str) -> Result<Vec<Question>, EvaluationError> {
    let lines = (1..).zip(text.trim_start_matches('\u{feff}').lines());
    lines
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(line, text)| {
            let wrong = |reason: String| EvaluationError::NotAQuestion {
                path: path.to_path_buf(),
                line,
                reason,
            };
            let question: Question = serde_json::from_str(text).map_err(|error| {
                // Its line is that within the line.
                let reason = error.to_string();
                let what = reason.split(" at line ").next().unwrap_or_default();
                wrong(format!("{what} (column {})", error.column()))
            })?;
            if question.question.trim().is_empty() {
                return Err(wrong("`question` is empty".to_string()));
            }
            if question.is_answerable() && question.notes.is_empty() {
                let reason = "it names no note; a question that nothing answers is of kind `none`";
                return Err(wrong(reason.to_string()));
            }
            Ok(question)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_no_question_is_named() {
        let text = "{\"id\":\"a\",\"question\":\"?\",\"notes\":[\"a.md\"]}\n\n";
        let cases = [
            (format!("{text}{{"), "q.jsonl:3: not a question: EOF"),
            (
                format!("{text}{{\"id\":\"b\",\"question\":\" \"}}"),
                "q.jsonl:3: not a question: `question` is empty",
            ),
            (
                format!("{text}{{\"id\":\"b\",\"question\":\"?\"}}"),
                "q.jsonl:3: not a question: it names no note",
            ),
            (
                "{\"question\":\"?\"}".to_string(),
                "q.jsonl:1: not a question: missing field `id` (column 16)",
            ),
        ];
        for (text, expected) in cases {
            let error = questions_of(Path::new("q.jsonl"), &text)
                .unwrap_err()
                .to_string();
            assert!(error.starts_with(expected), "{error}");
        }
        let read = questions_of(Path::new("q.jsonl"), text).unwrap();
        assert_eq!(serde_json::to_string(&read[0]).unwrap() + "\n\n", text);
    }

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
