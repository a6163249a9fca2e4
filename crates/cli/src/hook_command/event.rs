//! The event that an agent tells of: a prompt, and what it holds already.

use std::io::Read;
use std::path::{Path, PathBuf};

use lorewell_setup::Environment;
use serde_json::Value;

use crate::outcome::Problem;

/// So much of standard input is read.
const MAX_INPUT: u64 = 4 << 20;
/// So much of a prompt is asked for: what is wanted stands at the beginning or at the end.
const MAX_QUESTION: usize = 2000;

/// What the agent tells of the event.
pub(super) struct Event {
    pub(super) prompt: String,
    pub(super) session: String,
    folder: PathBuf,
}

impl Event {
    pub(super) fn read(environment: &Environment) -> Result<Event, Problem> {
        let mut text = Vec::new();
        let read = std::io::stdin()
            .lock()
            .take(MAX_INPUT)
            .read_to_end(&mut text);
        let json: Option<Value> = read.ok().and_then(|_| serde_json::from_slice(&text).ok());
        let Some(json) = json else {
            return Err(Problem::wrong_use(
                "standard input holds no event of an agent",
                "This command is run by agents; `lorewell context` is for people.",
            ));
        };
        let field = |name: &str| json[name].as_str().unwrap_or_default().to_string();
        let folder = field("cwd");
        Ok(Event {
            prompt: field("prompt"),
            session: field("session_id"),
            folder: if folder.is_empty() {
                environment.current_dir.clone()
            } else {
                PathBuf::from(folder)
            },
        })
    }

    /// What to ask the notes: nothing for a command of the agent and for a word or two such as
    /// "go on".
    pub(super) fn question(&self) -> Option<String> {
        let prompt = self.prompt.trim();
        if prompt.starts_with(['/', '!', '#'])
            || prompt.split_whitespace().count() < 3 && prompt.len() < 12
        {
            return None;
        }
        if prompt.len() <= MAX_QUESTION {
            return Some(prompt.to_string());
        }
        let half = MAX_QUESTION / 2;
        let start = prompt.floor_char_boundary(half);
        let end = prompt.ceil_char_boundary(prompt.len() - half);
        Some(format!("{} {}", &prompt[..start], &prompt[end..]))
    }

    /// Paths in the vault that the prompt names as files (`@Notes/Kiln.md`, `@"My note.md"`): the
    /// agent has them whole.
    pub(super) fn attached(&self, root: &Path) -> Vec<String> {
        let mut found = Vec::new();
        for (at, _) in self.prompt.match_indices('@') {
            let before = self.prompt[..at].chars().next_back();
            if before.is_some_and(|c| !c.is_whitespace() && !"([{\"'".contains(c)) {
                continue;
            }
            let rest = &self.prompt[at + 1..];
            let name = match rest.strip_prefix('"') {
                Some(quoted) => quoted.split('"').next().unwrap_or_default(),
                None => rest.split_whitespace().next().unwrap_or_default(),
            };
            let name = name.trim_end_matches([',', ';', ':', '?', '!', ')']);
            let name = name
                .strip_suffix(".md.")
                .map_or(name, |_| &name[..name.len() - 1]);
            let places = [self.folder.join(name), root.join(name)];
            let real = places.iter().find_map(|path| path.canonicalize().ok());
            let inside = real
                .as_deref()
                .and_then(|path| path.strip_prefix(root).ok());
            if let Some(inside) = inside.filter(|_| !name.is_empty()) {
                let path = inside.to_string_lossy().replace('\\', "/");
                if !path.is_empty() && !found.contains(&path) {
                    found.push(path);
                }
            }
        }
        found
    }
}
