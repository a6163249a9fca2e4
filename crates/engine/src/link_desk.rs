//! What an answer about links reads besides the links themselves: where they stand, the sentence
//! around them, whether the heading or block that they name is there. Each is read once.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use lorewell_graph::{Resolution, heading_matches};
use lorewell_index::{LinkTarget, StoredLink, StoredNote};
use lorewell_markdown::{Block, Heading};
use lorewell_text::{LineIndex, name_key};

use crate::links::{PLACES_SHOWN, listed};
use crate::{
    Backlink, EngineError, LinkMeaning, LinkPlace, Listed, NoteRef, OutgoingLink, Piece,
    SharedTarget, View, sentence,
};

/// Endings of files that links embed or open and that are no notes (those that Obsidian accepts,
/// and usual documents). `v1.8` is no such ending, so an ending must be known.
const OTHER_FILES: &[&str] = &[
    "3gp",
    "avif",
    "base",
    "bmp",
    "canvas",
    "css",
    "csv",
    "doc",
    "docx",
    "epub",
    "excalidraw",
    "flac",
    "gif",
    "html",
    "jpeg",
    "jpg",
    "js",
    "json",
    "m4a",
    "mkv",
    "mov",
    "mp3",
    "mp4",
    "odt",
    "ogg",
    "ogv",
    "opus",
    "pdf",
    "png",
    "ppt",
    "pptx",
    "py",
    "svg",
    "txt",
    "wav",
    "webm",
    "webp",
    "xls",
    "xlsx",
    "yaml",
    "yml",
    "zip",
];

/// What is read while one answer is made.
pub(crate) struct LinkDesk<'v> {
    view: &'v View<'v>,
    notes: HashMap<u32, NoteRef>,
    parts: HashMap<u32, Option<Parts>>,
    files: HashMap<u32, Option<Rc<Source>>>,
}

/// What of a note a link can name.
struct Parts {
    headings: Vec<Heading>,
    blocks: Vec<Block>,
}

/// A text, and where its lines are.
struct Source {
    text: String,
    lines: LineIndex,
}

/// Where a link stands, and the text around it.
struct Spot {
    source: Rc<Source>,
    /// Where the text begins in the file, and on which line.
    start: u64,
    line: u32,
    heading_path: Vec<String>,
}

