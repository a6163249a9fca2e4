//! The agent skill: its files are part of the program, and are put where agents look for skills.
//!
//! A file that was changed by hand is never overwritten or removed without being told to, and
//! then a backup is kept.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::client::{Client, Places};
use crate::error::ClientError;
use crate::registrar::Registrar;
use crate::store::{Ledger, hash, private_folder, read, write_whole};

/// The skill's name, which is also that of its folder.
pub const NAME: &str = "lorewell";

/// A file of the skill: its path in the skill's folder, and its text.
pub type SkillFile = (&'static str, &'static str);

/// Every file of the skill.
pub const FILES: &[SkillFile] = &[
    ("SKILL.md", include_str!("../../../skill/lorewell/SKILL.md")),
    (
        "references/abilities.md",
        include_str!("../../../skill/lorewell/references/abilities.md"),
    ),
    (
        "agents/openai.yaml",
        include_str!("../../../skill/lorewell/agents/openai.yaml"),
    ),
];

/// What becomes of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is put there.
    Written,
    /// It is put in the place of an older one of ours.
    Replaced,
    /// It is put in the place of one that was changed by hand, which goes into a backup.
    Overwritten,
    /// It is there as it should be.
    Unchanged,
    /// It goes.
    Removed,
    /// It was changed by hand, and stays.
    Kept,
}

/// A change of one folder of skills, not made yet.
#[derive(Clone, Debug)]
pub struct SkillChange {
    /// The folder of the skill.
    pub folder: PathBuf,
    /// Its files, and what becomes of each.
    pub files: Vec<(String, Fate)>,
}

/// How a folder holds the skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkillState {
    /// Not at all.
    Absent,
    /// As this program has it.
    Current,
    /// As an older program had it, or changed by hand: the files that differ.
    Differs(Vec<String>),
}

/// The folders in which the skill is put for the user: the one that all agents share, and Claude
/// Code's own where that is in use, or `claude` says so. Folders that are one by a symbolic link
/// are named once.
pub fn user_folders(places: &Places, claude: bool) -> Vec<PathBuf> {
    let mut folders = vec![places.home.join(".agents").join("skills")];
    if claude || places.has(Client::ClaudeCode) {
        folders.push(places.claude().join("skills"));
    }
    once(folders)
}

/// The same for the project in `folder`.
pub fn project_folders(folder: &Path, claude: bool) -> Vec<PathBuf> {
    let mut folders = vec![folder.join(".agents").join("skills")];
    if claude || folder.join(".claude").is_dir() {
        folders.push(folder.join(".claude").join("skills"));
    }
    once(folders)
}

fn once(folders: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut seen = Vec::new();
    let is_new = |folder: &PathBuf| {
        let real = fs::canonicalize(folder).unwrap_or_else(|_| folder.clone());
        let is_new = !seen.contains(&real);
        seen.push(real);
        is_new
    };
    folders
        .into_iter()
        .filter(is_new)
        .map(|f| f.join(NAME))
        .collect()
}

/// How the skill stands in a folder of its name.
///
/// # Errors
/// A file cannot be read.
pub fn state(folder: &Path) -> Result<SkillState, ClientError> {
    if !folder.join("SKILL.md").exists() {
        return Ok(SkillState::Absent);
    }
    let mut differing = Vec::new();
    for (name, text) in FILES {
        if read(&folder.join(name))?.as_deref() != Some(*text) {
            differing.push(name.to_string());
        }
    }
    Ok(if differing.is_empty() {
        SkillState::Current
    } else {
        SkillState::Differs(differing)
    })
}

