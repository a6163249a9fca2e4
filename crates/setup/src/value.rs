//! What a setting can hold: its kind, how a value of that kind is read, checked and written.

use std::path::{Path, PathBuf};

use lorewell_engine::EvidenceRules;

use crate::paths;

/// The type and range of a setting.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// A whole number, both bounds in.
    Integer {
        /// Smallest value.
        min: u64,
        /// Largest value.
        max: u64,
    },
    /// A number of bytes, both bounds in; may be written with a unit, as in `"64 MiB"`.
    Bytes {
        /// Smallest value.
        min: u64,
        /// Largest value.
        max: u64,
    },
    /// A finite number, both bounds in.
    Float {
        /// Smallest value.
        min: f64,
        /// Largest value.
        max: f64,
    },
    /// Text that is not empty.
    Text,
    /// A file or folder; `~/` is the home folder.
    Path,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A list of texts, none of them empty.
    List,
    /// A list of at least one of these words, none twice.
    ListOf(&'static [&'static str]),
    /// A list of rules of evidence: `folder:Inbox/Web=clipping` and so on.
    EvidenceRules,
}

/// A value that passed the check of its [`Kind`].
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Of [`Kind::Integer`] and [`Kind::Bytes`].
    Integer(u64),
    /// Of [`Kind::Float`].
    Float(f64),
    /// Of [`Kind::Text`] and [`Kind::Choice`].
    Text(String),
    /// Of [`Kind::Path`]; absolute.
    Path(PathBuf),
    /// Of [`Kind::List`], [`Kind::ListOf`] and [`Kind::EvidenceRules`].
    List(Vec<String>),
}

/// Where paths start: the home folder for `~/`, the base for relative ones.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bases<'a> {
    pub(crate) home: &'a Path,
    pub(crate) base: &'a Path,
}

impl Kind {
    /// The kind in words, as in "a whole number from 1 to 50".
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Self::Integer { min, max } => format!("a whole number from {min} to {max}"),
            Self::Bytes { min, max } => format!(
                "a number of bytes from {} to {}",
                bytes_in_words(*min),
                bytes_in_words(*max)
            ),
            Self::Float { min, max } => format!("a number from {min} to {max}"),
            Self::Text => "a text".to_owned(),
            Self::Path => "a path".to_owned(),
            Self::Choice(words) => format!("one of {}", quoted(words)),
            Self::List => "a list of texts".to_owned(),
            Self::ListOf(words) => format!("a list of {}", quoted(words)),
            Self::EvidenceRules => {
                "a list of rules such as \"folder:Inbox/Web=clipping\"".to_owned()
            }
        }
    }

    /// What a value that does not fit should have been: [`Kind::describe`], and what is wrong
    /// where that can be said.
    pub(crate) fn expected(&self, value: &toml_edit::Value) -> String {
        let described = self.describe();
        match (self, texts(value)) {
            (Self::EvidenceRules, Some(rules)) => match EvidenceRules::new(rules) {
                Err(error) => format!("{described}: {error}"),
                Ok(_) => described,
            },
            _ => described,
        }
    }

    /// The TOML value that a person means who types `text` for this kind (on the
    /// command line or in a variable). Lists are a TOML array (`["a, b", "c"]`)
    /// or parted by commas. Nothing is checked yet.
    pub(crate) fn toml_from_text(&self, text: &str) -> toml_edit::Value {
        let text = text.trim();
        match self {
            Self::Integer { .. } | Self::Bytes { .. } => text
                .parse::<i64>()
                .map_or_else(|_| text.into(), toml_edit::Value::from),
            Self::Float { .. } => text
                .parse::<f64>()
                .map_or_else(|_| text.into(), toml_edit::Value::from),
            Self::Text | Self::Path | Self::Choice(_) => text.into(),
            Self::List | Self::ListOf(_) | Self::EvidenceRules if text.starts_with('[') => text
                .parse::<toml_edit::Value>()
                .unwrap_or_else(|_| text.into()),
            Self::List | Self::ListOf(_) | Self::EvidenceRules => {
                let parts = text.split(',').map(str::trim);
                let array: toml_edit::Array = parts.filter(|part| !part.is_empty()).collect();
                array.into()
            }
        }
    }

    /// Checks a TOML value against this kind. `None` where it does not fit.
    pub(crate) fn read(&self, value: &toml_edit::Value, bases: Bases<'_>) -> Option<Value> {
        match self {
            Self::Integer { min, max } => {
                let number = u64::try_from(value.as_integer()?).ok()?;
                within(number, *min, *max).map(Value::Integer)
            }
            Self::Bytes { min, max } => {
                let number = match value.as_str() {
                    Some(text) => bytes_from_words(text)?,
                    None => u64::try_from(value.as_integer()?).ok()?,
                };
                within(number, *min, *max).map(Value::Integer)
            }
            Self::Float { min, max } => {
                let number = number_of(value)?;
                within(number, *min, *max).map(Value::Float)
            }
            Self::Text => filled(value.as_str()?).map(Value::Text),
            Self::Path => {
                let text = filled(value.as_str()?)?;
                Some(Value::Path(paths::absolute(&text, bases.home, bases.base)))
            }
            Self::Choice(words) => {
                let text = value.as_str()?;
                words.contains(&text).then(|| Value::Text(text.to_owned()))
            }
            Self::List => texts(value).map(Value::List),
            Self::EvidenceRules => {
                let list = texts(value)?;
                EvidenceRules::new(&list)
                    .is_ok()
                    .then_some(Value::List(list))
            }
            Self::ListOf(words) => {
                let list = texts(value)?;
                let known = list.iter().all(|word| words.contains(&word.as_str()));
                let mut distinct = list.clone();
                distinct.sort_unstable();
                distinct.dedup();
                (known && !list.is_empty() && distinct.len() == list.len())
                    .then_some(Value::List(list))
            }
        }
    }
}

