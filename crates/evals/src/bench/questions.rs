//! Questions to time: those of the set about the vault, and sentences of its notes.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use lorewell_evaluation::Chance;

use crate::data::Data;

const COUNT: usize = 500;

/// Up to 500 questions, the same for the same vault.
pub(super) fn draw(vault: &Path, name: &str, data: Option<&Path>) -> Result<Vec<String>> {
    let mut questions = Vec::new();
    if let Some(folder) = data {
        let data = Data::open(Some(folder))?;
        let set = Data::set_names()
            .into_iter()
            .find(|set| set.trim_end_matches("-en") == name);
        if let Some(set) = set {
            questions.extend(data.questions(set)?.into_iter().map(|q| q.question));
        }
    }
    let mut notes = Vec::new();
    list(vault, &mut notes)?;
    notes.sort();
    let mut chance = Chance::new(7);
    for _ in 0..COUNT * 20 {
        if questions.len() >= COUNT || notes.is_empty() {
            break;
        }
        let note = &notes[chance.below(notes.len())];
        let text = String::from_utf8_lossy(&fs::read(note)?).into_owned();
        let sentences: Vec<&str> = sentences(&text).collect();
        if !sentences.is_empty() {
            questions.push(sentences[chance.below(sentences.len())].to_string());
        }
    }
    Ok(questions)
}

/// Pieces of text of the length that questions have.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let pieces = text.split(['.', '?', '!', '\n', '\r', '。', '？', '！']);
    pieces
        .map(|piece| piece.trim_matches(|c: char| !c.is_alphanumeric()))
        .filter(|piece| {
            let words = piece.split_whitespace().count();
            let letters = piece.chars().count();
            let dense = piece.len() > 2 * letters;
            letters <= 120
                && if dense {
                    letters >= 8
                } else {
                    (4..=16).contains(&words)
                }
        })
}

fn list(folder: &Path, notes: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let hidden = path
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if path.is_dir() && !hidden {
            list(&path, notes)?;
        } else if path.extension().is_some_and(|e| e == "md") {
            notes.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_of_the_length_of_questions() {
        let text = "# Kiln\nToo short. The second firing of the kiln is slow!\n第二次烧成要慢慢升温并且保温。短";
        let found: Vec<&str> = sentences(text).collect();
        assert_eq!(
            found,
            [
                "The second firing of the kiln is slow",
                "第二次烧成要慢慢升温并且保温"
            ]
        );
    }
}
