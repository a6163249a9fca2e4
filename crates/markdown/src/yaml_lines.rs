//! A reader of property blocks line by line: `key: value`, `- item`, `[a, b]`. It reads what YAML refuses, keeps values
//! as they were typed, and is fast for the plain blocks that most notes have. It is no YAML reader.

use std::collections::HashMap;

use serde_json::Value;

use crate::lines::lines;

/// A blank line or a comment.
pub(crate) fn is_silent(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#')
}

/// Whether the line can belong to a property block: a key, an item, or something indented.
pub(crate) fn is_property_line(line: &str) -> bool {
    let item = line.trim_start();
    let is_item = item == "-" || item.starts_with("- ");
    let is_indented = line.starts_with([' ', '\t']) && !item.is_empty();
    is_item || is_indented || key_value(line).is_some()
}

/// Splits `key: value` at the margin. The key may be in quotes; the value may hold colons.
pub(crate) fn key_value(line: &str) -> Option<(&str, &str)> {
    if line.starts_with([
        ' ', '\t', '#', '-', '[', '{', '>', '|', '%', '`', '*', '<', '!', '&',
    ]) {
        return None;
    }
    if let Some(quote) = line.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        let (key, rest) = line.get(1..)?.split_once(quote)?;
        let value = rest.trim_start().strip_prefix(':')?;
        return Some((key, value.trim()));
    }
    let at = line.match_indices(':').map(|(at, _)| at).find(|at| {
        line.get(at + 1..)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
    })?;
    let key = line.get(..at)?.trim();
    (!key.is_empty()).then(|| (key, line.get(at + 1..).unwrap_or_default().trim()))
}

/// A key with its value and the lines that follow it up to the next key.
struct Entry<'t> {
    key: &'t str,
    value: &'t str,
    below: Vec<&'t str>,
    source: std::ops::Range<usize>,
}

fn entries(content: &str) -> Vec<Entry<'_>> {
    let mut entries: Vec<Entry<'_>> = Vec::new();
    for line in lines(content, 0) {
        let source = content.get(line.start..line.end).unwrap_or_default();
        if let Some((key, value)) = key_value(source) {
            entries.push(Entry {
                key,
                value,
                below: Vec::new(),
                source: line.start..line.end,
            });
        } else if let Some(entry) = entries
            .last_mut()
            .filter(|_| !source.trim().is_empty() && is_property_line(source))
        {
            entry.below.push(source);
            entry.source.end = line.end;
        }
    }
    entries
}

/// Reads a broken block: each property for itself, as YAML where that works and by its lines where not.
pub(crate) fn read(content: &str) -> Vec<(String, Value)> {
    let mut values: Vec<(String, Value)> = Vec::new();
    let mut places = HashMap::new();
    for entry in entries(content) {
        let source = content.get(entry.source.clone()).unwrap_or_default();
        let value = match crate::properties::yaml(source) {
            Ok(Value::Object(map)) if map.len() == 1 => {
                map.into_iter().next().map(|(_, value)| value)
            }
            _ => None,
        };
        let value = value.unwrap_or_else(|| entry_value(&entry, true));
        let place = *places.entry(entry.key).or_insert(values.len());
        match values.get_mut(place) {
            Some((_, known)) => *known = value,
            None => values.push((entry.key.to_owned(), value)),
        }
    }
    values
}

/// The value of `key` with all its texts as typed, if the lines can tell.
pub(crate) fn typed(content: &str, key: &str) -> Option<Value> {
    let entry = entries(content)
        .into_iter()
        .rfind(|entry| entry.key.eq_ignore_ascii_case(key))?;
    Some(entry_value(&entry, false))
}

fn entry_value(entry: &Entry<'_>, guess: bool) -> Value {
    let value = without_comment(entry.value);
    let items: Vec<Value> = entry
        .below
        .iter()
        .filter_map(|line| line.trim().strip_prefix('-'))
        .map(|item| scalar(without_comment(item.trim()), guess))
        .collect();
    if value.is_empty() {
        return if entry.below.is_empty() {
            Value::Null
        } else {
            Value::Array(items)
        };
    }
    if matches!(value, "|" | ">" | "|-" | ">-" | "|+" | ">+") {
        let lines: Vec<&str> = entry.below.iter().map(|line| line.trim()).collect();
        return Value::String(lines.join(if value.starts_with('|') { "\n" } else { " " }));
    }
    let inside = value
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    match inside.filter(|_| !value.starts_with("[[")) {
        Some(inside) => Value::Array(
            split_list(inside)
                .into_iter()
                .map(|item| scalar(item, guess))
                .collect(),
        ),
        None => scalar(value, guess),
    }
}

