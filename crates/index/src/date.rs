//! The date of a note, and where it comes from.

use jiff::Timestamp;
use lorewell_text::{Day, periods_in, split_note_extension};
use serde_json::Value;

use crate::property::{property_key, texts_of};

/// A day, with the source that names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Date {
    /// `YYYY-MM-DD`.
    pub day: String,
    /// `property date`, `file name`, `folder` or `file time`.
    pub source: String,
}

/// Properties that say when a note was made or what day it is of, folded; the first that holds a
/// day wins.
const MADE: [&str; 13] = [
    "date",
    "created",
    "created at",
    "date created",
    "creation date",
    "datum",
    "erstellt",
    "erstellt am",
    "fecha",
    "creado",
    "date de creation",
    "published",
    "date published",
];

/// Properties that say when a note was last changed. A note of a day is of that day, whenever it
/// was changed: its path goes before.
const CHANGED: [&str; 3] = ["updated", "modified", "date modified"];

impl Date {
    /// From the properties that say when it was made, else the file name (daily notes), else the
    /// folders (`2024/05/03`), else the properties that say when it was changed, else the file's
    /// time (UTC). A month or week is dated by its first day. What can be read in
    /// two ways (`03/05/2024`) is no date.
    pub(crate) fn of(properties: &[(String, Value)], path: &str, modified_ns: i64) -> Date {
        of_properties(properties, &MADE)
            .or_else(|| {
                let (day, source) = day_in_path(path)?;
                Some(Date {
                    day: day.to_string(),
                    source: source.to_string(),
                })
            })
            .or_else(|| of_properties(properties, &CHANGED))
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

fn of_properties(properties: &[(String, Value)], names: &[&str]) -> Option<Date> {
    let keys: Vec<String> = properties
        .iter()
        .map(|(key, _)| property_key(key))
        .collect();
    names.iter().find_map(|wanted| {
        let at = keys.iter().position(|key| key == wanted)?;
        let (name, value) = properties.get(at)?;
        Some(Date {
            day: day_of_value(value)?.to_string(),
            source: format!("property {name}"),
        })
    })
}

/// The day of a property's value: the first that it names, or a time since 1970 in seconds or
/// milliseconds.
pub(crate) fn day_of_value(value: &Value) -> Option<Day> {
    const LONGEST: usize = 200;
    let texts = texts_of(value);
    let text = texts.first().filter(|text| text.len() <= LONGEST)?;
    let named = periods_in(text, None)
        .first()
        .map(|(_, period)| period.first);
    named.or_else(|| {
        let digits = text.len();
        let number: i64 = text.parse().ok()?;
        let seconds = match digits {
            10 => number,
            13 => number / 1000,
            _ => return None,
        };
        Day::from_epoch(seconds.div_euclid(86_400))
    })
}

/// The day that a path names, and by what: its file name, or its folders.
pub(crate) fn day_in_path(path: &str) -> Option<(Day, &'static str)> {
    let (stem, _) = split_note_extension(path);
    let parts: Vec<&str> = stem.split('/').collect();
    let (name, folders) = parts.split_last()?;
    let first_in = |text: &str| Some(periods_in(text, None).first()?.1.first);
    if let Some(day) = first_in(name) {
        return Some((day, "file name"));
    }
    // `2024/05-03`, `2024/05/03`, `2024/May/3`: the name ends what the folders begin.
    let across = [2, 3].into_iter().find_map(|count| {
        let joined = parts.get(parts.len().checked_sub(count)?..)?.join("-");
        let name_at = joined.len() - name.len();
        let mut found = periods_in(&joined, None).into_iter();
        found.find_map(|(range, period)| {
            (range.end > name_at && period.first == period.last).then_some(period.first)
        })
    });
    let by_folders = || {
        let alone = folders.iter().rev().find_map(|folder| first_in(folder));
        alone.or_else(|| {
            folders
                .windows(2)
                .rev()
                .find_map(|pair| first_in(&pair.join("-")))
        })
    };
    across.or_else(by_folders).map(|day| (day, "folder"))
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
        for (properties, path, day, source) in [
            (
                json!({"Date": "2024-02-03T10:00"}),
                "2020-01-01.md",
                "2024-02-03",
                "property Date",
            ),
            (
                json!({"date": "soon", "created": "2023/12/31"}),
                "x.md",
                "2023-12-31",
                "property created",
            ),
            (
                json!({"Date_Created": "3. Mai 2024"}),
                "x.md",
                "2024-05-03",
                "property Date_Created",
            ),
            (
                json!({"date": "[[2024-05-03]]"}),
                "x.md",
                "2024-05-03",
                "property date",
            ),
            (
                json!({"date": ["May 3rd, 2024", "2020-01-01"]}),
                "x.md",
                "2024-05-03",
                "property date",
            ),
            (
                json!({"created": 1_714_723_200_000_u64}),
                "x.md",
                "2024-05-03",
                "property created",
            ),
            (
                json!({"created": 20_240_503}),
                "x.md",
                "2024-05-03",
                "property created",
            ),
            (
                json!({"date": "2024-13-03"}),
                "Notes 2020-01-31 b.md",
                "2020-01-31",
                "file name",
            ),
            (
                json!({"date": "03/05/2024", "due": "2024-05-03"}),
                "20240503.md",
                "2024-05-03",
                "file name",
            ),
            (
                json!({"updated": "2026-01-01", "modified": "2026-01-02"}),
                "2024-05-03.md",
                "2024-05-03",
                "file name",
            ),
            (
                json!({"updated": "2026-01-01"}),
                "2024/05/03.md",
                "2024-05-03",
                "folder",
            ),
            (
                json!({"updated": "2026-01-01", "created": "2025-12-31"}),
                "2024-05-03.md",
                "2025-12-31",
                "property created",
            ),
            (
                json!({"Updated": "2026-01-01"}),
                "Kiln.md",
                "2026-01-01",
                "property Updated",
            ),
            (json!({}), "2024-W18.md", "2024-04-29", "file name"),
            (json!({}), "2024-05.md", "2024-05-01", "file name"),
            (
                json!({}),
                "Journal/3 May 2024.md",
                "2024-05-03",
                "file name",
            ),
            (
                json!({}),
                "journals/2024_05_03.md",
                "2024-05-03",
                "file name",
            ),
            (
                json!({}),
                "2020-01-01/3 de mayo de 2024.md",
                "2024-05-03",
                "file name",
            ),
            (json!({}), "Log/2024/05/03.md", "2024-05-03", "folder"),
            (json!({}), "Journal/2024/05-03.md", "2024-05-03", "folder"),
            (json!({}), "2024/May/3.md", "2024-05-03", "folder"),
            (json!({}), "2024/05/Kiln.md", "2024-05-01", "folder"),
            (
                json!({}),
                "2024-05-03 Trip/Packing.md",
                "2024-05-03",
                "folder",
            ),
            (
                json!({}),
                "2019/05/2024-05-03 Trip/Packing.md",
                "2024-05-03",
                "folder",
            ),
            (
                json!({}),
                "x2020-01-01 12345-01-012.md",
                "2024-05-01",
                "file time",
            ),
            (json!({}), "2024/Kiln.md", "2024-05-01", "file time"),
            (json!({}), "03-05-2024.md", "2024-05-01", "file time"),
        ] {
            let map = properties.as_object().expect("an object").clone();
            let list: Vec<_> = map.into_iter().collect();
            let date = Date::of(&list, path, 1_714_521_600_000_000_000);
            assert_eq!(
                (date.day.as_str(), date.source.as_str()),
                (day, source),
                "{properties} {path}"
            );
        }
    }
}
