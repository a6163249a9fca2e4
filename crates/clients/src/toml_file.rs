//! Tables of a TOML file (Codex keeps its configuration so): one goes in, changes or goes out,
//! and comments, order and layout of all others stay.

use std::ops::Range;

use serde_json::Value;
use toml_edit::{Array, Document, DocumentMut, InlineTable, Item, Table, TableLike};

/// A byte order mark, which some editors begin a file with.
const MARK: &str = "\u{feff}";

/// Why a text is no TOML: the byte, if it is known, and what is wrong.
#[derive(Debug)]
pub(crate) struct TomlError {
    pub(crate) at: usize,
    pub(crate) what: String,
}

/// The text of a file without what the tree does not know: byte order mark and CRLF.
struct Plain {
    text: String,
    marked: bool,
    crlf: bool,
}

impl Plain {
    fn of(text: &str) -> Plain {
        let plain = text.strip_prefix(MARK);
        let body = plain.unwrap_or(text);
        let newlines = body.matches('\n').count();
        let crlf = newlines > 0 && newlines == body.matches("\r\n").count();
        Plain {
            text: if crlf {
                body.replace("\r\n", "\n")
            } else {
                body.to_string()
            },
            marked: plain.is_some(),
            crlf,
        }
    }

    fn finished(&self, text: &str) -> String {
        let mark = if self.marked { MARK } else { "" };
        if self.crlf {
            return format!("{mark}{}", text.replace('\n', "\r\n"));
        }
        format!("{mark}{text}")
    }
}

fn parsed(text: &str) -> Result<Document<&str>, TomlError> {
    Document::parse(text).map_err(|error| TomlError {
        at: error.span().map_or(0, |span| span.start),
        what: error.message().trim().replace('\n', ", "),
    })
}

/// The table `parent.name` as JSON; `None` where there is none.
pub(crate) fn table(text: &str, parent: &str, name: &str) -> Result<Option<Value>, TomlError> {
    let plain = Plain::of(text);
    let document = parsed(&plain.text).map_err(|error| placed(error, text, &plain))?;
    let item = document.get(parent).and_then(|parent| parent.get(name));
    Ok(item.map(as_json))
}

/// A place in the plain text is one of the file's text: every line before it has one byte more.
fn placed(mut error: TomlError, text: &str, plain: &Plain) -> TomlError {
    let lines = plain
        .text
        .get(..error.at)
        .map_or(0, |t| t.matches('\n').count());
    if plain.crlf {
        error.at += lines;
    }
    if plain.marked {
        error.at += MARK.len();
    }
    error.at = error.at.min(text.len());
    error
}

/// The text with `fields` in the table `parent.name`; its other keys stay. `Err(None)`: the file
/// holds something else there.
pub(crate) fn with_table(
    text: &str,
    parent: &str,
    name: &str,
    fields: &[(&str, Value)],
) -> Result<String, Option<TomlError>> {
    let plain = Plain::of(text);
    let document = parsed(&plain.text).map_err(|e| Some(placed(e, text, &plain)))?;
    let holder = document.get(parent);
    let is_there = holder.and_then(|holder| holder.get(name)).is_some();
    if holder.is_some_and(|holder| holder.as_table_like().is_none()) {
        return Err(None);
    }
    let appended = (!is_there).then(|| appended(&plain.text, parent, name, fields));
    if let Some(appended) = appended
        && parsed(&appended).is_ok()
    {
        return Ok(plain.finished(&appended));
    }
    let mut document: DocumentMut = document.into_mut();
    let Some(holder) = document.get_mut(parent) else {
        return Err(None);
    };
    if !is_there {
        put_inline(holder, name);
    }
    let Some(holder) = holder.as_table_like_mut() else {
        return Err(None);
    };
    let Some(table) = holder.get_mut(name).and_then(Item::as_table_like_mut) else {
        return Err(None);
    };
    for (key, value) in fields {
        let new = toml_value(value);
        match table.get_mut(key) {
            Some(Item::Value(old)) => {
                let mut new = new;
                *new.decor_mut() = old.decor().clone();
                *old = new;
            }
            Some(_) => return Err(None),
            None => {
                table.insert(key, Item::Value(new));
            }
        }
    }
    Ok(plain.finished(&document.to_string()))
}

