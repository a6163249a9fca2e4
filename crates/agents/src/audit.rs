//! The log of what agents received: one JSON object a line, in files of bounded size and number.
//!
//! `audit.jsonl` is written; full, it becomes `audit-1.jsonl`, and that one `audit-2.jsonl`. All
//! writing is under the lock of the folder, so several processes may write. A line is one write
//! and not synced: a machine that loses power may lose the last lines, and a line that was torn
//! so is passed over and counted.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;

use crate::audit_entry::AuditEntry;
use crate::caller::means;
use crate::{AgentsError, files};

/// Whether a note of the vault in a folder must no longer be named.
pub type Unnamed = Arc<dyn Fn(&Path, &str) -> bool + Send + Sync>;

/// How much is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditLimits {
    /// The size of a file, in bytes; then another is begun.
    pub file_bytes: u64,
    /// How many files are kept, the one that is written included.
    pub files: u64,
}

/// The log in a folder of its own.
#[derive(Clone)]
pub struct AuditLog {
    folder: PathBuf,
    limits: AuditLimits,
    unnamed: Option<Unnamed>,
}

/// Which entries are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Of this agent, whatever the case; `client` means all programs without an approval.
    pub agent: Option<String>,
    /// Of the vault in this canonical folder.
    pub folder: Option<PathBuf>,
    /// Not older than this.
    pub since: Option<Timestamp>,
    /// At most so many, the newest.
    pub limit: usize,
}

/// What a look into the log found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditView {
    /// The entries, oldest first.
    pub entries: Vec<AuditEntry>,
    /// Whether older ones were left out for the limit.
    pub more: bool,
    /// Lines that are no entries, such as one that was cut by a loss of power.
    pub unreadable_lines: usize,
}

impl AuditLog {
    /// The log in `folder`, which need not exist yet.
    pub fn new(folder: impl Into<PathBuf>, limits: AuditLimits) -> AuditLog {
        AuditLog {
            folder: folder.into(),
            limits,
            unnamed: None,
        }
    }

    /// The same log that leaves out, when it is read and when a file is full, what `unnamed` says
    /// must no longer be named.
    pub fn leaving_out(self, unnamed: Unnamed) -> AuditLog {
        AuditLog {
            unnamed: Some(unnamed),
            ..self
        }
    }

    /// Whether there is anything in it.
    pub fn exists(&self) -> bool {
        self.file(0).exists()
    }

    /// Writes an entry. An answer must not leave before.
    ///
    /// # Errors
    /// It cannot be written, or the folder is not private.
    pub fn record(&self, entry: &AuditEntry) -> Result<(), AgentsError> {
        let mut line = serde_json::to_vec(entry).unwrap_or_default();
        line.push(b'\n');
        let _lock = files::lock(&self.folder)?;
        let path = self.file(0);
        let unwritable = |source| AgentsError::Unwritable {
            path: path.clone(),
            source,
        };
        let mut file = files::open_private(&path, true).map_err(unwritable)?;
        let size = file.metadata().map_err(unwritable)?.len();
        if size > 0 && size + line.len() as u64 > self.limits.file_bytes {
            drop(file);
            self.rotate()?;
            file = files::open_private(&path, true).map_err(unwritable)?;
        } else if is_torn(&mut file, size).map_err(unwritable)? {
            line.insert(0, b'\n');
        }
        file.write_all(&line).map_err(unwritable)
    }

    /// The entries that a filter lets through.
    ///
    /// # Errors
    /// A file cannot be read, or the folder is not private.
    pub fn read(&self, filter: &AuditFilter) -> Result<AuditView, AgentsError> {
        let mut view = AuditView::default();
        if !self.exists() {
            return Ok(view);
        }
        let _lock = files::lock(&self.folder)?;
        for path in self.files_oldest_first() {
            for line in lines(&path)? {
                match line {
                    Ok(entry) if filter.lets(&entry) => view.entries.push(self.nameable(entry)),
                    Ok(_) => {}
                    Err(_) => view.unreadable_lines += 1,
                }
            }
        }
        let surplus = view.entries.len().saturating_sub(filter.limit);
        view.entries.drain(..surplus);
        view.more = surplus > 0;
        Ok(view)
    }

    /// Takes out of all files what of the vault in `folder` must no longer be named. To be called
    /// when notes were excluded. Lines that are no entries go as well, for they may name anything;
    /// how many is given back.
    ///
    /// # Errors
    /// A file cannot be read or written.
    pub fn forget(
        &self,
        folder: &Path,
        unnamed: &dyn Fn(&str) -> bool,
    ) -> Result<usize, AgentsError> {
        let mut dropped = 0;
        if !self.exists() {
            return Ok(dropped);
        }
        let _lock = files::lock(&self.folder)?;
        for path in self.files_oldest_first() {
            dropped += rewrite(&path, &|vault, note| vault == folder && unnamed(note))?;
        }
        Ok(dropped)
    }

