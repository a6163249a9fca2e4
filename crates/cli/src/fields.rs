//! The input fields of a capability as arguments of its command, and what was typed as JSON.
//!
//! All is read off the schema:
//! - a text, number or switch is a flag of its name; a list of texts is one that may be repeated;
//! - a document (`contentMediaType`) is the name of a file, whose text, or whose JSON, is the value;
//! - a list of objects gives a flag for each of their fields: the first one begins an object, the
//!   others say more of it (`--quote "…" --note Kiln.md --quote "…" --note Glazes.md`).

use std::fs::File;
use std::io::Read;

use clap::{Arg, ArgAction, ArgMatches};
use lorewell_capabilities::Entry;
use serde_json::{Map, Value};

use crate::outcome::Problem;

/// So many bytes of a file or of standard input are read at most.
const MAX_BYTES: u64 = 16 << 20;

/// One field of a capability's input, or of an object in it.
pub(crate) struct InputField {
    /// Its name in JSON.
    name: String,
    /// What tells its argument from others.
    id: String,
    kind: FieldKind,
    documentation: String,
    positional: bool,
    required: bool,
    /// The fields of the objects that it lists.
    items: Vec<InputField>,
}

/// The kinds of values that a command line can give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FieldKind {
    Text,
    Number,
    Switch,
    List,
    /// A file's text.
    Document,
    /// A file's JSON.
    Json,
    /// A list of objects.
    Objects,
    /// Something that words cannot say; other surfaces can.
    Other,
}

/// The input fields of a capability, read off its schema.
pub(crate) fn fields(entry: &Entry) -> Vec<InputField> {
    let schema = (entry.input_schema)();
    let mut fields = fields_of(schema.as_value(), schema.as_value(), "");
    for field in &mut fields {
        field.positional = entry.positional == Some(field.name.as_str());
    }
    fields
}

/// The fields of an object; `above`: the field that lists it.
fn fields_of(object: &Value, root: &Value, above: &str) -> Vec<InputField> {
    let properties = object.get("properties").and_then(Value::as_object);
    let required = object.get("required").and_then(Value::as_array);
    let is_required = |name: &str| {
        let mut names = required.into_iter().flatten().filter_map(Value::as_str);
        names.any(|required| required == name)
    };
    let field = |(name, schema): (&String, &Value)| {
        let item = schema.get("items").map(|item| resolved(item, root));
        let kind = FieldKind::of(schema, item);
        let documentation = schema.get("description").and_then(Value::as_str);
        InputField {
            kind,
            id: if above.is_empty() {
                name.clone()
            } else {
                format!("{above}.{name}")
            },
            documentation: help_text(documentation.unwrap_or_default()),
            positional: false,
            required: is_required(name),
            items: match item {
                Some(item) if kind == FieldKind::Objects => fields_of(item, root, name),
                _ => Vec::new(),
            },
            name: name.clone(),
        }
    };
    properties.into_iter().flatten().map(field).collect()
}

/// A schema, or the one that it refers to.
fn resolved<'s>(schema: &'s Value, root: &'s Value) -> &'s Value {
    let name = schema.get("$ref").and_then(Value::as_str);
    name.and_then(|name| root.pointer(name.trim_start_matches('#')))
        .unwrap_or(schema)
}

impl FieldKind {
    fn of(schema: &Value, item: Option<&Value>) -> FieldKind {
        match schema.get("contentMediaType").and_then(Value::as_str) {
            Some("application/json") => return FieldKind::Json,
            Some(_) => return FieldKind::Document,
            None => {}
        }
        match kind_name(schema) {
            Some("integer") => FieldKind::Number,
            Some("boolean") => FieldKind::Switch,
            Some("array") => match item.and_then(kind_name) {
                Some("object") => FieldKind::Objects,
                None | Some("string") => FieldKind::List,
                Some(_) => FieldKind::Other,
            },
            None | Some("string") => FieldKind::Text,
            Some(_) => FieldKind::Other,
        }
    }
}

