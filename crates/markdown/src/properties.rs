//! The property block of a note: where it is, what its values are, and what they say about the note.

use std::collections::HashSet;
use std::ops::Range;

use serde_json::Value;

use crate::lines::{Line, line_of, lines};
use crate::target;
use crate::yaml_lines;
use crate::{Issue, Link, LinkKind, Tag};

/// What the block says. Empty where there is none.
#[derive(Debug, Default)]
pub(crate) struct Properties {
    pub(crate) values: Vec<(String, Value)>,
    /// The block with its fences.
    pub(crate) range: Option<Range<usize>>,
    pub(crate) title: Option<String>,
    pub(crate) aliases: Vec<String>,
    pub(crate) tags: Vec<Tag>,
    pub(crate) links: Vec<Link>,
}

/// Reads the block that begins at `start` (behind the byte order mark), if one does.
pub(crate) fn read(text: &str, start: usize, issues: &mut Vec<Issue>) -> Properties {
    let Some(block) = find(text, start) else {
        return Properties::default();
    };
    let content = text.get(block.content.clone()).unwrap_or_default();
    let first_line = line_of(text, block.content.start);
    let values = match block.values {
        Some(values) => values,
        None => {
            let line = first_line.saturating_add(block.fault.unwrap_or(0));
            let slip = !is_fence(
                text,
                Line {
                    start: block.range.start,
                    end: block.content.start,
                    next: block.content.start,
                },
            );
            let message = if slip {
                "The property block does not begin with --- alone; it was read all the same"
            } else if block.closed {
                "The property block is not valid YAML; its properties were read line by line"
            } else {
                "The property block has no closing ---; it was taken to end where the properties do"
            };
            let line = if slip { line.saturating_sub(1) } else { line };
            issues.push(Issue {
                line,
                message: message.to_owned(),
            });
            yaml_lines::read(content)
        }
    };
    let mut properties = Properties {
        range: Some(block.range),
        values,
        ..Properties::default()
    };
    for (_, value) in &mut properties.values {
        unnest_link(value);
    }
    properties.fill_names(content);
    properties.links = links(text, block.content);
    properties
}

/// A block as found, before its values mean anything.
struct Found {
    range: Range<usize>,
    content: Range<usize>,
    closed: bool,
    /// Its values, if it is valid YAML or JSON.
    values: Option<Vec<(String, Value)>>,
    /// The line of its content (from 0) with the first fault.
    fault: Option<u32>,
}

fn find(text: &str, start: usize) -> Option<Found> {
    let opening = lines(text, start).next()?;
    if !is_fence(text, opening) {
        return find_behind_slip(text, opening);
    }
    if let Some(closing) = lines(text, opening.next).find(|line| is_fence(text, *line)) {
        let content = opening.next..closing.start;
        let source = text.get(content.clone())?;
        if source.trim().is_empty() {
            return Some(Found {
                range: start..closing.end,
                content,
                closed: true,
                values: Some(Vec::new()),
                fault: None,
            });
        }
        if !opens_with_key(source) {
            return None;
        }
        match parse_values(source) {
            Ok(values) => {
                return Some(Found {
                    range: start..closing.end,
                    content,
                    closed: true,
                    values: Some(values),
                    fault: None,
                });
            }
            Err(fault) if !runs_into_body(source) => {
                return Some(Found {
                    range: start..closing.end,
                    content,
                    closed: true,
                    values: None,
                    fault: Some(fault),
                });
            }
            Err(_) => {}
        }
    }
    let end = lines(text, opening.next)
        .take_while(|line| yaml_lines::is_property_line(slice(text, *line)))
        .last()
        .map(|line| line.end)?;
    let content = opening.next..end;
    opens_with_key(text.get(content.clone())?).then_some(Found {
        range: start..end,
        content,
        closed: false,
        values: None,
        fault: None,
    })
}

/// A block whose opening fence has a letter or two too many (`b---`), if it is beyond doubt that it is one.
fn find_behind_slip(text: &str, opening: Line) -> Option<Found> {
    let slip = slice(text, opening).trim_end().strip_suffix("---")?;
    if slip.len() > 2 || !slip.chars().all(char::is_alphanumeric) {
        return None;
    }
    let mut below = lines(text, opening.next)
        .skip_while(|line| yaml_lines::is_property_line(slice(text, *line)));
    let closing = below.next().filter(|line| is_fence(text, *line))?;
    let content = opening.next..closing.start;
    let source = text
        .get(content.clone())
        .filter(|source| !source.is_empty() && opens_with_key(source))?;
    parse_values(source).is_ok().then_some(Found {
        range: opening.start..closing.end,
        content,
        closed: true,
        values: None,
        fault: None,
    })
}

