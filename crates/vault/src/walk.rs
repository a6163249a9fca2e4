//! The look at the whole folder, in parallel.
//!
//! First every real folder is visited; then the links that were met are judged, when it is known
//! what the vault holds under its own name.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, DirEntry, ReadDir};
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use lorewell_text::NotePath;
use rayon::Scope;
use rayon::iter::ParallelIterator;
use rayon::slice::ParallelSlice;

use crate::leftovers::{self, extension, icloud_note, is_note};
use crate::metadata::{Allocation, Facts, is_loop, on_disk, real_path, relative};
use crate::{FileEntry, LeftOut, Listing, Reason, Rules, Unreadable};

/// Deeper folders are not visited: no one nests notes so, but a mount can hold itself.
const MAX_DEPTH: usize = 128;
/// How many notes of one folder a thread looks at before it may share the work.
const BATCH: usize = 256;

/// A listing, and what it taught about the file system.
pub(crate) struct Found {
    pub(crate) listing: Listing,
    /// Files have sizes but none has blocks: the file system does not count them.
    pub(crate) counts_no_blocks: bool,
}

/// Looks at all under `root`.
///
/// # Errors
/// The root itself cannot be read.
pub(crate) fn walk(root: &Path, rules: &Rules, max_bytes: u64) -> io::Result<Found> {
    let entries = fs::read_dir(root)?;
    let walk = Walk {
        root,
        rules,
        max_bytes,
        parts: Mutex::default(),
    };
    rayon::scope(|scope| walk.visit(scope, "", entries));
    let parts = walk
        .parts
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    let mut all = Part::default();
    for part in parts {
        all.listing.absorb(part.listing);
        all.seen.extend(part.seen);
        all.links.extend(part.links);
        all.stubs.extend(part.stubs);
    }
    judge_links(root, rules, max_bytes, &mut all);
    Ok(all.finish())
}

/// What one folder holds, sub-folders not included.
#[derive(Default)]
struct Part {
    listing: Listing,
    seen: Vec<(String, Facts)>,
    /// Paths of symbolic links.
    links: Vec<String>,
    /// Notes for which iCloud left a stub, and the stubs' own facts.
    stubs: Vec<(String, Facts)>,
}

struct Walk<'a> {
    root: &'a Path,
    rules: &'a Rules,
    max_bytes: u64,
    parts: Mutex<Vec<Part>>,
}

