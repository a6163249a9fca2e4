//! What can go wrong in measuring.

use std::io;
use std::path::PathBuf;

use lorewell_engine::EngineError;

/// Why something could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum EvaluationError {
    /// A file of questions cannot be read.
    #[error("{path}: the questions cannot be read: {source}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A line of a file of questions is no question.
    #[error("{path}:{line}: not a question: {reason}")]
    NotAQuestion {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// The golden set cannot be written.
    #[error("{path}: the golden set cannot be written: {source}")]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The golden set holds the question already.
    #[error("the golden set holds this question already: {id}")]
    Duplicate {
        /// Its id there.
        id: String,
    },
    /// There is no question of that id.
    #[error("the golden set has no question {id}")]
    NoSuchQuestion {
        /// What was asked for.
        id: String,
        /// The ids that there are.
        known: Vec<String>,
    },
    /// A question without words.
    #[error("the question is empty")]
    EmptyQuestion,
    /// Several notes answer to the name.
    #[error("{asked}: which note? {} answer to that", .notes.len())]
    WhichNote {
        /// What was asked for.
        asked: String,
        /// Their paths.
        notes: Vec<String>,
    },
    /// The snippet does not stand in the note.
    #[error("{note}: the snippet does not stand in this note")]
    NoSuchSnippet {
        /// The note's path.
        note: String,
    },
    /// The snippet stands in the note, in no passage whole.
    #[error("{note}: no passage holds the snippet whole, so no answer could show it")]
    SnippetIsCut {
        /// The note's path.
        note: String,
    },
    /// The engine.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl EvaluationError {
    /// A stable word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            EvaluationError::Unreadable { .. } => "questions_unreadable",
            EvaluationError::NotAQuestion { .. } => "not_a_question",
            EvaluationError::Unwritable { .. } => "golden_set_unwritable",
            EvaluationError::Duplicate { .. } => "duplicate_question",
            EvaluationError::NoSuchQuestion { .. } => "no_such_question",
            EvaluationError::EmptyQuestion => "empty_question",
            EvaluationError::WhichNote { .. } => "which_note",
            EvaluationError::NoSuchSnippet { .. } => "no_such_snippet",
            EvaluationError::SnippetIsCut { .. } => "snippet_is_cut",
            EvaluationError::Engine(error) => error.code(),
        }
    }

    /// What to try.
    pub fn hint(&self) -> String {
        match self {
            EvaluationError::Unreadable { .. } | EvaluationError::Unwritable { .. } => {
                "Look at the path and its permissions.".to_string()
            }
            EvaluationError::NotAQuestion { .. } => {
                "A line is a JSON object with `id`, `question`, `notes` and perhaps `snippet` and `kind`."
                    .to_string()
            }
            EvaluationError::Duplicate { id } => {
                format!("`lorewell eval remove {id}` takes it out.")
            }
            EvaluationError::NoSuchQuestion { known, .. } if known.is_empty() => {
                "It is empty; `lorewell eval add` adds to it.".to_string()
            }
            EvaluationError::NoSuchQuestion { .. } => {
                "`lorewell eval list` shows them.".to_string()
            }
            EvaluationError::EmptyQuestion => "Write the question as you would ask it.".to_string(),
            EvaluationError::WhichNote { notes, .. } => {
                format!("Give the path of one: {}.", notes.join(", "))
            }
            EvaluationError::NoSuchSnippet { .. } => {
                "Copy it from the note, word for word; only white space may differ.".to_string()
            }
            EvaluationError::SnippetIsCut { .. } => {
                "Give a shorter piece of it, within one paragraph or heading.".to_string()
            }
            EvaluationError::Engine(error) => error.hint(),
        }
    }
}
