//! The golden set: a vault's own questions, one file that grows on request. It lies wherever the
//! caller says, which must not be the vault.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use lorewell_engine::{NoteText, ReadRequest, View};
use lorewell_text::{fold_white_space, name_key};

use crate::question::{UNANSWERABLE, questions_of};
use crate::{EvaluationError, Question};

/// The golden set of one vault.
#[derive(Clone, Debug)]
pub struct GoldenSet {
    path: PathBuf,
}

/// A question that is to be added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewQuestion {
    /// What is asked.
    pub question: String,
    /// The note that answers it: a path, name, title or alias. None: nothing answers it.
    pub note: Option<String>,
    /// What the answer says, word for word (white space folded); none: any passage of the note.
    pub snippet: Option<String>,
    /// What kind of question it is.
    pub kind: Option<String>,
}

impl GoldenSet {
    /// The set in the file at `path`, which need not exist yet.
    pub fn at(path: impl Into<PathBuf>) -> GoldenSet {
        GoldenSet { path: path.into() }
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its questions, in the order in which they were added; none if there is no file.
    ///
    /// # Errors
    /// The file cannot be read, or a line is no question.
    pub fn questions(&self) -> Result<Vec<Question>, EvaluationError> {
        questions_of(&self.path, &self.text()?)
    }

    /// Adds a question about the notes of `view`. Others may add to the same file meanwhile.
    ///
    /// # Errors
    /// It holds the question already; there is no such note, or several; the snippet does not
    /// stand in it; the file cannot be read or written.
    pub fn add(&self, view: &View<'_>, new: &NewQuestion) -> Result<Question, EvaluationError> {
        let mut question = checked(view, new)?;
        let _lock = self.lock()?;
        let text = self.text()?;
        let known = questions_of(&self.path, &text)?;
        if let Some(same) = known.iter().find(|k| is_same(k, &question)) {
            return Err(EvaluationError::Duplicate {
                id: same.id.clone(),
            });
        }
        question.id = next_id(&known);
        let mut line = String::new();
        if !text.is_empty() && !text.ends_with('\n') {
            line.push('\n');
        }
        line.push_str(&self.as_line(&question)?);
        let append = || {
            // One write at the end of the file: a reader sees the whole line or nothing of it.
            let mut file = File::options().create(true).append(true).open(&self.path)?;
            file.write_all(line.as_bytes())?;
            file.sync_all()
        };
        append().map_err(|source| self.unwritable(source))?;
        Ok(question)
    }

    /// Takes a question out and gives it back.
    ///
    /// # Errors
    /// There is none of that id; the file cannot be read or written.
    pub fn remove(&self, id: &str) -> Result<Question, EvaluationError> {
        let _lock = self.lock()?;
        let mut questions = self.questions()?;
        let Some(at) = questions.iter().position(|question| question.id == id) else {
            return Err(EvaluationError::NoSuchQuestion {
                id: id.to_string(),
                known: questions.into_iter().map(|question| question.id).collect(),
            });
        };
        let removed = questions.remove(at);
        let lines = questions.iter().map(|question| self.as_line(question));
        let text = lines.collect::<Result<String, _>>()?;
        self.replace(&text)
            .map_err(|source| self.unwritable(source))?;
        Ok(removed)
    }

    fn text(&self) -> Result<String, EvaluationError> {
        match fs::read_to_string(&self.path) {
            Ok(text) => Ok(text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
            Err(source) => Err(EvaluationError::Unreadable {
                path: self.path.clone(),
                source,
            }),
        }
    }

    fn as_line(&self, question: &Question) -> Result<String, EvaluationError> {
        let line = serde_json::to_string(question);
        Ok(line.map_err(|error| self.unwritable(error.into()))? + "\n")
    }

    /// Writes a new file and puts it in the place of the old one.
    fn replace(&self, text: &str) -> std::io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(&self.path)?;
        Ok(())
    }

    /// Keeps others from changing the set until it is dropped. The lock is on a file beside the
    /// set, because the set itself may be replaced.
    fn lock(&self) -> Result<File, EvaluationError> {
        let lock = || {
            if let Some(folder) = self.path.parent() {
                fs::create_dir_all(folder)?;
            }
            let mut name = self.path.clone().into_os_string();
            name.push(".lock");
            let file = File::options()
                .create(true)
                .truncate(false)
                .write(true)
                .open(name)?;
            file.lock()?;
            Ok(file)
        };
        lock().map_err(|source| self.unwritable(source))
    }

    fn unwritable(&self, source: std::io::Error) -> EvaluationError {
        EvaluationError::Unwritable {
            path: self.path.clone(),
            source,
        }
    }
}

/// The question as it will be kept, without an id: the note by its path, the snippet as it stands
/// in the note.
fn checked(view: &View<'_>, new: &NewQuestion) -> Result<Question, EvaluationError> {
    let text = fold_white_space(&new.question);
    if text.is_empty() {
        return Err(EvaluationError::EmptyQuestion);
    }
    let Some(asked) = &new.note else {
        return Ok(Question {
            question: text,
            kind: UNANSWERABLE.to_string(),
            ..Question::default()
        });
    };
    let note = read(view, asked)?;
    let path = note.note.path.as_str().to_string();
    let snippet = fold_white_space(new.snippet.as_deref().unwrap_or_default());
    if !fold_white_space(&note.text).contains(&snippet) {
        return Err(EvaluationError::NoSuchSnippet { note: path });
    }
    if !snippet.is_empty() && !in_one_passage(view, &path, &snippet)? {
        return Err(EvaluationError::SnippetIsCut { note: path });
    }
    Ok(Question {
        question: text,
        notes: vec![path],
        snippet,
        kind: new.kind.clone().unwrap_or_default(),
        ..Question::default()
    })
}

fn read(view: &View<'_>, asked: &str) -> Result<NoteText, EvaluationError> {
    let note = view.read(&ReadRequest {
        note: asked.to_string(),
        max_chars: usize::MAX,
        ..ReadRequest::default()
    })?;
    if note.others.is_empty() {
        return Ok(note);
    }
    let mut notes = note.others;
    notes.insert(0, note.note.path.as_str().to_string());
    Err(EvaluationError::WhichNote {
        asked: asked.to_string(),
        notes,
    })
}

/// Whether a passage holds the snippet whole: else no answer could ever show it.
fn in_one_passage(view: &View<'_>, path: &str, snippet: &str) -> Result<bool, EvaluationError> {
    let parts = view.note_parts(path)?;
    let mut passages = parts.iter().flat_map(|parts| &parts.passages);
    Ok(passages.any(|passage| fold_white_space(&passage.text).contains(snippet)))
}

/// Whether two ask the same of the same notes.
fn is_same(a: &Question, b: &Question) -> bool {
    name_key(&a.question) == name_key(&b.question)
        && (a.notes == b.notes || !a.is_answerable() || !b.is_answerable())
}

/// `q7` after `q6`.
fn next_id(known: &[Question]) -> String {
    let numbers = known
        .iter()
        .filter_map(|q| q.id.strip_prefix('q')?.parse::<u64>().ok());
    format!("q{}", numbers.max().unwrap_or(0).saturating_add(1))
}