/// A value or item: quotes taken off, nulls seen, and numbers and truth values too if `guess`.
fn scalar(text: &str, guess: bool) -> Value {
    let text = text.trim();
    if let Some(inside) = quoted(text, '"') {
        return Value::String(unescaped(inside));
    }
    if let Some(inside) = quoted(text, '\'') {
        return Value::String(inside.replace("''", "'"));
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" if guess => Value::Bool(true),
        "false" | "False" | "FALSE" if guess => Value::Bool(false),
        _ if guess => number(text).unwrap_or_else(|| Value::String(text.to_owned())),
        _ => Value::String(text.to_owned()),
    }
}

/// A number that would be written the same way again: nothing typed is lost.
fn number(text: &str) -> Option<Value> {
    let number: serde_json::Number = text.parse().ok()?;
    (number.to_string() == text).then_some(Value::Number(number))
}

fn quoted(text: &str, quote: char) -> Option<&str> {
    text.strip_prefix(quote)?.strip_suffix(quote)
}

/// The few escapes that people use; any other backslash stays (`[[a\|b]]`).
fn unescaped(text: &str) -> String {
    if !text.contains('\\') {
        return text.to_owned();
    }
    text.replace("\\\"", "\"")
        .replace("\\n", "\n")
        .replace("\\t", "\t")
        .replace("\\\\", "\\")
}

/// Cuts ` # comment` off a plain value; one in quotes ends at its quote.
fn without_comment(value: &str) -> &str {
    let value = value.trim();
    if let Some(quote) = value.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        let end = value.get(1..).and_then(|rest| rest.find(quote));
        let after = end.and_then(|end| value.get(end + 2..)).unwrap_or_default();
        return match end {
            Some(end) if after.trim_start().starts_with('#') && after.starts_with([' ', '\t']) => {
                &value[..end + 2]
            }
            _ => value,
        };
    }
    let comment = value.match_indices('#').map(|(at, _)| at).find(|at| {
        value
            .get(..*at)
            .is_some_and(|before| before.ends_with([' ', '\t']))
    });
    comment
        .and_then(|at| value.get(..at))
        .unwrap_or(value)
        .trim_end()
}

/// Splits the inside of `[…]` at commas, those in quotes or brackets left alone.
fn split_list(inside: &str) -> Vec<&str> {
    let mut items = Vec::new();
    let (mut start, mut depth, mut quote) = (0, 0_usize, None);
    for (at, c) in inside.char_indices() {
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'')
                if inside
                    .get(start..at)
                    .is_some_and(|before| before.trim().is_empty()) =>
            {
                quote = Some(c)
            }
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                items.extend(inside.get(start..at));
                start = at + 1;
            }
            _ => {}
        }
    }
    let last = inside.get(start..).unwrap_or_default();
    if !last.trim().is_empty() {
        items.push(last);
    }
    items
}

/// With more properties than this, looking for equal keys by going through them would take its time.
const MOST_PLAIN: usize = 64;

/// Reads a block that is so plain that YAML would read the same: keys with one-line values, lists of such items.
/// `None` for anything that YAML might read otherwise.
pub(crate) fn read_plain(content: &str) -> Option<Vec<(String, Value)>> {
    let mut values: Vec<(String, Value)> = Vec::new();
    let mut indentation = 0;
    for line in lines(content, 0) {
        let source = content.get(line.start..line.end)?;
        if values.len() > MOST_PLAIN {
            return None;
        }
        if source.is_empty() {
            continue;
        }
        if let Some(item) = source.trim_start_matches(' ').strip_prefix("- ") {
            let (_, value) = values.last_mut()?;
            let depth = source.len() - source.trim_start_matches(' ').len();
            if value.is_null() {
                *value = Value::Array(Vec::new());
                indentation = depth;
            }
            if indentation != depth {
                return None;
            }
            let is_empty = item.trim_matches(' ').is_empty();
            value.as_array_mut()?.push(if is_empty {
                Value::Null
            } else {
                plain_scalar(item)?
            });
            continue;
        }
        let (key, value) = key_value(source)?;
        if !is_plain(key)
            || !matches!(plain_scalar(key)?, Value::String(_))
            || source.contains('\t')
        {
            return None;
        }
        if values.iter().any(|(known, _)| known == key) {
            return None;
        }
        let value = if value.is_empty() {
            Value::Null
        } else {
            plain_value(value)?
        };
        values.push((key.to_owned(), value));
    }
    Some(values)
}