impl Registrar {
    /// The change that puts the skill into `folder` (its own, named [`NAME`]).
    ///
    /// # Errors
    /// Something else has the folder, files were changed by hand and `force` is not given, or a
    /// file cannot be read.
    pub fn install_skill(&self, folder: &Path, force: bool) -> Result<SkillChange, ClientError> {
        check_ours(folder)?;
        let written = written(self.ledger(), folder);
        let mut files = Vec::new();
        let mut changed = Vec::new();
        for (name, text) in FILES {
            let there = read(&folder.join(name))?;
            let fate = match &there {
                None => Fate::Written,
                Some(there) if there == text => Fate::Unchanged,
                Some(there) if written.get(*name) == Some(&hash(there)) => Fate::Replaced,
                Some(_) => {
                    changed.push(name.to_string());
                    Fate::Overwritten
                }
            };
            files.push((name.to_string(), fate));
        }
        // Files that the skill had once.
        for (name, old) in &written {
            let is_now = FILES.iter().any(|(now, _)| now == name);
            let there = read(&folder.join(name))?;
            if !is_now && there.is_some_and(|there| hash(&there) == *old) {
                files.push((name.clone(), Fate::Removed));
            }
        }
        if !changed.is_empty() && !force {
            return Err(ClientError::SkillChanged {
                folder: folder.to_path_buf(),
                files: changed,
            });
        }
        Ok(SkillChange {
            folder: folder.to_path_buf(),
            files,
        })
    }

    /// The change that takes the skill out of `folder`. Files changed by hand stay unless `force`;
    /// files of others always do.
    ///
    /// # Errors
    /// Something else has the folder, or a file cannot be read.
    pub fn uninstall_skill(&self, folder: &Path, force: bool) -> Result<SkillChange, ClientError> {
        check_ours(folder)?;
        let written = written(self.ledger(), folder);
        let mut names: Vec<String> = FILES.iter().map(|(name, _)| name.to_string()).collect();
        names.extend(
            written
                .keys()
                .filter(|name| !names.contains(name))
                .cloned()
                .collect::<Vec<_>>(),
        );
        let mut files = Vec::new();
        for name in names {
            let Some(there) = read(&folder.join(&name))? else {
                continue;
            };
            let ours = FILES
                .iter()
                .any(|(now, text)| *now == name && *text == there)
                || written.get(&name) == Some(&hash(&there));
            let fate = if ours || force {
                Fate::Removed
            } else {
                Fate::Kept
            };
            files.push((name, fate));
        }
        Ok(SkillChange {
            folder: folder.to_path_buf(),
            files,
        })
    }

    /// Makes a change; the backups that were kept.
    ///
    /// # Errors
    /// A file cannot be written. Those before it are.
    pub fn apply_skill(&self, change: &SkillChange) -> Result<Vec<PathBuf>, ClientError> {
        let mut backups = Vec::new();
        let mut now = written(self.ledger(), &change.folder);
        for (name, fate) in &change.files {
            let path = change.folder.join(name);
            let text = FILES
                .iter()
                .find(|(file, _)| file == name)
                .map(|(_, text)| *text);
            let old = match fate {
                Fate::Overwritten | Fate::Removed => read(&path)?,
                _ => None,
            };
            let is_ours = old
                .as_ref()
                .is_none_or(|old| text == Some(old.as_str()) || now.get(name) == Some(&hash(old)));
            if let (Some(old), false) = (&old, is_ours) {
                let name = self.ledger().keep(&path, "skill", old.as_bytes())?;
                backups.push(self.backups().join(name));
            }
            match (fate, text) {
                (Fate::Written | Fate::Replaced | Fate::Overwritten, Some(text)) => {
                    write_whole(&path, text.as_bytes(), false)?;
                    now.insert(name.clone(), hash(text));
                }
                (Fate::Removed, _) => {
                    fs::remove_file(&path).map_err(|e| ClientError::unwritable(&path, e))?;
                    now.remove(name);
                    let above = path.parent().filter(|above| *above != change.folder);
                    // Only folders that are empty go.
                    let _ = above.map(fs::remove_dir);
                }
                (Fate::Unchanged, Some(text)) => {
                    now.insert(name.clone(), hash(text));
                }
                _ => {}
            }
        }
        let is_gone = change.files.iter().all(|(_, fate)| *fate == Fate::Removed);
        if is_gone {
            let _ = fs::remove_dir(&change.folder);
        }
        remember(self.ledger(), &change.folder, &now)?;
        Ok(backups)
    }
}

