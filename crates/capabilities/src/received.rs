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
/// verdict repeats there what the request named. Names alone stand in the lists `copies` and `via`,
/// and in the field `path` of a file that the status tells of.
pub fn received(output: &Value) -> Vec<Received> {
    let mut found = Vec::new();
    collect(output, &mut found);
    found
}

fn collect(value: &Value, found: &mut Vec<Received>) {
    match value {
        Value::Object(fields) => {
            for received in of(fields).into_iter().chain(named(fields)) {
                if !found.contains(&received) {
                    found.push(received);
                }
            }
            fields.values().for_each(|value| collect(value, found));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        _ => {}
    }
}

/// What is named and no more.
fn named(fields: &Map<String, Value>) -> impl Iterator<Item = Received> {
    let lists = ["copies", "via"]
        .into_iter()
        .filter_map(|it| fields.get(it));
    let names = lists.filter_map(Value::as_array).flatten();
    let names = names.chain(fields.get("path")).filter_map(Value::as_str);
    names.map(|name| Received {
        note: name.to_owned(),
        byte_range: None,
        content_hash: None,
    })
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_only_named_is_received_too() {
        let output = json!({
            "passages": [{"note": "a.md", "byte_range": [3, 9], "copies": ["b.md"],
                "signals": [{"kind": "link", "via": ["c.md"]}]}],
            "left_out": [{"path": "d.md", "folder": false}],
            "claims": [{"verdict": "absent", "note": "asked.md"}],
        });
        let names: Vec<(String, bool)> = received(&output)
            .into_iter()
            .map(|it| (it.note, it.byte_range.is_some()))
            .collect();
        let named = |name: &str| (name.to_string(), false);
        let passage = ("a.md".to_string(), true);
        assert_eq!(
            names,
            [passage, named("b.md"), named("c.md"), named("d.md")]
        );
    }
}
