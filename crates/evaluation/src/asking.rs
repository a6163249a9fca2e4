//! Asking many questions of one index, by several threads.

use lorewell_engine::{EngineError, Host, View};

use crate::outcome::{DEPTH, Outcome};
use crate::question::Question;
use crate::system::System;

/// As many passages as an answer holds by default: what people see.
pub const SHOWN: usize = 6;

/// Does something with every item; results in the order of the items.
///
/// # Errors
/// The first that occurs.
///
/// # Panics
/// If `work` does.
pub fn each<T: Sync, R: Send, E: Send + From<EngineError>>(
    host: &Host,
    items: &[T],
    work: impl Fn(&View<'_>, &T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let part = items.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let work = &work;
        let started: Vec<_> = items
            .chunks(part)
            .map(|items| {
                scope.spawn(move || {
                    let view = host.view()?;
                    items
                        .iter()
                        .map(|item| work(&view, item))
                        .collect::<Result<Vec<R>, E>>()
                })
            })
            .collect();
        let mut all = Vec::with_capacity(items.len());
        for thread in started {
            match thread.join() {
                Ok(done) => all.extend(done?),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(all)
    })
}

/// The outcome of every question with one system, in the order of the questions.
///
/// # Errors
/// The index cannot be read.
pub fn ask(
    host: &Host,
    questions: &[Question],
    system: &System,
) -> Result<Vec<Outcome>, EngineError> {
    each(host, questions, |view, question| {
        let wanted = question.wanted();
        let deep = view.search(&system.request(&question.question, DEPTH))?;
        let mut outcome = Outcome::judge(&deep, &wanted);
        let shown = view.search(&system.request(&question.question, SHOWN))?;
        outcome.score = shown.passages.iter().map(|p| p.score).fold(0.0, f32::max);
        outcome.confidence = shown.confidence;
        Ok(outcome)
    })
}