impl<'v> LinkDesk<'v> {
    pub(crate) fn new(view: &'v View<'v>) -> LinkDesk<'v> {
        LinkDesk {
            view,
            notes: HashMap::new(),
            parts: HashMap::new(),
            files: HashMap::new(),
        }
    }

    pub(crate) fn outgoing(
        &mut self,
        note: &StoredNote,
        target: LinkTarget,
    ) -> Result<OutgoingLink, EngineError> {
        let LinkTarget { link, resolution } = target;
        let spot = self.spot(&link)?;
        let named = !link.headings.is_empty() || link.block.is_some();
        let within = match &resolution {
            Resolution::Note { id, .. } if named => Some(*id),
            Resolution::SameNote if named => Some(note.id),
            _ => None,
        };
        let part_exists = match within {
            Some(id) => self.part_exists(id, &link)?,
            None => None,
        };
        Ok(OutgoingLink {
            meaning: self.meaning(&link, &resolution)?,
            written: spot.as_ref().and_then(|spot| spot.slice(&link)),
            line: spot.map(|spot| spot.line_of(link.byte_range.start)),
            part_exists,
            link,
        })
    }

    pub(crate) fn backlink(&mut self, target: LinkTarget) -> Result<Backlink, EngineError> {
        let LinkTarget { link, resolution } = target;
        let from = self.note(link.note)?;
        let others = self.others(&resolution)?;
        let Some(spot) = self.spot(&link)? else {
            let shown = link.label.clone().unwrap_or_else(|| link.target.clone());
            return Ok(Backlink {
                from,
                others,
                heading_path: Vec::new(),
                sentence: shown,
                byte_range: link.byte_range.clone(),
                line_range: None,
                link,
            });
        };
        let place = spot.within(&link.byte_range);
        let found = match link.property {
            true => sentence::line(spot.text(), place.start),
            false => sentence::around(spot.text(), place),
        };
        let (first, last) = (
            spot.start + found.start as u64,
            spot.start + found.end as u64,
        );
        let sentence = match link.property {
            true => property_words(spot.text(), found),
            false => sentence::plain(&spot.text()[found]),
        };
        Ok(Backlink {
            from,
            others,
            sentence,
            line_range: Some((
                spot.line_of(first),
                spot.line_of(last.saturating_sub(1).max(first)),
            )),
            byte_range: first..last,
            heading_path: spot.heading_path,
            link,
        })
    }

    /// Targets of the links that `wanted` picks, each once.
    pub(crate) fn shared(
        &mut self,
        links: &[LinkTarget],
        wanted: fn(&LinkTarget) -> bool,
        piece: Piece,
    ) -> Result<Listed<SharedTarget>, EngineError> {
        let mut at: HashMap<(String, Option<u32>), usize> = HashMap::new();
        let mut groups: Vec<Vec<&LinkTarget>> = Vec::new();
        for target in links.iter().filter(|target| wanted(target)) {
            let note = match target.resolution {
                Resolution::Note { id, .. } => Some(id),
                _ => None,
            };
            let key = (name_key(&target.link.target), note);
            let group = *at.entry(key).or_insert(groups.len());
            match groups.get_mut(group) {
                Some(group) => group.push(target),
                None => groups.push(vec![target]),
            }
        }
        // Stable: those of as many links stay in order.
        groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
        listed(groups, piece, |group| {
            let mut notes = Vec::new();
            let first = group.first().map(|target| (*target).clone());
            if let Some(Resolution::Note { id, .. }) = first.as_ref().map(|t| &t.resolution) {
                notes.push(self.note(*id)?.path);
            }
            if let Some(first) = &first {
                notes.extend(self.others(&first.resolution)?);
            }
            let mut linking = group.clone();
            linking.dedup_by_key(|target| target.link.note);
            let shown = linking.iter().take(PLACES_SHOWN);
            let from = shown.map(|target| self.place(&target.link));
            Ok(SharedTarget {
                from: from.collect::<Result<_, _>>()?,
                target: first.map(|first| first.link.target).unwrap_or_default(),
                notes,
                links: group.len(),
                linking: linking.len(),
            })
        })
    }

    fn place(&mut self, link: &StoredLink) -> Result<LinkPlace, EngineError> {
        let spot = self.spot(link)?;
        Ok(LinkPlace {
            note: self.note(link.note)?,
            byte_range: link.byte_range.clone(),
            line: spot.map(|spot| spot.line_of(link.byte_range.start)),
        })
    }

    fn meaning(
        &mut self,
        link: &StoredLink,
        resolution: &Resolution,
    ) -> Result<LinkMeaning, EngineError> {
        Ok(match resolution {
            Resolution::Note { id, .. } => LinkMeaning::Note {
                note: self.note(*id)?,
                others: self.others(resolution)?,
            },
            Resolution::SameNote => LinkMeaning::SameNote,
            Resolution::Missing if is_other_file(&link.target) => LinkMeaning::File,
            Resolution::Missing => LinkMeaning::Missing,
        })
    }

    fn others(&mut self, resolution: &Resolution) -> Result<Vec<String>, EngineError> {
        match resolution {
            Resolution::Note { others, .. } => {
                others.iter().map(|id| Ok(self.note(*id)?.path)).collect()
            }
            _ => Ok(Vec::new()),
        }
    }

    fn note(&mut self, id: u32) -> Result<NoteRef, EngineError> {
        if let Some(known) = self.notes.get(&id) {
            return Ok(known.clone());
        }
        let note = self.view.snapshot.note(id)?;
        let note = note.map_or_else(
            || NoteRef {
                path: String::new(),
                title: String::new(),
            },
            |note| NoteRef {
                path: note.path.as_str().to_string(),
                title: note.title,
            },
        );
        self.notes.insert(id, note.clone());
        Ok(note)
    }

    /// The text around a link: its passage, else its file.
    fn spot(&mut self, link: &StoredLink) -> Result<Option<Spot>, EngineError> {
        let start = link.byte_range.start;
        if !link.property
            && let Some(passage) = self.view.snapshot.passage_at(link.note, start)?
            && link.byte_range.end <= passage.byte_range.end
        {
            return Ok(Some(Spot {
                source: Rc::new(Source::new(passage.text)),
                start: passage.byte_range.start,
                line: passage.line_range.0,
                heading_path: passage.heading_path,
            }));
        }
        Ok(self.file(link.note)?.map(|source| Spot {
            source,
            start: 0,
            line: 1,
            heading_path: Vec::new(),
        }))
    }

    /// The text of a note's file, if it is the one that was indexed.
    fn file(&mut self, id: u32) -> Result<Option<Rc<Source>>, EngineError> {
        if let Some(known) = self.files.get(&id) {
            return Ok(known.clone());
        }
        let note = self.view.snapshot.note(id)?;
        let source = note.and_then(|note| {
            let file = self.view.host.vault.read(&note.path).ok()?;
            (file.content_hash == note.content_hash).then(|| Rc::new(Source::new(file.text)))
        });
        self.files.insert(id, source.clone());
        Ok(source)
    }

    /// Whether a note has the heading or block that a link names; nothing if it cannot be read.
    fn part_exists(&mut self, id: u32, link: &StoredLink) -> Result<Option<bool>, EngineError> {
        if !self.parts.contains_key(&id) {
            let note = self.view.snapshot.note(id)?;
            let file = note.and_then(|note| self.view.host.vault.read(&note.path).ok());
            let parts = file.map(|file| {
                let settings = lorewell_markdown::Settings::default();
                let note = lorewell_markdown::parse(&file.text, &settings).note;
                Parts {
                    headings: note.headings,
                    blocks: note.blocks,
                }
            });
            self.parts.insert(id, parts);
        }
        let parts = self.parts.get(&id).and_then(Option::as_ref);
        Ok(parts.map(|parts| match &link.block {
            Some(wanted) => parts
                .blocks
                .iter()
                .any(|b| b.id.eq_ignore_ascii_case(wanted)),
            None => parts
                .headings
                .iter()
                .any(|heading| heading_matches(&link.headings, &heading.path)),
        }))
    }
}

