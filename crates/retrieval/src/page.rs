//! One page of an answer: which of the fused passages are shown.

use std::borrow::Cow;
use std::rc::Rc;

use lorewell_index::{EvidenceClass, Snapshot, StoredNote, StoredPassage};
use rustc_hash::FxHashMap;

use crate::copies::{Likeness, Origin, Shape, Shapes, Telling, are_versions, tells_apart};
use crate::error::RetrievalError;
use crate::fusion::{Contribution, Fused};
use crate::lane::Lane;

/// So many passages behind the last one that is shown are looked at for copies of those shown.
const LOOK_AHEAD: usize = 12;

/// A passage that is shown.
pub(crate) struct Candidate {
    pub(crate) fused: Fused,
    pub(crate) passage: StoredPassage,
    /// Notes with a passage of the same or nearly the same words.
    pub(crate) copies: Vec<u32>,
}

/// The first passages of an answer.
pub(crate) struct Page {
    /// Best first, from the first page on.
    pub(crate) candidates: Vec<Candidate>,
    /// Whether the list held more than that.
    pub(crate) more: bool,
}

impl Page {
    /// The first `wanted` passages of a fused list: at most `per_note` of a note, copies folded
    /// into one of them.
    ///
    /// Of copies, the one of the better class of evidence is shown (own and daily notes, then
    /// drafts and transcripts, clippings, templates, generated notes and backups), at the place of
    /// the one that was ranked best; within a class, the one ranked best; of those ranked equal,
    /// the one with the shortest path.
    pub(crate) fn of(
        snapshot: &Snapshot,
        fused: &[Fused],
        wanted: usize,
        per_note: usize,
    ) -> Result<Page, RetrievalError> {
        let mut filling = Filling {
            snapshot,
            per_note,
            candidates: Vec::new(),
            shapes: Shapes::default(),
            of_note: FxHashMap::default(),
            notes: FxHashMap::default(),
            telling: FxHashMap::default(),
        };
        let mut beyond = 0;
        for fused in fused {
            let is_full = filling.candidates.len() == wanted;
            if is_full && beyond == LOOK_AHEAD {
                break;
            }
            let Some(passage) = snapshot.passage(fused.passage)? else {
                continue;
            };
            if passage.text.is_empty() && !is_named(fused) {
                continue;
            }
            let shape = Shape::of(&told(&passage));
            if let Some(shape) = &shape
                && let Some(original) = filling.original(&passage, shape)?
            {
                filling.fold(original, fused, passage, shape)?;
            } else if is_full {
                beyond += usize::from(filling.has_room(passage.note));
            } else if filling.has_room(passage.note) {
                filling.show(fused, passage, shape);
            }
        }
        Ok(Page {
            candidates: filling.candidates,
            more: beyond > 0,
        })
    }
}

/// A page that is being filled.
struct Filling<'a> {
    snapshot: &'a Snapshot,
    per_note: usize,
    candidates: Vec<Candidate>,
    /// Of the passages shown, by their place.
    shapes: Shapes,
    /// How many passages of a note are shown.
    of_note: FxHashMap<u32, usize>,
    notes: FxHashMap<u32, Option<Rc<StoredNote>>>,
    /// What tells a passage from others, by its number; made when first compared.
    telling: FxHashMap<u32, Rc<Telling>>,
}

