//! A rule of the user's settings: `folder:Inbox/Web=clipping`.

use std::fmt;
use std::str::FromStr;

use lorewell_text::name_key;

use super::{EvidenceClass, Note, Place};
use crate::property::{PropertyMatch, value_key};

/// `WHAT:WHICH=CLASS`. What is one of
///
/// - `folder:Inbox/Web`: notes in this folder, from the vault's root, and below;
/// - `tag:llm`: notes with this tag or one nested in it;
/// - `property:kind=interview`: notes whose property has this value; `property:kind`: any value;
/// - `name:Interview *`: notes with this file name, `*` standing for anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvidenceRule {
    condition: Condition,
    class: EvidenceClass,
    /// The condition as written.
    shown: String,
}

/// A rule that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the evidence rule “{rule}” {problem}")]
pub struct EvidenceRuleError {
    /// The rule as written.
    pub rule: String,
    /// What is wrong with it.
    pub problem: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Condition {
    Folder(String),
    Tag(String),
    Property(PropertyMatch),
    /// The pieces between the stars.
    Name(Vec<String>),
}

impl EvidenceRuleError {
    /// What to try.
    pub fn hint(&self) -> &'static str {
        "Write folder:Inbox/Web=clipping, tag:llm=generated, property:kind=interview=transcript or \
         name:Interview *=transcript."
    }
}

impl EvidenceRule {
    /// The condition as written, without the class.
    pub(super) fn shown(&self) -> &str {
        &self.shown
    }

    pub(super) fn class(&self) -> EvidenceClass {
        self.class
    }

    /// The whole rule.
    pub(super) fn written(&self) -> String {
        self.to_string()
    }

    pub(super) fn fits(&self, note: &Note<'_>) -> bool {
        match &self.condition {
            Condition::Folder(folder) => note.lies_in(folder),
            Condition::Tag(wanted) => {
                let mut tags = note.tags(Place::Properties).chain(note.tags(Place::Text));
                tags.any(|tag| {
                    let key = name_key(tag);
                    let rest = key.strip_prefix(wanted.as_str());
                    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
                })
            }
            Condition::Property(wanted) => wanted.fits(
                note.facts
                    .properties
                    .iter()
                    .map(|(name, value)| (name, value)),
            ),
            Condition::Name(pieces) => has_pieces(&value_key(note.name), pieces),
        }
    }
}

impl FromStr for EvidenceRule {
    type Err = EvidenceRuleError;

    fn from_str(rule: &str) -> Result<EvidenceRule, EvidenceRuleError> {
        let wrong = |problem: String| EvidenceRuleError {
            rule: rule.to_string(),
            problem,
        };
        let Some((shown, class_name)) = rule.rsplit_once('=') else {
            return Err(wrong("has no class: it must end in =CLASS".to_string()));
        };
        let class = class_name.trim().parse().map_err(|()| {
            let known: Vec<&str> = EvidenceClass::ALL.iter().map(|c| c.name()).collect();
            wrong(format!(
                "names no class: “{}” is none of {}",
                class_name.trim(),
                known.join(", ")
            ))
        })?;
        let (kind, which) = shown.split_once(':').unwrap_or((shown, ""));
        let which = which.trim();
        let condition = match kind.trim().to_ascii_lowercase().as_str() {
            "folder" => Condition::Folder(which.to_string()),
            "tag" => Condition::Tag(name_key(which.trim_matches(['#', '/']))),
            "property" => match PropertyMatch::parse(which) {
                Some(property) => Condition::Property(property),
                None => return Err(wrong("names no property".to_string())),
            },
            "name" => Condition::Name(which.split('*').map(value_piece).collect()),
            _ => {
                return Err(wrong(format!(
                    "begins with “{}”: it must begin with folder:, tag:, property: or name:",
                    kind.trim()
                )));
            }
        };
        if which.trim_matches(['#', '/', '.', ' ']).is_empty() {
            return Err(wrong(format!("names no {}", kind.trim())));
        }
        Ok(EvidenceRule {
            condition,
            class,
            shown: shown.trim().to_string(),
        })
    }
}

impl fmt::Display for EvidenceRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.shown, self.class)
    }
}

/// Folded, with the blanks at its ends: `Interview *` wants one.
fn value_piece(piece: &str) -> String {
    lorewell_text::fold(piece)
}

/// Whether a name consists of pieces in this order, with anything between them.
fn has_pieces(name: &str, pieces: &[String]) -> bool {
    let [first, middle @ .., last] = pieces else {
        return pieces.first().is_some_and(|only| only == name);
    };
    let Some(mut rest) = name.strip_prefix(first.as_str()) else {
        return false;
    };
    for piece in middle {
        match rest.split_once(piece.as_str()) {
            Some((_, behind)) => rest = behind,
            None => return false,
        }
    }
    rest.ends_with(last.as_str())
}