    /// The canonical folders of the vaults that it tells of.
    ///
    /// # Errors
    /// As [`AuditLog::read`].
    pub fn folders(&self) -> Result<Vec<PathBuf>, AgentsError> {
        let all = AuditFilter {
            limit: usize::MAX,
            ..AuditFilter::default()
        };
        let entries = self.read(&all)?.entries;
        let mut folders: Vec<PathBuf> = entries.into_iter().map(|entry| entry.folder).collect();
        folders.sort();
        folders.dedup();
        Ok(folders)
    }

    fn nameable(&self, mut entry: AuditEntry) -> AuditEntry {
        if let Some(unnamed) = &self.unnamed {
            let AuditEntry {
                folder, passages, ..
            } = &mut entry;
            passages.retain(|passage| !unnamed(folder, &passage.note));
        }
        entry
    }

    /// Makes room: every file takes the next number, and the last goes.
    fn rotate(&self) -> Result<(), AgentsError> {
        if let Some(unnamed) = &self.unnamed {
            rewrite(&self.file(0), &|vault, note| unnamed(vault, note))?;
        }
        let unwritable = |path: PathBuf| {
            move |source| AgentsError::Unwritable {
                path: path.clone(),
                source,
            }
        };
        for (number, path) in self.numbered() {
            if number + 1 >= self.limits.files {
                fs::remove_file(&path).map_err(unwritable(path.clone()))?;
            } else {
                let next = self.file(number + 1);
                fs::rename(&path, &next).map_err(unwritable(path.clone()))?;
            }
        }
        Ok(())
    }

    fn file(&self, number: u64) -> PathBuf {
        self.folder.join(match number {
            0 => "audit.jsonl".to_owned(),
            number => format!("audit-{number}.jsonl"),
        })
    }

    /// The files with their numbers, the highest first: also those beyond a limit that was
    /// lowered.
    fn numbered(&self) -> Vec<(u64, PathBuf)> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut files: Vec<(u64, PathBuf)> = entries
            .filter_map(|entry| {
                let name = entry.file_name();
                let stem = name.to_str()?.strip_suffix(".jsonl")?;
                let number = match stem.strip_prefix("audit")? {
                    "" => 0,
                    rest => rest.strip_prefix('-')?.parse().ok()?,
                };
                Some((number, entry.path()))
            })
            .collect();
        files.sort_unstable_by(|a, b| b.cmp(a));
        files
    }

    fn files_oldest_first(&self) -> impl Iterator<Item = PathBuf> {
        self.numbered().into_iter().map(|(_, path)| path)
    }
}

impl AuditFilter {
    fn lets(&self, entry: &AuditEntry) -> bool {
        let time: Option<Timestamp> = entry.time.parse().ok();
        self.agent
            .as_ref()
            .is_none_or(|agent| means(agent, &entry.agent))
            && self.folder.as_ref().is_none_or(|f| *f == entry.folder)
            && self
                .since
                .is_none_or(|since| time.is_some_and(|t| t >= since))
    }
}

/// Whether the last line lacks its end.
fn is_torn(file: &mut File, size: u64) -> io::Result<bool> {
    if size == 0 {
        return Ok(false);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != [b'\n'])
}

/// The lines of a file, each as an entry or as none.
fn lines(path: &Path) -> Result<Vec<Result<AuditEntry, serde_json::Error>>, AgentsError> {
    let bytes = fs::read(path).map_err(|source| AgentsError::Unreadable {
        path: path.to_path_buf(),
        source,
    })?;
    let lines = bytes.split(|byte| *byte == b'\n');
    let filled = lines.filter(|line| !line.is_empty());
    Ok(filled.map(serde_json::from_slice).collect())
}

/// Writes a file anew without what must not be named, if there is any of it; how many lines were
/// no entries and went as well.
fn rewrite(path: &Path, unnamed: &dyn Fn(&Path, &str) -> bool) -> Result<usize, AgentsError> {
    let mut changed = false;
    let mut dropped = 0;
    let mut bytes = Vec::new();
    for line in lines(path)? {
        let Ok(mut entry) = line else {
            dropped += 1;
            continue;
        };
        let before = entry.passages.len();
        let folder = entry.folder.clone();
        entry.passages.retain(|p| !unnamed(&folder, &p.note));
        changed |= entry.passages.len() < before;
        bytes.extend(serde_json::to_vec(&entry).unwrap_or_default());
        bytes.push(b'\n');
    }
    if changed || dropped > 0 {
        files::write_whole(path, &bytes)?;
    }
    Ok(dropped)
}