fn slice(text: &str, line: Line) -> &str {
    text.get(line.start..line.end).unwrap_or_default()
}

fn is_fence(text: &str, line: Line) -> bool {
    slice(text, line).trim_end() == "---"
}

/// Whether the first line that says anything is a `key:` or the beginning of JSON. A rule that opens a note is no block.
fn opens_with_key(content: &str) -> bool {
    let mut said = lines(content, 0)
        .map(|line| slice(content, line))
        .filter(|line| !yaml_lines::is_silent(line));
    said.next().is_none_or(|line| {
        line.trim_start().starts_with('{') || yaml_lines::key_value(line).is_some()
    })
}

/// Whether a broken block holds what can only be the text of the note: something that is no property after a blank
/// line. Then the fence that was found is a rule of the text, and the block was never closed.
fn runs_into_body(content: &str) -> bool {
    let mut blank_seen = false;
    lines(content, 0)
        .map(|line| slice(content, line))
        .any(|line| {
            blank_seen |= line.trim().is_empty();
            blank_seen && !line.trim().is_empty() && !yaml_lines::is_property_line(line)
        })
}

/// The values of a block of YAML or JSON, or the line (from 0) of the first fault.
fn parse_values(content: &str) -> Result<Vec<(String, Value)>, u32> {
    let value = if content.trim_start().starts_with('{') {
        match serde_json::from_str(content) {
            Ok(value) => value,
            Err(_) => yaml(content)?,
        }
    } else if let Some(values) = yaml_lines::read_plain(content) {
        return Ok(values);
    } else {
        yaml(content)?
    };
    match value {
        Value::Object(map) => Ok(map.into_iter().collect()),
        Value::Null => Ok(Vec::new()),
        _ => Err(0),
    }
}

/// Reads YAML under a tight budget: no value of a note needs more, and aliases cannot blow it up.
pub(crate) fn yaml(content: &str) -> Result<Value, u32> {
    let budget = serde_saphyr::budget! {
        max_events: 50_000,
        max_aliases: 100,
        max_anchors: 100,
        max_depth: 24,
        max_nodes: 20_000,
        max_total_scalar_bytes: 1 << 20,
        max_documents: 1,
        max_merge_keys: 100,
    };
    let options = serde_saphyr::options! {
        budget: budget,
        duplicate_keys: serde_saphyr::DuplicateKeyPolicy::LastWins,
        strict_booleans: true,
        leading_zero_numbers_as_strings: true,
        underscored_numbers_as_strings: true,
    };
    serde_saphyr::from_str_with_options(content, options).map_err(|error| {
        let line = error.location().map_or(1, |location| location.line());
        u32::try_from(line.saturating_sub(1)).unwrap_or(u32::MAX)
    })
}

/// `up: [[Note]]` without quotes is a list in a list to YAML. It was meant as a link.
fn unnest_link(value: &mut Value) {
    let inner = match value {
        Value::Array(outer) if outer.len() == 1 => outer.first(),
        _ => None,
    };
    let Some(Value::Array(inner)) = inner else {
        return;
    };
    if let [Value::String(name)] = inner.as_slice() {
        *value = Value::String(format!("[[{name}]]"));
    }
}

impl Properties {
    /// Title, aliases and tags, from their properties in old and new forms.
    fn fill_names(&mut self, content: &str) {
        let values = std::mem::take(&mut self.values);
        for (key, value) in &values {
            match key.to_ascii_lowercase().as_str() {
                "title" => self.take_title(&typed(key, value, content)),
                "aliases" | "alias" => self.take_aliases(&typed(key, value, content)),
                "tags" | "tag" => self.take_tags(&typed(key, value, content)),
                _ => {}
            }
        }
        self.values = values;
        let mut known = HashSet::new();
        self.aliases.retain(|alias| known.insert(alias.clone()));
    }

    fn take_title(&mut self, texts: &[Typed]) {
        if let [Typed::Whole(title)] = texts {
            self.title = Some(title.trim().to_owned()).filter(|title| !title.is_empty());
        }
    }

