//! Days of the calendar, and reading them out of text: numbers (`2024-05-03`, `2024-W18`), names
//! of months in eight languages (`3 May 2024`, `3. Mai 2024`, `2 мая 2026`), and, against a day
//! that the caller names, relative ones (`yesterday`, `last Monday`, `昨天`).
//!
//! What can be read in two ways (`03/05/2024`) is not guessed. No clock is read here.

mod calendar;
mod names;
mod relative;
mod scan;
mod written;

use std::ops::Range;

pub use calendar::{Day, Period};

use scan::Scan;

/// The single days that a text names, in order, each with the bytes that name it.
///
/// `today` is what relative words (`yesterday`) and days without a year (`May 3`: the last one)
/// are counted from; without it, they are passed over. Months, weeks and years are no days: see
/// [`periods_in`].
pub fn days_in(text: &str, today: Option<Day>) -> Vec<(Range<usize>, Day)> {
    let periods = periods_in(text, today).into_iter();
    periods
        .filter(|(_, period)| period.first == period.last)
        .map(|(range, period)| (range, period.first))
        .collect()
}

/// The days, weeks, months and quarters that a text names, in order, each with the bytes that
/// name it; they do not overlap. A year alone is not among them: it may be any number.
///
/// `today` as in [`days_in`].
pub fn periods_in(text: &str, today: Option<Day>) -> Vec<(Range<usize>, Period)> {
    let scan = Scan::new(text);
    let mut found = Vec::new();
    let mut at = 0;
    while at < scan.len() {
        let read = written::read(&scan, at, today)
            .or_else(|| today.and_then(|today| relative::read(&scan, at, today)));
        match read {
            Some((end, period)) if end > at => {
                found.push((scan.range(at..end), period));
                at = end;
            }
            _ => at += 1,
        }
    }
    found
}

/// What a whole text means, blanks around it aside: all that [`periods_in`] reads, and a year
/// (`2024`). Nothing where it holds anything else.
pub fn whole_period(text: &str, today: Option<Day>) -> Option<Period> {
    let text = text.trim();
    if text.len() == 4 && text.bytes().all(|b| b.is_ascii_digit()) {
        return Period::year(text.parse().ok()?);
    }
    match periods_in(text, today).as_slice() {
        [(range, period)] if *range == (0..text.len()) => Some(*period),
        _ => None,
    }
}

/// Whether a text is one date (no year alone) and nothing else but its day of the week, as names
/// of daily notes are: `2024-05-03`, `2024-05-03 Friday`, `Friday, May 3rd, 2024`, `2024-W18`.
pub fn is_only_a_period(text: &str) -> bool {
    let scan = Scan::new(text);
    let found = periods_in(text, None);
    let [(range, _)] = found.as_slice() else {
        return false;
    };
    let mut others = scan.outside(range.clone());
    let is_day_of_week =
        |word: &str| names::weekday(word).is_some() || names::is_short_weekday(word);
    others.next().is_none_or(is_day_of_week) && others.next().is_none()
}

#[cfg(test)]
mod tests;
