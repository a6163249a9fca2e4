//! A batch: as many notes as are prepared together, published by one transaction.

use lorewell_lexical::{Field, SegmentBuilder};
use rayon::prelude::*;
use rusqlite::Connection;

use crate::FieldWeights;
use crate::carried::carried;
use crate::catalogue;
use crate::compare::Candidate;
use crate::prepare::{Preparation, Prepared, PreparedNote};
use crate::update::{Observer, Stage};

/// A batch holds at most so many bytes of notes, and files; it bounds memory, and the work that
/// an interruption can lose.
const MAX_BYTES: u64 = 24 * 1024 * 1024;
const MAX_FILES: usize = 4_000;

/// Numbers for new notes and passages; they only count up, also over deleted ones.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counters {
    pub(crate) note: u32,
    pub(crate) passage: u32,
}

impl Counters {
    pub(crate) fn save(self, connection: &Connection) -> rusqlite::Result<()> {
        catalogue::set_meta(connection, "last_note", &self.note.to_string())?;
        catalogue::set_meta(connection, "last_passage", &self.passage.to_string())
    }
}

/// A note with its numbers.
pub(crate) struct BatchNote {
    pub(crate) number: u32,
    /// The others follow.
    pub(crate) first_passage: u32,
    /// The catalogue has an older content of it.
    pub(crate) replaces: bool,
    pub(crate) note: PreparedNote,
}

/// Everything that one transaction takes in.
pub(crate) struct Batch {
    pub(crate) notes: Vec<BatchNote>,
    /// What became of the other files.
    pub(crate) others: Vec<Prepared>,
    /// The image of a segment with all passages, if there are any.
    pub(crate) segment: Option<Vec<u8>>,
    /// The counters after the batch.
    pub(crate) counters: Counters,
    /// Whether preparation was cut short.
    pub(crate) stopped: bool,
}

/// Cuts the work into batches.
pub(crate) fn plan(candidates: Vec<Candidate>) -> Vec<Vec<Candidate>> {
    let mut batches: Vec<Vec<Candidate>> = Vec::new();
    let mut bytes = 0;
    for candidate in candidates {
        let size = candidate.entry.size;
        match batches.last_mut() {
            Some(batch) if bytes + size <= MAX_BYTES && batch.len() < MAX_FILES => {
                bytes += size;
                batch.push(candidate);
            }
            _ => {
                bytes = size;
                batches.push(vec![candidate]);
            }
        }
    }
    batches
}

impl Batch {
    /// Reads, parses, embeds and tokenizes in parallel.
    pub(crate) fn prepare(
        candidates: &[Candidate],
        preparation: &Preparation<'_>,
        counters: Counters,
        observer: &dyn Observer,
    ) -> Batch {
        let prepared: Vec<Option<(Option<u32>, Prepared)>> = candidates
            .par_iter()
            .map(|candidate| {
                if observer.stopped() {
                    return None;
                }
                let outcome = preparation.prepare(candidate);
                observer.note_done(candidate.entry.path.as_str());
                Some((candidate.known.as_ref().map(|known| known.note), outcome))
            })
            .collect();
        let mut batch = Batch {
            notes: Vec::new(),
            others: Vec::new(),
            segment: None,
            counters,
            stopped: false,
        };
        for outcome in prepared {
            match outcome {
                Some((known, Prepared::Note(note))) => batch.admit(known, *note),
                Some((_, other)) => batch.others.push(other),
                None => batch.stopped = true,
            }
        }
        observer.stage(Stage::Words);
        batch.segment = segment(&batch.notes, &preparation.settings.weights);
        batch
    }

    fn admit(&mut self, known: Option<u32>, note: PreparedNote) {
        let number = known.unwrap_or_else(|| {
            self.counters.note += 1;
            self.counters.note
        });
        let first_passage = self.counters.passage + 1;
        self.counters.passage += note.passages.len() as u32;
        self.notes.push(BatchNote {
            number,
            first_passage,
            replaces: known.is_some(),
            note,
        });
    }
}

/// Builds one segment over the passages of a batch, in parallel parts.
fn segment(notes: &[BatchNote], weights: &FieldWeights) -> Option<Vec<u8>> {
    if notes.iter().all(|new| new.note.passages.is_empty()) {
        return None;
    }
    let part = notes
        .len()
        .div_ceil(rayon::current_num_threads() * 2)
        .max(16);
    let builders: Vec<SegmentBuilder> = notes
        .par_chunks(part)
        .map(|notes| {
            let mut builder = SegmentBuilder::new();
            for new in notes {
                add_note(&mut builder, new.first_passage, &new.note, weights);
            }
            builder
        })
        .collect();
    let mut builders = builders.into_iter();
    let mut whole = builders.next()?;
    for builder in builders {
        whole.append(builder);
    }
    Some(whole.finish())
}

fn add_note(builder: &mut SegmentBuilder, first: u32, note: &PreparedNote, weights: &FieldWeights) {
    let path = note.entry.path.as_str();
    let path_words = &path[..path.rfind('.').unwrap_or(path.len())];
    let place = place(path);
    for (ordinal, passage) in note.passages.iter().enumerate() {
        let headings = passage.heading_path.join("\n");
        let aliases = carried(&note.aliases, ordinal).join("\n");
        let tags = carried(&note.tags, ordinal).join("\n");
        let fields = [
            Field {
                weight: weights.title,
                text: &note.title,
            },
            Field {
                weight: weights.path,
                text: path_words,
            },
            Field {
                weight: weights.headings,
                text: &headings,
            },
            Field {
                weight: weights.aliases,
                text: &aliases,
            },
            Field {
                weight: weights.tags,
                text: &tags,
            },
            Field {
                weight: weights.body,
                text: passage.words(),
            },
        ];
        builder.add(first + ordinal as u32, tie(place, ordinal), &fields);
    }
}

/// A number for a path.
fn place(path: &str) -> u64 {
    let hash = blake3::hash(path.as_bytes());
    let mut head = [0; 8];
    head.copy_from_slice(&hash.as_bytes()[..8]);
    u64::from_le_bytes(head)
}

/// Orders equal scores the same way however the index came about.
fn tie(place: u64, ordinal: usize) -> u64 {
    place << 20 | (ordinal as u64 & 0xF_FFFF)
}
