//! Checking an input before it is read, so that what is wrong is named.

use serde_json::Value;

use crate::Failure;

/// Refuses fields that the schema does not have, with the nearest that it has, and values of
/// another type than the field's.
///
/// # Errors
/// [`Failure::wrong_use`] naming the field.
pub fn check_fields(input: &Value, schema: &Value) -> Result<(), Failure> {
    let Some(fields) = input.as_object() else {
        return Err(Failure::wrong_use(
            "the input is not a JSON object",
            "Send an object: {\"query\": \"…\"}.",
        ));
    };
    let empty = serde_json::Map::new();
    let known = schema
        .get("properties")
        .and_then(Value::as_object)
        .unwrap_or(&empty);
    for (name, value) in fields {
        let Some(field) = known.get(name) else {
            return Err(unknown(name, known.keys()));
        };
        if let Some(wanted) = mismatch(value, field) {
            return Err(Failure::wrong_use(format!("“{name}” must be {wanted}"), ""));
        }
    }
    let required = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    for name in required.filter_map(Value::as_str) {
        if !fields.contains_key(name) {
            return Err(Failure::wrong_use(format!("“{name}” is missing"), ""));
        }
    }
    Ok(())
}

fn unknown<'k>(name: &str, known: impl Iterator<Item = &'k String>) -> Failure {
    let known: Vec<&String> = known.collect();
    let nearest = known
        .iter()
        .map(|k| (strsim::jaro_winkler(k, name), *k))
        .filter(|(likeness, _)| *likeness > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let hint = match nearest {
        Some((_, nearest)) => format!("Did you mean “{nearest}”?"),
        None => {
            let all: Vec<&str> = known.iter().map(|k| k.as_str()).collect();
            format!("There are: {}.", all.join(", "))
        }
    };
    Failure::wrong_use(format!("there is no field “{name}”"), hint)
}

/// What a value should have been, if it is something else.
fn mismatch(value: &Value, field: &Value) -> Option<&'static str> {
    let types: Vec<&str> = match field.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => return None,
    };
    let fits = types.iter().any(|wanted| match *wanted {
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value
            .as_array()
            .is_some_and(|list| list.iter().all(Value::is_string)),
        "null" => value.is_null(),
        _ => true,
    });
    if fits {
        return None;
    }
    types.iter().find_map(|wanted| match *wanted {
        "string" => Some("a text"),
        "integer" => Some("a whole number"),
        "number" => Some("a number"),
        "boolean" => Some("true or false"),
        "array" => Some("a list of texts"),
        _ => None,
    })
}