/// The first type of a schema but null.
fn kind_name(schema: &Value) -> Option<&str> {
    match schema.get("type")? {
        Value::String(name) => Some(name),
        Value::Array(names) => names
            .iter()
            .filter_map(Value::as_str)
            .find(|name| *name != "null"),
        _ => None,
    }
}

impl InputField {
    /// The arguments that the field is given by.
    pub(crate) fn arguments(&self) -> Vec<Arg> {
        let argument = Arg::new(self.id.clone()).help(self.documentation.clone());
        let value_name = self.name.to_uppercase();
        if self.positional {
            let many = if self.kind == FieldKind::Document {
                1..=1
            } else {
                1..=usize::MAX
            };
            let what = if self.kind == FieldKind::Document {
                "; a file, and"
            } else {
                ";"
            };
            let help = format!(
                "{}{what} `-` reads it from standard input",
                self.documentation
            );
            let argument = argument.help(help).value_name(value_name);
            return vec![argument.required(self.required).num_args(many)];
        }
        let argument = argument.long(self.name.replace('_', "-"));
        vec![match self.kind {
            FieldKind::Switch => argument.action(ArgAction::SetTrue),
            // What is no number is refused with the others, by the capability.
            FieldKind::Number => argument.value_name("N").allow_negative_numbers(true),
            FieldKind::List => argument.value_name(value_name).action(ArgAction::Append),
            FieldKind::Text => argument.value_name(value_name),
            FieldKind::Document => argument
                .value_name("FILE")
                .help(format!("{}; a file", self.documentation)),
            FieldKind::Json => argument
                .value_name("FILE")
                .help(format!("{}; a file of JSON", self.documentation)),
            FieldKind::Objects => return self.item_arguments(),
            FieldKind::Other => return Vec::new(),
        }]
    }

    fn item_arguments(&self) -> Vec<Arg> {
        let offered = self.items.iter().filter(|item| item.is_said_in_words());
        let argument = |item: &InputField| {
            let argument = Arg::new(item.id.clone())
                .long(item.name.replace('_', "-"))
                .value_name(item.name.to_uppercase())
                .action(ArgAction::Append)
                .help(format!("{}; may be repeated", item.documentation));
            match item.kind {
                FieldKind::Number => argument.allow_negative_numbers(true),
                _ => argument.allow_hyphen_values(true),
            }
        };
        offered.map(argument).collect()
    }

    fn is_said_in_words(&self) -> bool {
        matches!(
            self.kind,
            FieldKind::Text | FieldKind::Number | FieldKind::List
        )
    }

    /// What was typed for the field.
    fn value(&self, matches: &ArgMatches) -> Result<Option<Value>, Problem> {
        let text = || matches.get_one::<String>(&self.id).map(String::as_str);
        Ok(match self.kind {
            FieldKind::Document => text().map(document).transpose()?.map(Value::from),
            FieldKind::Json => text().map(json).transpose()?,
            _ if self.positional => {
                let words = matches.get_many::<String>(&self.id).map(|words| {
                    let words: Vec<&str> = words.map(String::as_str).collect();
                    match words.as_slice() {
                        ["-"] => document("-"),
                        words => Ok(words.join(" ")),
                    }
                });
                words.transpose()?.map(Value::from)
            }
            FieldKind::Text => text().map(Value::from),
            FieldKind::Number => text().map(number),
            FieldKind::Switch => matches.get_flag(&self.id).then_some(Value::Bool(true)),
            FieldKind::List => matches
                .get_many::<String>(&self.id)
                .map(|items| items.map(|item| Value::from(item.as_str())).collect()),
            FieldKind::Objects => self.objects(matches)?,
            FieldKind::Other => None,
        })
    }

