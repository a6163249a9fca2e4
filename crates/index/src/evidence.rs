//! What kind of evidence a note is, and the rule that says so: pure functions of the note.
//!
//! The first of these that has something to say decides:
//!
//! 1. the user's own rules, in their order;
//! 2. a property that says it outright (`evidence: draft`, `class: clipping`);
//! 3. the signs of a template: its folder, its type or tag, placeholders in its text;
//! 4. the signs of a backup, which counts as `generated`: its folder, its name;
//! 5. properties (`type: transcript`, `ai: true`, `status: draft`, a web address with signs of a
//!    clipper), then tags of the properties;
//! 6. folders, the innermost first;
//! 7. the file name (a date, "… transcript");
//! 8. tags of the text: they may mean a line of it only, so they come last.
//!
//! Else a note is `own`, by `default`. Names are compared folded. What the vault's own app
//! settings say can only classify.

mod names;
mod settings_rule;
mod signs;

use std::fmt;
use std::str::FromStr;

use lorewell_markdown::Tag;
use lorewell_text::{fold_white_space, is_only_a_period, path_key, split_note_extension};
use lorewell_vault::AppFolders;
use serde_json::Value;

use crate::date::{day_in_path, day_of_value};
use crate::property::{link_parts, property_key, texts_of, value_key};

pub use settings_rule::{EvidenceRule, EvidenceRuleError};

/// Counts up when the rules of this module would class the same note otherwise than before.
const VERSION: u32 = 1;

/// What a note is as evidence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EvidenceClass {
    /// Written by the person.
    #[default]
    Own,
    /// A daily, weekly or monthly note.
    Daily,
    /// What was said, written down.
    Transcript,
    /// Taken from elsewhere.
    Clipping,
    /// Made by a program: by a language model, an export, a backup.
    Generated,
    /// Not finished, by its own word.
    Draft,
    /// A form that notes are made from.
    Template,
}

/// A class, and the rule that decided it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The class.
    pub class: EvidenceClass,
    /// The rule, for people: `folder Clippings`, `property type: transcript`, `default`.
    pub rule: String,
}

/// Rules of the user, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EvidenceRules {
    rules: Vec<EvidenceRule>,
}

/// All of a note that the rules look at.
#[derive(Clone, Copy, Debug)]
pub struct NoteFacts<'a> {
    /// Its path in the vault.
    pub path: &'a str,
    /// Its properties.
    pub properties: &'a [(String, Value)],
    /// Its tags; those of the properties have no range.
    pub tags: &'a [Tag],
    /// Its whole text.
    pub text: &'a str,
}

impl EvidenceClass {
    /// Every class.
    pub const ALL: [EvidenceClass; 7] = [
        EvidenceClass::Own,
        EvidenceClass::Daily,
        EvidenceClass::Transcript,
        EvidenceClass::Clipping,
        EvidenceClass::Generated,
        EvidenceClass::Draft,
        EvidenceClass::Template,
    ];

    /// Its name in answers and settings.
    pub fn name(self) -> &'static str {
        match self {
            EvidenceClass::Own => "own",
            EvidenceClass::Daily => "daily",
            EvidenceClass::Transcript => "transcript",
            EvidenceClass::Clipping => "clipping",
            EvidenceClass::Generated => "generated",
            EvidenceClass::Draft => "draft",
            EvidenceClass::Template => "template",
        }
    }
}

impl FromStr for EvidenceClass {
    type Err = ();

    fn from_str(text: &str) -> Result<EvidenceClass, ()> {
        let key = value_key(text);
        let found = EvidenceClass::ALL.into_iter().find(|c| c.name() == key);
        found.ok_or(())
    }
}

impl fmt::Display for EvidenceClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Evidence {
    fn new(class: EvidenceClass, rule: impl Into<String>) -> Evidence {
        Evidence {
            class,
            rule: rule.into(),
        }
    }
}