    fn take_aliases(&mut self, texts: &[Typed]) {
        for text in texts {
            let pieces: Vec<&str> = match text {
                Typed::Whole(text) => text.split(',').collect(),
                Typed::Item(text) => vec![text],
            };
            for alias in pieces
                .into_iter()
                .map(str::trim)
                .filter(|alias| !alias.is_empty())
            {
                self.aliases.push(alias.to_owned());
            }
        }
    }

    fn take_tags(&mut self, texts: &[Typed]) {
        for text in texts {
            let (Typed::Whole(text) | Typed::Item(text)) = text;
            let names = text
                .split(|c: char| c == ',' || c.is_whitespace())
                .map(|name| name.trim_start_matches('#'));
            for name in names
                .map(|name| name.trim_matches('/'))
                .filter(|name| is_tag_name(name))
            {
                self.tags.push(Tag {
                    name: name.to_owned(),
                    range: None,
                });
            }
        }
    }
}

/// Whether the text can be a tag: something beside digits.
pub(crate) fn is_tag_name(name: &str) -> bool {
    name.chars().any(|c| !c.is_numeric() && c != '/')
}

/// A text as the user typed it: the whole value, or an item of a list.
enum Typed {
    Whole(String),
    Item(String),
}

/// The texts of a value as typed. YAML turns `0017`, `1.10` or `True` into something else: where it did, the lines of
/// the block are asked. Nulls and nested values are dropped.
fn typed(key: &str, value: &Value, content: &str) -> Vec<Typed> {
    let is_changed = |value: &Value| value.is_number() || value.is_boolean();
    let changed = is_changed(value)
        || value
            .as_array()
            .is_some_and(|items| items.iter().any(is_changed));
    let lines = if changed {
        yaml_lines::typed(content, key)
    } else {
        None
    };
    let Value::Array(items) = value else {
        let whole = lines.filter(|_| changed).as_ref().and_then(scalar_text);
        return whole
            .or_else(|| scalar_text(value))
            .map(Typed::Whole)
            .into_iter()
            .collect();
    };
    let lines = lines
        .as_ref()
        .and_then(Value::as_array)
        .filter(|lines| lines.len() == items.len());
    let text = |(i, item): (usize, &Value)| {
        let line = lines
            .and_then(|lines| lines.get(i))
            .filter(|_| is_changed(item));
        scalar_text(line.unwrap_or(item)).map(Typed::Item)
    };
    items.iter().enumerate().filter_map(text).collect()
}

fn scalar_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The `[[links]]` in the values, wherever they stand. They are looked for in the text of the block, so that broken
/// YAML loses none and each knows its place.
fn links(text: &str, content: Range<usize>) -> Vec<Link> {
    let mut links = Vec::new();
    for line in lines(text, content.start).take_while(|line| line.start < content.end) {
        let source = slice(text, line);
        if source.trim_start().starts_with('#') {
            continue;
        }
        let mut at = 0;
        while let Some(open) = source
            .get(at..)
            .and_then(|rest| rest.find("[["))
            .map(|open| open + at)
        {
            let rest = source.get(open + 2..).unwrap_or_default();
            let inside = rest.find(['[', ']']).and_then(|end| rest.get(..end));
            at = open + 1;
            let Some(inside) = inside.filter(|inside| {
                rest.get(inside.len()..)
                    .is_some_and(|end| end.starts_with("]]"))
            }) else {
                continue;
            };
            at = open + 2 + inside.len() + 2;
            let embed = source
                .get(..open)
                .is_some_and(|before| before.ends_with('!'));
            let range = line.start + open - usize::from(embed)..line.start + at;
            links.extend(property_link(inside, embed, range));
        }
    }
    links
}

fn property_link(inside: &str, embed: bool, range: Range<usize>) -> Option<Link> {
    let (target, label) = match inside.split_once('|') {
        Some((target, label)) => (target, Some(label.trim().to_owned())),
        None => (inside, None),
    };
    let target = target::wiki(target.trim().trim_matches(['"', '\'']))?;
    Some(Link {
        kind: LinkKind::Property,
        embed,
        target: target.note,
        headings: target.headings,
        block: target.block,
        label: label.filter(|label| !label.is_empty()),
        range,
    })
}
