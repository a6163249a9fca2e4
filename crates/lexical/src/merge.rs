//! Joins segments into one, without their dead passages.

use crate::dictionary::Terms;
use crate::error::SegmentError;
use crate::image::{Document, Image};
use crate::postings::END;
use crate::segment::Live;

/// The document number of a passage that is not kept.
const DROPPED: u32 = u32::MAX;

/// The image of a segment that holds every live passage of the inputs, ordered by passage id. It
/// needs no text, and answers exactly like the inputs did. Of a passage that is live in several
/// inputs, the last is kept.
///
/// Memory: the new image, and 4 bytes a passage.
///
/// # Errors
/// If an input is damaged.
pub fn merge(inputs: &[Live<'_>]) -> Result<Vec<u8>, SegmentError> {
    let (documents, renumbered) = documents(inputs)?;
    let mut image = Image::new(&documents);
    let mut cursors: Vec<Terms<'_>> = inputs.iter().map(|live| Terms::all(live.segment)).collect();
    let mut open = Vec::with_capacity(cursors.len());
    for cursor in &mut cursors {
        open.push(cursor.advance()?);
    }
    let mut postings: Vec<(u32, u8)> = Vec::new();
    let mut term = Vec::new();
    while let Some(first) = (0..cursors.len())
        .filter(|at| open[*at])
        .min_by_key(|at| cursors[*at].term())
    {
        term.clear();
        term.extend_from_slice(cursors[first].term());
        postings.clear();
        for at in 0..cursors.len() {
            if open[at] && cursors[at].term() == term {
                read_postings(inputs[at], &cursors[at], &renumbered[at], &mut postings)?;
                open[at] = cursors[at].advance()?;
            }
        }
        if !postings.is_sorted_by_key(|(doc, _)| *doc) {
            postings.sort_unstable_by_key(|(doc, _)| *doc);
        }
        for (doc, tf) in &postings {
            image.posting(*doc, *tf);
        }
        image.end_term(&term);
    }
    Ok(image.finish())
}

/// The passages that are kept, and for each input the new number of each document.
fn documents(inputs: &[Live<'_>]) -> Result<(Vec<Document>, Vec<Vec<u32>>), SegmentError> {
    let mut kept: Vec<(u32, usize, u32)> = Vec::new();
    for (at, live) in inputs.iter().enumerate() {
        for doc in
            (0..live.segment.len()).filter(|doc| live.dead.is_none_or(|dead| !dead.contains(*doc)))
        {
            kept.push((live.segment.passage(doc)?, at, doc));
        }
    }
    if !kept.is_sorted() {
        kept.sort_unstable();
    }
    let mut renumbered: Vec<Vec<u32>> = inputs
        .iter()
        .map(|live| vec![DROPPED; live.segment.len() as usize])
        .collect();
    let mut documents = Vec::with_capacity(kept.len());
    for (place, (passage, at, doc)) in kept.iter().enumerate() {
        if kept.get(place + 1).is_some_and(|next| next.0 == *passage) {
            continue;
        }
        let segment = inputs[*at].segment;
        let length = segment.lengths(*doc as usize..*doc as usize + 1)?[0];
        renumbered[*at][*doc as usize] = documents.len() as u32;
        documents.push(Document {
            passage: *passage,
            tie: segment.tie(*doc)?,
            length,
        });
    }
    Ok((documents, renumbered))
}

/// Appends the postings of the passages that are kept.
fn read_postings(
    live: Live<'_>,
    cursor: &Terms<'_>,
    renumbered: &[u32],
    out: &mut Vec<(u32, u8)>,
) -> Result<(), SegmentError> {
    let mut postings = cursor.postings()?.cursor();
    postings.drain(renumbered.len() as u64, |docs, frequencies| {
        let new = docs
            .iter()
            .map(|doc| renumbered[*doc as usize])
            .zip(frequencies.iter().copied());
        out.extend(new.filter(|(doc, _)| *doc != DROPPED));
    });
    if postings.failed() || postings.doc() != END {
        return Err(live.segment.damaged("postings"));
    }
    Ok(())
}
