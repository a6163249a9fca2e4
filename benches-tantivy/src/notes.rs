//! The passages and the queries: notes cut at blank lines, and words drawn from them.

use std::path::{Path, PathBuf};

use crate::Failure;

/// Most characters of a passage, and words of a query.
const PASSAGE: usize = 1_200;
const WORDS: usize = 9;

pub struct Passage {
    pub title: String,
    pub path: String,
    pub body: String,
}

/// The number of notes below a folder, and their passages.
pub fn read(folder: &Path) -> Result<(usize, Vec<Passage>), Failure> {
    let mut files = Vec::new();
    collect(folder, &mut files)?;
    files.sort();
    let mut passages = Vec::new();
    for file in &files {
        let text = String::from_utf8_lossy(&std::fs::read(file)?).into_owned();
        let title = file
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let path = file
            .strip_prefix(folder)?
            .with_extension("")
            .to_string_lossy()
            .into_owned();
        let bodies = cut(&text).into_iter();
        passages.extend(bodies.map(|body| Passage {
            title: title.clone(),
            path: path.clone(),
            body,
        }));
    }
    Ok((files.len(), passages))
}

/// Analysed queries, each of distinct terms of a few words of one passage. The same every time.
pub fn queries(passages: &[Passage], count: usize) -> Vec<Vec<String>> {
    let mut tokenizer = lorewell_text::Tokenizer::new();
    let mut state = 42_u64;
    let mut below = |limit: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % limit
    };
    let rich = |passage: &&Passage| passage.body.split_whitespace().count() >= 2 * WORDS;
    let rich: Vec<&Passage> = passages.iter().filter(rich).collect();
    let mut queries = Vec::new();
    while queries.len() < count && !rich.is_empty() {
        let words: Vec<&str> = rich[below(rich.len())].body.split_whitespace().collect();
        let question: Vec<&str> = (0..WORDS).map(|_| words[below(words.len())]).collect();
        let mut terms = tokenizer.terms(&question.join(" "));
        terms.sort();
        terms.dedup();
        if (1..=4 * WORDS).contains(&terms.len()) {
            queries.push(terms);
        }
    }
    queries
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            collect(&entry.path(), files)?;
        } else if kind.is_file()
            && entry
                .path()
                .extension()
                .is_some_and(|extension| extension == "md")
        {
            files.push(entry.path());
        }
    }
    Ok(())
}

/// Whole paragraphs up to the limit; a longer one is cut.
fn cut(text: &str) -> Vec<String> {
    let mut passages = Vec::new();
    let (mut passage, mut size) = (String::new(), 0);
    for paragraph in text
        .split("\n\n")
        .map(str::trim)
        .filter(|paragraph| !paragraph.is_empty())
    {
        let letters: Vec<char> = paragraph.chars().collect();
        for piece in letters.chunks(PASSAGE) {
            if size + piece.len() > PASSAGE && size > 0 {
                passages.push(std::mem::take(&mut passage));
                size = 0;
            }
            passage.extend(piece);
            passage.push('\n');
            size += piece.len() + 1;
        }
    }
    if !passage.is_empty() {
        passages.push(passage);
    }
    passages
}
