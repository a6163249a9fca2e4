//! One question to the properties of a note: has it this one, with this value?

use lorewell_text::{fold, fold_white_space};
use serde_json::Value;

/// A property by name, with a value or any. Names and values are compared folded: letter case,
/// diacritics and white space do not count; in names, neither do `-` and `_`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyMatch {
    name: String,
    value: Option<String>,
    shown: String,
}

impl PropertyMatch {
    /// Reads `name=value`, or `name` alone for any value but nothing. `None` where there is no
    /// name.
    pub fn parse(text: &str) -> Option<PropertyMatch> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value_key(value))),
            None => (text, None),
        };
        let name = property_key(name);
        (!name.is_empty()).then(|| PropertyMatch {
            name,
            value,
            shown: text.trim().to_string(),
        })
    }

    /// As it was written.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Whether a note with these properties is meant. Of a list, one item is enough; a link
    /// (`[[Ada]]`) is meant by its target or its label too; a date by its year or month too
    /// (`2024`, `2024-05`).
    pub fn fits<'a>(&self, properties: impl IntoIterator<Item = (&'a String, &'a Value)>) -> bool {
        properties
            .into_iter()
            .any(|(name, value)| property_key(name) == self.name && self.fits_value(value))
    }

    fn fits_value(&self, value: &Value) -> bool {
        match (&self.value, value) {
            (None, value) => !is_nothing(value),
            (Some(wanted), Value::Array(items)) if items.is_empty() => wanted.is_empty(),
            (Some(_), Value::Array(items)) => items.iter().any(|item| self.fits_value(item)),
            (Some(wanted), Value::String(text)) => fits_text(wanted, text),
            (Some(wanted), Value::Number(number)) => {
                let same = || Some(wanted.parse::<f64>().ok()? == number.as_f64()?);
                number.to_string() == *wanted || same() == Some(true)
            }
            (Some(wanted), Value::Bool(truth)) => truth.to_string() == *wanted,
            (Some(wanted), Value::Null) => wanted.is_empty(),
            (Some(_), Value::Object(_)) => false,
        }
    }
}

/// The key under which names of properties are compared.
pub(crate) fn property_key(name: &str) -> String {
    let spaced: String = name
        .chars()
        .map(|c| if matches!(c, '-' | '_') { ' ' } else { c })
        .collect();
    value_key(&spaced)
}

/// The texts of a value: itself, or the items of a list; what is no text is shown as typed.
pub(crate) fn texts_of(value: &Value) -> Vec<String> {
    match value {
        Value::Null | Value::Object(_) => Vec::new(),
        Value::Array(items) => items.iter().flat_map(texts_of).collect(),
        Value::String(text) => vec![text.clone()],
        other => vec![other.to_string()],
    }
}

/// The key under which values are compared.
pub(crate) fn value_key(value: &str) -> String {
    fold(&fold_white_space(value))
}

/// The target and the label of a text that is a wiki-link and nothing else.
pub(crate) fn link_parts(text: &str) -> Option<(&str, Option<&str>)> {
    let inside = text.trim().strip_prefix("[[")?.strip_suffix("]]")?;
    (!inside.contains("[[")).then(|| match inside.split_once('|') {
        Some((target, label)) => (target, Some(label)),
        None => (inside, None),
    })
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.iter().all(is_nothing),
        Value::Object(map) => map.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

fn fits_text(wanted: &str, text: &str) -> bool {
    let key = value_key(text);
    if key == wanted || is_part_of_date(wanted, &key) {
        return true;
    }
    let Some((target, label)) = link_parts(text) else {
        return false;
    };
    let name = target.rsplit('/').next().unwrap_or(target);
    [Some(target), Some(name), label]
        .into_iter()
        .flatten()
        .any(|part| value_key(part) == wanted)
}

/// Whether a wanted year, month or day is the beginning of a date (`2024-05-03t10:00`).
fn is_part_of_date(wanted: &str, key: &str) -> bool {
    let is_date = |text: &str| {
        let shape = text.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
        shape && matches!(text.len(), 4 | 7 | 10)
    };
    is_date(wanted)
        && key.get(..10).is_some_and(is_date)
        && key
            .strip_prefix(wanted)
            .is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_fits() {
        let properties = json!({
            "Status": "In Progress", "done": false, "rating": 4.0, "topics": ["Glaze", "Kiln"],
            "created": "2024-05-03T10:15:00", "author": "[[People/Ada Óbuda|Ada]]", "empty": null,
            "blank": "", "list": [], "due_date": "2024-11-02", "nested": {"a": 1}, "version": "1.10",
        });
        let properties = properties.as_object().expect("an object");
        for (text, fits) in [
            ("status=in progress", true),
            ("STATUS= In  Progress ", true),
            ("status=progress", false),
            ("status", true),
            ("missing", false),
            ("done=false", true),
            ("done", true),
            ("done=no", false),
            ("rating=4", true),
            ("rating=4.0", true),
            ("rating=5", false),
            ("topics=kiln", true),
            ("topics=wheel", false),
            ("created=2024", true),
            ("created=2024-05", true),
            ("created=2024-05-03", true),
            ("created=2024-0", false),
            ("created=202", false),
            ("author=ada", true),
            ("author=Ada Obuda", true),
            ("author=people/ada obuda", true),
            ("author=Bob", false),
            ("empty", false),
            ("blank", false),
            ("list", false),
            ("empty=", true),
            ("Due-Date=2024-11", true),
            ("nested", true),
            ("nested=1", false),
            ("version=1.1", false),
            ("version=1.10", true),
        ] {
            let wanted = PropertyMatch::parse(text).expect("a name");
            assert_eq!(wanted.fits(properties), fits, "{text}");
        }
        assert_eq!(PropertyMatch::parse("=x"), None);
        assert_eq!(PropertyMatch::parse(" "), None);
    }
}