impl EvidenceRules {
    /// Reads rules as the settings hold them; see [`EvidenceRule`].
    ///
    /// # Errors
    /// The first that cannot be understood, and why.
    pub fn new(
        rules: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Result<EvidenceRules, EvidenceRuleError> {
        let rules = rules.into_iter().map(|rule| rule.as_ref().parse());
        Ok(EvidenceRules {
            rules: rules.collect::<Result<_, _>>()?,
        })
    }

    /// The class of a note, in a vault whose app keeps certain notes in `folders`.
    pub fn classify(&self, note: &NoteFacts<'_>, folders: &AppFolders) -> Evidence {
        let note = Note::new(note, folders);
        let rule = self.rules.iter().find(|rule| rule.fits(&note));
        if let Some(rule) = rule {
            return Evidence::new(rule.class(), format!("setting {}", rule.shown()));
        }
        by_word(&note, &["evidence", "evidence class", "class"], |word| {
            word.parse().ok()
        })
        .or_else(|| template(&note))
        .or_else(|| backup(&note))
        .or_else(|| by_property(&note))
        .or_else(|| by_tag(&note, Place::Properties))
        .or_else(|| by_folder(&note))
        .or_else(|| by_name(&note))
        .or_else(|| by_tag(&note, Place::Text))
        .unwrap_or_else(|| Evidence::new(EvidenceClass::Own, "default"))
    }

    /// A line that differs when notes could be classed otherwise.
    pub(crate) fn reading(&self, folders: &AppFolders) -> String {
        let mut hasher = blake3::Hasher::new();
        let rules = self.rules.iter().map(EvidenceRule::written).collect();
        let lists = [&rules, &folders.templates, &folders.daily];
        for list in lists {
            hasher.update(&(list.len() as u64).to_le_bytes());
            for text in list {
                hasher.update(&(text.len() as u64).to_le_bytes());
                hasher.update(text.as_bytes());
            }
        }
        let digest = hasher.finalize().to_hex();
        format!("evidence {VERSION}/{}", &digest.as_str()[..16])
    }
}

/// A note's facts with what the rules ask of them more than once.
struct Note<'a> {
    facts: &'a NoteFacts<'a>,
    app: &'a AppFolders,
    /// The path without its extension, folded as paths are.
    key: String,
    /// Folders of the path as written, outermost first.
    folders: Vec<&'a str>,
    name: &'a str,
    /// Properties with folded names.
    properties: Vec<(String, &'a Value)>,
}

/// Where a tag stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Properties,
    Text,
}

impl<'a> Note<'a> {
    fn new(facts: &'a NoteFacts<'a>, app: &'a AppFolders) -> Note<'a> {
        let (stem, _) = split_note_extension(facts.path);
        let mut folders: Vec<&str> = stem.split('/').collect();
        let name = folders.pop().unwrap_or(stem);
        let properties = facts.properties.iter();
        Note {
            facts,
            app,
            key: path_key(stem),
            folders,
            name,
            properties: properties
                .map(|(name, value)| (property_key(name), value))
                .collect(),
        }
    }

    fn property(&self, name: &str) -> Option<&'a Value> {
        let found = self.properties.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| *value)
    }

    /// Whether it lies in a folder, given from the vault's root.
    fn lies_in(&self, folder: &str) -> bool {
        let folder = path_key(folder.trim().trim_start_matches("./").trim_matches('/'));
        let below = self.key.strip_prefix(folder.as_str());
        !folder.is_empty() && below.is_some_and(|rest| rest.starts_with('/'))
    }

    fn tags(&self, place: Place) -> impl Iterator<Item = &'a str> {
        let tags = self.facts.tags.iter();
        tags.filter(move |tag| tag.range.is_none() == (place == Place::Properties))
            .map(|tag| tag.name.as_str())
    }
}

/// The class that one of some properties names, read by `meaning`.
fn by_word(
    note: &Note<'_>,
    properties: &[&str],
    meaning: impl Fn(&str) -> Option<EvidenceClass>,
) -> Option<Evidence> {
    properties.iter().find_map(|name| {
        let texts = texts_of(note.property(name)?);
        texts.iter().find_map(|text| {
            let word = link_parts(text).map_or(text.as_str(), |(target, _)| target);
            let class = meaning(&value_key(word))?;
            let shown = fold_white_space(text);
            Some(Evidence::new(class, format!("property {name}: {shown}")))
        })
    })
}

fn template(note: &Note<'_>) -> Option<Evidence> {
    let class = EvidenceClass::Template;
    let of_app = note.app.templates.iter().find(|f| note.lies_in(f));
    if let Some(folder) = of_app {
        return Some(Evidence::new(class, format!("templates folder {folder}")));
    }
    let is_template = |word: &str| names::of_folder(word).filter(|found| *found == class);
    let folder = note.folders.iter().rev().find(|f| is_template(f).is_some());
    if let Some(folder) = folder {
        return Some(Evidence::new(class, format!("folder {folder}")));
    }
    let by_type = by_word(note, &names::TYPE_PROPERTIES, |word| {
        names::of_type(word).filter(|found| *found == class)
    });
    let by_tag = || {
        let tag = note
            .tags(Place::Properties)
            .find(|tag| names::of_tag(tag) == Some(class))?;
        Some(Evidence::new(class, format!("tag {tag}")))
    };
    let by_placeholder = || {
        let found = signs::placeholder(note.facts.text)?;
        Some(Evidence::new(class, format!("placeholder {found}")))
    };
    by_type.or_else(by_tag).or_else(by_placeholder)
}

