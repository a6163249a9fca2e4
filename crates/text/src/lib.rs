//! The shared nouns: one normal form of text, one tokenizer, paths of notes and line numbers.
//!
//! Index, query, links, tags and filters all go through the functions of this crate, so that
//! what matches in one place matches in every place. Nothing here reads or writes anything.

mod day;
mod forms;
mod language;
mod lines;
mod normal;
mod path;
mod percent;
mod phrase;
mod question;
mod script;
mod stem;
mod stop_words;
mod token;

pub use day::{Day, Period, days_in, is_only_a_period, periods_in, whole_period};
pub use lines::LineIndex;
pub use normal::{fold, fold_white_space, name_key};
pub use path::{NotePath, path_key, split_note_extension};
pub use percent::{percent_decoded, percent_encoded, percent_encoded_path};
pub use phrase::Phrase;
pub use question::{Question, QuestionTerm};
pub use script::is_unspaced;
pub use stop_words::StopWords;
pub use token::{Token, TokenKind, Tokenizer};
