//! Edits of JSON with comments: one member or element goes in or out, and every other byte stays.

use std::ops::Range;

use serde_json::Value;

use crate::jsonc::{Node, NodeKind};

/// How a file is laid out, so that what is added looks like what is there.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    newline: &'static str,
    unit: String,
    /// All on one line.
    compact: bool,
}

/// An item of an object or a list: where it begins and ends.
type Item = Range<usize>;

impl Layout {
    /// The layout of a text that holds `root`.
    pub(crate) fn of(text: &str, root: &Node) -> Layout {
        let newline = match text.find('\n') {
            Some(at) if text[..at].ends_with('\r') => "\r\n",
            _ => "\n",
        };
        let inside = &text[root.span.clone()];
        Layout {
            newline,
            unit: unit(text, root).unwrap_or_else(|| "  ".to_string()),
            compact: !inside.contains('\n') && !items(root).0.is_empty(),
        }
    }

    /// The layout of a file that is made.
    pub(crate) fn usual() -> Layout {
        Layout {
            newline: "\n",
            unit: "  ".to_string(),
            compact: false,
        }
    }

    pub(crate) fn newline(&self) -> &'static str {
        self.newline
    }

    /// A value as text; `indent` is that of the line where it begins.
    pub(crate) fn written(&self, value: &Value, indent: &str) -> String {
        let (open, close, inside): (_, _, Vec<String>) = match value {
            Value::Object(members) if !members.is_empty() => {
                let inner = format!("{indent}{}", self.unit);
                let member = |(key, value): (&String, &Value)| self.member(key, value, &inner);
                ("{", "}", members.iter().map(member).collect())
            }
            Value::Array(elements) if elements.iter().any(|e| e.is_object() || e.is_array()) => {
                let inner = format!("{indent}{}", self.unit);
                let element = |value: &Value| self.written(value, &inner);
                ("[", "]", elements.iter().map(element).collect())
            }
            Value::Array(elements) => {
                let plain: Vec<String> = elements.iter().map(Value::to_string).collect();
                return format!("[{}]", plain.join(self.separator()));
            }
            plain => return plain.to_string(),
        };
        if self.compact {
            return format!("{open}{}{close}", inside.join(self.separator()));
        }
        let (newline, unit) = (self.newline, &self.unit);
        let joined = inside.join(&format!(",{newline}{indent}{unit}"));
        format!("{open}{newline}{indent}{unit}{joined}{newline}{indent}{close}")
    }

    fn separator(&self) -> &'static str {
        if self.compact { "," } else { ", " }
    }

    fn member(&self, key: &str, value: &Value, indent: &str) -> String {
        let space = if self.compact { "" } else { " " };
        let key = Value::from(key);
        format!("{key}:{space}{}", self.written(value, indent))
    }
}

/// What one step of indentation is: that of the first member that has a line of its own.
fn unit(text: &str, root: &Node) -> Option<String> {
    let first = items(root).0.first()?.start;
    let line = line_indent(text, first);
    (text[..first].ends_with(line) && !line.is_empty()).then(|| line.to_string())
}

/// The items of an object or list, and whether a comma stands behind the last.
fn items(node: &Node) -> (Vec<Item>, bool) {
    match &node.kind {
        NodeKind::Object(members, comma) => {
            let item = |m: &crate::jsonc::Member| m.key_span.start..m.value.span.end;
            (members.iter().map(item).collect(), *comma)
        }
        NodeKind::Array(elements, comma) => {
            (elements.iter().map(|e| e.span.clone()).collect(), *comma)
        }
        NodeKind::Plain(_) => (Vec::new(), false),
    }
}

