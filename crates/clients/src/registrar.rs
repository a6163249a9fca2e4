//! Registering: from a wish to a change of one file that can be looked at, and then made.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use similar::TextDiff;

use crate::client::{Client, Places, Reach};
use crate::document::{Edited, Page, Server, hook_line};
use crate::error::ClientError;
use crate::store::{Ledger, Origin, Record, hash, read, target, write_whole};

/// What of a registration a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The server and how it is started.
    Server,
    /// The command for every prompt.
    Hook,
}

/// What a change does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The registration is new.
    Added,
    /// It was there and becomes another.
    Updated,
    /// It is there as it should be.
    Unchanged,
    /// It goes.
    Removed,
    /// There is none to remove.
    NotThere,
}

/// A change of one file, not made yet.
#[derive(Clone, Debug)]
pub struct Change {
    /// Whose file it is.
    pub client: Client,
    /// What is registered.
    pub part: Part,
    /// The file, as its program names it.
    pub path: PathBuf,
    /// What the change does.
    pub action: Action,
    before: Option<String>,
    after: Option<String>,
    made: Vec<String>,
    private: bool,
}

/// What stands in a client's file.
#[derive(Debug)]
pub struct Standing {
    /// The file.
    pub path: PathBuf,
    /// The command that the client starts, or runs for a prompt, and its arguments.
    pub registered: Result<Option<Server>, ClientError>,
}

/// Registers and takes registrations back.
#[derive(Clone, Debug)]
pub struct Registrar {
    places: Places,
    ledger: Ledger,
}

impl Registrar {
    /// `folder`: where backups and what was done are kept.
    pub fn new(places: Places, folder: &Path) -> Registrar {
        Registrar {
            places,
            ledger: Ledger::at(folder),
        }
    }

    /// The places of the programs.
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// The folder of backups.
    pub fn backups(&self) -> PathBuf {
        self.ledger.backups()
    }

    pub(crate) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    fn file(&self, client: Client, reach: &Reach, part: Part) -> Result<PathBuf, ClientError> {
        match part {
            Part::Server => self.places.servers(client, reach),
            Part::Hook => self.places.hooks(client, reach),
        }
    }

    /// The change that registers a part.
    ///
    /// # Errors
    /// The client has no such place, or its file cannot be read or understood.
    pub fn install(
        &self,
        client: Client,
        reach: &Reach,
        part: Part,
        server: &Server,
    ) -> Result<Change, ClientError> {
        let path = self.file(client, reach, part)?;
        let before = read(&path)?;
        let page = Page {
            path: &path,
            text: before.as_deref().unwrap_or_default(),
        };
        let (was_there, edited) = match part {
            Part::Server => {
                let there = page.server(client)?.is_some();
                (there, page.with_server(client, server)?)
            }
            Part::Hook => {
                let there = page.hook()?.is_some();
                let line = hook_line(&server.command, client);
                (there, page.with_hook(&line)?)
            }
        };
        let Edited { text, made } = edited;
        let action = match was_there {
            _ if before.as_deref() == Some(text.as_str()) => Action::Unchanged,
            true => Action::Updated,
            false => Action::Added,
        };
        Ok(Change {
            client,
            part,
            path,
            action,
            before,
            after: Some(text),
            made,
            private: *reach == Reach::User,
        })
    }

    /// The change that takes a registration back. Where the file is still as it was written it
    /// becomes what it was before, byte for byte; else only the registration goes.
    ///
    /// # Errors
    /// The client has no such place, or its file cannot be read or understood.
    pub fn uninstall(
        &self,
        client: Client,
        reach: &Reach,
        part: Part,
    ) -> Result<Change, ClientError> {
        let path = self.file(client, reach, part)?;
        let before = read(&path)?;
        let page = Page {
            path: &path,
            text: before.as_deref().unwrap_or_default(),
        };
        let is_there = match part {
            Part::Server => page.server(client)?.is_some(),
            Part::Hook => page.hook()?.is_some(),
        };
        let after = if is_there {
            self.before_us(&page, client, part)?
        } else {
            before.clone()
        };
        Ok(Change {
            client,
            part,
            action: if is_there {
                Action::Removed
            } else {
                Action::NotThere
            },
            before,
            after,
            path,
            made: Vec::new(),
            private: *reach == Reach::User,
        })
    }

    /// The file without the part.
    fn before_us(
        &self,
        page: &Page<'_>,
        client: Client,
        part: Part,
    ) -> Result<Option<String>, ClientError> {
        let record = self.ledger.record(page.path).unwrap_or_default();
        if record.after == hash(page.text) {
            match &record.origin {
                Origin::Absent => return Ok(None),
                Origin::Kept(name) => {
                    if let Some(text) = self.ledger.kept(name) {
                        return Ok(Some(text));
                    }
                }
                Origin::Unknown => {}
            }
        }
        let text = match part {
            Part::Server => page.without_server(client, &record.made)?,
            Part::Hook => page.without_hook(&record.made)?,
        };
        Ok(Some(text))
    }

