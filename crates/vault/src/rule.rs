//! One rule about folders, tags or properties: how it is written, and what falls under it.

use lorewell_text::{name_key, path_key};
use serde_json::Value;

/// A rule's folded form, and how the user wrote it.
#[derive(Clone)]
pub(crate) struct Rule {
    pub(crate) key: String,
    pub(crate) shown: String,
}

/// A property, and the value that it must have.
#[derive(Clone)]
pub(crate) struct PropertyRule {
    key: String,
    value: Option<String>,
    pub(crate) shown: String,
}

impl PropertyRule {
    fn new(shown: String) -> PropertyRule {
        let (key, value) = match shown.split_once('=') {
            Some((key, value)) => (key, Some(name_key(value))),
            None => (shown.as_str(), None),
        };
        PropertyRule {
            key: name_key(key),
            value,
            shown,
        }
    }

    fn fits(&self, value: &Value) -> bool {
        match (&self.value, value) {
            (_, Value::Array(values)) => values.iter().any(|v| self.fits(v)),
            (None, Value::Null | Value::Bool(false)) => false,
            (None, Value::String(text)) => !text.trim().is_empty(),
            (None, Value::Object(map)) => !map.is_empty(),
            (None, _) => true,
            (Some(wanted), Value::String(text)) => name_key(text) == *wanted,
            (Some(wanted), Value::Null) => wanted.is_empty(),
            (Some(wanted), Value::Bool(_) | Value::Number(_)) => {
                name_key(&value.to_string()) == *wanted
            }
            (Some(_), Value::Object(_)) => false,
        }
    }
}

/// The entries of a list that are not blank.
pub(crate) fn filled(list: &[String]) -> Vec<String> {
    list.iter()
        .map(|s| s.trim().to_owned())
        .filter(|s| !s.is_empty())
        .collect()
}

/// Rules about folders, by their paths from the root.
pub(crate) fn folder_rules(list: &[String]) -> Vec<Rule> {
    let rules = filled(list).into_iter().map(|shown| Rule {
        key: path_key(shown.trim_start_matches("./").trim_matches('/')),
        shown,
    });
    rules.filter(|rule| !rule.key.is_empty()).collect()
}

/// Rules about tags; one stands for those nested in it.
pub(crate) fn tag_rules(list: &[String]) -> Vec<Rule> {
    let rules = filled(list).into_iter().map(|shown| {
        let shown = shown.trim_matches(['#', '/']).to_owned();
        Rule {
            key: name_key(&shown),
            shown,
        }
    });
    rules.filter(|rule| !rule.key.is_empty()).collect()
}

/// Rules about properties: `name`, or `name=value`.
pub(crate) fn property_rules(list: &[String]) -> Vec<PropertyRule> {
    filled(list).into_iter().map(PropertyRule::new).collect()
}

/// The rule that one of the tags, or a tag above it, falls under.
pub(crate) fn by_tag<'r>(rules: &'r [Rule], tags: &[&str]) -> Option<&'r Rule> {
    if rules.is_empty() {
        return None;
    }
    let keys: Vec<String> = tags
        .iter()
        .map(|tag| name_key(tag.trim_start_matches('#')))
        .collect();
    rules.iter().find(|rule| {
        keys.iter().any(|key| {
            key.strip_prefix(&rule.key)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    })
}

/// The rule that one of the properties falls under.
pub(crate) fn by_property<'r>(
    rules: &'r [PropertyRule],
    properties: &[(String, Value)],
) -> Option<&'r PropertyRule> {
    rules.iter().find(|rule| {
        properties
            .iter()
            .any(|(key, value)| name_key(key) == rule.key && rule.fits(value))
    })
}
