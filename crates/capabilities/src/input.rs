//! Checking an input before it is read, so that what is wrong is named.
//!
//! The schema is the one source of names, types and ranges; this is the part of JSON Schema that
//! inputs use, with words for people.

use serde_json::{Map, Value};

use crate::Failure;

/// Refuses fields that the schema does not have, with the nearest that it has, values of another
/// type or out of range, and an input without a field that it needs.
///
/// # Errors
/// [`Failure::wrong_use`] naming the field.
pub(crate) fn check_fields(input: &Value, schema: &Value) -> Result<(), Failure> {
    let Some(fields) = input.as_object() else {
        return Err(Failure::wrong_use(
            "the input is not a JSON object",
            "Send an object: {\"query\": \"…\"}.",
        ));
    };
    let none = Map::new();
    let known = schema
        .get("properties")
        .and_then(Value::as_object)
        .unwrap_or(&none);
    for (name, value) in fields {
        let Some(field) = known.get(name) else {
            return Err(unknown(name, known));
        };
        if let Some(wanted) = misfit(value, field) {
            return Err(Failure::wrong_use(
                format!("“{name}” is {}; it must be {wanted}", shown(value)),
                "",
            ));
        }
    }
    let required = schema.get("required").and_then(Value::as_array);
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        if !fields.contains_key(name) {
            return Err(Failure::wrong_use(format!("“{name}” is missing"), ""));
        }
    }
    Ok(())
}

fn unknown(name: &str, known: &Map<String, Value>) -> Failure {
    let nearest = known
        .keys()
        .map(|key| (strsim::jaro_winkler(key, name), key))
        .filter(|(likeness, _)| *likeness > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let hint = match nearest {
        Some((_, nearest)) => format!("Did you mean “{nearest}”?"),
        None => {
            let all: Vec<&str> = known.keys().map(String::as_str).collect();
            format!("There are: {}.", all.join(", "))
        }
    };
    Failure::wrong_use(format!("there is no field “{name}”"), hint)
}

/// What a value should have been, if it is something else. An optional field may be null.
fn misfit(value: &Value, field: &Value) -> Option<String> {
    let kinds: Vec<&str> = match field.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => return None,
    };
    if kinds.iter().any(|kind| fits(value, kind, field)) {
        return None;
    }
    let wanted = kinds.iter().filter(|kind| **kind != "null");
    let wanted: Vec<String> = wanted.map(|kind| in_words(kind, field)).collect();
    Some(wanted.join(" or "))
}

fn fits(value: &Value, kind: &str, field: &Value) -> bool {
    match kind {
        "null" => value.is_null(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value
            .as_u64()
            .is_some_and(|number| range(field).contains(&number)),
        "array" => value.as_array().is_some_and(|list| {
            let is_item = if lists_texts(field) {
                Value::is_string
            } else {
                Value::is_object
            };
            list.iter().all(is_item)
        }),
        "object" => value.is_object(),
        _ => true,
    }
}

fn in_words(kind: &str, field: &Value) -> String {
    match kind {
        "string" => "a text".to_string(),
        "boolean" => "true or false".to_string(),
        "array" if lists_texts(field) => "a list of texts".to_string(),
        "array" => "a list of objects".to_string(),
        "object" => "an object".to_string(),
        _ => {
            let range = range(field);
            match field.get("maximum") {
                Some(_) => format!("a whole number from {} to {}", range.start(), range.end()),
                None => format!("a whole number, at least {}", range.start()),
            }
        }
    }
}

/// Whether the items of a list are texts; else they are objects.
fn lists_texts(field: &Value) -> bool {
    field.pointer("/items/type") == Some(&Value::from("string"))
}

/// The whole numbers that a field can hold. Fields are of 32 bits.
fn range(field: &Value) -> std::ops::RangeInclusive<u64> {
    let bound = |name: &str| field.get(name).and_then(Value::as_u64);
    bound("minimum").unwrap_or(0)..=bound("maximum").unwrap_or(u64::from(u32::MAX))
}

/// A value as messages show it, shortened.
fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
