//! What of the notes an output gives to its reader.

use serde_json::{Map, Value};

/// A note, or a part of it, that an output holds something of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// The note's path.
    pub note: String,
    /// Half-open range of bytes in the file; nothing where it is the note that is told of.
    pub byte_range: Option<(u64, u64)>,
    /// The note's content hash, hex, where the output tells it.
    pub content_hash: Option<String>,
}

/// Everything that an output of any capability gives of notes, in its order, each once.
///
/// Outputs name a note in a field `note` beside what they tell of it, wherever it occurs; only a
/// verdict repeats there what the request named.
pub fn received(output: &Value) -> Vec<Received> {
    let mut found = Vec::new();
    collect(output, &mut found);
    found
}

fn collect(value: &Value, found: &mut Vec<Received>) {
    match value {
        Value::Object(fields) => {
            if let Some(received) = of(fields)
                && !found.contains(&received)
            {
                found.push(received);
            }
            fields.values().for_each(|value| collect(value, found));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        _ => {}
    }
}

fn of(fields: &Map<String, Value>) -> Option<Received> {
    if fields.contains_key("verdict") {
        return None;
    }
    let range = fields.get("byte_range").and_then(Value::as_array);
    let bound = |at: usize| range?.get(at)?.as_u64();
    Some(Received {
        note: fields.get("note")?.as_str()?.to_owned(),
        byte_range: bound(0).zip(bound(1)),
        content_hash: fields
            .get("content_hash")
            .and_then(Value::as_str)
            .map(str::to_owned),
    })
}
