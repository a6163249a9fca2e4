//! What a caller may add to a question: paraphrases, words that must be there, likenesses.

use lorewell_engine::{Likeness, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Failure;

/// So many paraphrases and so many likenesses at most: each is searched for on its own.
const MOST: usize = 8;

/// What comes with a question.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AidInput {
    /// Other ways to put the same question; each counts less than the question itself.
    #[serde(default)]
    #[schemars(length(max = 8), inner(length(max = 10_000)))]
    pub also: Vec<String>,
    /// Words that a passage must have; several must all be there.
    #[serde(default)]
    #[schemars(inner(length(max = 500)))]
    pub must: Vec<String>,
    /// A text, or a place in a note (`Kiln.md`, `Kiln.md#Firing`, `Kiln.md:12-40`), that passages
    /// should be like; of a place, its own passages are left out.
    #[serde(default)]
    #[schemars(length(max = 8), inner(length(max = 10_000)))]
    pub like: Vec<String>,
}

impl AidInput {
    /// Whether nothing was added that an exact search cannot take.
    pub(crate) fn fits_exact(&self) -> bool {
        self.also.is_empty() && self.like.is_empty()
    }

    /// The paraphrases.
    ///
    /// # Errors
    /// There are too many.
    pub(crate) fn also(&self) -> Result<Vec<String>, Failure> {
        few("also", &self.also)?;
        Ok(self.also.clone())
    }

    /// The likenesses; of one that names a place, the text there.
    ///
    /// # Errors
    /// There are too many, or a place is not there.
    pub(crate) fn like(&self, view: &View<'_>) -> Result<Vec<Likeness>, Failure> {
        few("like", &self.like)?;
        let likeness = |item: &String| {
            let place = view.text_at(item)?;
            Ok(place.map_or_else(
                || Likeness {
                    text: item.clone(),
                    place: None,
                },
                |read| Likeness {
                    text: read.text,
                    place: Some((read.note.path.as_str().to_string(), read.byte_range)),
                },
            ))
        };
        self.like.iter().map(likeness).collect()
    }
}

fn few(field: &str, items: &[String]) -> Result<(), Failure> {
    if items.len() <= MOST {
        return Ok(());
    }
    Err(Failure::wrong_use(
        format!("“{field}” has {} items", items.len()),
        format!("Give at most {MOST}."),
    ))
}
