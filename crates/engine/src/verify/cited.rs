//! What is cited: places as they are named, and the notes that they mean.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use lorewell_graph::split_target;
use lorewell_quotes::{Answer, Citation, Kind, Target};

use super::on_disk::{OnDisk, Shelf};
use crate::EngineError;
use crate::note_text::{ReadRequest, part_of};

/// Said of a number that no source bears.
const NO_SUCH_SOURCE: &str = "no such source";
/// Said of a name that no note bears.
const NOT_IN_THE_VAULT: &str = "not in the vault";

/// A place in a note, as it is cited.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CitedPlace {
    /// The note: its path, name, title or alias, or a link as it is written.
    pub note: Option<String>,
    /// The headings above the words, outermost first.
    pub heading: Vec<String>,
    /// The id of their block.
    pub block: Option<String>,
    /// First and last line, counted from 1.
    pub lines: Option<(u32, u32)>,
    /// Bytes, half-open.
    pub bytes: Option<Range<u64>>,
    /// BLAKE3 of the note's bytes when it was cited.
    pub content_hash: Option<[u8; 32]>,
}

/// A source of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CitedSource {
    /// What the answer calls it: its number.
    pub n: String,
    /// What it is.
    pub place: CitedPlace,
}

/// A citation of a claim.
pub(super) struct Cited {
    /// As it stands in the answer.
    pub(super) written: Option<String>,
    /// The place, or why it names none.
    pub(super) place: Result<CitedPlace, &'static str>,
}

/// What the citations of an answer mean.
pub(super) struct Citations<'a> {
    sources: HashMap<&'a str, CitedPlace>,
}

/// A cited place of a note that is at hand.
pub(super) struct Standing {
    pub(super) note: Rc<OnDisk>,
    /// The part of it that is cited; nothing for the whole.
    pub(super) region: Option<Range<usize>>,
    /// Why the part that is cited is not there.
    pub(super) missing: Option<String>,
    /// The path by which the note is cited, where it has another by now.
    pub(super) cited_as: Option<String>,
    /// Whether its content is another by now.
    pub(super) stale: bool,
}

/// A citation that leads to no note.
pub(super) struct Unresolved {
    pub(super) note: Option<String>,
    pub(super) reason: String,
}

impl<'a> Citations<'a> {
    /// Sources that the caller gives count more than those that the answer lists itself.
    pub(super) fn new(sources: &'a [CitedSource], answer: &'a Answer) -> Citations<'a> {
        let listed = answer
            .sources
            .iter()
            .filter_map(|(n, target)| match target {
                Target::Note(link) => Some((n.as_str(), linked(link))),
                Target::Source(_) => None,
            });
        let given = sources
            .iter()
            .map(|source| (source.n.as_str(), source.place.clone()));
        Citations {
            sources: listed.chain(given).collect(),
        }
    }

    pub(super) fn cited(&self, citation: &Citation, kind: Kind) -> Cited {
        let place = match &citation.target {
            Target::Source(n) => {
                // A footnote that the answer does not have is meant for a source; at a quotation
                // it may as well be the note's own.
                let bare = n.strip_prefix('^').filter(|_| kind != Kind::Quote);
                let bare = bare.map(|n| self.sources.get(n));
                let source = self.sources.get(n.as_str()).or(bare.flatten());
                source.cloned().ok_or(NO_SUCH_SOURCE)
            }
            // [[1]] is sometimes written for [1].
            Target::Note(link) => Ok(match self.sources.get(link.as_str()) {
                Some(place) if link.bytes().all(|b| b.is_ascii_digit()) => place.clone(),
                _ => linked(link),
            }),
        };
        Cited {
            written: Some(citation.written.clone()),
            place,
        }
    }
}

/// The place that a link names.
fn linked(link: &str) -> CitedPlace {
    let target = split_target(link);
    CitedPlace {
        note: Some(target.target),
        heading: target.headings,
        block: target.block,
        ..CitedPlace::default()
    }
}

