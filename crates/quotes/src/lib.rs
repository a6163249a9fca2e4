//! Whether words stand in a text. Pure: texts in; verdicts, places and differences out.
//!
//! - [`Quote`] and [`Original`]: where a quotation stands in a text, as it is or but for white
//!   space, style and marks of Markdown; and the nearest text where it does not.
//! - [`Difference`]: what a quotation has other than the text, word by word.
//! - [`Numbers`]: the numbers and days of a sentence that a text does not have.
//! - [`Answer`]: what a Markdown answer claims, and the citations that each claim bears.
//!
//! Which file a citation means, and reading it, is the business of others.

mod answer;
mod difference;
mod find;
mod folded;
mod markup;
mod nearest;
mod numbers;
mod quote;
mod words;

pub use answer::{Answer, Citation, Claim, Kind, Target, Uncited};
pub use difference::{Change, Difference, Part};
pub use find::{Found, Wording};
pub use nearest::{CHANGED, LONGEST, Nearest};
pub use numbers::Numbers;
pub use quote::Quote;

use std::borrow::Cow;
use std::cell::OnceCell;

use folded::Folded;
use words::Words;

/// A text that is quoted from. What is asked of it more than once is kept.
#[derive(Debug)]
pub struct Original<'t> {
    text: Cow<'t, str>,
    folded: OnceCell<Folded>,
    words: OnceCell<Words>,
}

impl<'t> Original<'t> {
    /// Takes the whole text; nothing is read yet.
    #[must_use]
    pub fn new(text: impl Into<Cow<'t, str>>) -> Original<'t> {
        Original {
            text: text.into(),
            folded: OnceCell::new(),
            words: OnceCell::new(),
        }
    }

    /// The text itself.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    fn folded(&self) -> &Folded {
        self.folded.get_or_init(|| Folded::new(&self.text))
    }

    fn words(&self) -> &Words {
        self.words.get_or_init(|| Words::of(self.folded()))
    }
}
