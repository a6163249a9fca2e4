//! A batch: as many notes as are prepared together, published by one transaction.

use lorewell_lexical::{Field, SegmentBuilder};
use rayon::prelude::*;

use crate::FieldWeights;
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

/// Everything that one transaction takes in.
pub(crate) struct Batch {
    /// Note number, number of its first passage, note.
    pub(crate) notes: Vec<(u32, u32, PreparedNote)>,
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
        let first = self.counters.passage + 1;
        self.counters.passage += note.passages.len() as u32;
        self.notes.push((number, first, note));
    }
}

/// Builds one segment over the passages of a batch, in parallel parts.
fn segment(notes: &[(u32, u32, PreparedNote)], weights: &FieldWeights) -> Option<Vec<u8>> {
    if notes.iter().all(|(_, _, note)| note.passages.is_empty()) {
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
            for (_, first, note) in notes {
                add_note(&mut builder, *first, note, weights);
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
    let aliases = note.aliases.join("\n");
    let tags = note.tags.join("\n");
    for (ordinal, passage) in note.passages.iter().enumerate() {
        let headings = passage.heading_path.join("\n");
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
        builder.add(first + ordinal as u32, tie(path, ordinal), &fields);
    }
}

/// Orders equal scores the same way however the index came about.
fn tie(path: &str, ordinal: usize) -> u64 {
    let hash = blake3::hash(path.as_bytes());
    let mut head = [0; 8];
    head.copy_from_slice(&hash.as_bytes()[..8]);
    u64::from_le_bytes(head) << 20 | (ordinal as u64 & 0xF_FFFF)
}