fn backup(note: &Note<'_>) -> Option<Evidence> {
    let folder = note
        .folders
        .iter()
        .rev()
        .find(|f| names::is_backup_folder(f));
    let rule = match folder {
        Some(folder) => format!("backup: folder {folder}"),
        None => format!(
            "backup: file name with “{}”",
            names::backup_sign(note.name)?
        ),
    };
    Some(Evidence::new(EvidenceClass::Generated, rule))
}

fn by_property(note: &Note<'_>) -> Option<Evidence> {
    by_word(note, &names::TYPE_PROPERTIES, names::of_type)
        .or_else(|| by_truth(note, &names::GENERATED_PROPERTIES, EvidenceClass::Generated))
        .or_else(|| {
            let generator = names::GENERATOR_PROPERTIES
                .into_iter()
                .find(|name| note.property(name).is_some_and(says_something))?;
            Some(Evidence::new(
                EvidenceClass::Generated,
                format!("property {generator}"),
            ))
        })
        .or_else(|| by_truth(note, &["draft"], EvidenceClass::Draft))
        .or_else(|| {
            by_word(note, &["status", "state"], |word| {
                (names::of_type(word) == Some(EvidenceClass::Draft)).then_some(EvidenceClass::Draft)
            })
        })
        .or_else(|| clipped(note))
}

/// The class, if one of some properties is true.
fn by_truth(note: &Note<'_>, properties: &[&str], class: EvidenceClass) -> Option<Evidence> {
    let is_true = |name: &&&str| match note.property(name) {
        Some(Value::Bool(truth)) => *truth,
        Some(Value::String(text)) => matches!(value_key(text).as_str(), "true" | "yes"),
        _ => false,
    };
    let name = properties.iter().find(is_true)?;
    Some(Evidence::new(class, format!("property {name}: true")))
}

fn says_something(value: &Value) -> bool {
    match value {
        Value::Bool(truth) => *truth,
        value => texts_of(value).iter().any(|text| !text.trim().is_empty()),
    }
}

/// A web address together with what clippers write beside it: the day on which the source was
/// published, or a tag for articles and bookmarks. (`url` with a day is what authors note of what
/// they published themselves.)
fn clipped(note: &Note<'_>) -> Option<Evidence> {
    let is_address = |name: &&str| {
        let texts = note.property(name).map(texts_of).unwrap_or_default();
        texts.iter().any(|text| {
            let text = text.trim();
            text.starts_with("https://") || text.starts_with("http://")
        })
    };
    let clipping = |rule: String| Evidence::new(EvidenceClass::Clipping, rule);
    let is_day = |name: &&str| {
        note.property(name)
            .is_some_and(|v| day_of_value(v).is_some())
    };
    let source = names::SOURCE_PROPERTIES.into_iter().find(is_address);
    let published = names::CLIPPER_PROPERTIES.into_iter().find(is_day);
    if let (Some(source), Some(published)) = (source, published) {
        return Some(clipping(format!("property {source} with {published}")));
    }
    let address = source.or_else(|| names::ADDRESS_PROPERTIES.into_iter().find(is_address))?;
    let mut tags = note.tags(Place::Properties).chain(note.tags(Place::Text));
    let tag = tags.find(|tag| names::is_reading_tag(tag))?;
    Some(clipping(format!("property {address} with tag {tag}")))
}

fn by_tag(note: &Note<'_>, place: Place) -> Option<Evidence> {
    note.tags(place).find_map(|tag| {
        let class = names::of_tag(tag)?;
        Some(Evidence::new(class, format!("tag {tag}")))
    })
}

fn by_folder(note: &Note<'_>) -> Option<Evidence> {
    let daily = |rule: String| {
        day_in_path(note.facts.path)?;
        Some(Evidence::new(EvidenceClass::Daily, rule))
    };
    note.folders
        .iter()
        .rev()
        .find_map(|folder| match names::of_folder(folder)? {
            EvidenceClass::Daily => daily(format!("folder {folder}")),
            class => Some(Evidence::new(class, format!("folder {folder}"))),
        })
        .or_else(|| {
            let folder = note.app.daily.iter().find(|f| note.lies_in(f))?;
            daily(format!("daily notes folder {folder}"))
        })
}

fn by_name(note: &Note<'_>) -> Option<Evidence> {
    if is_only_a_period(note.name) {
        let rule = format!("file name {}", note.name);
        return Some(Evidence::new(EvidenceClass::Daily, rule));
    }
    let sign = names::transcript_sign(note.name)?;
    Some(Evidence::new(
        EvidenceClass::Transcript,
        format!("file name with “{sign}”"),
    ))
}

#[cfg(test)]
mod tests;