impl Value {
    /// The value as TOML, the way it would stand in the configuration file.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let value = match self {
            Self::Integer(number) => return number.to_string(),
            Self::Float(number) => toml_edit::Value::from(*number),
            Self::Text(text) => toml_edit::Value::from(text.as_str()),
            Self::Path(path) => toml_edit::Value::from(path.to_string_lossy().as_ref()),
            Self::List(list) => list.iter().collect::<toml_edit::Array>().into(),
        };
        value.to_string()
    }
}

fn within<N: PartialOrd>(number: N, min: N, max: N) -> Option<N> {
    (min <= number && number <= max).then_some(number)
}

fn number_of(value: &toml_edit::Value) -> Option<f64> {
    let number = match value.as_integer() {
        Some(whole) => f64::from(i32::try_from(whole).ok()?),
        None => value.as_float()?,
    };
    number.is_finite().then_some(number)
}

fn filled(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty() && !text.contains('\0')).then(|| text.to_owned())
}

fn texts(value: &toml_edit::Value) -> Option<Vec<String>> {
    let array = value.as_array()?;
    array.iter().map(|item| filled(item.as_str()?)).collect()
}

fn quoted(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    words.join(", ")
}

const UNITS: [(&str, u32); 3] = [("GiB", 30), ("MiB", 20), ("KiB", 10)];

/// `67108864` as `64 MiB`; a number that no unit divides stays as it is.
pub(crate) fn bytes_in_words(number: u64) -> String {
    for (unit, shift) in UNITS {
        if number >> shift > 0 && number.trailing_zeros() >= shift {
            return format!("{} {unit}", number >> shift);
        }
    }
    number.to_string()
}

fn bytes_from_words(text: &str) -> Option<u64> {
    let text = text.trim();
    for (unit, shift) in UNITS {
        let Some(split) = text.len().checked_sub(unit.len()) else {
            continue;
        };
        let Some((number, tail)) = text.split_at_checked(split) else {
            continue;
        };
        if tail.eq_ignore_ascii_case(unit) {
            return number.trim().parse::<u64>().ok()?.checked_mul(1 << shift);
        }
    }
    text.parse().ok()
}
