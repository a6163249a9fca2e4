//! The date of a note, and where it comes from.

use jiff::Timestamp;
use jiff::civil;
use serde_json::Value;

/// A day, with the source that names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Date {
    /// `YYYY-MM-DD`.
    pub day: String,
    /// `property date`, `file name` or `file time`.
    pub source: String,
}

/// Properties that date a note, the first that holds a day wins.
const PROPERTIES: [&str; 6] = [
    "date",
    "created",
    "created_at",
    "creation date",
    "datum",
    "updated",
];

impl Date {
    /// From the properties, else the file name (daily notes), else the file's time (UTC).
    pub(crate) fn of(properties: &[(String, Value)], name: &str, modified_ns: i64) -> Date {
        let dated = |wanted: &&str| {
            let (key, value) = properties
                .iter()
                .find(|(key, _)| key.eq_ignore_ascii_case(wanted))?;
            let day = leading_day(value.as_str()?)?;
            Some(Date {
                day,
                source: format!("property {key}"),
            })
        };
        PROPERTIES
            .iter()
            .find_map(dated)
            .or_else(|| {
                Some(Date {
                    day: day_in_name(name)?,
                    source: "file name".to_string(),
                })
            })
            .unwrap_or_else(|| Date::of_file(modified_ns))
    }

    /// From the file's time alone, which may change while the content stays.
    pub(crate) fn of_file(modified_ns: i64) -> Date {
        Date {
            day: day_of_time(modified_ns),
            source: "file time".to_string(),
        }
    }
}

/// The day that a text begins with, if it is a day of the calendar.
fn leading_day(text: &str) -> Option<String> {
    let text = text.trim();
    let head = text.get(..10)?;
    let bytes = head.as_bytes();
    let divided = matches!(bytes[4], b'-' | b'/' | b'.') && bytes[4] == bytes[7];
    let after = text.as_bytes().get(10);
    if !divided || after.is_some_and(u8::is_ascii_digit) {
        return None;
    }
    let number = |range| head.get(range).and_then(|s: &str| s.parse::<i16>().ok());
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let date = civil::Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()?;
    Some(date.to_string())
}

fn day_in_name(name: &str) -> Option<String> {
    let candidates = name.char_indices().filter(|(at, c)| {
        c.is_ascii_digit() && (*at == 0 || !name.as_bytes()[at - 1].is_ascii_alphanumeric())
    });
    candidates.map(|(at, _)| &name[at..]).find_map(leading_day)
}

fn day_of_time(ns: i64) -> String {
    Timestamp::from_nanosecond(i128::from(ns))
        .unwrap_or(Timestamp::UNIX_EPOCH)
        .strftime("%Y-%m-%d")
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn sources_in_order() {
        let day = |properties: Value, name: &str| {
            let map = properties.as_object().expect("an object").clone();
            let list: Vec<_> = map.into_iter().collect();
            let date = Date::of(&list, name, 1_714_521_600_000_000_000);
            (date.day, date.source)
        };
        let expect = |day: &str, source: &str| (day.to_string(), source.to_string());
        assert_eq!(
            day(json!({"Date": "2024-02-03T10:00"}), "2020-01-01"),
            expect("2024-02-03", "property Date")
        );
        assert_eq!(
            day(json!({"date": "soon", "created": "2023/12/31"}), "x"),
            expect("2023-12-31", "property created")
        );
        assert_eq!(
            day(json!({"date": "2024-13-03"}), "Notes 2020-01-31 b"),
            expect("2020-01-31", "file name")
        );
        assert_eq!(
            day(json!({}), "x2020-01-01 12345-01-012"),
            expect("2024-05-01", "file time")
        );
    }
}
