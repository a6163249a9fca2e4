//! What a question asks for in quotation marks: passages that have those words together come
//! first, and the text lane finds no others, as long as any has them. A question that is nothing
//! but phrases is answered from these passages alone.
//!
//! A phrase stands in a passage if it stands in its text, in a heading above it, or in a name of
//! its note.

use lorewell_index::Snapshot;
use lorewell_lexical::{Bitmap, QueryTerm};
use lorewell_text::Phrase;
use rustc_hash::FxHashMap;

use crate::error::RetrievalError;
use crate::fusion::Fused;
use crate::lanes::Ground;
use crate::must::{all_of, allow, terms_of};

/// The phrases of a question, and where they stand.
#[derive(Clone, Debug, Default)]
pub(crate) struct Phrases {
    /// How many of the phrases a passage has; empty where none has any.
    held: FxHashMap<u32, usize>,
    /// How many there are.
    count: usize,
    /// Phrases that no passage has, as written.
    pub(crate) missing: Vec<String>,
    /// The question is nothing but phrases.
    is_all: bool,
    /// The words of the phrases that some passage has.
    words: Vec<QueryTerm>,
}

impl Phrases {
    /// Looks for the phrases of a question. Where it holds nothing else, only passages that have
    /// one of them may be in the answer from now on, if there are any.
    pub(crate) fn look_for(
        ground: &mut Ground<'_>,
        question: &str,
    ) -> Result<Phrases, RetrievalError> {
        let quoted = Phrase::quoted_in(question);
        let mut phrases = Phrases {
            count: quoted.len(),
            ..Phrases::default()
        };
        let mut names: FxHashMap<u32, Vec<String>> = FxHashMap::default();
        for phrase in &quoted {
            let mut found = false;
            for passage in all_of(ground, &phrase.written)?.iter() {
                if stands_in(ground.snapshot, phrase, passage, &mut names)? {
                    *phrases.held.entry(passage).or_default() += 1;
                    found = true;
                }
            }
            match found {
                true => phrases.words.extend(terms_of(&phrase.written)),
                false => phrases.missing.push(phrase.written.clone()),
            }
        }
        phrases.is_all = is_nothing_else(question, &quoted);
        if phrases.is_all && phrases.are_found() {
            let mut passages = Bitmap::new();
            for passage in phrases.held.keys() {
                passages.insert(*passage);
            }
            ground.allowed = Some(allow(ground.snapshot, passages)?);
        }
        Ok(phrases)
    }

    /// Whether the text lane may find a passage.
    pub(crate) fn may(&self, passage: u32) -> bool {
        self.held.is_empty() || self.held.contains_key(&passage)
    }

    /// The words of those that are found: what the text lane looks for where the question holds
    /// stop words only (`"to be or not to be"`).
    pub(crate) fn words(&self) -> &[QueryTerm] {
        &self.words
    }

    /// Whether a passage has all that the question asks for.
    pub(crate) fn are_answered_by(&self, passage: u32) -> bool {
        self.is_all && self.held.get(&passage) == Some(&self.count)
    }

    /// Whether some passage has one of them.
    pub(crate) fn are_found(&self) -> bool {
        !self.held.is_empty()
    }

    /// Brings the passages with most of the phrases to the front; equal ones stay in their order.
    pub(crate) fn come_first(&self, fused: &mut [Fused]) {
        if self.are_found() {
            let lacks = |fused: &Fused| {
                let held = self.held.get(&fused.passage);
                std::cmp::Reverse(held.copied().unwrap_or(0))
            };
            fused.sort_by_key(lacks);
        }
    }
}

/// Whether a question has no words outside of its phrases.
fn is_nothing_else(question: &str, phrases: &[Phrase]) -> bool {
    let mut at = 0;
    let between = phrases.iter().map(|phrase| {
        let before = question.get(at..phrase.range.start);
        at = phrase.range.end;
        before.unwrap_or_default()
    });
    let has_words = |text: &str| text.contains(char::is_alphanumeric);
    !{ between }.any(has_words) && !has_words(question.get(at..).unwrap_or_default())
}

fn stands_in(
    snapshot: &Snapshot,
    phrase: &Phrase,
    passage: u32,
    names: &mut FxHashMap<u32, Vec<String>>,
) -> Result<bool, RetrievalError> {
    let Some(stored) = snapshot.passage(passage)? else {
        return Ok(false);
    };
    let in_headings = || {
        stored
            .heading_path
            .iter()
            .any(|text| phrase.stands_in(text))
    };
    if phrase.stands_in(&stored.said()) || in_headings() {
        return Ok(true);
    }
    if let Some(names) = names.get(&stored.note) {
        return Ok(names.iter().any(|name| phrase.stands_in(name)));
    }
    let note = snapshot.note(stored.note)?;
    let of_note: Vec<String> = note.map_or(Vec::new(), |note| {
        let path = note.path.name().to_string();
        [note.title, path].into_iter().chain(note.aliases).collect()
    });
    let stands = of_note.iter().any(|name| phrase.stands_in(name));
    names.insert(stored.note, of_note);
    Ok(stands)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_may_be_nothing_but_phrases() {
        for (question, nothing_else) in [
            ("\"cold frame\"", true),
            ("“cold frame”, “hot bed”?", true),
            ("the \"cold frame\"", false),
            ("\"cold frame\" lid", false),
        ] {
            let phrases = Phrase::quoted_in(question);
            assert_eq!(
                is_nothing_else(question, &phrases),
                nothing_else,
                "{question}"
            );
        }
    }
}