impl Filling<'_> {
    fn has_room(&self, note: u32) -> bool {
        self.of_note
            .get(&note)
            .is_none_or(|count| *count < self.per_note)
    }

    fn show(&mut self, fused: &Fused, passage: StoredPassage, shape: Option<Shape>) {
        *self.of_note.entry(passage.note).or_default() += 1;
        if let Some(shape) = shape {
            self.shapes.insert(self.candidates.len(), shape);
        }
        self.candidates.push(Candidate {
            fused: fused.clone(),
            passage,
            copies: Vec::new(),
        });
    }

    /// The place of the shown passage that this one is a copy of.
    fn original(
        &mut self,
        passage: &StoredPassage,
        shape: &Shape,
    ) -> Result<Option<usize>, RetrievalError> {
        for (place, likeness) in self.shapes.like(shape) {
            if likeness == Likeness::Same {
                return Ok(Some(place));
            }
            let Some(shown) = self.candidates.get(place) else {
                continue;
            };
            let shown = &shown.passage;
            let one = telling(&mut self.telling, shown);
            let two = telling(&mut self.telling, passage);
            let shown_in = shown.note;
            let origin = match (self.note(shown_in)?, self.note(passage.note)?) {
                (Some(one), Some(two)) => origin(&one, &two),
                _ => Origin::default(),
            };
            if !tells_apart(&one, &two, origin) {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    /// Names a passage as a copy of the one at a place, or shows it there instead.
    fn fold(
        &mut self,
        place: usize,
        fused: &Fused,
        passage: StoredPassage,
        shape: &Shape,
    ) -> Result<(), RetrievalError> {
        let Some(shown) = self.candidates.get(place) else {
            return Ok(());
        };
        let (old, new) = (shown.passage.note, passage.note);
        let is_equal = shown.fused.value == fused.value;
        let is_better = old != new && self.has_room(new) && {
            let (old, new) = (self.note(old)?, self.note(new)?);
            old.zip(new)
                .is_some_and(|(old, new)| is_better(&new, &old, is_equal))
        };
        let Some(shown) = self.candidates.get_mut(place) else {
            return Ok(());
        };
        if !is_better {
            shown.copies.push(new);
            return Ok(());
        }
        shown.copies.push(old);
        shown.fused = fused.clone();
        shown.passage = passage;
        if let Some(count) = self.of_note.get_mut(&old) {
            *count -= 1;
        }
        *self.of_note.entry(new).or_default() += 1;
        self.shapes.insert(place, shape.clone());
        Ok(())
    }

    fn note(&mut self, id: u32) -> Result<Option<Rc<StoredNote>>, RetrievalError> {
        if let Some(note) = self.notes.get(&id) {
            return Ok(note.clone());
        }
        let note = self.snapshot.note(id)?.map(Rc::new);
        self.notes.insert(id, note.clone());
        Ok(note)
    }
}

/// Whether words of the question, or links and tags, lead to it. A note without text has nothing
/// to say to a question that is only near in meaning to its name.
fn is_named(fused: &Fused) -> bool {
    let names = |found: &Contribution| !matches!(found.lane, Lane::Dense | Lane::Vocab);
    fused.trace.iter().any(names)
}

/// Whether a copy in one note is to be shown rather than that in another which came first.
fn is_better(new: &StoredNote, old: &StoredNote, ranked_equal: bool) -> bool {
    let key = |note: &StoredNote| (place_of(note.evidence.class), path_key(note));
    let (new, old) = (key(new), key(old));
    new.0 < old.0 || new.0 == old.0 && ranked_equal && new.1 < old.1
}

/// Shorter paths first, then by name.
fn path_key(note: &StoredNote) -> (usize, String) {
    let path = note.path.as_str();
    (path.len(), path.to_string())
}

/// The order in which classes are shown, of copies.
fn place_of(class: EvidenceClass) -> u8 {
    match class {
        EvidenceClass::Own | EvidenceClass::Daily => 0,
        EvidenceClass::Draft | EvidenceClass::Transcript => 1,
        EvidenceClass::Clipping => 2,
        EvidenceClass::Template => 3,
        EvidenceClass::Generated => 4,
    }
}

/// How two notes stand to each other.
fn origin(one: &StoredNote, two: &StoredNote) -> Origin {
    let is_backup = |note: &StoredNote| note.evidence.rule.starts_with("backup");
    let is_daily = |note: &StoredNote| note.evidence.class == EvidenceClass::Daily;
    let backup = is_backup(one) || is_backup(two);
    Origin {
        one_note: backup || are_versions(one.path.as_str(), two.path.as_str()),
        backup,
        different_days: is_daily(one) && is_daily(two) && one.date.day != two.date.day,
    }
}

/// What a passage says, without hidden pieces and without the heading that names its note, as the
/// file name of others does. A heading with a number may be the day that it tells of, and stays.
fn told(passage: &StoredPassage) -> Cow<'_, str> {
    let said = passage.said();
    let heading = said.lines().next().unwrap_or_default();
    let names_note = passage.ordinal == 0
        && heading.starts_with("# ")
        && !heading.contains(|c: char| c.is_numeric());
    match said {
        said if !names_note => said,
        Cow::Borrowed(said) => Cow::Borrowed(said.get(heading.len()..).unwrap_or_default()),
        Cow::Owned(ref text) => {
            Cow::Owned(text.get(heading.len()..).unwrap_or_default().to_string())
        }
    }
}

fn telling(known: &mut FxHashMap<u32, Rc<Telling>>, passage: &StoredPassage) -> Rc<Telling> {
    let made = || Rc::new(Telling::of(&told(passage)));
    Rc::clone(known.entry(passage.id).or_insert_with(made))
}