impl<'a> Walk<'a> {
    fn enter<'s>(&'s self, scope: &Scope<'s>, folder: String) {
        scope.spawn(move |scope| {
            if folder.bytes().filter(|b| *b == b'/').count() >= MAX_DEPTH {
                return self.unreadable(&folder, "folders are nested too deeply".to_owned());
            }
            match fs::read_dir(on_disk(self.root, &folder)) {
                Ok(entries) => self.visit(scope, &folder, entries),
                Err(e) => self.unreadable(&folder, trouble(&e)),
            }
        });
    }

    fn visit<'s>(&'s self, scope: &Scope<'s>, folder: &str, entries: ReadDir) {
        let mut part = Part::default();
        let mut notes = Vec::new();
        for entry in entries {
            match entry {
                Ok(entry) => self.sort_in(scope, folder, entry, &mut part, &mut notes),
                Err(e) => part.unreadable(folder, true, trouble(&e)),
            }
        }
        if notes.len() > BATCH {
            notes.par_chunks(BATCH).for_each(|notes| {
                let mut part = Part::default();
                part.look_at(notes, self.max_bytes);
                self.keep(part);
            });
        } else {
            part.look_at(&notes, self.max_bytes);
        }
        self.keep(part);
    }

    /// Decides what an entry is, by name and kind alone where that is enough.
    fn sort_in<'s>(
        &'s self,
        scope: &Scope<'s>,
        folder: &str,
        entry: DirEntry,
        part: &mut Part,
        notes: &mut Vec<(String, DirEntry)>,
    ) {
        let name = entry.file_name();
        let Some(name) = name.to_str() else {
            return part.not_unicode(folder, &name, entry.file_type().is_ok_and(|t| t.is_dir()));
        };
        let path = if folder.is_empty() {
            name.to_owned()
        } else {
            format!("{folder}/{name}")
        };
        let kind = match entry.file_type() {
            Ok(kind) => kind,
            Err(e) => return part.unreadable(&path, false, trouble(&e)),
        };
        if kind.is_dir() {
            match self.rules.excludes_folder(&path) {
                Some(reason) => part.leave_out(path, true, reason),
                None => self.enter(scope, path),
            }
        } else if kind.is_symlink() {
            part.links.push(path);
        } else if let Some(note) = icloud_note(name) {
            let path = path[..path.len() - name.len()].to_owned() + note;
            match self.file_reason(&path, note) {
                Some(reason) => part.leave_out(path, false, reason),
                None => part.stub(path, &entry),
            }
        } else if let Some(reason) = leftovers::file_reason(name) {
            part.leave_out(path, false, reason);
        } else if !is_note(name) {
            *part.listing.other_files.entry(extension(name)).or_default() += 1;
        } else if !kind.is_file() {
            part.leave_out(path, false, Reason::NotAFile);
        } else if let Some(reason) = self.rules.excludes_file(&path) {
            part.leave_out(path, false, reason);
        } else {
            notes.push((path, entry));
        }
    }

    fn file_reason(&self, path: &str, name: &str) -> Option<Reason> {
        leftovers::file_reason(name).or_else(|| self.rules.excludes_file(path))
    }

    fn unreadable(&self, folder: &str, message: String) {
        let mut part = Part::default();
        part.unreadable(folder, true, message);
        self.keep(part);
    }

    fn keep(&self, part: Part) {
        self.parts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(part);
    }
}

impl Part {
    fn look_at(&mut self, notes: &[(String, DirEntry)], max_bytes: u64) {
        for (path, entry) in notes {
            match entry.metadata() {
                Ok(metadata) => self.see(path.clone(), Facts::of(&metadata), max_bytes),
                Err(e) => self.unreadable(path, false, trouble(&e)),
            }
        }
    }

    fn see(&mut self, path: String, facts: Facts, max_bytes: u64) {
        if facts.size > max_bytes {
            let reason = Reason::TooLarge {
                size: facts.size,
                limit: max_bytes,
            };
            self.leave_out(path, false, reason);
        } else {
            self.seen.push((path, facts));
        }
    }

    fn stub(&mut self, path: String, entry: &DirEntry) {
        match entry.metadata() {
            Ok(metadata) => self.stubs.push((path, Facts::of(&metadata))),
            Err(e) => self.unreadable(&path, false, trouble(&e)),
        }
    }

    fn leave_out(&mut self, path: String, folder: bool, reason: Reason) {
        if reason == Reason::Fenced {
            return;
        }
        self.listing.left_out.push(LeftOut {
            path,
            folder,
            reason,
        });
    }

    fn unreadable(&mut self, path: &str, folder: bool, message: String) {
        self.listing.unreadable.push(Unreadable {
            path: path.to_owned(),
            folder,
            message,
        });
    }

    fn not_unicode(&mut self, folder: &str, name: &OsStr, is_folder: bool) {
        let name = name.to_string_lossy();
        if is_folder || is_note(&name) {
            let path = if folder.is_empty() {
                name.into_owned()
            } else {
                format!("{folder}/{name}")
            };
            self.leave_out(path, is_folder, Reason::NotUnicodeName);
        } else {
            *self
                .listing
                .other_files
                .entry(extension(&name))
                .or_default() += 1;
        }
    }

