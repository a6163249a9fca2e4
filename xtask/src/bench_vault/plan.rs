//! Which notes there are before any is written: names, folders, topics, lengths.
//! Links need the names of all.

use std::collections::BTreeSet;

use super::chance::Chance;
use super::words::{Script, Topic, Words, capitalized};

const TOPICS: usize = 150;
/// Notes of a hundred that are daily notes.
const DAILY: usize = 8;

/// Length of a note in characters against the share of notes, in thousandths, that
/// are no longer: median 3,300, mean 4,100, 99th percentile 26,000.
const LENGTHS: &[(usize, usize)] = &[
    (0, 60),
    (50, 500),
    (250, 1_900),
    (500, 3_300),
    (750, 4_850),
    (900, 6_700),
    (970, 9_600),
    (985, 15_000),
    (990, 26_000),
    (998, 45_000),
    (1_000, 120_000),
];

/// The vault before it is written.
pub(super) struct Plan {
    pub(super) words: Words,
    pub(super) topics: Vec<Topic>,
    pub(super) notes: Vec<Planned>,
    by_topic: Vec<Vec<usize>>,
}

/// A note before it is written.
pub(super) struct Planned {
    pub(super) title: String,
    folder: String,
    pub(super) topic: usize,
    pub(super) length: usize,
    pub(super) script: Script,
    /// Days since the first day of 2019.
    pub(super) day: usize,
    pub(super) daily: bool,
}

impl Plan {
    pub(super) fn new(chance: &mut Chance, count: usize) -> Self {
        let words = Words::new(chance);
        let topics: Vec<Topic> = (0..TOPICS).map(|_| words.topic(chance)).collect();
        let mut notes = Vec::with_capacity(count);
        let mut taken = BTreeSet::new();
        let mut by_topic = vec![Vec::new(); TOPICS];
        let first_length = chance.below(1_000_000);
        for index in 0..count {
            let mut note = planned(&words, &topics, chance);
            note.length = length(first_length + index);
            while !taken.insert(note.title.to_lowercase()) {
                if note.daily {
                    note.day += 1;
                    note.title = date(note.day);
                    note.folder = daily_folder(note.day);
                } else {
                    note.title = format!("{} {}", note.title, chance.between(2, 99));
                }
            }
            by_topic[note.topic].push(index);
            notes.push(note);
        }
        Self {
            words,
            topics,
            notes,
            by_topic,
        }
    }

    /// A note to link to: mostly one of the same topic.
    pub(super) fn neighbour(&self, topic: usize, chance: &mut Chance) -> Option<&Planned> {
        let near = chance.percent(75);
        let same = chance.pick(&self.by_topic[topic]).filter(|_| near);
        match same {
            Some(index) => self.notes.get(*index),
            None => chance.pick(&self.notes),
        }
    }
}

impl Planned {
    /// Path from the vault's root.
    pub(super) fn path(&self) -> String {
        format!("{}{}.md", self.folder, self.title)
    }
}

fn planned(words: &Words, topics: &[Topic], chance: &mut Chance) -> Planned {
    let topic = chance.below(topics.len());
    let day = chance.below(2_500);
    let daily = chance.percent(DAILY);
    let script = match chance.below(1_000) {
        0..20 => Script::Chinese,
        20..30 => Script::Japanese,
        _ => Script::Latin,
    };
    let (title, folder) = if daily {
        (date(day), daily_folder(day))
    } else {
        let title = title(words, &topics[topic], script, chance);
        (title, folder(words, topics, topic, chance))
    };
    Planned {
        title,
        folder,
        topic,
        length: 0,
        script,
        day,
        daily,
    }
}

fn title(words: &Words, topic: &Topic, script: Script, chance: &mut Chance) -> String {
    if script != Script::Latin {
        let length = chance.between(3, 8);
        return (0..length)
            .map(|_| words.character(script, chance))
            .collect();
    }
    let mut title = capitalized(words.topic_word(topic, chance));
    for _ in 0..chance.between(1, 3) {
        title.push(' ');
        title.push_str(words.word(topic, chance));
    }
    title
}

fn folder(words: &Words, topics: &[Topic], topic: usize, chance: &mut Chance) -> String {
    let name = |rank| capitalized(words.topic_name(&topics[topic], rank));
    match chance.below(100) {
        0..6 => "Inbox/".to_owned(),
        6..16 => format!("Archive/{}/", name(0)),
        16..40 => format!("Projects/{}/", name(0)),
        40..70 => format!("Areas/{}/{}/", name(0), name(1 + chance.below(4))),
        70..95 => format!("Resources/{}/", name(0)),
        _ => String::new(),
    }
}

fn daily_folder(day: usize) -> String {
    let date = date(day);
    format!("Daily/{}/", date.get(..4).unwrap_or_default())
}

/// Length of the note at `index`. The step has no factor in common with the million
/// and is near its golden section, so that lengths are spread evenly at every count
/// and the share of long notes is no matter of luck.
fn length(index: usize) -> usize {
    let point = index.wrapping_mul(618_033) % 1_000_000;
    let upper = LENGTHS.partition_point(|(share, _)| share * 1_000 <= point);
    let (low, high) = (LENGTHS[upper - 1], LENGTHS[upper]);
    let (start, end) = (low.0 * 1_000, high.0 * 1_000);
    low.1 + (high.1 - low.1) * (point - start) / (end - start)
}

/// The date so many days after 2019-01-01, as `2019-01-01`.
pub(super) fn date(day: usize) -> String {
    let mut rest = day;
    let mut year = 2019;
    loop {
        let leap = year % 4 == 0;
        let days = if leap { 366 } else { 365 };
        if rest < days {
            let february = if leap { 29 } else { 28 };
            let months = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
            for (month, days) in (1..).zip(months) {
                if rest < days {
                    return format!("{year}-{month:02}-{:02}", rest + 1);
                }
                rest -= days;
            }
        }
        rest -= days;
        year += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_dates() {
        let cases = [
            (0, "2019-01-01"),
            (364, "2019-12-31"),
            (365 + 59, "2020-02-29"),
            (365 + 366, "2021-01-01"),
            (2_499, "2025-11-04"),
        ];
        for (day, expected) in cases {
            assert_eq!(date(day), expected);
        }
    }
}
