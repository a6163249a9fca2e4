//! Days and periods of the proleptic Gregorian calendar, years 1 to 9999.

use std::fmt;

/// A day of the calendar, years 1 to 9999. Shown as `YYYY-MM-DD`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day {
    year: u16,
    month: u8,
    day: u8,
}

/// Whole days from one to another, both in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Period {
    /// The first day.
    pub first: Day,
    /// The last day.
    pub last: Day,
}

impl Day {
    /// The day of a year (1 to 9999), month (1 to 12) and day of the month, if there is one.
    pub fn new(year: u16, month: u8, day: u8) -> Option<Day> {
        let is_there = (1..=9999).contains(&year)
            && (1..=12).contains(&month)
            && (1..=days_of_month(year, month)).contains(&day);
        is_there.then_some(Day { year, month, day })
    }

    /// The year.
    pub fn year(self) -> u16 {
        self.year
    }

    /// The month, 1 to 12.
    pub fn month(self) -> u8 {
        self.month
    }

    /// The day of the month, from 1.
    pub fn day(self) -> u8 {
        self.day
    }

    /// The day that is so many days after 1970-01-01 (before it, if negative), within the years
    /// that a day can have. Source: H. Hinnant, "chrono-Compatible Low-Level Date Algorithms".
    pub fn from_epoch(days: i64) -> Option<Day> {
        let shifted = days.checked_add(719_468)?;
        let era = shifted.div_euclid(146_097);
        let of_era = shifted.rem_euclid(146_097);
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let from_march = (5 * of_year + 2) / 153;
        let day = of_year - (153 * from_march + 2) / 5 + 1;
        let month = if from_march < 10 {
            from_march + 3
        } else {
            from_march - 9
        };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        Day::new(
            u16::try_from(year).ok()?,
            u8::try_from(month).ok()?,
            u8::try_from(day).ok()?,
        )
    }

    /// Days since 1970-01-01; the inverse of [`Day::from_epoch`].
    pub fn to_epoch(self) -> i64 {
        let (month, day) = (i64::from(self.month), i64::from(self.day));
        let year = i64::from(self.year) - i64::from(month <= 2);
        let era = year.div_euclid(400);
        let year_of_era = year.rem_euclid(400);
        let from_march = if month > 2 { month - 3 } else { month + 9 };
        let of_year = (153 * from_march + 2) / 5 + day - 1;
        let of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year;
        era * 146_097 + of_era - 719_468
    }

    /// So many days later (earlier, if negative).
    pub fn plus(self, days: i64) -> Option<Day> {
        Day::from_epoch(self.to_epoch().checked_add(days)?)
    }

    /// The day of the week: 0 for Monday to 6 for Sunday.
    pub fn weekday(self) -> u8 {
        // 1970-01-01 was a Thursday.
        u8::try_from((self.to_epoch() + 3).rem_euclid(7)).unwrap_or(0)
    }

    /// Reads `YYYY-MM-DD`, and nothing else.
    pub fn parse(text: &str) -> Option<Day> {
        let bytes = text.as_bytes();
        if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
            return None;
        }
        let number = |range: std::ops::Range<usize>| -> Option<u16> {
            let digits = text.get(range)?;
            digits.bytes().all(|b| b.is_ascii_digit()).then_some(())?;
            digits.parse().ok()
        };
        let part = |range| number(range).and_then(|n| u8::try_from(n).ok());
        Day::new(number(0..4)?, part(5..7)?, part(8..10)?)
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl From<Day> for Period {
    fn from(day: Day) -> Period {
        Period {
            first: day,
            last: day,
        }
    }
}

impl Period {
    /// From the first of January to the last of December.
    pub fn year(year: u16) -> Option<Period> {
        Period::months(year, 1, 12)
    }

    /// A month, 1 to 12.
    pub fn month(year: u16, month: u8) -> Option<Period> {
        Period::months(year, month, month)
    }

    /// A quarter, 1 to 4.
    pub fn quarter(year: u16, quarter: u8) -> Option<Period> {
        let last = quarter.checked_mul(3)?;
        Period::months(year, last.checked_sub(2)?, last)
    }

    /// A week by ISO 8601: it begins on Monday, and week 1 is the one with 4 January.
    pub fn week(year: u16, week: u8) -> Option<Period> {
        let first = Day::new(year, 1, 4)?;
        let monday = first
            .plus(-i64::from(first.weekday()))?
            .plus(7 * (i64::from(week) - 1))?;
        // A week belongs to the year of its Thursday.
        (week > 0 && monday.plus(3)?.year() == year).then_some(())?;
        Period::week_of(monday)
    }

    /// The week, Monday to Sunday, that a day lies in.
    pub fn week_of(day: Day) -> Option<Period> {
        let monday = day.plus(-i64::from(day.weekday()))?;
        Some(Period {
            first: monday,
            last: monday.plus(6)?,
        })
    }

    /// Whether a day lies in it.
    pub fn contains(self, day: Day) -> bool {
        self.first <= day && day <= self.last
    }

    fn months(year: u16, first: u8, last: u8) -> Option<Period> {
        Some(Period {
            first: Day::new(year, first, 1)?,
            last: Day::new(year, last, days_of_month(year, last))?,
        })
    }
}

fn days_of_month(year: u16, month: u8) -> u8 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        _ => 31,
    }
}
