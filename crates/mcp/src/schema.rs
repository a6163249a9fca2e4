//! Schemas of tools, made from those of capabilities: small, and in the part of JSON Schema that
//! every client takes. No references, no lists of types, no null, no `format`, no combinations at
//! the top.

use serde_json::{Map, Value, json};

/// Keywords that are kept as they are.
const KEPT: &[&str] = &["enum", "maximum"];

/// What `schema` (a part of `root`) allows, without what clients stumble over. Of objects only the
/// properties that `keep` names; all where it names none.
pub(crate) fn portable(schema: &Value, root: &Value, keep: &[&str]) -> Map<String, Value> {
    let schema = resolved(schema, root);
    let mut out = Map::new();
    if let Some(kind) = kind(schema) {
        out.insert("type".to_string(), kind.into());
    }
    for key in KEPT {
        match schema.get(key) {
            Some(Value::Array(values)) => {
                let values = values.iter().filter(|value| !value.is_null());
                out.insert((*key).to_string(), values.cloned().collect());
            }
            Some(value) => {
                out.insert((*key).to_string(), value.clone());
            }
            None => {}
        }
    }
    if let Some(items) = schema.get("items") {
        out.insert("items".to_string(), portable(items, root, keep).into());
    }
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        let kept = |name: &str| keep.is_empty() || keep.contains(&name);
        let properties: Map<String, Value> = properties
            .iter()
            .filter(|(name, _)| kept(name))
            .map(|(name, schema)| (name.clone(), portable(schema, root, &[]).into()))
            .collect();
        out.insert("properties".to_string(), properties.into());
        let required = schema.get("required").and_then(Value::as_array);
        let required: Vec<&Value> = required
            .into_iter()
            .flatten()
            .filter(|name| name.as_str().is_some_and(kept))
            .collect();
        if !required.is_empty() {
            out.insert("required".to_string(), json!(required));
        }
    }
    out
}

/// The first type that is not null.
fn kind(schema: &Value) -> Option<&str> {
    match schema.get("type")? {
        Value::Array(kinds) => {
            let mut kinds = kinds.iter().filter_map(Value::as_str);
            kinds.find(|kind| *kind != "null")
        }
        kind => kind.as_str(),
    }
}

/// A schema, or the one that it refers to; of alternatives the one that is not null.
fn resolved<'s>(schema: &'s Value, root: &'s Value) -> &'s Value {
    if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
        let target = root.pointer(name.trim_start_matches('#'));
        return target.map_or(schema, |target| resolved(target, root));
    }
    let choices = ["anyOf", "oneOf"].iter().find_map(|key| schema.get(key));
    let mut choices = choices.and_then(Value::as_array).into_iter().flatten();
    match choices.find(|choice| choice.get("type") != Some(&json!("null"))) {
        Some(choice) => resolved(choice, root),
        None => schema,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_clients_stumble_over_is_gone() {
        let root = json!({"$defs": {"Place": {
            "type": "object",
            "title": "Place",
            "properties": {
                "note": {"type": "string", "description": "x"},
                "range": {"type": ["array", "null"], "items": {"type": "integer", "format": "uint64"}},
                "far": {"type": "boolean", "default": false}
            },
            "required": ["note", "far"]
        }}});
        let schema = json!({"type": ["array", "object"], "items": {"$ref": "#/$defs/Place"}});
        assert_eq!(
            Value::Object(portable(&schema, &root, &["note", "range"])),
            json!({"type": "array", "items": {
                "type": "object",
                "properties": {
                    "note": {"type": "string"},
                    "range": {"type": "array", "items": {"type": "integer"}}
                },
                "required": ["note"]
            }})
        );
        let schema = json!({"anyOf": [{"type": "null"}, {"type": ["integer", "null"], "enum": [3, 5, null], "minimum": 1, "default": null}]});
        assert_eq!(
            Value::Object(portable(&schema, &root, &[])),
            json!({"type": "integer", "enum": [3, 5]})
        );
    }
}