/// Refuses a folder of the skill's name that holds something else.
fn check_ours(folder: &Path) -> Result<(), ClientError> {
    let not_ours = || ClientError::NotOurSkill {
        folder: folder.to_path_buf(),
    };
    if folder.exists() && !folder.is_dir() {
        return Err(not_ours());
    }
    let Some(text) = read(&folder.join("SKILL.md"))? else {
        return Ok(());
    };
    let is_ours = text
        .lines()
        .any(|line| line.trim_end() == format!("name: {NAME}"));
    if is_ours { Ok(()) } else { Err(not_ours()) }
}

/// The record of what was written into a folder: hashes by file.
fn written(ledger: &Ledger, folder: &Path) -> BTreeMap<String, String> {
    let text = fs::read_to_string(ledger.skill_file(folder)).unwrap_or_default();
    let json: Value = serde_json::from_str(&text).unwrap_or_default();
    let files = json["files"].as_object().into_iter().flatten();
    let file = |(name, hash): (&String, &Value)| Some((name.clone(), hash.as_str()?.to_string()));
    files.filter_map(file).collect()
}

fn remember(
    ledger: &Ledger,
    folder: &Path,
    files: &BTreeMap<String, String>,
) -> Result<(), ClientError> {
    let path = ledger.skill_file(folder);
    if files.is_empty() {
        // One that stays names hashes of files that are gone.
        let _ = fs::remove_file(path);
        return Ok(());
    }
    if let Some(above) = path.parent() {
        private_folder(above)?;
    }
    let json = json!({ "folder": folder.display().to_string(), "files": files });
    write_whole(&path, format!("{json:#}\n").as_bytes(), true)
}

impl SkillChange {
    /// Whether nothing is written or removed.
    pub fn is_nothing(&self) -> bool {
        let stays = |fate: &Fate| matches!(fate, Fate::Unchanged | Fate::Kept);
        self.files.iter().all(|(_, fate)| stays(fate))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_skill_is_built_as_skills_must_be() {
        let (name, text) = FILES[0];
        assert_eq!(name, "SKILL.md");
        let mut parts = text.splitn(3, "---\n");
        assert_eq!(parts.next(), Some(""));
        let front = parts.next().unwrap();
        let fields: Vec<&str> = front
            .lines()
            .filter(|line| !line.starts_with(' '))
            .filter_map(|line| line.split_once(':').map(|(name, _)| name))
            .collect();
        let all = [
            "name",
            "description",
            "license",
            "compatibility",
            "metadata",
            "allowed-tools",
        ];
        assert_eq!(fields, all);
        let field = |name: &str| {
            let line = front.lines().find(|line| line.starts_with(name)).unwrap();
            line.split_once(": ").unwrap().1
        };
        assert_eq!(field("name"), NAME);
        assert!(field("description").len() <= 1024);
        assert!(field("description").contains("Use when"));
        assert!(field("compatibility").len() <= 500);
        assert!(front.contains(concat!("version: \"", env!("CARGO_PKG_VERSION"), "\"")));
        let body = parts.next().unwrap();
        assert!(text.lines().count() < 500);
        // Under 5,000 tokens, four characters each.
        assert!(body.chars().count() < 20_000);
        // What it points to is there.
        for (name, _) in &FILES[1..FILES.len() - 1] {
            assert!(body.contains(name), "{name}");
        }
    }

    #[test]
    fn every_file_of_the_folder_is_in_the_program() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../skill/lorewell");
        let mut found = Vec::new();
        let mut folders = vec![folder.clone()];
        while let Some(next) = folders.pop() {
            for entry in fs::read_dir(next).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = path.strip_prefix(&folder).unwrap();
                    found.push(name.to_string_lossy().replace('\\', "/"));
                }
            }
        }
        found.sort();
        let mut named: Vec<&str> = FILES.iter().map(|(name, _)| *name).collect();
        named.sort_unstable();
        assert_eq!(found, named);
    }
}
