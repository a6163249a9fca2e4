//! Bringing an index up to date with its folder: one save, or a whole build, by the same walk.

use std::sync::mpsc::sync_channel;

use lorewell_embed::Cost;

use crate::IndexError;
use crate::batch::{Batch, plan};
use crate::compare::{Candidate, Changes};
use crate::later::Desk;
use crate::prepare::Preparation;
use crate::unread::UnreadNotes;
use crate::writer::Writer;

/// Hears of the progress of an update, and can stop it. Called from several threads.
pub trait Observer: Sync {
    /// So many files will be read.
    fn begin(&self, files: usize) {
        let _ = files;
    }
    /// A file was read.
    fn note_done(&self, path: &str) {
        let _ = path;
    }
    /// Work of this kind begins.
    fn stage(&self, stage: Stage) {
        let _ = stage;
    }
    /// Of the passages that waited for a vector, so many wait no more.
    fn vectors(&self, done: u64, all: u64) {
        let _ = (done, all);
    }
    /// Asked often: whether to stop at the next safe point. What was done until then is kept.
    fn stopped(&self) -> bool {
        false
    }
}

/// The kinds of work in an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Reading, parsing and embedding notes.
    Notes,
    /// Building a lexical segment.
    Words,
    /// Writing the catalogue.
    Catalogue,
    /// Joining segments.
    Merge,
}

/// An observer that wants to hear nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Observer for Quiet {}

/// What an update did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UpdateReport {
    /// Notes that were read and taken in, new or changed.
    pub taken_in: usize,
    /// Notes that were removed.
    pub removed: usize,
    /// Files whose stamp had changed and whose content had not.
    pub unchanged: usize,
    /// Files that were read and left out by a rule or failed.
    pub skipped: usize,
    /// Files that could not be read, or changed meanwhile; what was known of them stays.
    pub unread: usize,
    /// Notes of the index that could not be read before either, and were not tried again.
    pub unreadable: UnreadNotes,
    /// Whether it was stopped before all was done.
    pub stopped: bool,
    /// The generation afterwards.
    pub generation: u64,
}

/// Takes in what `changes` names.
pub(crate) fn run(
    writer: &mut Writer,
    preparation: &Preparation<'_>,
    changes: Changes,
    observer: &dyn Observer,
    report: &mut UpdateReport,
) -> Result<(), IndexError> {
    // What goes and what comes belong together: a note under a new path would be nowhere between.
    let moves = !changes.removed.is_empty() && !changes.read.is_empty();
    let whole = moves || changes.read.iter().any(Candidate::is_outdated);
    let removed_before = report.removed;
    if whole {
        writer.begin_whole()?;
    }
    if !changes.removed.is_empty() || !changes.forgotten.is_empty() {
        report.removed += writer.remove(&changes.removed, &changes.forgotten)?;
    }
    observer.begin(changes.read.len());
    observer.stage(Stage::Notes);
    take_batches(writer, preparation, plan(changes.read), observer, report)?;
    if whole && report.stopped {
        writer.give_up_whole(preparation.embedder)?;
        report.taken_in = 0;
        report.removed = removed_before;
    } else if whole {
        writer.commit_whole()?;
    }
    if report.stopped {
        return Ok(());
    }
    writer.purge()?;
    writer.finish()?;
    writer.forget_lost_segments()?;
    let mut unread = 0;
    if preparation.embedder.cost() == Cost::Cheap {
        let filled = writer.fill(Desk {
            vault: preparation.vault,
            settings: preparation.settings,
            embedder: preparation.embedder,
            observer,
        })?;
        report.stopped = filled.stopped;
        unread = filled.unread;
    }
    if !report.stopped {
        writer.settle_models(unread)?;
        observer.stage(Stage::Merge);
        writer.tidy()?;
    }
    Ok(())
}

/// Prepares each batch while the one before it is published.
fn take_batches(
    writer: &mut Writer,
    preparation: &Preparation<'_>,
    batches: Vec<Vec<Candidate>>,
    observer: &dyn Observer,
    report: &mut UpdateReport,
) -> Result<(), IndexError> {
    let last = batches.len();
    let mut counters = writer.counters()?;
    std::thread::scope(|scope| {
        let (send, receive) = sync_channel::<Batch>(0);
        scope.spawn(move || {
            for candidates in batches {
                if observer.stopped() {
                    break;
                }
                let batch = Batch::prepare(&candidates, preparation, counters, observer);
                counters = batch.counters;
                let stopped = batch.stopped;
                if send.send(batch).is_err() || stopped {
                    break;
                }
            }
        });
        let mut done = 0;
        for batch in receive {
            done += 1;
            observer.stage(Stage::Catalogue);
            let unfinished = batch.stopped || done < last;
            writer.publish(batch, unfinished, report)?;
            report.stopped = unfinished;
        }
        report.stopped |= done < last;
        Ok(())
    })
}
