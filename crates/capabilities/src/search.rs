//! `knowledge.search`: passages for a question.

use lorewell_engine::{Answer, Confidence, Lane, LaneReport, LaneState, Request, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer_json::{LaneJson, PassageJson, SearchOutput};
use crate::cursor::Cursor;
use crate::{Access, AidInput, Capability, Desk, Failure, FilterInput};

/// Said where there is nothing that could answer.
pub(crate) const NO_NOTES: &str =
    "There are no notes in this vault: no file ends in .md or .markdown, or all are left out.";

/// The ability.
pub struct Search;

/// What is asked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct SearchInput {
    /// The question, in natural words. Every character is literal; there are no operators. Where a
    /// filter, `must` or `like` is given it may be left out: filters alone list their notes, newest
    /// first.
    #[serde(default)]
    #[schemars(length(max = 4_000_000))]
    pub query: Option<String>,
    /// How many passages at most, 1 to 50 (setting `limit`, 6).
    #[serde(default)]
    #[schemars(range(min = 1, max = 50))]
    pub limit: Option<u32>,
    /// At most so many characters of JSON in the answer: passages that do not fit are left to the
    /// next page. The first always comes.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub max_chars: Option<u32>,
    /// Which notes are asked.
    #[serde(flatten)]
    pub filter: FilterInput,
    /// Only passages that hold the question as it stands, words in order; case, diacritics and
    /// white space aside.
    #[serde(default)]
    pub exact: bool,
    /// What comes with the question.
    #[serde(flatten)]
    pub aids: AidInput,
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
        if input.query.is_none() && !input.narrows() {
            return Err(Failure::wrong_use(
                "“query” is missing",
                "Ask a question, or give a filter to list its notes: --tag, --folder, --since.",
            ));
        }
        let cursor = input.cursor.as_deref().map(Cursor::read).transpose()?;
        let view = desk.view()?;
        let request = request(desk, &view, &input, cursor)?;
        let ambiguous = input.filter.ambiguous(&view)?;
        let mut answer = view.search(&request)?;
        nothing_ran(&answer)?;
        answer.degraded.splice(0..0, ambiguous);
        Ok(output(desk, &view, input, &request, cursor, answer))
    }
}

impl SearchInput {
    /// Whether anything but the question says which passages are wanted.
    fn narrows(&self) -> bool {
        !self.filter.is_empty() || !self.aids.must.is_empty() || !self.aids.like.is_empty()
    }
}

/// An empty list would say that the notes hold nothing, where nobody looked.
fn nothing_ran(answer: &Answer) -> Result<(), Failure> {
    let mut asked = answer
        .lanes
        .iter()
        .filter(|lane| lane.state != LaneState::Off)
        .peekable();
    let is_away = |lane: &LaneReport| matches!(lane.state, LaneState::Unavailable { .. });
    if asked.peek().is_none() || !asked.all(is_away) {
        return Ok(());
    }
    Err(Failure {
        code: "lanes_unavailable".to_string(),
        message: format!(
            "nothing that was asked for could run: {}",
            answer.degraded.join("; ")
        ),
        hint: "Ask without “lanes”: the words and names of notes are searched whatever else is \
            away. `lorewell status` tells how the models stand."
            .to_string(),
    })
}

fn request(
    desk: &Desk<'_>,
    view: &View<'_>,
    input: &SearchInput,
    cursor: Option<Cursor>,
) -> Result<Request, Failure> {
    let search = &desk.host.settings().search;
    let limit = input.limit.map_or(search.limit, |limit| limit as usize);
    if input.exact && !(input.aids.fits_exact() && input.lanes.is_empty()) {
        return Err(Failure::wrong_use(
            "an exact search looks for the question as it stands, and for nothing else",
            "Leave out “also”, “like” and “lanes”, or “exact”.",
        ));
    }
    let lanes = if input.lanes.is_empty() {
        search.lanes.clone()
    } else {
        lanes(&input.lanes)?
    };
    Ok(Request {
        question: input.query.clone().unwrap_or_default(),
        limit,
        offset: cursor.map_or(0, |cursor| cursor.offset as usize),
        scope: input.filter.scope(view)?,
        lanes,
        exact: input.exact,
        also: input.aids.also()?,
        must: input.aids.must.clone(),
        like: input.aids.like(view)?,
        near: None,
        today: input.filter.today()?,
        settings: search.clone(),
    })
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
    if lanes.is_empty() {
        return Err(Failure::wrong_use(
            "“lanes” names no lane",
            "Leave it out for the usual lanes.",
        ));
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
    let generation = index.generation;
    let behind = |shown: usize| {
        Cursor {
            source: generation,
            offset: (request.offset + shown) as u64,
        }
        .write()
    };
    let next = answer.more.then(|| behind(answer.passages.len()));
    let moved = cursor.is_some_and(|cursor| cursor.source != index.generation);
    let no_notes = index.notes == 0 && index.pending.unwrap_or(0) == 0;
    let changed = "The index changed since the first page; passages may repeat or be missing.";
    let mut degraded: Vec<String> = desk.staleness().into_iter().collect();
    degraded.extend(answer.degraded);
    let vault = view.vault();
    let passage = |found| PassageJson::new(view, found, input.explain);
    let mut output = SearchOutput {
        contract: 1,
        vault: vault.to_string(),
        query: input.query.unwrap_or_default(),
        passages: answer.passages.into_iter().map(passage).collect(),
        confidence: confidence(answer.confidence).to_string(),
        lanes: answer.lanes.into_iter().map(LaneJson::new).collect(),
        degraded,
        reranked_by: answer.reranked_by,
        notice: no_notes
            .then(|| NO_NOTES.to_string())
            .or(answer.notice)
            .or_else(|| moved.then(|| changed.to_string())),
        index,
        truncated: answer.more,
        next,
    };
    if let Some(max_chars) = input.max_chars {
        fit(&mut output, max_chars as usize, behind);
    }
    output
}

/// Leaves passages that would make the answer larger than `max_chars` characters of JSON to the
/// next page, which begins `behind` those that stay; the first stays.
fn fit(output: &mut SearchOutput, max_chars: usize, behind: impl Fn(usize) -> String) {
    if json_chars(output) <= max_chars {
        return;
    }
    let passages = std::mem::take(&mut output.passages);
    output.truncated = true;
    output.next = Some(behind(passages.len()));
    let mut left = max_chars.saturating_sub(json_chars(output));
    for passage in passages {
        let chars = json_chars(&passage) + 1;
        if chars > left && !output.passages.is_empty() {
            break;
        }
        left = left.saturating_sub(chars);
        output.passages.push(passage);
    }
    output.next = Some(behind(output.passages.len()));
}

/// How many characters a value has as JSON.
pub(crate) fn json_chars(value: &impl Serialize) -> usize {
    serde_json::to_string(value).map_or(0, |json| json.chars().count())
}

pub(crate) fn confidence(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::Strong => "strong",
        Confidence::Weak => "weak",
        Confidence::None => "none",
    }
}
