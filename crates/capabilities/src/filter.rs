//! Which notes are asked: the filters that search and its relatives share.

use lorewell_engine::{EvidenceClass, PropertyMatch, Scope, View};
use lorewell_text::{Day, Period, whole_period};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Failure;

/// The filters of a request. All must hold; they are applied before anything is ranked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FilterInput {
    /// Only notes in this folder or below; several widen the search.
    #[serde(default)]
    pub folder: Vec<String>,
    /// Only notes with this tag or one nested in it; several must all be there.
    #[serde(default)]
    pub tag: Vec<String>,
    /// Only notes with this property: `name=value`, or `name` for any value; several must all be
    /// there. Of a list, one item is enough; of a date, its year or month (`created=2024-05`).
    #[serde(default)]
    pub property: Vec<String>,
    /// Only notes of this date or later: `2024`, `2024-05`, `2024-05-03`, `3 May 2024`,
    /// `yesterday`, `last week`.
    #[serde(default)]
    pub since: Option<String>,
    /// Only notes of this date or earlier; of a month or year, up to its end.
    #[serde(default)]
    pub until: Option<String>,
    /// Only notes of this class: `own`, `daily`, `transcript`, `clipping`, `generated`, `draft`,
    /// `template`; several widen the search.
    #[serde(default)]
    pub evidence: Vec<String>,
    /// Only notes that link to this one, named by path, title or alias; with several, to all.
    #[serde(default)]
    pub links_to: Vec<String>,
    /// The day from which `yesterday` and the like count, `2024-05-03` (today, where the program
    /// runs).
    #[serde(default)]
    pub today: Option<String>,
}

impl FilterInput {
    /// Whether nothing is filtered.
    pub(crate) fn is_empty(&self) -> bool {
        FilterInput {
            today: self.today.clone(),
            ..FilterInput::default()
        } == *self
    }

    /// What is to be said of `links_to`: names to which several notes answer.
    ///
    /// # Errors
    /// A note that is not there, or the index cannot be read.
    pub(crate) fn ambiguous(&self, view: &View<'_>) -> Result<Vec<String>, Failure> {
        let mut said = Vec::new();
        for name in filled(&self.links_to) {
            let (_, others) = view.paths_of_note_named(name)?;
            if !others.is_empty() {
                said.push(format!(
                    "links_to: other notes answer to this name too: {}",
                    others.join(", ")
                ));
            }
        }
        Ok(said)
    }

    /// The scope that is meant.
    ///
    /// # Errors
    /// A filter that cannot be understood, or a note that is not there: `wrong_use` and
    /// `no_such_note`.
    pub(crate) fn scope(&self, view: &View<'_>) -> Result<Scope, Failure> {
        let (since, until) = self.days()?;
        let properties = self.property.iter().map(|text| property(text));
        let links_to = filled(&self.links_to).map(|name| Ok(view.paths_of_note_named(name)?.0));
        Ok(Scope {
            folders: self
                .folder
                .iter()
                .map(|folder| folder.trim_start_matches("./").to_string())
                .collect(),
            tags: self.tag.clone(),
            properties: properties.collect::<Result<_, _>>()?,
            since,
            until,
            evidence: evidence(&self.evidence)?,
            links_to: links_to.collect::<Result<_, Failure>>()?,
        })
    }

    /// The day on which it is asked.
    ///
    /// # Errors
    /// `today` is no day.
    pub(crate) fn today(&self) -> Result<Option<Day>, Failure> {
        let Some(text) = &self.today else {
            return Ok(today());
        };
        let wrong = || {
            Failure::wrong_use(
                format!("“today” is “{text}”, which is no day"),
                "Write 2024-05-03.",
            )
        };
        Day::parse(text.trim()).map(Some).ok_or_else(wrong)
    }

    fn days(&self) -> Result<(Option<Day>, Option<Day>), Failure> {
        let day = self.today()?;
        let since = self.since.as_deref().map(|text| period("since", text, day));
        let until = self.until.as_deref().map(|text| period("until", text, day));
        let since = since.transpose()?.map(|period| period.first);
        let until = until.transpose()?.map(|period| period.last);
        match (since, until) {
            (Some(from), Some(to)) if from > to => Err(Failure::wrong_use(
                format!("“since” ({from}) is after “until” ({to})"),
                "Exchange the two.",
            )),
            days => Ok(days),
        }
    }
}

fn property(text: &str) -> Result<PropertyMatch, Failure> {
    PropertyMatch::parse(text).ok_or_else(|| {
        Failure::wrong_use(
            format!("the property “{text}” has no name"),
            "Write name=value, or name alone for any value.",
        )
    })
}

/// The days that a date of the request means.
fn period(field: &str, text: &str, today: Option<Day>) -> Result<Period, Failure> {
    whole_period(text, today).ok_or_else(|| {
        Failure::wrong_use(
            format!("“{field}” is “{text}”, which is no date"),
            "Write 2024, 2024-05, 2024-05-03, “3 May 2024”, “yesterday” or “last week”. \
             03/05/2024 can be read in two ways.",
        )
    })
}

/// Today, where this machine is.
fn today() -> Option<Day> {
    Day::parse(&jiff::ZonedDateTime::now().date().to_string())
}

/// Names of classes to classes; each name may itself be a list with commas.
fn evidence(names: &[String]) -> Result<Vec<EvidenceClass>, Failure> {
    let names = names.iter().flat_map(|names| names.split(','));
    let mut classes = Vec::new();
    for name in names.map(str::trim).filter(|name| !name.is_empty()) {
        let class = name.parse().map_err(|()| {
            let known: Vec<&str> = EvidenceClass::ALL.iter().map(|c| c.name()).collect();
            Failure::wrong_use(
                format!("there is no evidence “{name}”"),
                format!("There are: {}.", known.join(", ")),
            )
        })?;
        if !classes.contains(&class) {
            classes.push(class);
        }
    }
    Ok(classes)
}

fn filled(names: &[String]) -> impl Iterator<Item = &str> {
    let names = names.iter().map(|name| name.trim());
    names.filter(|name| !name.is_empty())
}