fn plain_value(value: &str) -> Option<Value> {
    match value
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
    {
        Some(inside) if inside.contains(['[', ']', '{', '}', '"', '\'']) => None,
        Some(inside) if inside.trim().is_empty() => Some(Value::Array(Vec::new())),
        Some(inside) => inside
            .split(',')
            .map(plain_scalar)
            .collect::<Option<Vec<_>>>()
            .map(Value::Array),
        None => plain_scalar(value),
    }
}

fn plain_scalar(text: &str) -> Option<Value> {
    let text = text.trim_matches(' ');
    if let Some(inside) = quoted(text, '"') {
        let simple = !inside.contains(['"', '\\']) && !inside.chars().any(is_unusual);
        return simple.then(|| Value::String(inside.to_owned()));
    }
    if !is_plain(text) {
        return None;
    }
    match text.as_bytes().first()? {
        // What might be a number, a date or a special float is left to YAML, unless it holds a letter beyond doubt.
        b'0'..=b'9' if text.len() == 10 && text.as_bytes().get(4) == Some(&b'-') => {
            Some(Value::String(text.to_owned()))
        }
        b'0'..=b'9'
            if text.contains(|c: char| !c.is_ascii_hexdigit() && !"xXoO_.+-:".contains(c)) =>
        {
            Some(Value::String(text.to_owned()))
        }
        b'0'..=b'9' => number(text).filter(Value::is_i64),
        _ => match text {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            "null" | "Null" | "NULL" | "True" | "TRUE" | "False" | "FALSE" => None,
            _ => Some(Value::String(text.to_owned())),
        },
    }
}

/// Begins with a sign that means nothing in YAML and holds none that does.
fn is_plain(text: &str) -> bool {
    let is_harmless = |c: char| {
        c.is_alphanumeric()
            || matches!(c, '/' | '_' | '(')
            || c > '\u{2ff}' && !c.is_whitespace() && c != '\u{feff}'
    };
    let means_something = text.ends_with(':') || text.contains(": ") || text.contains(" #");
    text.chars().next().is_some_and(is_harmless)
        && !means_something
        && !text.chars().any(is_unusual)
}

/// Whether YAML might refuse the sign or fold it.
fn is_unusual(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{feff}' | '\u{2028}' | '\u{2029}' | '\u{fffe}' | '\u{ffff}'
        )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn block() -> impl Strategy<Value = String> {
        let pieces = prop::sample::select(vec![
            "a",
            "key",
            "title",
            ": ",
            ":",
            "\n",
            "\n- ",
            "\n  - ",
            "- ",
            "[",
            "]",
            ", ",
            "\"",
            "'",
            "x y",
            "0",
            "007",
            "12",
            "1.50",
            "1e3",
            "0x1f",
            "-4",
            "2024-05-01",
            "2024-05-01T10:00:00Z",
            "10:30",
            "true",
            "True",
            "yes",
            "null",
            "~",
            "标题",
            "🌱 b",
            "/p",
            "#t",
            " #c",
            "https://a.test/x",
            "[[N]]",
            "{",
            "}",
            "&a",
            "*a",
            "!t",
            "|",
            ">",
            "%",
            "@",
            "`",
            "\t",
            "(b)",
            "_",
            "Inf",
            "nan",
            ".inf",
            "=",
            "<<",
            "",
            " ",
        ]);
        prop::collection::vec(pieces, 1..12).prop_map(|pieces| format!("k: {}\n", pieces.concat()))
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_plain_block_is_read_as_yaml_reads_it(block in block()) {
            // Where YAML refuses, the plain reading is as good as any.
            if let (Some(values), Ok(yaml)) = (read_plain(&block), crate::properties::yaml(&block)) {
                prop_assert_eq!(Value::Object(values.into_iter().collect()), yaml, "{:?}", block);
            }
        }
    }
}