    fn finish(mut self) -> Found {
        let any = |a| self.seen.iter().any(|(_, facts)| facts.allocation == a);
        let counts_no_blocks = any(Allocation::NoBlocks) && !any(Allocation::Present);
        let mut listing = self.listing;
        listing
            .notes
            .extend(self.seen.drain(..).map(|(path, facts)| {
                let placeholder = match facts.allocation {
                    Allocation::Away => true,
                    Allocation::NoBlocks => !counts_no_blocks,
                    Allocation::Present | Allocation::Unknown => false,
                };
                file_entry(path, facts, placeholder)
            }));
        listing.sort();
        for (path, facts) in self.stubs {
            let entry = file_entry(path, Facts { size: 0, ..facts }, true);
            // A note that is there as well needs no stub.
            if let Err(at) = listing.notes.binary_search_by(|n| n.path.cmp(&entry.path)) {
                listing.notes.insert(at, entry);
            }
        }
        Found {
            listing,
            counts_no_blocks,
        }
    }
}

/// Decides which links are notes: those to a file of the vault that has no note's name itself.
fn judge_links(root: &Path, rules: &Rules, max_bytes: u64, all: &mut Part) {
    let mut links = std::mem::take(&mut all.links);
    links.sort_unstable();
    let mut listed: HashMap<String, String> = HashMap::new();
    for link in links {
        match judge_link(root, rules, &link) {
            Judged::Other => *all.listing.other_files.entry(extension(&link)).or_default() += 1,
            Judged::LeftOut { folder, reason } => all.leave_out(link, folder, reason),
            Judged::Unreadable(message) => all.unreadable(&link, false, message),
            Judged::Note { target, facts } => match listed.get(&target) {
                Some(first) => all.leave_out(link, false, Reason::LinkToListed(first.clone())),
                None => {
                    listed.insert(target, link.clone());
                    all.see(link, facts, max_bytes);
                }
            },
        }
    }
}

enum Judged {
    /// Neither a note nor a folder.
    Other,
    LeftOut {
        folder: bool,
        reason: Reason,
    },
    Unreadable(String),
    Note {
        target: String,
        facts: Facts,
    },
}

fn judge_link(root: &Path, rules: &Rules, link: &str) -> Judged {
    let name = link.rsplit('/').next().unwrap_or(link);
    let out = |folder, reason| Judged::LeftOut { folder, reason };
    let at = on_disk(root, link);
    let looked = real_path(&at).and_then(|real| Ok((fs::metadata(&real)?, real)));
    let (metadata, real) = match looked {
        Ok(looked) => looked,
        Err(_) if !is_note(name) => return Judged::Other,
        Err(e) if is_loop(&e) => return out(false, Reason::LinkLoop),
        Err(e) if e.kind() == io::ErrorKind::NotFound => return out(false, Reason::DeadLink),
        Err(e) => return Judged::Unreadable(trouble(&e)),
    };
    let folder = metadata.is_dir();
    if !folder && !is_note(name) {
        return Judged::Other;
    }
    let own = if folder {
        rules.excludes_folder(link)
    } else {
        rules.excludes_path(link)
    };
    if let Some(reason) = own {
        return out(folder, reason);
    }
    if !real.starts_with(root) {
        return out(folder, Reason::LinkLeavesVault);
    }
    let Some(target) = relative(root, &real) else {
        return out(folder, Reason::NotUnicodeName);
    };
    if folder {
        let reason = if at.starts_with(&real) {
            Reason::LinkLoop
        } else {
            rules
                .excludes_folder_path(&target)
                .unwrap_or(Reason::LinkToListed(target))
        };
        return out(true, reason);
    }
    if let Some(reason) = rules.excludes_path(&target) {
        out(false, reason)
    } else if is_note(&target) {
        out(false, Reason::LinkToListed(target))
    } else if metadata.is_file() {
        Judged::Note {
            target,
            facts: Facts::of(&metadata),
        }
    } else {
        out(false, Reason::NotAFile)
    }
}

fn file_entry(path: String, facts: Facts, placeholder: bool) -> FileEntry {
    FileEntry {
        path: NotePath::new(path),
        size: facts.size,
        modified_ns: facts.modified_ns,
        changed_ns: facts.changed_ns,
        inode: facts.inode,
        placeholder,
    }
}

/// What the system said. Something that was there a moment ago is changing, not gone for good.
fn trouble(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "it vanished while the folder was being listed".to_owned(),
        io::ErrorKind::PermissionDenied => "no permission to read it".to_owned(),
        _ => error.to_string(),
    }
}