impl Source {
    fn new(text: String) -> Source {
        Source {
            lines: LineIndex::new(&text),
            text,
        }
    }
}

impl Spot {
    fn text(&self) -> &str {
        &self.source.text
    }

    /// Bytes of the file as bytes of the text.
    fn within(&self, range: &Range<u64>) -> Range<usize> {
        let at = |byte: u64| usize::try_from(byte.saturating_sub(self.start)).unwrap_or(usize::MAX);
        at(range.start)..at(range.end)
    }

    fn slice(&self, link: &StoredLink) -> Option<String> {
        let slice = self.text().get(self.within(&link.byte_range))?;
        Some(slice.to_string())
    }

    fn line_of(&self, byte: u64) -> u32 {
        let at = self.within(&(byte..byte)).start.min(self.text().len());
        self.line + self.source.lines.line(at) - 1
    }
}

/// Whether a target that is no note names a file of another kind.
pub(crate) fn is_other_file(target: &str) -> bool {
    let name = target.rsplit(['/', '\\']).next().unwrap_or(target);
    name.rsplit_once('.').is_some_and(|(name, extension)| {
        let extension = extension.to_ascii_lowercase();
        !name.is_empty() && OTHER_FILES.contains(&extension.as_str())
    })
}

/// The line of a property in plain words: `up: "[[Kiln|the kiln]]"` as `up: the kiln`, with the
/// property's name also where the value is an item of a list.
fn property_words(text: &str, line: Range<usize>) -> String {
    let written = text[line.clone()].trim();
    let value = written.trim_start_matches(['-', ' ']);
    let is_item = value.len() < written.len();
    let name = text[..line.start]
        .lines()
        .rev()
        .find(|line| line.starts_with(|c: char| !c.is_whitespace() && c != '-' && c != '#'))
        .and_then(|line| line.split_once(':'))
        .map(|(name, _)| name.trim())
        .filter(|_| is_item);
    let value = value.replace(['"', '\''], "");
    let words = sentence::plain(value.trim());
    name.map_or(words.clone(), |name| format!("{name}: {words}"))
}
