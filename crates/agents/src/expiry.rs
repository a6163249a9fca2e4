//! When an approval ends: `30d`, or a day.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::AgentsError;

/// The longest span: beyond it an approval is meant not to end.
const MAX_DAYS: i64 = 3_660;

/// The time that `text` names: so many hours, days or weeks from now (`12h`, `30d`, `8w`), or the
/// end of a day in this zone (`2027-01-31`). `never` is nothing.
///
/// # Errors
/// [`AgentsError::BadExpiry`]: something else, or a time that has passed.
pub fn end_of(
    text: &str,
    now: Timestamp,
    zone: &TimeZone,
) -> Result<Option<Timestamp>, AgentsError> {
    let text = text.trim();
    let bad = |reason| AgentsError::BadExpiry {
        text: text.to_owned(),
        reason,
    };
    if text == "never" {
        return Ok(None);
    }
    let end = match hours(text) {
        Some(hours) if (1..=MAX_DAYS * 24).contains(&hours) => now
            .checked_add(SignedDuration::from_hours(hours))
            .map_err(|_| bad("it is too long"))?,
        Some(_) => return Err(bad("it must be from one hour to ten years")),
        None => {
            let day: Date = text
                .parse()
                .map_err(|_| bad("it must be like 12h, 30d, 8w, 2027-01-31 or never"))?;
            let next = day.tomorrow().map_err(|_| bad("it is too late"))?;
            zone.to_timestamp(next.at(0, 0, 0, 0))
                .map_err(|_| bad("it is too late"))?
        }
    };
    if end <= now {
        return Err(bad("it has passed"));
    }
    Ok(Some(whole_seconds(end)))
}

/// Hours of `12h`, `30d` or `8w`.
fn hours(text: &str) -> Option<i64> {
    let unit = text.chars().next_back()?;
    let hours = match unit {
        'h' => 1,
        'd' => 24,
        'w' => 24 * 7,
        _ => return None,
    };
    let number: u32 = text.strip_suffix(unit)?.parse().ok()?;
    Some(i64::from(number) * hours)
}

/// Without the parts of a second.
pub(crate) fn whole_seconds(time: Timestamp) -> Timestamp {
    Timestamp::from_second(time.as_second()).unwrap_or(time)
}

/// A time as the files and `--json` show it: RFC 3339, UTC, whole seconds.
pub fn shown_time(time: Timestamp) -> String {
    whole_seconds(time).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_and_days() {
        let now: Timestamp = "2026-11-30T10:00:00Z".parse().unwrap();
        let end = |text: &str| {
            end_of(text, now, &TimeZone::fixed(jiff::tz::offset(1))).map(|end| end.map(shown_time))
        };
        let is = |text: &str, time: &str| assert_eq!(end(text).unwrap().unwrap(), time, "{text}");
        is("12h", "2026-11-30T22:00:00Z");
        is("30d", "2026-12-30T10:00:00Z");
        is("8w", "2027-01-25T10:00:00Z");
        // The whole day still counts.
        is("2026-11-30", "2026-11-30T23:00:00Z");
        is("2027-01-31", "2027-01-31T23:00:00Z");
        assert_eq!(end("never").unwrap(), None);
        for bad in [
            "",
            "0d",
            "d",
            "30",
            "-1d",
            "1.5d",
            "99999999999d",
            "500000d",
            "2026-11-29",
            "2026-13-01",
            "soon",
            "30 d",
            "9999-12-31x",
            "é",
        ] {
            assert_eq!(end(bad).unwrap_err().code(), "bad_expiry", "{bad}");
        }
    }
}
