//! Dates of the calendar as people write them, in numbers and with names of months.

use super::names::{MonthName, month};
use super::scan::Scan;
use super::{Day, Period};

/// Reads the date that begins at a piece: the piece behind it, and what it means.
pub(super) fn read(scan: &Scan<'_>, at: usize, today: Option<Day>) -> Option<(usize, Period)> {
    if !scan.begins(at) {
        return None;
    }
    if scan.number(at).is_some() {
        year_first(scan, at)
            .or_else(|| run_together(scan, at))
            .or_else(|| year_last(scan, at))
            .or_else(|| day_and_month_name(scan, at, today))
            .or_else(|| year_and_month_name(scan, at))
            .or_else(|| month_and_day_signs(scan, at, today?))
    } else {
        month_name(scan, at, today)
    }
}

/// `2024-05-03`, `2024/5/3`, `2024.05.03`, `2024_05_03`, `2024年5月3日`, `2024-05`, `2024-W18`,
/// `2024-Q2`.
fn year_first(scan: &Scan<'_>, at: usize) -> Option<(usize, Period)> {
    let year = scan.digits(at, 4, 4)?;
    if let Some(read) = chinese(scan, at, year) {
        return Some(read);
    }
    if let Some(read) = week_or_quarter(scan, at, year) {
        return Some(read);
    }
    let sign = scan.sign(at + 1)?;
    // Dotted numbers with single digits are versions more often than days.
    let least = match sign {
        '-' | '/' | '_' => 1,
        '.' => 2,
        _ => return None,
    };
    let month = small(scan, at + 2, least)?;
    let day = (scan.sign(at + 3) == Some(sign))
        .then(|| small(scan, at + 4, least))
        .flatten();
    if let Some(day) = day
        && scan.number(at + 5).is_none()
    {
        return Some((at + 5, Day::new(year, month, day)?.into()));
    }
    let is_month = sign != '.' && scan.digits(at + 2, 2, 2).is_some() && scan.ends(at + 3);
    is_month.then_some((at + 3, Period::month(year, month)?))
}

/// `2024年5月3日`, `2024년 5월 3일`, and without the day.
fn chinese(scan: &Scan<'_>, at: usize, year: u16) -> Option<(usize, Period)> {
    let is = |at: usize, signs: [char; 2]| scan.written(at).starts_with(signs);
    is(at + 1, ['年', '년']).then_some(())?;
    let month_at = scan.skip_blank(at + 2);
    let month = small(scan, month_at, 1)?;
    is(month_at + 1, MONTH_SIGNS).then_some(())?;
    if let Some((end, day)) = day_sign(scan, month_at + 2) {
        return Some((end, Day::new(year, month, day)?.into()));
    }
    Some((month_at + 2, Period::month(year, month)?))
}

/// `5月2日`, `5월 2일`: the last such day. Behind a sign for years it is of a year that was not
/// read (`去年5月2日`).
fn month_and_day_signs(scan: &Scan<'_>, at: usize, today: Day) -> Option<(usize, Period)> {
    let month = small(scan, at, 1)?;
    scan.written(at + 1)
        .starts_with(MONTH_SIGNS)
        .then_some(())?;
    let (end, day) = day_sign(scan, at + 2)?;
    let before = scan.word_before(at);
    let of_a_year = before.is_some_and(|word| word.ends_with(['年', '년']));
    let day = last_of_its_name(month, day, today)?;
    (!of_a_year).then_some((end, day.into()))
}

const MONTH_SIGNS: [char; 2] = ['月', '월'];

/// A day of the month with its sign, a blank before it or not: the piece behind it, and the day.
fn day_sign(scan: &Scan<'_>, at: usize) -> Option<(usize, u8)> {
    let at = scan.skip_blank(at);
    let day = small(scan, at, 1)?;
    let has_sign = scan.written(at + 1).starts_with(['日', '号', '號', '일']);
    has_sign.then_some((at + 2, day))
}

