//! `knowledge.search`: passages for a question.

use lorewell_engine::{Answer, Confidence, Lane, Request, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer_json::{LaneJson, PassageJson, SearchOutput};
use crate::cursor::Cursor;
use crate::{Access, Capability, Desk, Failure, FilterInput};

/// Said where there is nothing that could answer.
pub(crate) const NO_NOTES: &str =
    "There are no notes in this vault: no file ends in .md or .markdown, or all are left out.";

/// The ability.
pub struct Search;

/// What is asked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct SearchInput {
    /// The question, in natural words. Every character is literal; there are no operators.
    pub query: String,
    /// How many passages at most, 1 to 50 (setting `limit`, 6).
    #[serde(default)]
    #[schemars(range(min = 1, max = 50))]
    pub limit: Option<u32>,
    /// Which notes are asked.
    #[serde(flatten)]
    pub filter: FilterInput,
    /// Only passages that hold the question as it stands, words in order; case, diacritics and
    /// white space aside.
    #[serde(default)]
    pub exact: bool,
    /// Other ways to put the same question; each counts less than the question itself.
    #[serde(default)]
    #[schemars(length(max = 8))]
    pub also: Vec<String>,
    /// Words that a passage must have; several must all be there.
    #[serde(default)]
    pub must: Vec<String>,
    /// A text, or the passage of a note (`Kiln.md`, `Kiln.md#Firing`, `Kiln.md:12-40`), that
    /// passages should be like.
    #[serde(default)]
    #[schemars(length(max = 8))]
    pub like: Vec<String>,
    /// Only these lanes: `text`, `title`, `dense`, `vocab`, `link`, `tag`, `recent` (setting
    /// `lanes`).
    #[serde(default)]
    pub lanes: Vec<String>,
    /// Go on behind an earlier answer: its `next`.
    #[serde(default)]
    pub cursor: Option<String>,
    /// Show where each passage's place comes from.
    #[serde(default)]
    pub explain: bool,
}

impl Capability for Search {
    const ID: &'static str = "knowledge.search";
    const SUMMARY: &'static str = "Find the passages that answer a question";
    const DESCRIPTION: &'static str = "Finds the few passages of the vault that answer a question, each with \
        its path, headings, byte and line range, the reasons it was found and a score. `confidence` says \
        whether the notes answer the question at all; `degraded` says what did not run.";
    const ACCESS: Access = Access::Read;
    const POSITIONAL: Option<&'static str> = Some("query");
    const FRESH: bool = true;
    type Input = SearchInput;
    type Output = SearchOutput;

    fn run(desk: &Desk<'_>, input: SearchInput) -> Result<SearchOutput, Failure> {
        let cursor = input.cursor.as_deref().map(Cursor::read).transpose()?;
        let view = desk.view()?;
        let request = request(desk, &view, &input, cursor)?;
        let answer = view.search(&request)?;
        Ok(output(desk, &view, input, &request, cursor, answer))
    }
}

fn request(
    desk: &Desk<'_>,
    view: &View<'_>,
    input: &SearchInput,
    cursor: Option<Cursor>,
) -> Result<Request, Failure> {
    let search = &desk.host.settings().search;
    let limit = input.limit.map_or(search.limit, |limit| limit as usize);
    let lanes = if input.lanes.is_empty() {
        search.lanes.clone()
    } else {
        lanes(&input.lanes)?
    };
    Ok(Request {
        question: input.query.clone(),
        limit,
        offset: cursor.map_or(0, |cursor| cursor.offset as usize),
        scope: input.filter.scope(view)?,
        lanes,
        exact: input.exact,
        also: few("also", &input.also)?,
        must: input.must.clone(),
        like: likenesses(view, &few("like", &input.like)?)?,
        today: input.filter.today()?,
        settings: search.clone(),
    })
}

/// A list that is bounded, for each item is searched for on its own.
fn few(field: &str, items: &[String]) -> Result<Vec<String>, Failure> {
    const MOST: usize = 8;
    if items.len() > MOST {
        return Err(Failure::wrong_use(
            format!("“{field}” has {} items", items.len()),
            format!("Give at most {MOST}."),
        ));
    }
    Ok(items.to_vec())
}

/// The texts that passages should be like: of an item that names a place in a note, its text.
fn likenesses(view: &View<'_>, items: &[String]) -> Result<Vec<String>, Failure> {
    items
        .iter()
        .map(|item| Ok(view.text_at(item)?.unwrap_or_else(|| item.clone())))
        .collect()
}

/// Lane names to lanes; each name may itself be a list with commas.
fn lanes(names: &[String]) -> Result<Vec<Lane>, Failure> {
    let mut lanes = Vec::new();
    for name in names
        .iter()
        .flat_map(|names| names.split(','))
        .map(str::trim)
        .filter(|name| !name.is_empty())
    {
        let lane = name.parse().map_err(|()| {
            let known: Vec<&str> = Lane::ALL.iter().map(|lane| lane.name()).collect();
            Failure::wrong_use(
                format!("there is no lane “{name}”"),
                format!("There are: {}.", known.join(", ")),
            )
        })?;
        if !lanes.contains(&lane) {
            lanes.push(lane);
        }
    }
    Ok(lanes)
}

fn output(
    desk: &Desk<'_>,
    view: &View<'_>,
    input: SearchInput,
    request: &Request,
    cursor: Option<Cursor>,
    answer: Answer,
) -> SearchOutput {
    let index = desk.index_json(view);
    let shown = request.offset + answer.passages.len();
    let next = answer.more.then(|| {
        Cursor {
            source: index.generation,
            offset: shown as u64,
        }
        .write()
    });
    let moved = cursor.is_some_and(|cursor| cursor.source != index.generation);
    let no_notes = index.notes == 0 && index.pending.unwrap_or(0) == 0;
    let changed = "The index changed since the first page; passages may repeat or be missing.";
    let mut degraded: Vec<String> = desk.staleness().into_iter().collect();
    degraded.extend(answer.degraded);
    let vault = view.vault();
    let passage = |found| PassageJson::new(vault, found, input.explain);
    SearchOutput {
        contract: 1,
        vault: vault.to_string(),
        query: input.query,
        passages: answer.passages.into_iter().map(passage).collect(),
        confidence: confidence(answer.confidence).to_string(),
        lanes: answer.lanes.into_iter().map(LaneJson::new).collect(),
        degraded,
        notice: no_notes
            .then(|| NO_NOTES.to_string())
            .or(answer.notice)
            .or_else(|| moved.then(|| changed.to_string())),
        index,
        truncated: answer.more,
        next,
    }
}

pub(crate) fn confidence(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::Strong => "strong",
        Confidence::Weak => "weak",
        Confidence::None => "none",
    }
}