impl Shelf<'_> {
    /// The notes that a citation may mean, each with the part that is cited.
    pub(super) fn standing(
        &self,
        cited: &Cited,
    ) -> Result<Result<Vec<Standing>, Unresolved>, EngineError> {
        let place = match &cited.place {
            Ok(place) => place,
            Err(reason) => {
                return Ok(Err(Unresolved {
                    note: None,
                    reason: (*reason).to_string(),
                }));
            }
        };
        let name = place.note.clone().unwrap_or_default();
        let (notes, place) = self.named(&name, place)?;
        let mut standings = Vec::new();
        let mut reason = NOT_IN_THE_VAULT.to_string();
        for note in notes {
            let path = note.path.as_str().to_string();
            match self.on_disk(note)? {
                Ok(note) => standings.push(Standing::of(note, &place)),
                Err(why) => {
                    self.missed_cited(&path);
                    reason = why;
                }
            }
        }
        // Cited before it was renamed, or before another took its place.
        if standings.iter().all(|standing| standing.stale)
            && let Some(hash) = &place.content_hash
        {
            for note in self.view.snapshot.notes_with_content(hash)? {
                if let Ok(note) = self.on_disk(note)? {
                    let mut standing = Standing::of(note, &place);
                    standing.cited_as = Some(name.clone());
                    standings.push(standing);
                }
            }
        }
        Ok(if standings.is_empty() {
            let note = Some(name).filter(|name| !name.is_empty());
            Err(Unresolved { note, reason })
        } else {
            Ok(standings)
        })
    }

    /// The notes that bear a name, and the place without what the name says of it.
    fn named(
        &self,
        name: &str,
        place: &CitedPlace,
    ) -> Result<(Vec<lorewell_index::StoredNote>, CitedPlace), EngineError> {
        let mut place = place.clone();
        if let Some(note) = self.view.snapshot.note_at(name)? {
            return Ok((vec![note], place));
        }
        if name.trim().is_empty() {
            return Ok((Vec::new(), place));
        }
        match self.view.found(name)? {
            Some(found) => {
                if place.heading.is_empty() && place.block.is_none() {
                    (place.heading, place.block) = (found.place.heading, found.place.block);
                }
                place.lines = place.lines.or(found.place.lines);
                let mut notes = vec![found.note];
                for path in found.others {
                    notes.extend(self.view.snapshot.note_at(&path)?);
                }
                Ok((notes, place))
            }
            None => Ok((Vec::new(), place)),
        }
    }
}

impl Standing {
    fn of(note: Rc<OnDisk>, place: &CitedPlace) -> Standing {
        let stale = place
            .content_hash
            .is_some_and(|hash| hash != note.content_hash);
        let (region, missing) = match region(&note, place, stale) {
            Ok(region) => (region, None),
            Err(error) => (None, Some(error.to_string())),
        };
        Standing {
            note,
            region,
            missing,
            cited_as: None,
            stale,
        }
    }
}

/// The part of a note that is cited. In a note that changed since, a heading tells more than
/// numbers.
fn region(
    note: &OnDisk,
    place: &CitedPlace,
    stale: bool,
) -> Result<Option<Range<usize>>, EngineError> {
    let text = note.original.text();
    let has_part = !place.heading.is_empty() || place.block.is_some();
    if let Some(bytes) = &place.bytes
        && !(stale && has_part)
    {
        let offset = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(text.len());
        return Ok(Some(offset(bytes.start)..offset(bytes.end)));
    }
    if !has_part && place.lines.is_none() {
        return Ok(None);
    }
    let request = ReadRequest {
        heading: place.heading.clone(),
        block: place.block.clone(),
        lines: place.lines.filter(|_| !(stale && has_part)),
        ..ReadRequest::default()
    };
    part_of(text, &request, note.note.path.as_str()).map(Some)
}