    /// Makes a change; the backup of the file as it was, if there was one.
    ///
    /// # Errors
    /// The file changed meanwhile, or cannot be written. Then it is as it was.
    pub fn apply(&self, change: &Change) -> Result<Option<PathBuf>, ClientError> {
        if change.is_nothing() {
            return Ok(None);
        }
        let path = &change.path;
        if read(path)? != change.before {
            return Err(ClientError::Changing { path: path.clone() });
        }
        let before = self.ledger.record(path);
        let backup = match &change.before {
            Some(text) => Some(
                self.ledger
                    .keep(path, change.client.name(), text.as_bytes())?,
            ),
            None => None,
        };
        match &change.after {
            Some(text) if matches!(change.action, Action::Added | Action::Updated) => {
                let record = self.record_of(change, before, backup.as_deref(), text);
                write_whole(path, text.as_bytes(), change.private)?;
                self.ledger.remember(path, &record)?;
            }
            Some(text) => {
                write_whole(path, text.as_bytes(), change.private)?;
                self.ledger.forget(path);
            }
            None => {
                fs::remove_file(target(path)).map_err(|e| ClientError::unwritable(path, e))?;
                self.ledger.forget(path);
                let folders = before.map(|record| record.folders).unwrap_or_default();
                for folder in folders.iter().rev() {
                    // Only one that is empty goes.
                    let _ = fs::remove_dir(folder);
                }
            }
        }
        Ok(backup.map(|name| self.ledger.backups().join(name)))
    }

    /// What to remember of a change that registers.
    fn record_of(
        &self,
        change: &Change,
        before: Option<Record>,
        backup: Option<&str>,
        text: &str,
    ) -> Record {
        let untouched = |record: &Record| {
            change
                .before
                .as_deref()
                .is_some_and(|text| hash(text) == record.after)
        };
        let after = hash(text);
        match before {
            // Ours over ours: the file before the first of them is the one to go back to.
            Some(record) if change.action == Action::Updated => Record {
                origin: if untouched(&record) {
                    record.origin
                } else {
                    Origin::Unknown
                },
                after,
                ..record
            },
            _ => Record {
                after,
                origin: match (change.action, backup) {
                    (Action::Updated, _) => Origin::Unknown,
                    (_, Some(name)) => Origin::Kept(name.to_string()),
                    (_, None) => Origin::Absent,
                },
                made: change.made.clone(),
                folders: missing_folders(&change.path),
            },
        }
    }

    /// What a client's file holds of ours.
    ///
    /// # Errors
    /// The client has no such place.
    pub fn standing(
        &self,
        client: Client,
        reach: &Reach,
        part: Part,
    ) -> Result<Standing, ClientError> {
        let path = self.file(client, reach, part)?;
        let registered = read(&path).and_then(|text| {
            let page = Page {
                path: &path,
                text: text.as_deref().unwrap_or_default(),
            };
            match part {
                Part::Server => Ok(page.server(client)?.map(|entry| server_of(&entry))),
                Part::Hook => Ok(page.hook()?.map(|line| server_of_line(&line))),
            }
        });
        Ok(Standing { path, registered })
    }
}

/// The folders above a file that are not there, outermost first.
fn missing_folders(path: &Path) -> Vec<PathBuf> {
    let missing = path
        .ancestors()
        .skip(1)
        .take_while(|folder| !folder.exists());
    let mut folders: Vec<PathBuf> = missing.map(Path::to_path_buf).collect();
    folders.reverse();
    folders
}

fn server_of(entry: &Value) -> Server {
    let args = entry["args"].as_array().into_iter().flatten();
    Server {
        command: entry["command"].as_str().unwrap_or_default().to_string(),
        args: args.filter_map(Value::as_str).map(str::to_string).collect(),
    }
}

/// The program of a line of a shell, and the words behind it.
fn server_of_line(line: &str) -> Server {
    let (program, words) = line
        .split_once(crate::document::HOOK_WORDS)
        .unwrap_or((line, ""));
    let program = program
        .trim()
        .trim_matches(['"', '\''])
        .replace(r"'\''", "'");
    let words = format!("{}{words}", crate::document::HOOK_WORDS);
    Server {
        command: program,
        args: words.split_whitespace().map(str::to_string).collect(),
    }
}

impl Change {
    /// Whether the file stays as it is.
    pub fn is_nothing(&self) -> bool {
        self.before == self.after || matches!(self.action, Action::Unchanged | Action::NotThere)
    }

    /// Whether the file is made by the change.
    pub fn makes_file(&self) -> bool {
        self.before.is_none() && self.after.is_some()
    }

    /// Whether the file goes with it, for it was made by us and holds nothing else.
    pub fn removes_file(&self) -> bool {
        self.before.is_some() && self.after.is_none()
    }

    /// The change as a unified difference; empty where there is none.
    pub fn difference(&self) -> String {
        if self.is_nothing() {
            return String::new();
        }
        let shown = self.path.display().to_string();
        let name = |text: &Option<String>| match text {
            Some(_) => shown.clone(),
            None => "/dev/null".to_string(),
        };
        let (old, new) = (name(&self.before), name(&self.after));
        // The ends of lines are no matter of the change.
        let plain =
            |text: &Option<String>| text.as_deref().unwrap_or_default().replace("\r\n", "\n");
        let (before, after) = (plain(&self.before), plain(&self.after));
        TextDiff::from_lines(before.as_str(), after.as_str())
            .unified_diff()
            .context_radius(2)
            .header(&old, &new)
            .to_string()
    }
}
