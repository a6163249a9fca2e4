//! What goes into a client's file: its entry for the server, and the command for every prompt.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::client::{Client, Format, SERVER};
use crate::error::ClientError;
use crate::jsonc::{JsoncError, Node, line_and_column, parse};
use crate::jsonc_edit::{Layout, with_element, with_member, with_value, without_item};
use crate::toml_file::{self, TomlError};

/// What a client starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// The program, with its whole path: applications do not know the shell's PATH.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
}

/// The event whose commands see every prompt.
const EVENT: &str = "UserPromptSubmit";
/// What the hook's command runs, behind the program's path.
pub const HOOK_WORDS: &str = "hook prompt";
/// After so many seconds the client goes on without an answer; the command itself ends far sooner.
const HOOK_SECONDS: u64 = 5;

/// A text after an edit, and which of the things that hold others were made by it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Edited {
    pub(crate) text: String,
    pub(crate) made: Vec<String>,
}

/// A file's text, for messages with its path.
pub(crate) struct Page<'a> {
    pub(crate) path: &'a Path,
    pub(crate) text: &'a str,
}

impl Page<'_> {
    fn syntax(&self, at: usize, what: String) -> ClientError {
        let (line, column) = line_and_column(self.text, at);
        ClientError::Syntax {
            path: self.path.to_path_buf(),
            line,
            column,
            what,
        }
    }

    fn unexpected(&self, at: usize, what: String) -> ClientError {
        ClientError::Unexpected {
            path: self.path.to_path_buf(),
            line: line_and_column(self.text, at).0,
            what,
        }
    }

    fn json(&self) -> Result<Option<Node>, ClientError> {
        parse(self.text).map_err(|JsoncError { at, what }| self.syntax(at, what))
    }

    fn toml(&self, TomlError { at, what }: TomlError) -> ClientError {
        self.syntax(at, what)
    }

    /// The same place with another text.
    fn with<'t>(&'t self, text: &'t str) -> Page<'t> {
        Page {
            path: self.path,
            text,
        }
    }

    /// The entry of the server, if there is one.
    pub(crate) fn server(&self, client: Client) -> Result<Option<Value>, ClientError> {
        if client.format() == Format::Toml {
            return toml_file::table(self.text, client.holder(), SERVER).map_err(|e| self.toml(e));
        }
        let root = self.json()?;
        let entry = root
            .as_ref()
            .and_then(|root| root.at(&[client.holder(), SERVER]));
        Ok(entry.map(Node::value))
    }

    /// The text with an entry for the server; what else stands in an entry that is there stays.
    pub(crate) fn with_server(
        &self,
        client: Client,
        server: &Server,
    ) -> Result<Edited, ClientError> {
        let mut fields: Vec<(&str, Value)> = Vec::new();
        if client.says_type() {
            fields.push(("type", json!("stdio")));
        }
        fields.push(("command", json!(server.command)));
        fields.push(("args", json!(server.args)));
        let holder = client.holder();
        if client.format() == Format::Toml {
            let edited = toml_file::with_table(self.text, holder, SERVER, &fields);
            let text = edited.map_err(|error| match error {
                Some(error) => self.toml(error),
                None => self.unexpected(0, format!("“{holder}.{SERVER}” is no table")),
            })?;
            return Ok(Edited {
                text,
                made: Vec::new(),
            });
        }
        let entry: Map<String, Value> = fields
            .iter()
            .map(|(k, v)| (k.to_string(), v.clone()))
            .collect();
        let Some((root, layout)) = self.object()? else {
            return Ok(self.fresh(&json!({ holder: { SERVER: entry } })));
        };
        let Some(servers) = root.at(&[holder]) else {
            let value = json!({ SERVER: entry });
            return Ok(Edited {
                text: with_member(self.text, &layout, &root, holder, &value),
                made: vec![holder.to_string()],
            });
        };
        if !servers.is_object() {
            return Err(self.unexpected(servers.span.start, format!("“{holder}” is no object")));
        }
        let text = match servers.at(&[SERVER]) {
            None => with_member(self.text, &layout, servers, SERVER, &Value::Object(entry)),
            Some(old) if !old.is_object() => {
                with_value(self.text, &layout, old, &Value::Object(entry))
            }
            Some(_) => self.with_fields(&[holder, SERVER], &fields)?,
        };
        Ok(Edited {
            text,
            made: Vec::new(),
        })
    }

    /// The text with fields set in the object at a path.
    fn with_fields(&self, path: &[&str], fields: &[(&str, Value)]) -> Result<String, ClientError> {
        let mut text = self.text.to_string();
        for (key, value) in fields {
            let page = self.with(&text);
            let Some((root, layout)) = page.object()? else {
                break;
            };
            let Some(object) = root.at(path) else { break };
            let next = match object.at(&[key]) {
                Some(old) if old.value() == *value => continue,
                Some(old) => with_value(&text, &layout, old, value),
                None => with_member(&text, &layout, object, key, value),
            };
            text = next;
        }
        Ok(text)
    }

    /// The text without the entry of the server, and without `made` where they are empty now.
    pub(crate) fn without_server(
        &self,
        client: Client,
        made: &[String],
    ) -> Result<String, ClientError> {
        let holder = client.holder();
        if client.format() == Format::Toml {
            return toml_file::without_table(self.text, holder, SERVER).map_err(|e| self.toml(e));
        }
        let text = self.without(&[holder, SERVER])?;
        if made.iter().any(|name| name == holder) {
            return self.with(&text).without_empty(&[holder]);
        }
        Ok(text)
    }

    /// The text without the member at a path.
    fn without(&self, path: &[&str]) -> Result<String, ClientError> {
        let Some((name, above)) = path.split_last() else {
            return Ok(self.text.to_string());
        };
        let root = self.json()?;
        let holder = root.as_ref().and_then(|root| root.at(above));
        let number = holder.and_then(|holder| match &holder.kind {
            crate::jsonc::NodeKind::Object(members, _) => {
                members.iter().rposition(|member| member.key == *name)
            }
            _ => None,
        });
        Ok(match (holder, number) {
            (Some(holder), Some(number)) => without_item(self.text, holder, number),
            _ => self.text.to_string(),
        })
    }

    /// The text without the member at a path, if it holds nothing.
    fn without_empty(&self, path: &[&str]) -> Result<String, ClientError> {
        let root = self.json()?;
        let holder = root.as_ref().and_then(|root| root.at(path));
        let is_empty = holder.is_some_and(|holder| {
            let value = holder.value();
            value == json!({}) || value == json!([])
        });
        if is_empty {
            return self.without(path);
        }
        Ok(self.text.to_string())
    }

    /// The command that is run for every prompt, if there is one of ours.
    pub(crate) fn hook(&self) -> Result<Option<String>, ClientError> {
        let root = self.json()?;
        let command = root
            .as_ref()
            .and_then(our_hook)
            .and_then(|(_, _, command)| command.value().as_str().map(str::to_string));
        Ok(command)
    }

    /// The text with `command` run for every prompt.
    pub(crate) fn with_hook(&self, command: &str) -> Result<Edited, ClientError> {
        let hook = json!({ "hooks": [
            { "type": "command", "command": command, "timeout": HOOK_SECONDS }
        ]});
        let Some((root, layout)) = self.object()? else {
            return Ok(self.fresh(&json!({ "hooks": { EVENT: [hook] } })));
        };
        let edited = |text, made: &[&str]| Edited {
            text,
            made: made.iter().map(|name| name.to_string()).collect(),
        };
        if let Some((.., old)) = our_hook(&root) {
            let new = Value::from(command);
            if old.value() == new {
                return Ok(edited(self.text.to_string(), &[]));
            }
            return Ok(edited(with_value(self.text, &layout, old, &new), &[]));
        }
        let Some(hooks) = root.at(&["hooks"]) else {
            let value = json!({ EVENT: [hook] });
            let text = with_member(self.text, &layout, &root, "hooks", &value);
            return Ok(edited(text, &["hooks", EVENT]));
        };
        if !hooks.is_object() {
            return Err(self.unexpected(hooks.span.start, "“hooks” is no object".to_string()));
        }
        let Some(event) = hooks.at(&[EVENT]) else {
            let text = with_member(self.text, &layout, hooks, EVENT, &json!([hook]));
            return Ok(edited(text, &[EVENT]));
        };
        if event.elements().is_none() {
            let what = format!("“hooks.{EVENT}” is no list");
            return Err(self.unexpected(event.span.start, what));
        }
        Ok(edited(with_element(self.text, &layout, event, &hook), &[]))
    }

    /// The text without our command for every prompt, and without `made` where they are empty now.
    pub(crate) fn without_hook(&self, made: &[String]) -> Result<String, ClientError> {
        let Some(root) = self.json()? else {
            return Ok(self.text.to_string());
        };
        let Some((group, number, _)) = our_hook(&root) else {
            return Ok(self.text.to_string());
        };
        let event = root.at(&["hooks", EVENT]);
        let groups = event.and_then(Node::elements).unwrap_or_default();
        let hooks = groups.get(group).and_then(|group| group.at(&["hooks"]));
        let alone = hooks
            .and_then(Node::elements)
            .is_some_and(|hooks| hooks.len() == 1);
        let mut text = match (event, hooks) {
            (Some(event), _) if alone => without_item(self.text, event, group),
            (_, Some(hooks)) => without_item(self.text, hooks, number),
            _ => return Ok(self.text.to_string()),
        };
        let was_made = |name: &str| made.iter().any(|made| made == name);
        if was_made(EVENT) {
            text = self.with(&text).without_empty(&["hooks", EVENT])?;
        }
        if was_made("hooks") {
            text = self.with(&text).without_empty(&["hooks"])?;
        }
        Ok(text)
    }

    /// The object that the file holds, and its layout; nothing where the file holds nothing.
    fn object(&self) -> Result<Option<(Node, Layout)>, ClientError> {
        let Some(root) = self.json()? else {
            return Ok(None);
        };
        if !root.is_object() {
            return Err(self.unexpected(root.span.start, "the file holds no object".to_string()));
        }
        let layout = Layout::of(self.text, &root);
        Ok(Some((root, layout)))
    }

    /// A file that held nothing, or only comments.
    fn fresh(&self, value: &Value) -> Edited {
        let layout = Layout::usual();
        let mut text = self.text.trim_end().to_string();
        if !text.is_empty() && text != "\u{feff}" {
            text.push_str(layout.newline());
        }
        text += &layout.written(value, "");
        text.push_str(layout.newline());
        let names = value.as_object().into_iter().flat_map(Map::keys);
        Edited {
            text,
            made: names.cloned().chain([EVENT.to_string()]).collect(),
        }
    }
}