/// `2024-W18`, `2024W18`, `2024-W18-3`, `2024-Q2`.
fn week_or_quarter(scan: &Scan<'_>, at: usize, year: u16) -> Option<(usize, Period)> {
    let at = at + 1 + usize::from(matches!(scan.sign(at + 1), Some('-' | '_')));
    let at = scan.skip_blank(at);
    match scan.word(at)? {
        "w" | "kw" => {
            let week = Period::week(year, small(scan, at + 1, 2)?)?;
            let day = (scan.sign(at + 2) == Some('-'))
                .then(|| scan.digits(at + 3, 1, 1))
                .flatten()
                .filter(|day| (1..=7).contains(day) && scan.ends(at + 4));
            match day {
                Some(day) => Some((at + 4, week.first.plus(i64::from(day) - 1)?.into())),
                None => Some((at + 2, week)),
            }
        }
        "q" => {
            let quarter = scan.digits(at + 1, 1, 1)?;
            let period = Period::quarter(year, u8::try_from(quarter).ok()?)?;
            scan.ends(at + 2).then_some((at + 2, period))
        }
        _ => None,
    }
}

/// `20240503`, and with a time of day as in ids of notes: `202405031015`, `20240503101500`,
/// `20240503T101500`.
fn run_together(scan: &Scan<'_>, at: usize) -> Option<(usize, Period)> {
    let (number, digits) = scan.number(at)?;
    let (date, time) = match digits {
        8 => (number, 0),
        12 => (number / 10_000, number % 10_000 * 100),
        14 => (number / 1_000_000, number % 1_000_000),
        _ => return None,
    };
    (time / 10_000 < 24 && time / 100 % 100 < 60 && time % 100 < 60).then_some(())?;
    let year = u16::try_from(date / 10_000).ok()?;
    (1900..2100).contains(&year).then_some(())?;
    let part = |n: u64| u8::try_from(n % 100).ok();
    let day = Day::new(year, part(date / 100)?, part(date)?)?;
    let with_time = matches!(scan.word(at + 1), Some("t" | "z")) && scan.number(at + 2).is_some();
    (with_time || scan.ends(at + 1)).then_some((at + 1, day.into()))
}

/// `25/12/2024`, `12/25/2024`, `25.12.2024`: only where one order alone gives a day, or both give
/// the same.
fn year_last(scan: &Scan<'_>, at: usize) -> Option<(usize, Period)> {
    let sign = scan.sign(at + 1).filter(|s| matches!(s, '-' | '/' | '.'))?;
    (scan.sign(at + 3) == Some(sign)).then_some(())?;
    let (one, two) = (small(scan, at, 1)?, small(scan, at + 2, 1)?);
    let year = scan.digits(at + 4, 4, 4)?;
    scan.ends(at + 5).then_some(())?;
    let day = match (Day::new(year, two, one), Day::new(year, one, two)) {
        (Some(a), Some(b)) => (a == b).then_some(a),
        (a, b) => a.or(b),
    }?;
    Some((at + 5, day.into()))
}

/// `3 May 2024`, `3rd of May, 2024`, `3. Mai 2024`, `1er mai 2024`, `3 de mayo de 2024`,
/// `2 maggio 2026`, `2 мая 2026`, `3-May-2024`; without the year, the last such day.
fn day_and_month_name(scan: &Scan<'_>, at: usize, today: Option<Day>) -> Option<(usize, Period)> {
    let day = small(scan, at, 1)?;
    let mut next = skip_ordinal(scan, at + 1);
    next += usize::from(scan.sign(next) == Some('.'));
    next = skip_between(scan, next);
    if let Some("of" | "de" | "del" | "d") = scan.word(next) {
        next = skip_between(scan, next + 1);
    }
    let (month, form) = month_at(scan, next)?;
    let name = next;
    // A short form may bear a dot: `3 Sept. 2024`.
    next += 1;
    let dotted = next + usize::from(scan.sign(next) == Some('.'));
    if let Some((end, year)) = year_behind(scan, dotted) {
        return Some((end, Day::new(year, month, day)?.into()));
    }
    let day = last_of_its_name(month, day, today?)?;
    (form != MonthName::Short && is_surely_a_month(scan, name) && scan.ends(name + 1))
        .then_some((name + 1, day.into()))
}