/// Puts an empty table into one that is written on a line; the blank before its end stays there.
fn put_inline(holder: &mut Item, name: &str) {
    let mut table: toml_edit::Value = InlineTable::new().into();
    if let Some(holder) = holder.as_inline_table_mut()
        && let Some((_, last)) = holder.iter_mut().last()
    {
        let blank = last.decor().suffix().and_then(|blank| blank.as_str());
        let blank = blank.unwrap_or_default().to_string();
        last.decor_mut().set_suffix("");
        table.decor_mut().set_suffix(blank);
    }
    if let Some(holder) = holder.as_table_like_mut() {
        holder.insert(name, Item::Value(table));
    }
}

/// The text with a new table at its end.
fn appended(text: &str, parent: &str, name: &str, fields: &[(&str, Value)]) -> String {
    let mut out = text.to_string();
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
    if !out.trim().is_empty() {
        out.push('\n');
    }
    out += &format!("[{parent}.{name}]\n");
    for (key, value) in fields {
        out += &format!("{key} = {}\n", toml_value(value));
    }
    out
}

/// The text without the table `parent.name` and the tables in it; comments around them stay.
pub(crate) fn without_table(text: &str, parent: &str, name: &str) -> Result<String, TomlError> {
    let plain = Plain::of(text);
    let document = parsed(&plain.text).map_err(|error| placed(error, text, &plain))?;
    let item = document.get(parent).and_then(|parent| parent.get(name));
    let Some(item) = item else {
        return Ok(text.to_string());
    };
    let mut spans: Vec<Range<usize>> = Vec::new();
    if let Item::Table(table) = item {
        lines_of(table, &plain.text, &mut spans);
    }
    spans.sort_by_key(|span| span.start);
    let mut cut = String::new();
    let mut at = 0;
    for span in &spans {
        cut += plain.text.get(at..span.start).unwrap_or_default();
        at = at.max(span.end);
    }
    cut += plain.text.get(at..).unwrap_or_default();
    if let Ok(rest) = parsed(&cut)
        && rest.get(parent).and_then(|p| p.get(name)).is_none()
    {
        return Ok(plain.finished(&cut));
    }
    let mut document: DocumentMut = document.into_mut();
    let holder = document.get_mut(parent).and_then(Item::as_table_like_mut);
    if let Some(holder) = holder {
        holder.remove(name);
    }
    Ok(plain.finished(&document.to_string()))
}

/// The lines of a table: its header, its values, and the tables in it; the blank line before it
/// goes with it.
fn lines_of(table: &Table, text: &str, spans: &mut Vec<Range<usize>>) {
    let mut lines = |span: Range<usize>, is_header: bool| {
        let start = text[..span.start].rfind('\n').map_or(0, |at| at + 1);
        let end = text[span.end..]
            .find('\n')
            .map_or(text.len(), |at| span.end + at + 1);
        let blank = is_header && text[..start].ends_with("\n\n");
        spans.push(start - usize::from(blank)..end);
    };
    if let (false, Some(span)) = (table.is_implicit() || table.is_dotted(), table.span()) {
        lines(span, true);
    }
    for (name, item) in table.iter() {
        let key = table.get_key_value(name).and_then(|(key, _)| key.span());
        match (item, key, item.span()) {
            (Item::Value(_), Some(key), Some(value)) => lines(key.start..value.end, false),
            (Item::Table(_) | Item::ArrayOfTables(_), ..) => {}
            _ => {}
        }
    }
    for (_, item) in table.iter() {
        match item {
            Item::Table(inner) => lines_of(inner, text, spans),
            Item::ArrayOfTables(inner) => inner.iter().for_each(|t| lines_of(t, text, spans)),
            _ => {}
        }
    }
}

