//! The table of a vault's names, and the question it answers: which note does this link mean?
//!
//! A table of 100,000 notes answers in constant time but for names that many notes share in
//! different spellings. It keeps one folded key a note and finds it by three hashes: of the name,
//! of folder and name, and of the whole path.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use lorewell_text::{NotePath, name_key, path_key, split_note_extension};
use rustc_hash::{FxHashMap, FxHasher};

/// How many other notes an ambiguous link names at most.
pub const MAX_OTHERS: usize = 16;

/// A note, as far as links know it.
#[derive(Clone, Copy, Debug)]
pub struct NameEntry<'a> {
    /// The caller's number for the note; comes back in [`Resolution`].
    pub id: u32,
    /// Path from the vault's root, `/` between segments, as on disk.
    pub path: &'a str,
    /// Other names that the note's properties give it.
    pub aliases: &'a [String],
}

/// What a link means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// A note.
    Note {
        /// The caller's number of the note.
        id: u32,
        /// Whether other notes answer to the same target equally well.
        ambiguous: bool,
        /// Those others, nearest first, at most [`MAX_OTHERS`].
        others: Vec<u32>,
        /// What matched.
        by: By,
    },
    /// The linking note itself: the target is empty.
    SameNote,
    /// No note of this vault.
    Missing,
}

/// What of a note matched a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// A path from the root, or its last segments.
    Path,
    /// The bare name, wherever the note lies.
    Name,
    /// An alias from its properties: no file has the name.
    Alias,
    /// A path from the linking note's folder.
    Relative,
}

/// The names of a vault's notes.
#[derive(Debug, Default)]
pub struct Names {
    notes: Vec<Note>,
    by_name: FxHashMap<u64, Vec<u32>>,
    by_tail: FxHashMap<u64, Vec<u32>>,
    by_path: FxHashMap<u64, Vec<u32>>,
    by_alias: FxHashMap<String, Vec<u32>>,
}

/// A note in the order of ties: fewest segments, then fewest characters, then path.
#[derive(Debug)]
struct Note {
    id: u32,
    path: NotePath,
    /// Folded segments of the path, the last without its extension, joined by `/`.
    key: String,
}

/// What a link asks for: folded segments, and the spelling that the author chose.
struct Wanted<'a> {
    key: String,
    spelling: &'a str,
    extension: Option<&'a str>,
}

impl Names {
    /// Takes the notes of a vault, in any order.
    pub fn new<'a>(notes: impl Iterator<Item = NameEntry<'a>>) -> Names {
        let mut aliases: Vec<&[String]> = Vec::new();
        let mut entries: Vec<(Note, usize)> = Vec::new();
        for entry in notes {
            let path = NotePath::new(entry.path);
            let key = path_key(split_note_extension(entry.path).0);
            entries.push((
                Note {
                    id: entry.id,
                    path,
                    key,
                },
                aliases.len(),
            ));
            aliases.push(entry.aliases);
        }
        entries.sort_by(|(a, _), (b, _)| tie_order(a, b));
        let mut names = Names::default();
        for (at, (note, aliases_at)) in (0u32..).zip(entries) {
            names.insert(at, &note, aliases[aliases_at]);
            names.notes.push(note);
        }
        names
    }

    /// The note that a wiki-link's `target` means, written in the note at `from_path`.
    ///
    /// `target` is a bare name, a path from the root, the last segments of one, or a path that
    /// begins with `./` or `../`; `.md` may be left out; headings are already split off (see
    /// [`crate::split_target`]). Case, Unicode form and runs of white space do not matter. Among
    /// notes that match equally, the one spelled alike wins, then the one in the linking note's
    /// folder, then the shortest path. Aliases count only where no file has the name.
    pub fn resolve(&self, from_path: &str, target: &str) -> Resolution {
        self.resolve_with(target, |target| self.find(from_path, target))
    }

    /// The note that the destination of a Markdown link means: as [`Names::resolve`], but a path
    /// counts from the linking note's folder first, then from the root.
    ///
    /// The destination is already percent-decoded and without `#heading`.
    pub fn resolve_markdown(&self, from_path: &str, target: &str) -> Resolution {
        self.resolve_with(target, |target| {
            let beside = || {
                self.at_path(
                    from_path,
                    &join(folder_of(from_path), target)?,
                    By::Relative,
                )
            };
            let at_root = || self.at_path(from_path, &join("", target)?, By::Path);
            if is_relative(target) {
                return beside();
            }
            let beside = (!target.starts_with('/')).then(beside).flatten();
            beside
                .or_else(at_root)
                .or_else(|| self.find(from_path, target))
        })
    }

    fn resolve_with(&self, target: &str, find: impl Fn(&str) -> Option<Resolution>) -> Resolution {
        let target = target.trim();
        if target.is_empty() {
            return Resolution::SameNote;
        }
        find(target)
            .or_else(|| {
                // Written on Windows; on other systems a name may hold the sign, so it is second.
                target
                    .contains('\\')
                    .then(|| find(&target.replace('\\', "/")))
                    .flatten()
            })
            .unwrap_or(Resolution::Missing)
    }

    fn find(&self, from: &str, target: &str) -> Option<Resolution> {
        if is_relative(target) {
            return self.at_path(from, &join(folder_of(from), target)?, By::Relative);
        }
        let path = join("", target)?;
        let is_path = target.starts_with('/') || path.contains('/');
        let at_root = || {
            is_path
                .then(|| self.at_path(from, &path, By::Path))
                .flatten()
        };
        let anywhere = || {
            (!target.starts_with('/'))
                .then(|| self.anywhere(from, &path))
                .flatten()
        };
        at_root()
            .or_else(anywhere)
            .or_else(|| self.by_alias(from, target))
    }

    /// The note at exactly this path from the root.
    fn at_path(&self, from: &str, path: &str, by: By) -> Option<Resolution> {
        wanted_forms(path).find_map(|wanted| {
            let at = self.by_path.get(&hash_of(&wanted.key))?;
            let fits = |note: &Note| note.key == wanted.key && wanted.fits_extension(note);
            self.choose(from, &wanted, at, fits, by)
        })
    }

    /// The nearest note whose last segments these are.
    fn anywhere(&self, from: &str, path: &str) -> Option<Resolution> {
        wanted_forms(path).find_map(|wanted| {
            let (table, by, hashed) = match tail(&wanted.key) {
                Some(tail) => (&self.by_tail, By::Path, tail),
                None => (&self.by_name, By::Name, wanted.key.as_str()),
            };
            let at = table.get(&hash_of(hashed))?;
            let fits = |note: &Note| {
                ends_with_segments(&note.key, &wanted.key) && wanted.fits_extension(note)
            };
            self.choose(from, &wanted, at, fits, by)
        })
    }

    fn by_alias(&self, from: &str, target: &str) -> Option<Resolution> {
        let at = self.by_alias.get(&name_key(target))?;
        let wanted = Wanted {
            key: String::new(),
            spelling: target,
            extension: None,
        };
        self.choose(from, &wanted, at, |_| true, By::Alias)
    }

    /// The best of the notes at `at` (in the order of ties) that fit.
    fn choose(
        &self,
        from: &str,
        wanted: &Wanted<'_>,
        at: &[u32],
        fits: impl Fn(&Note) -> bool,
        by: By,
    ) -> Option<Resolution> {
        let folder = folder_of(from);
        let rank = |note: &Note| {
            (
                !ends_with_segments(split_note_extension(note.path.as_str()).0, wanted.spelling),
                note.path.folder() != folder,
            )
        };
        let fitting = || {
            at.iter()
                .filter_map(|at| self.notes.get(*at as usize))
                .filter(|n| fits(n))
        };
        // The first of equals is the shortest: the table is in that order.
        let best = fitting().min_by_key(|note| rank(note))?;
        let others: Vec<u32> = fitting()
            .map(|n| n.id)
            .filter(|id| *id != best.id)
            .take(MAX_OTHERS)
            .collect();
        Some(Resolution::Note {
            id: best.id,
            ambiguous: !others.is_empty(),
            others,
            by,
        })
    }

    fn insert(&mut self, at: u32, note: &Note, aliases: &[String]) {
        let key = note.key.as_str();
        let name = key.rsplit('/').next().unwrap_or(key);
        self.by_name.entry(hash_of(name)).or_default().push(at);
        self.by_path.entry(hash_of(key)).or_default().push(at);
        if let Some(tail) = tail(key) {
            self.by_tail.entry(hash_of(tail)).or_default().push(at);
        }
        for alias in aliases {
            let key = name_key(alias);
            let holders = self.by_alias.entry(key).or_default();
            if holders.last() != Some(&at) {
                holders.push(at);
            }
        }
    }
}

