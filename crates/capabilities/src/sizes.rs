//! How large an input may be: how many items each of its lists has and how long each of its texts
//! is.
//!
//! The schema tells both. What a field does not say of itself holds by default, so that no field is
//! without a bound.

use schemars::Schema;
use schemars::transform::{RecursiveTransform, Transform};
use serde_json::{Map, Value};

use crate::Failure;

/// Items of a list that says nothing else.
const ITEMS: u64 = 50;
/// Characters of a text that says nothing else: as long as a path can be.
const CHARS: u64 = 4096;

/// The same schema with a bound on each list and text.
pub(crate) fn bounded(mut schema: Schema) -> Schema {
    RecursiveTransform(|schema: &mut Schema| {
        if is_kind(schema.get("type"), "array") && schema.get("maxItems").is_none() {
            schema.insert("maxItems".to_string(), ITEMS.into());
        }
        let is_free = schema.get("enum").is_none() && schema.get("maxLength").is_none();
        if is_kind(schema.get("type"), "string") && is_free {
            schema.insert("maxLength".to_string(), CHARS.into());
        }
    })
    .transform(&mut schema);
    schema
}

/// Refuses an input with a list or text that is larger than the schema says.
///
/// # Errors
/// [`Failure::wrong_use`] naming the field and the limit.
pub(crate) fn check_sizes(input: &Value, schema: &Value) -> Result<(), Failure> {
    let Some(fields) = input.as_object() else {
        return Ok(());
    };
    check_object(fields, schema, schema, None)
}

/// `at` is the field of the request that the object stands in.
fn check_object(
    object: &Map<String, Value>,
    schema: &Value,
    root: &Value,
    at: Option<&str>,
) -> Result<(), Failure> {
    let known = schema.get("properties").and_then(Value::as_object);
    for (name, field) in known.into_iter().flatten() {
        if let Some(value) = object.get(name) {
            check(value, field, root, at.unwrap_or(name))?;
        }
    }
    Ok(())
}

fn check(value: &Value, schema: &Value, root: &Value, at: &str) -> Result<(), Failure> {
    let schema = resolved(schema, root);
    let most = |bound: &str| schema.get(bound).and_then(Value::as_u64);
    match value {
        Value::String(text) => match most("maxLength") {
            Some(most) if is_longer(text, most) => Err(Failure::wrong_use(
                format!("“{at}” holds a text of more than {most} characters"),
                format!("Give at most {most}."),
            )),
            _ => Ok(()),
        },
        Value::Array(items) => {
            if let Some(most) = most("maxItems")
                && items.len() as u64 > most
            {
                return Err(Failure::wrong_use(
                    format!("“{at}” has {} items", items.len()),
                    format!("Give at most {most}."),
                ));
            }
            let of_items = schema.get("items").unwrap_or(&Value::Null);
            let mut items = items.iter();
            items.try_for_each(|item| check(item, of_items, root, at))
        }
        // An object that stands for one of its lists, which is called as the field is.
        Value::Object(object) if is_kind(schema.get("type"), "array") => {
            let list = object.get(at);
            list.map_or(Ok(()), |list| check(list, schema, root, at))
        }
        Value::Object(object) => check_object(object, schema, root, Some(at)),
        _ => Ok(()),
    }
}

/// Bytes are counted first, for that costs nothing.
fn is_longer(text: &str, most: u64) -> bool {
    text.len() as u64 > most && text.chars().count() as u64 > most
}

fn resolved<'s>(schema: &'s Value, root: &'s Value) -> &'s Value {
    let name = schema.get("$ref").and_then(Value::as_str);
    let target = name.and_then(|name| root.pointer(name.trim_start_matches('#')));
    target.unwrap_or(schema)
}

fn is_kind(kinds: Option<&Value>, kind: &str) -> bool {
    match kinds {
        Some(Value::String(only)) => only == kind,
        Some(Value::Array(kinds)) => kinds.iter().any(|it| it == kind),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::table;

    /// Every place of a value's schema that holds a list or a text, by the field that it is in.
    fn unbounded(schema: &Value, at: &str, found: &mut Vec<String>) {
        let Some(fields) = schema.as_object() else {
            return;
        };
        let bound = |kind, bound: &str| {
            is_kind(fields.get("type"), kind)
                && fields.get("enum").is_none()
                && fields.get(bound).is_none()
        };
        if bound("array", "maxItems") || bound("string", "maxLength") {
            found.push(at.to_string());
        }
        for (name, part) in fields {
            unbounded(part, &format!("{at}/{name}"), found);
        }
    }

    #[test]
    fn no_list_and_no_text_of_any_input_is_without_a_bound() {
        for entry in table() {
            let mut found = Vec::new();
            unbounded((entry.input_schema)().as_value(), entry.id, &mut found);
            assert!(found.is_empty(), "{found:?}");
        }
    }

    #[test]
    fn each_field_has_its_limit_and_what_is_just_as_large_is_taken() {
        let of = |name: &str, fields: Value| {
            let entry = table().iter().find(|entry| entry.name() == name).unwrap();
            entry.check_sizes(&fields)
        };
        let texts = |count: usize| json!(vec!["the"; count]);
        let objects = |count: usize| json!(vec![json!({"quote": "x", "n": 1, "note": "x"}); count]);
        for (ability, field, most) in [
            ("search", "folder", 50),
            ("search", "tag", 50),
            ("search", "property", 50),
            ("search", "evidence", 50),
            ("search", "links_to", 50),
            ("search", "must", 50),
            ("search", "also", 8),
            ("search", "like", 8),
            ("search", "lanes", 50),
            ("context", "attached", 200),
            ("read", "heading", 50),
            ("verify", "quotes", 200),
            ("verify", "sources", 200),
        ] {
            let list = match ability {
                "verify" => objects,
                _ => texts,
            };
            assert_eq!(of(ability, json!({field: list(most)})), Ok(()), "{field}");
            let error = of(ability, json!({field: list(most + 1)})).unwrap_err();
            assert_eq!(error.code, "wrong_use");
            assert!(error.message.contains(&format!("“{field}”")), "{error}");
            assert!(error.hint.contains(&most.to_string()), "{error}");
        }
        let long = |chars: usize| "窯".repeat(chars);
        for (ability, field, most) in [
            ("search", "since", 4096),
            ("search", "until", 4096),
            ("search", "today", 4096),
            ("search", "cursor", 4096),
            ("read", "note", 4096),
            ("read", "block", 4096),
            ("read", "lines", 4096),
            ("related", "note", 4096),
            ("links", "note", 4096),
            ("status", "why_not", 4096),
            ("verify", "answer", 100_000),
        ] {
            assert_eq!(of(ability, json!({field: long(most)})), Ok(()), "{field}");
            let error = of(ability, json!({field: long(most + 1)})).unwrap_err();
            assert!(error.message.contains(&format!("“{field}”")), "{error}");
        }
        for (ability, fields) in [
            ("search", json!({"must": [long(501)]})),
            ("search", json!({"also": [long(10_001)]})),
            ("search", json!({"like": [long(10_001)]})),
            ("search", json!({"tag": ["a", long(4097)]})),
            ("verify", json!({"quotes": [{"quote": long(10_001)}]})),
            (
                "verify",
                json!({"quotes": [{"quote": "x", "note": long(4097)}]}),
            ),
            (
                "verify",
                json!({"quotes": [{"quote": "x", "heading": vec!["x"; 51]}]}),
            ),
            ("verify", json!({"sources": {"sources": objects(201)}})),
        ] {
            assert_eq!(of(ability, fields).unwrap_err().code, "wrong_use");
        }
    }
}