fn toml_value(value: &Value) -> toml_edit::Value {
    match value {
        Value::Array(items) => {
            let array: Array = items.iter().map(toml_value).collect();
            array.into()
        }
        Value::String(text) => text.as_str().into(),
        Value::Bool(truth) => (*truth).into(),
        Value::Number(number) => number.as_i64().unwrap_or_default().into(),
        other => other.to_string().into(),
    }
}

fn as_json(item: &Item) -> Value {
    match item {
        Item::Value(value) => value_json(value),
        Item::ArrayOfTables(tables) => tables.iter().map(|table| table_json(table)).collect(),
        item => item.as_table_like().map_or(Value::Null, table_json),
    }
}

fn table_json(table: &dyn TableLike) -> Value {
    let members = table
        .iter()
        .map(|(key, item)| (key.to_string(), as_json(item)));
    Value::Object(members.collect())
}

fn value_json(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => Value::from(text.value().as_str()),
        toml_edit::Value::Integer(number) => Value::from(*number.value()),
        toml_edit::Value::Float(number) => Value::from(*number.value()),
        toml_edit::Value::Boolean(truth) => Value::from(*truth.value()),
        toml_edit::Value::Datetime(time) => Value::from(time.value().to_string()),
        toml_edit::Value::Array(items) => items.iter().map(value_json).collect(),
        toml_edit::Value::InlineTable(table) => table_json(table),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const REAL: &str = "# Mine\nmodel = \"gpt-5.2-codex\"   # fast\n\n[mcp_servers.github]\ncommand = \"npx\"\nargs = [\n  \"-y\", # yes\n  \"server\",\n]\n\n[mcp_servers.github.env]\nTOKEN = 'x'\n\n# Projects\n[projects.\"/srv/x\"]\ntrust_level = \"trusted\"\n";

    fn fields() -> Vec<(&'static str, Value)> {
        vec![("command", json!("C:\\lore")), ("args", json!(["mcp"]))]
    }

    fn put(text: &str) -> String {
        with_table(text, "mcp_servers", "lorewell", &fields()).unwrap()
    }

    fn cut(text: &str) -> String {
        without_table(text, "mcp_servers", "lorewell").unwrap()
    }

    #[test]
    fn a_table_goes_in_at_the_end_and_out_again() {
        let crlf = REAL.replace('\n', "\r\n");
        let marked = format!("{MARK}{REAL}");
        let inline = "mcp_servers = { other = { command = \"x\" } } # all\n";
        let dotted = "mcp_servers.other.command = \"x\"\n";
        for text in [
            REAL,
            &crlf,
            &marked,
            "",
            "# only a comment\n",
            inline,
            dotted,
        ] {
            let with = put(text);
            let found = table(&with, "mcp_servers", "lorewell").unwrap();
            assert_eq!(
                found,
                Some(json!({"command": "C:\\lore", "args": ["mcp"]})),
                "{with}"
            );
            assert_eq!(put(&with), with);
            if text != inline {
                assert_eq!(cut(&with), text);
            }
            assert_eq!(cut(text), text);
        }
        assert!(put(REAL).starts_with(REAL));
        assert!(!put(&crlf).replace("\r\n", "").contains('\n'));
    }

    #[test]
    fn a_change_keeps_what_others_wrote_there() {
        let text = "[mcp_servers.lorewell] # search\ncommand = \"/old\" # here\nstartup_timeout_sec = 20\nargs = []\n\n[mcp_servers.lorewell.tools.search_notes]\napproval_mode = \"approve\"\n\n# other\n[x]\n";
        let changed = text
            .replace("\"/old\"", "'C:\\lore'")
            .replace("args = []", "args = [\"mcp\"]");
        assert_eq!(put(text), changed);
        assert_eq!(cut(text), "\n# other\n[x]\n");
    }

    #[test]
    fn says_where_it_is_no_toml() {
        let error = table("\u{feff}a = 1\r\nb = \r\n", "x", "y").unwrap_err();
        let at = crate::jsonc::line_and_column("\u{feff}a = 1\r\nb = \r\n", error.at);
        assert_eq!(at.0, 2);
        assert!(with_table("mcp_servers = 3\n", "mcp_servers", "lorewell", &fields()).is_err());
    }
}