impl Wanted<'_> {
    fn fits_extension(&self, note: &Note) -> bool {
        self.extension.is_none_or(|wanted| {
            split_note_extension(note.path.as_str())
                .1
                .eq_ignore_ascii_case(wanted)
        })
    }
}

/// A path that may end in `.md`: first read as having the extension, then as a name that ends so.
fn wanted_forms(path: &str) -> impl Iterator<Item = Wanted<'_>> {
    let (bare, extension) = split_note_extension(path);
    let with = (!extension.is_empty()).then_some((bare, Some(extension)));
    with.into_iter()
        .chain([(path, None)])
        .map(|(spelling, extension)| Wanted {
            key: path_key(spelling),
            spelling,
            extension,
        })
        .filter(|wanted| !wanted.key.is_empty() && !wanted.key.ends_with('/'))
}

/// The last two segments, if there are two.
fn tail(key: &str) -> Option<&str> {
    let name = key.rfind('/')?;
    Some(
        key[..name]
            .rfind('/')
            .map_or(key, |folder| &key[folder + 1..]),
    )
}

fn ends_with_segments(path: &str, end: &str) -> bool {
    path.strip_suffix(end)
        .is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn is_relative(target: &str) -> bool {
    target.starts_with("./") || target.starts_with("../")
}

/// `target` from `folder`, with `.` and `..` worked out; nothing if that leaves the vault or
/// names no file: what ends in `.` or `..` names a folder.
fn join(folder: &str, target: &str) -> Option<String> {
    let last = target.rsplit('/').map(str::trim).find(|s| !s.is_empty())?;
    if matches!(last, "." | "..") {
        return None;
    }
    let mut segments: Vec<&str> = folder.split('/').filter(|s| !s.is_empty()).collect();
    for segment in target.split('/') {
        match segment.trim() {
            "" | "." => {}
            ".." => {
                segments.pop()?;
            }
            _ => segments.push(segment),
        }
    }
    (!segments.is_empty()).then(|| segments.join("/"))
}

fn tie_order(a: &Note, b: &Note) -> Ordering {
    let rank = |note: &Note| {
        let path = note.path.as_str();
        (
            path.bytes().filter(|b| *b == b'/').count(),
            path.chars().count(),
        )
    };
    rank(a).cmp(&rank(b)).then_with(|| a.path.cmp(&b.path))
}

fn hash_of(key: &str) -> u64 {
    let mut hasher = FxHasher::default();
    key.hash(&mut hasher);
    hasher.finish()
}
