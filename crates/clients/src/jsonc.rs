//! JSON with comments and trailing commas, read with the place of everything in the text, so that
//! an edit can touch one member and leave every other byte as it is.
//!
//! The grammar is RFC 8259 with what VS Code, Zed and Cursor add in their settings: `//` and
//! `/* */` comments, and a comma behind the last member or element.

use std::ops::Range;

use serde_json::{Map, Value};

/// Deeper files are refused rather than read by recursion without end.
const MAX_DEPTH: usize = 200;

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) span: Range<usize>,
    pub(crate) kind: NodeKind,
}

/// What a value is.
#[derive(Clone, Debug)]
pub(crate) enum NodeKind {
    /// Members, and whether a comma stands behind the last.
    Object(Vec<Member>, bool),
    /// Elements, and whether a comma stands behind the last.
    Array(Vec<Node>, bool),
    /// A string, number, `true`, `false` or `null`.
    Plain(Value),
}

/// A member of an object.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) key: String,
    pub(crate) key_span: Range<usize>,
    pub(crate) value: Node,
}

/// Why a text is not JSON, and at which byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JsoncError {
    pub(crate) at: usize,
    pub(crate) what: String,
}

impl Node {
    /// The member of that name; of several the last, as readers of JSON take it.
    pub(crate) fn member(&self, key: &str) -> Option<&Member> {
        match &self.kind {
            NodeKind::Object(members, _) => members.iter().rev().find(|member| member.key == key),
            _ => None,
        }
    }

    /// The value at a path of names.
    pub(crate) fn at(&self, path: &[&str]) -> Option<&Node> {
        let mut node = self;
        for key in path {
            node = &node.member(key)?.value;
        }
        Some(node)
    }

    /// The elements of an array.
    pub(crate) fn elements(&self) -> Option<&[Node]> {
        match &self.kind {
            NodeKind::Array(elements, _) => Some(elements),
            _ => None,
        }
    }

    pub(crate) fn is_object(&self) -> bool {
        matches!(self.kind, NodeKind::Object(..))
    }

    /// The value without its place.
    pub(crate) fn value(&self) -> Value {
        match &self.kind {
            NodeKind::Object(members, _) => Value::Object(
                members
                    .iter()
                    .map(|member| (member.key.clone(), member.value.value()))
                    .collect::<Map<_, _>>(),
            ),
            NodeKind::Array(elements, _) => elements.iter().map(Node::value).collect(),
            NodeKind::Plain(value) => value.clone(),
        }
    }
}

/// Reads a text; `None` where it holds nothing but white space and comments.
pub(crate) fn parse(text: &str) -> Result<Option<Node>, JsoncError> {
    let mut reader = Reader { text, at: 0 };
    if text.starts_with('\u{feff}') {
        reader.at = '\u{feff}'.len_utf8();
    }
    reader.skip()?;
    if reader.at == text.len() {
        return Ok(None);
    }
    let node = reader.node(0)?;
    reader.skip()?;
    if reader.at < text.len() {
        return Err(reader.error("there is something behind the end of the value"));
    }
    Ok(Some(node))
}