    /// The objects that flags make up, in the order in which they were typed.
    fn objects(&self, matches: &ArgMatches) -> Result<Option<Value>, Problem> {
        let mut typed: Vec<(usize, usize, &str)> = Vec::new();
        for (at, item) in self
            .items
            .iter()
            .enumerate()
            .filter(|(_, i)| i.is_said_in_words())
        {
            let indices = matches.indices_of(&item.id).into_iter().flatten();
            let values = matches.get_many::<String>(&item.id).into_iter().flatten();
            typed.extend(
                indices
                    .zip(values)
                    .map(|(index, value)| (index, at, value.as_str())),
            );
        }
        typed.sort_unstable();
        let mut objects: Vec<Map<String, Value>> = Vec::new();
        for (_, at, value) in typed {
            let Some(item) = self.items.get(at) else {
                continue;
            };
            if at == 0 {
                objects.push(Map::new());
            }
            let flag = |item: &InputField| format!("--{}", item.name.replace('_', "-"));
            let Some(object) = objects.last_mut() else {
                let first = self.items.first().map(flag).unwrap_or_default();
                return Err(Problem::wrong_use(
                    format!("{} has no {first} before it that it belongs to", flag(item)),
                    format!("Write {first} first, then what is to be said of it."),
                ));
            };
            match (item.kind, object.get_mut(&item.name)) {
                (FieldKind::List, Some(Value::Array(list))) => list.push(value.into()),
                (FieldKind::List, _) => _ = object.insert(item.name.clone(), vec![value].into()),
                (_, Some(_)) => {
                    let first = self.items.first().map(flag).unwrap_or_default();
                    return Err(Problem::wrong_use(
                        format!("{} is given twice for one {first}", flag(item)),
                        "",
                    ));
                }
                (FieldKind::Number, None) => _ = object.insert(item.name.clone(), number(value)),
                (_, None) => _ = object.insert(item.name.clone(), value.into()),
            }
        }
        let objects: Vec<Value> = objects.into_iter().map(Value::Object).collect();
        Ok((!objects.is_empty()).then_some(Value::Array(objects)))
    }
}

/// The request, from the words that were typed.
pub(crate) fn input(entry: &Entry, matches: &ArgMatches) -> Result<Value, Problem> {
    let mut input = Map::new();
    for field in fields(entry) {
        if let Some(value) = field.value(matches)? {
            input.insert(field.name, value);
        }
    }
    Ok(Value::Object(input))
}

/// The files that were named, whose text goes into the request; not standard input.
pub(crate) fn files(entry: &Entry, matches: &ArgMatches) -> Vec<String> {
    let is_file = |kind| matches!(kind, FieldKind::Document | FieldKind::Json);
    let fields = fields(entry);
    let files = fields.iter().filter(|field| is_file(field.kind));
    let named = files.filter_map(|field| matches.get_one::<String>(&field.id));
    named.filter(|name| *name != "-").cloned().collect()
}

fn number(text: &str) -> Value {
    text.parse::<i64>()
        .map_or_else(|_| text.into(), Value::from)
}

/// The text of a file; of `-`, of standard input.
fn document(path: &str) -> Result<String, Problem> {
    let (name, bytes) = match path {
        "-" => ("standard input".to_string(), limited(std::io::stdin())),
        path => (format!("“{path}”"), File::open(path).and_then(limited)),
    };
    let bytes = bytes.map_err(|error| {
        let hint = match error.kind() {
            std::io::ErrorKind::NotFound => "Give the name of a file, or `-` for standard input.",
            _ => "",
        };
        Problem::wrong_use(format!("{name} cannot be read: {error}"), hint)
    })?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Problem::wrong_use(
            format!("{name} holds more than 16 MiB"),
            "Give less of it; the first few dozen words of a question decide.",
        ));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| Problem::wrong_use(format!("{name} is not UTF-8"), ""))?;
    // The line end that shells and editors add.
    let text = text.strip_suffix('\n').unwrap_or(&text);
    Ok(text.strip_suffix('\r').unwrap_or(text).to_string())
}

fn limited(from: impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn json(path: &str) -> Result<Value, Problem> {
    let text = document(path)?;
    serde_json::from_str(&text).map_err(|error| {
        Problem::wrong_use(
            format!("“{path}” is no JSON: {error}"),
            "`--json` makes every command print it.",
        )
    })
}

/// A documentation comment as help shows it: on one line, without the last full stop.
fn help_text(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.trim_end_matches('.').to_string()
}