/// Our command among those of the event: the number of its group, its number there, and its text.
fn our_hook(root: &Node) -> Option<(usize, usize, &Node)> {
    let groups = root.at(&["hooks", EVENT])?.elements()?;
    groups.iter().enumerate().find_map(|(group, node)| {
        let hooks = node.at(&["hooks"])?.elements()?;
        hooks.iter().enumerate().find_map(|(number, hook)| {
            let command = hook.at(&["command"])?;
            is_our_command(command.value().as_str()?).then_some((group, number, command))
        })
    })
}

/// Whether a line of a shell runs our hook, whatever the path and name of the program.
fn is_our_command(line: &str) -> bool {
    let Some((program, words)) = line.split_once(HOOK_WORDS) else {
        return false;
    };
    let program = program.trim().trim_matches(['"', '\'']);
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let clients = [Client::ClaudeCode, Client::Codex].map(Client::name);
    let is_as_written = |client| words.trim() == format!("--client {client}");
    name.starts_with(SERVER) || clients.into_iter().any(is_as_written)
}

/// The line of a shell that runs the hook with the program at `command`.
pub fn hook_line(command: &str, client: Client) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:\\".contains(c);
    let quoted = if command.chars().all(plain) && (cfg!(windows) || !command.contains('\\')) {
        command.to_string()
    } else if cfg!(windows) {
        format!("\"{command}\"")
    } else {
        format!("'{}'", command.replace('\'', r"'\''"))
    };
    format!("{quoted} {HOOK_WORDS} --client {}", client.name())
}