/// Line and column of a byte, both from 1; the column in characters.
pub(crate) fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let column = before[start..]
        .trim_start_matches('\u{feff}')
        .chars()
        .count();
    (before.matches('\n').count() + 1, column + 1)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn error(&self, what: &str) -> JsoncError {
        JsoncError {
            at: self.at,
            what: what.to_string(),
        }
    }

    /// Passes white space and comments.
    fn skip(&mut self) -> Result<(), JsoncError> {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
            self.at += blank;
            let rest = self.rest();
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if let Some(comment) = rest.strip_prefix("/*") {
                match comment.find("*/") {
                    Some(end) => self.at += end + 4,
                    None => return Err(self.error("a comment has no end")),
                }
            } else if blank == 0 || !rest.starts_with('/') {
                return Ok(());
            }
        }
    }

    fn node(&mut self, depth: usize) -> Result<Node, JsoncError> {
        if depth > MAX_DEPTH {
            return Err(self.error("it is nested too deeply"));
        }
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.array(depth)?,
            Some(b'"') => NodeKind::Plain(Value::String(self.string()?)),
            Some(_) => self.literal()?,
            None => return Err(self.error("the text ends where a value should be")),
        };
        Ok(Node {
            span: start..self.at,
            kind,
        })
    }

    fn object(&mut self, depth: usize) -> Result<NodeKind, JsoncError> {
        self.at += 1;
        let mut members = Vec::new();
        let mut comma = false;
        loop {
            self.skip()?;
            match self.peek() {
                Some(b'}') => {
                    self.at += 1;
                    return Ok(NodeKind::Object(members, comma));
                }
                Some(b'"') if members.is_empty() || comma => {}
                Some(b'"') => return Err(self.error("a comma is missing")),
                Some(_) => return Err(self.error("expected a name in double quotes, or `}`")),
                None => return Err(self.error("the text ends inside an object")),
            }
            let start = self.at;
            let key = self.string()?;
            let key_span = start..self.at;
            self.skip()?;
            if self.peek() != Some(b':') {
                return Err(self.error("a colon is missing"));
            }
            self.at += 1;
            self.skip()?;
            let value = self.node(depth + 1)?;
            members.push(Member {
                key,
                key_span,
                value,
            });
            comma = self.comma()?;
        }
    }

    fn array(&mut self, depth: usize) -> Result<NodeKind, JsoncError> {
        self.at += 1;
        let mut elements: Vec<Node> = Vec::new();
        let mut comma = false;
        loop {
            self.skip()?;
            match self.peek() {
                Some(b']') => {
                    self.at += 1;
                    return Ok(NodeKind::Array(elements, comma));
                }
                Some(_) if elements.is_empty() || comma => {}
                Some(_) => return Err(self.error("a comma is missing, or `]`")),
                None => return Err(self.error("the text ends inside a list")),
            }
            elements.push(self.node(depth + 1)?);
            comma = self.comma()?;
        }
    }

    fn comma(&mut self) -> Result<bool, JsoncError> {
        self.skip()?;
        let is_there = self.peek() == Some(b',');
        self.at += usize::from(is_there);
        Ok(is_there)
    }

    fn string(&mut self) -> Result<String, JsoncError> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut end = start + 1;
        loop {
            match bytes.get(end) {
                Some(b'"') => break,
                Some(b'\\') => end += 2,
                Some(b'\n') | None => return Err(self.error("a string has no end")),
                Some(_) => end += 1,
            }
        }
        let written = self.text.get(start..=end);
        let read = written.and_then(|written| serde_json::from_str(written).ok());
        let Some(string) = read else {
            return Err(self.error("this is no string of JSON"));
        };
        self.at = end + 1;
        Ok(string)
    }

    fn literal(&mut self) -> Result<NodeKind, JsoncError> {
        let rest = self.rest();
        let is_end = |c: char| c.is_whitespace() || ",:]}[{\"/".contains(c);
        let end = rest.find(is_end).unwrap_or(rest.len());
        match serde_json::from_str(&rest[..end]) {
            Ok(value) => {
                self.at += end;
                Ok(NodeKind::Plain(value))
            }
            Err(_) => Err(self.error("expected a value")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_editors_write() {
        let text = "\u{feff}// servers\n{ /* a */ \"a\": [1, \"x\\\"y\", {},], // b\r\n \"b\": null,\n}\n// end";
        let node = parse(text).unwrap().unwrap();
        let expected = serde_json::json!({"a": [1, "x\"y", {}], "b": null});
        assert_eq!(node.value(), expected);
        assert_eq!(
            &text[node.at(&["a"]).unwrap().span.clone()],
            "[1, \"x\\\"y\", {},]"
        );
        assert!(parse(" // nothing\n").unwrap().is_none());
        assert!(parse("").unwrap().is_none());
    }

    #[test]
    fn says_where_a_text_is_broken() {
        for (text, at, what) in [
            ("{\n  \"a\" 1}", (2, 7), "a colon is missing"),
            ("{\"a\": 1 \"b\": 2}", (1, 9), "a comma is missing"),
            ("{\"é\": tru}", (1, 7), "expected a value"),
            ("{\"a\": \"x\n\"}", (1, 7), "a string has no end"),
            ("{\"a\": \"\\", (1, 7), "a string has no end"),
            ("{\"a\": [1", (1, 9), "the text ends inside a list"),
            ("/* x", (1, 1), "a comment has no end"),
            (
                "{} {}",
                (1, 4),
                "there is something behind the end of the value",
            ),
            ("{,}", (1, 2), "expected a name in double quotes, or `}`"),
            (
                "{} / x",
                (1, 4),
                "there is something behind the end of the value",
            ),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(line_and_column(text, error.at), at, "{text}");
            assert_eq!(error.what, what, "{text}");
        }
        let deep = "[".repeat(100_000);
        assert_eq!(parse(&deep).unwrap_err().what, "it is nested too deeply");
    }
}