/// `May 3, 2024`, `May 3rd 2024`, `mayo 3 de 2024`, `May 2024`; without the year, the last such
/// day.
fn month_name(scan: &Scan<'_>, at: usize, today: Option<Day>) -> Option<(usize, Period)> {
    let (month, form) = month_at(scan, at)?;
    let mut next = at + 1;
    next += usize::from(form == MonthName::Short && scan.sign(next) == Some('.'));
    if let Some((end, year)) = year_behind(scan, next) {
        // The planet bears its year as readily as the French month does, and so does the city.
        let is_other = scan.written(at) == "Mars"
            || (scan.word(at) == Some("janeiro") && scan.words().any(|word| word == "rio"));
        return (!is_other).then_some((end, Period::month(year, month)?));
    }
    next = skip_between(scan, next);
    let day_at = next;
    let day = small(scan, day_at, 1)?;
    next = skip_ordinal(scan, day_at + 1);
    let is_ordinal = next > day_at + 1;
    if let Some((end, year)) = year_behind(scan, next) {
        return Some((end, Day::new(year, month, day)?.into()));
    }
    let day = last_of_its_name(month, day, today?)?;
    (form == MonthName::Free && (is_ordinal || is_surely_a_month(scan, at)) && scan.ends(next))
        .then_some((next, day.into()))
}

/// `2024-May-03`, `2024 May 3`.
fn year_and_month_name(scan: &Scan<'_>, at: usize) -> Option<(usize, Period)> {
    let year = scan.digits(at, 4, 4)?;
    let name = skip_between(scan, at + 1);
    let (month, _) = month_at(scan, name)?;
    let day_at = skip_between(scan, name + 1);
    let day = small(scan, day_at, 1)?;
    let end = skip_ordinal(scan, day_at + 1);
    (day_at > name + 1 && scan.ends(end)).then_some((end, Day::new(year, month, day)?.into()))
}

/// The year that may follow a day or month, and the piece behind it: ` 2024`, `, 2024`,
/// ` de 2024`, `-2024`.
fn year_behind(scan: &Scan<'_>, at: usize) -> Option<(usize, u16)> {
    let mut next = at + usize::from(matches!(scan.sign(at), Some(',' | '-' | '_' | '/')));
    next = scan.skip_blank(next);
    if let Some("of" | "de" | "del") = scan.word(next) {
        next = scan.skip_blank(next + 1);
    }
    let year = scan.digits(next, 4, 4)?;
    (next > at && (1000..=2999).contains(&year) && scan.ends(next + 1)).then_some((next + 1, year))
}

/// The piece behind `st`, `nd`, `er` and so on, if one stands directly at a piece.
fn skip_ordinal(scan: &Scan<'_>, at: usize) -> usize {
    let is_one = matches!(
        scan.word(at),
        Some("st" | "nd" | "rd" | "th" | "er" | "re" | "ro" | "o" | "a")
    );
    at + usize::from(is_one || matches!(scan.sign(at), Some('º' | '°')))
}

/// The piece behind one blank, hyphen or underscore.
fn skip_between(scan: &Scan<'_>, at: usize) -> usize {
    at + usize::from(scan.is_blank(at) || matches!(scan.sign(at), Some('-' | '_')))
}

/// A day or month in one or two digits.
fn small(scan: &Scan<'_>, at: usize, least: usize) -> Option<u8> {
    u8::try_from(scan.digits(at, least, 2)?).ok()
}

/// The month that a word names: [`month`], but `Marco` without its cedilla is a man.
fn month_at(scan: &Scan<'_>, at: usize) -> Option<(u8, MonthName)> {
    let found = month(scan.word(at)?)?;
    (!scan.written(at).eq_ignore_ascii_case("marco")).then_some(found)
}

/// `may` and `march` are verbs where they are not capitalized.
fn is_surely_a_month(scan: &Scan<'_>, at: usize) -> bool {
    !matches!(scan.written(at), "may" | "march")
}

/// The last day of this month and day of the month that is not after `today`.
fn last_of_its_name(month: u8, day: u8, today: Day) -> Option<Day> {
    // 29 February may be eight years back.
    (0..=8)
        .filter_map(|back| Day::new(today.year().checked_sub(back)?, month, day))
        .find(|found| *found <= today)
}
