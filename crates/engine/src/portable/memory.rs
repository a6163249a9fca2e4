//! What was carried when: a few lines in the folder of the index, so that most refreshes have
//! nothing to look at. It only saves work: where it is lost or damaged, all is compared anew.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use lorewell_index::Layout;
use lorewell_portable::Dead;

/// How index and store stood when the files were last brought in line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Memory {
    /// Which model, by the short name of its fingerprint.
    pub(crate) fingerprint: String,
    /// The index's generation, and when it was committed.
    pub(crate) generation: u64,
    pub(crate) updated_at: String,
    /// Whether the index held all that it would of the notes.
    pub(crate) whole: bool,
    /// Vector rows of the index, dead ones included.
    pub(crate) rows: u64,
    /// The last exclusion that took a note out of the index.
    pub(crate) exclusion: String,
    /// The rules of what is left out.
    pub(crate) rules: String,
    /// Whether rows may still have to go that no index holds.
    pub(crate) owed: bool,
    /// The files in the store.
    pub(crate) stamp: String,
    /// Why the files could not be brought in line.
    pub(crate) trouble: Option<String>,
    /// When.
    pub(crate) at: Option<SystemTime>,
}

impl Memory {
    /// The last one; an empty one where there is none.
    pub(crate) fn read(layout: &Layout) -> Memory {
        let path = place(layout);
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let at = std::fs::metadata(&path).and_then(|metadata| metadata.modified());
        Memory {
            at: at.ok(),
            ..Memory::parse(&text)
        }
    }

    /// Keeps it. Nothing follows from a failure but work.
    pub(crate) fn write(&self, layout: &Layout) {
        let lines = [
            ("fingerprint", self.fingerprint.clone()),
            ("generation", self.generation.to_string()),
            ("updated_at", self.updated_at.clone()),
            ("whole", self.whole.to_string()),
            ("rows", self.rows.to_string()),
            ("exclusion", self.exclusion.clone()),
            ("rules", self.rules.clone()),
            ("owed", self.owed.to_string()),
            ("stamp", self.stamp.clone()),
            ("trouble", self.trouble.clone().unwrap_or_default()),
        ];
        let line = |(key, value): &(&str, String)| format!("{key} {}\n", value.replace('\n', " "));
        let text: String = lines.iter().map(line).collect();
        // Half of it would say that nothing is owed.
        let draft = layout.folder().join("carried.tmp");
        let _ = std::fs::write(&draft, text).and_then(|()| std::fs::rename(draft, place(layout)));
    }

    /// Forgets all but a trouble.
    pub(crate) fn forget(layout: &Layout, trouble: Option<String>) {
        let _ = match trouble {
            None => std::fs::remove_file(place(layout)),
            Some(trouble) => std::fs::write(place(layout), format!("trouble {trouble}\n")),
        };
    }

    /// How long ago it was; for ever where that is not known or lies ahead.
    pub(crate) fn age(&self, now: SystemTime) -> Duration {
        self.at
            .and_then(|at| now.duration_since(at).ok())
            .unwrap_or(Duration::MAX)
    }

    /// What becomes of rows that the index does not hold, as it stands `now`.
    ///
    /// An exclusion acts at once. Where nothing is known of the time before, there may have been
    /// one; but an index that is not whole yet may still want what it does not hold.
    pub(crate) fn dead(&self, now: &Memory) -> Dead {
        match (now.whole, self.owes(now)) {
            _ if self.is_same_index(now) && !self.excludes_as(now) => Dead::DropAll,
            (true, true) => Dead::DropAll,
            (true, false) => Dead::DropMany,
            (false, _) => Dead::Keep,
        }
    }

    /// Whether rows may have to go that were not looked for yet.
    pub(crate) fn owes(&self, now: &Memory) -> bool {
        self.owed || !self.is_same_index(now) || !self.excludes_as(now)
    }

    /// Whether there is nothing to do: all is as it was left.
    pub(crate) fn stands_as(&self, now: &Memory) -> bool {
        let was = (self.generation, &self.updated_at, self.whole, &self.stamp);
        was == (now.generation, &now.updated_at, now.whole, &now.stamp)
            && self.fingerprint == now.fingerprint
            && self.excludes_as(now)
            && (self.trouble.is_some() || !(self.owed && now.whole))
    }

    /// Whether so few rows came since that they may rest, and nothing that matters more. While a
    /// build goes on, all may: more come every moment.
    pub(crate) fn differs_little(&self, now: &Memory, few: u64) -> bool {
        let new = now.rows.checked_sub(self.rows);
        self.is_same_index(now)
            && self.excludes_as(now)
            && self.fingerprint == now.fingerprint
            && !(self.owed && now.whole)
            && new.is_some_and(|new| new < few || !now.whole)
    }

    fn excludes_as(&self, now: &Memory) -> bool {
        (&self.exclusion, &self.rules) == (&now.exclusion, &now.rules)
    }

    /// Not one that was made anew.
    fn is_same_index(&self, now: &Memory) -> bool {
        !self.fingerprint.is_empty() && self.generation <= now.generation
    }

    fn parse(text: &str) -> Memory {
        let value = |wanted: &str| -> String {
            let of_line =
                |line: &str| Some(line.strip_prefix(wanted)?.strip_prefix(' ')?.to_string());
            text.lines().find_map(of_line).unwrap_or_default()
        };
        let number = |wanted: &str| value(wanted).parse().unwrap_or_default();
        Memory {
            fingerprint: value("fingerprint"),
            generation: number("generation"),
            updated_at: value("updated_at"),
            whole: value("whole") == "true",
            rows: number("rows"),
            exclusion: value("exclusion"),
            rules: value("rules"),
            owed: value("owed") == "true",
            stamp: value("stamp"),
            trouble: Some(value("trouble")).filter(|trouble| !trouble.is_empty()),
            at: None,
        }
    }
}

fn place(layout: &Layout) -> PathBuf {
    layout.folder().join("carried")
}