/// The white space at the beginning of the line in which a byte stands.
fn line_indent(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line = text[start..at].trim_start_matches('\u{feff}');
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Whether nothing but white space stands before a byte on its line, and a line before that.
fn begins_line(text: &str, at: usize) -> bool {
    text[..at].trim_end_matches([' ', '\t']).ends_with('\n')
}

/// The text with a member added at the end of an object.
pub(crate) fn with_member(
    text: &str,
    layout: &Layout,
    object: &Node,
    key: &str,
    value: &Value,
) -> String {
    with_item(text, layout, object, &|indent| {
        layout.member(key, value, indent)
    })
}

/// The text with an element added at the end of a list.
pub(crate) fn with_element(text: &str, layout: &Layout, list: &Node, value: &Value) -> String {
    with_item(text, layout, list, &|indent| layout.written(value, indent))
}

fn with_item(
    text: &str,
    layout: &Layout,
    holder: &Node,
    written: &dyn Fn(&str) -> String,
) -> String {
    let (items, comma) = items(holder);
    let newline = layout.newline;
    let Some(last) = items.last() else {
        return into_empty(text, layout, holder, written);
    };
    let own_line = begins_line(text, last.start);
    // A comment on the last item's line stays with it.
    let behind_comma = if comma {
        last.end + text[last.end..].find(',').map_or(0, |at| at + 1)
    } else {
        last.end
    };
    let place = if own_line {
        behind_comma + same_line(&text[behind_comma..holder.span.end - 1])
    } else {
        behind_comma
    };
    let mut out = text[..last.end].to_string();
    if !comma {
        out.push(',');
    }
    out += &text[last.end..place];
    if own_line {
        let indent = line_indent(text, last.start);
        out += &format!("{newline}{indent}{}", written(indent));
    } else {
        let space = if layout.compact { "" } else { " " };
        let indent = line_indent(text, holder.span.start);
        out += &format!("{space}{}", written(indent));
    }
    if comma {
        out.push(',');
    }
    out += &text[place..];
    out
}

/// Into an object or list without items; comments in it stay above.
fn into_empty(
    text: &str,
    layout: &Layout,
    holder: &Node,
    written: &dyn Fn(&str) -> String,
) -> String {
    let close = holder.span.end - 1;
    let inside = &text[holder.span.start + 1..close];
    let kept = holder.span.start + 1 + inside.trim_end().len();
    if layout.compact {
        return format!("{}{}{}", &text[..kept], written(""), &text[close..]);
    }
    let base = line_indent(text, holder.span.start);
    let indent = format!("{base}{}", layout.unit);
    let newline = layout.newline;
    format!(
        "{}{newline}{indent}{}{newline}{base}{}",
        &text[..kept],
        written(&indent),
        &text[close..]
    )
}

/// How many bytes of white space and comments follow on the same line.
fn same_line(rest: &str) -> usize {
    let mut at = 0;
    loop {
        let here = &rest[at..];
        let blank = here.len() - here.trim_start_matches([' ', '\t']).len();
        let next = &here[blank..];
        if next.starts_with("//") {
            let end = next.find('\n').unwrap_or(next.len());
            return at + blank + next[..end].trim_end().len();
        }
        let comment = next.strip_prefix("/*").and_then(|c| c.find("*/"));
        match comment {
            Some(end) if !next[..end].contains('\n') => at += blank + end + 4,
            _ => return at,
        }
    }
}

/// The text with other text in place of a value.
pub(crate) fn with_value(text: &str, layout: &Layout, old: &Node, value: &Value) -> String {
    let indent = line_indent(text, old.span.start).to_string();
    let new = layout.written(value, &indent);
    format!("{}{new}{}", &text[..old.span.start], &text[old.span.end..])
}

/// The text without the item of that number of an object or list, its comma and its line.
pub(crate) fn without_item(text: &str, holder: &Node, number: usize) -> String {
    let (items, comma) = items(holder);
    let Some(item) = items.get(number) else {
        return text.to_string();
    };
    let is_last = number + 1 == items.len();
    let own_line = begins_line(text, item.start);
    let has_comma = !is_last || comma;
    // The comma behind it goes with it.
    let end = if has_comma {
        item.end + comma_after(&text[item.end..])
    } else {
        item.end
    };
    let start = if own_line {
        let blank = text[..item.start].trim_end_matches([' ', '\t']);
        let line = blank.strip_suffix('\n').unwrap_or(blank);
        line.strip_suffix('\r').unwrap_or(line).len()
    } else {
        item.start
    };
    let mut out = text[..start].to_string();
    let mut rest = &text[end..];
    if !own_line && !is_last {
        rest = rest.trim_start_matches([' ', '\t']);
    }
    if is_last && !comma && number > 0 {
        // The comma before it goes too.
        let before = items[number - 1].end;
        let at = before + comma_after(&text[before..]) - 1;
        out = format!("{}{}", &text[..at], &text[at + 1..start]);
        if !own_line {
            out.truncate(out.trim_end_matches([' ', '\t']).len());
        }
    }
    if items.len() == 1 && own_line {
        let opened = holder.span.start + 1;
        let closing = rest.trim_start();
        // Nothing is left inside: both brackets on one line, as they were before.
        if out.len() == opened && closing.len() == text.len() - (holder.span.end - 1) {
            rest = closing;
        }
    }
    out + rest
}

/// How many bytes there are up to and with the next comma, comments passed over.
fn comma_after(rest: &str) -> usize {
    let mut at = 0;
    loop {
        let here = &rest[at..];
        if here.starts_with(',') {
            return at + 1;
        }
        at += if here.starts_with("//") {
            here.find('\n').unwrap_or(here.len())
        } else if here.starts_with("/*") {
            here.find("*/").map_or(here.len(), |end| end + 2)
        } else {
            match here.chars().next() {
                Some(c) => c.len_utf8(),
                None => return at,
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::jsonc::parse;

    fn added(text: &str) -> String {
        let root = parse(text).unwrap().unwrap();
        let layout = Layout::of(text, &root);
        with_member(text, &layout, &root, "new", &json!({"a": ["b"]}))
    }

    fn removed(text: &str) -> String {
        let root = parse(text).unwrap().unwrap();
        let NodeKind::Object(members, _) = &root.kind else {
            panic!("an object");
        };
        let number = members.iter().position(|m| m.key == "new").unwrap();
        without_item(text, &root, number)
    }

    #[test]
    fn an_item_looks_like_its_neighbours() {
        for (before, after) in [
            ("{}", "{\n  \"new\": {\n    \"a\": [\"b\"]\n  }\n}"),
            (
                "{\n\t\"x\": 1 // one\n\t// two\n}\n",
                "{\n\t\"x\": 1, // one\n\t\"new\": {\n\t\t\"a\": [\"b\"]\n\t}\n\t// two\n}\n",
            ),
            (
                "{\r\n    \"x\": 1,\r\n}\r\n",
                "{\r\n    \"x\": 1,\r\n    \"new\": {\r\n        \"a\": [\"b\"]\r\n    },\r\n}\r\n",
            ),
            ("{\"x\":1}", "{\"x\":1,\"new\":{\"a\":[\"b\"]}}"),
            (
                "{ // why\n}\n",
                "{ // why\n  \"new\": {\n    \"a\": [\"b\"]\n  }\n}\n",
            ),
        ] {
            assert_eq!(added(before), after);
        }
    }

    #[test]
    fn what_was_added_can_be_taken_out_again() {
        for text in [
            "{}",
            "{\"x\":1}",
            "{\n  \"x\": 1\n}",
            "{\n  \"x\": 1, /* a, b */ // c\n  // d\n}\n",
            "{\n  \"x\": 1 /* a, b */ // c\n  // d\n}\n",
            "{\r\n\t\"x\": {\"y\": []},\r\n}",
            "\u{feff}{\n  \"x\": 1\n}\n",
        ] {
            assert_eq!(removed(&added(text)), text);
        }
    }

    #[test]
    fn taking_out_leaves_the_neighbours() {
        for (before, after) in [
            ("{\"new\": 1, \"x\": 2}", "{\"x\": 2}"),
            ("{\"x\": 2, \"new\": 1}", "{\"x\": 2}"),
            ("{\n  \"new\": 1,\n  \"x\": 2\n}", "{\n  \"x\": 2\n}"),
            (
                "{\n  \"a\": 1,\n  // of new\n  \"new\": 2, // mine\n  \"x\": 2\n}",
                "{\n  \"a\": 1,\n  // of new // mine\n  \"x\": 2\n}",
            ),
        ] {
            assert_eq!(removed(before), after);
        }
    }

    proptest! {
        /// Whatever the blanks, comments and commas: adding and taking out is nothing.
        #[test]
        fn adding_and_taking_out_is_nothing(
            keys in prop::collection::vec("[a-m]{1,3}", 0..4),
            blank in prop::sample::select(vec![" ", "\n  ", "\r\n\t", "\n    "]),
            comment in prop::sample::select(vec!["", " /* x, */", " // y,"]),
            trailing in any::<bool>(),
        ) {
            let newline = blank.trim_end_matches([' ', '\t']);
            prop_assume!(!comment.contains("//") || !newline.is_empty());
            let mut text = "{".to_string();
            for (i, key) in keys.iter().enumerate() {
                let comma = if i + 1 < keys.len() || trailing { "," } else { "" };
                text += &format!("{blank}\"{key}\": {i}{comma}{comment}");
            }
            text += newline;
            text += "}";
            prop_assume!(!keys.is_empty() || text == "{}");
            let with = added(&text);
            let value = parse(&with).unwrap().unwrap().value();
            prop_assert_eq!(&value["new"], &json!({"a": ["b"]}));
            prop_assert_eq!(removed(&with), text);
        }
    }
}
