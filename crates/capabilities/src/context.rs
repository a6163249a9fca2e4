//! `knowledge.context`: passages for a question, packed for a prompt within a token budget.

use lorewell_engine::{Context, ContextRequest, ContextSource, Counting, Request, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer_json::{EvidenceJson, IndexJson, LaneJson, PassageJson};
use crate::search::{NO_NOTES, confidence, json_chars};
use crate::{Access, AidInput, Capability, Desk, Failure, FilterInput};

/// The ability.
pub struct ContextPack;

/// So many tokens, unless the request says.
const BUDGET: u32 = 1200;
/// So many passages at most, unless the request says.
const PASSAGES: u32 = 8;
/// The numbers of passages that can be asked for: a glance, a look, the usual, a survey.
const SIZES: [u32; 4] = [3, 5, 8, 12];

/// What is asked, and how much of it fits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ContextInput {
    /// The question, in natural words. Every character is literal; there are no operators.
    #[schemars(length(max = 4_000_000))]
    pub query: String,
    /// How many tokens the text has at most, labels and all (1200).
    #[serde(default)]
    #[schemars(range(min = 1, max = 200_000))]
    pub budget: Option<u32>,
    /// How many passages at most: 3, 5, 8 or 12 (8).
    #[serde(default)]
    #[schemars(range(min = 1), extend("enum" = [3, 5, 8, 12, null]))]
    pub passages: Option<u32>,
    /// Notes that the prompt holds already, by path: they are left out, and copies of their
    /// passages too.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub attached: Vec<String>,
    /// Tell of each source only where it is, what it is worth and what kind of evidence it is: its
    /// words stand in the text.
    #[serde(default)]
    pub brief: bool,
    /// At most so many characters of JSON in the answer: the budget is made smaller until it fits,
    /// and the answer says how small.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub max_chars: Option<u32>,
    /// Which notes are asked.
    #[serde(flatten)]
    pub filter: FilterInput,
    /// What comes with the question.
    #[serde(flatten)]
    pub aids: AidInput,
}

/// A text for a prompt, and where it is from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContextOutput {
    /// The version of this contract.
    pub contract: u32,
    /// The vault that was asked.
    pub vault: String,
    /// The question, as it was asked.
    pub query: String,
    /// The text: each passage under `[n] path › heading`, best first. Empty where nothing fits.
    pub text: String,
    /// How many tokens the text is.
    pub tokens: u64,
    /// How many it may be at most.
    pub budget: u64,
    /// `estimated`: a quarter of a token for a character of ASCII, a half, one or two for one of 2,
    /// 3 or 4 bytes. `exact`: by the tokenizer of the setting `tokenizer_file`.
    #[schemars(extend("enum" = ["estimated", "exact"]))]
    pub token_counting: String,
    /// The tokenizer's file name, where they were counted by one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokenizer: Option<String>,
    /// The passages in the text, in its order; `verify` takes them as they are.
    pub sources: Vec<SourceJson>,
    /// `strong`, `weak`, or `none`: nothing in these notes answers the question, and the text is
    /// empty.
    #[schemars(extend("enum" = ["strong", "weak", "none"]))]
    pub confidence: String,
    /// Every lane, and how it fared.
    pub lanes: std::collections::BTreeMap<String, LaneJson>,
    /// How many passages that say something had no room in the budget.
    pub left_out: u64,
    /// Whether a larger budget, or more passages, would give more.
    pub truncated: bool,
    /// What did not run, ran on a part or on old data, in words.
    pub degraded: Vec<String>,
    /// The model that judged the first passages again (setting `reranker`); absent if none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reranked_by: Option<String>,
    /// Why the text is empty, or something to know about the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
    /// The generation that answered.
    pub index: IndexJson,
}

/// A source of the text: the passage, or on request where it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SourceJson {
    /// The passage.
    Whole(Box<ContextSourceJson>),
    /// Where it is.
    Brief(Box<BriefSourceJson>),
}

/// Where a passage of the text is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BriefSourceJson {
    /// Its number in the text, from 1.
    pub n: u64,
    /// The note's path in the vault.
    pub note: String,
    /// The headings above the passage, outermost first.
    pub heading_path: Vec<String>,
    /// Half-open range of bytes in the file, from 0.
    pub byte_range: [u64; 2],
    /// First and last line, from 1.
    pub line_range: [u32; 2],
    /// How good it is, 0 to 1.
    pub score: f64,
    /// What kind of evidence it is, and the rule that says so.
    pub evidence: EvidenceJson,
    /// The note's date, `YYYY-MM-DD`.
    pub date: String,
    /// BLAKE3 of the whole note's bytes, hex.
    pub content_hash: String,
    /// Paths of notes whose properties say that they replace this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<Vec<String>>,
    /// Of a note that cannot be read now, so that this is its last known text: `unreadable`, or
    /// `not_local`. Absent where it can be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["unreadable", "not_local"]))]
    pub state: Option<String>,
    /// Whether it ends early, because all of it was too large; absent where not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

/// A passage of the text. Neighbours in a note are one, from the first to the last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContextSourceJson {
    /// Its number in the text, from 1.
    pub n: u64,
    /// The passage.
    #[serde(flatten)]
    pub passage: PassageJson,
    /// Whether it ends early, because all of it was too large; absent where not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

impl Capability for ContextPack {
    const ID: &'static str = "knowledge.context";
    const SUMMARY: &'static str = "Pack the passages that answer a question for a prompt";
    const DESCRIPTION: &'static str = "Finds the passages that answer a question and packs them as one text for the prompt of a \
        language model, never larger than a budget of tokens: numbered, labelled with path and headings, at most two of \
        a note, without notes that are attached already and without passages that say little. Empty where the notes \
        do not answer.";
    const ACCESS: Access = Access::Read;
    const POSITIONAL: Option<&'static str> = Some("query");
    const FRESH: bool = true;
    type Input = ContextInput;
    type Output = ContextOutput;

    fn run(desk: &Desk<'_>, input: ContextInput) -> Result<ContextOutput, Failure> {
        let view = desk.view()?;
        let search = &desk.host.settings().search;
        let mut request = ContextRequest {
            request: Request {
                scope: input.filter.scope(&view)?,
                lanes: search.lanes.clone(),
                today: input.filter.today()?,
                also: input.aids.also()?,
                must: input.aids.must.clone(),
                like: input.aids.like(&view)?,
                settings: search.clone(),
                ..Request::new(input.query.clone())
            },
            budget: input.budget.unwrap_or(BUDGET) as usize,
            passages: size(input.passages.unwrap_or(PASSAGES))?,
            attached: input.attached,
        };
        let ambiguous = input.filter.ambiguous(&view)?;
        loop {
            let mut context = view.context(&request)?;
            context.degraded.extend(ambiguous.iter().cloned());
            let query = input.query.clone();
            let output = output(desk, &view, query, &request, context, input.brief);
            match smaller(&output, input.max_chars) {
                Some(budget) => request.budget = budget,
                None => return Ok(output),
            }
        }
    }
}

/// The budget to try next where an answer is larger than `max_chars`; nothing where it fits, or
/// where there is no text that could be less.
fn smaller(output: &ContextOutput, max_chars: Option<u32>) -> Option<usize> {
    let max = max_chars? as usize;
    let chars = json_chars(output);
    if chars <= max || output.text.is_empty() || output.tokens < 2 {
        return None;
    }
    // The frame of the answer stays as large as it is, so what is too much comes off the text.
    let share = max as f64 / chars as f64;
    let tokens = output.tokens.min(output.budget) as f64;
    Some(((tokens * share) as usize).clamp(1, tokens as usize - 1))
}

/// Refuses numbers of passages that are no preset, with the next larger one.
fn size(passages: u32) -> Result<usize, Failure> {
    if SIZES.contains(&passages) {
        return Ok(passages as usize);
    }
    let nearest = SIZES
        .iter()
        .find(|size| **size > passages)
        .unwrap_or(&SIZES[3]);
    Err(Failure::wrong_use(
        format!("“passages” is {passages}; it must be 3, 5, 8 or 12"),
        format!("Take {nearest}; the budget decides how many of them fit."),
    ))
}

fn output(
    desk: &Desk<'_>,
    view: &View<'_>,
    query: String,
    request: &ContextRequest,
    context: Context,
    brief: bool,
) -> ContextOutput {
    let (token_counting, tokenizer) = match context.counting {
        Counting::Estimated => ("estimated", None),
        Counting::Exact(name) => ("exact", Some(name)),
    };
    let index = desk.index_json(view);
    let no_notes = index.notes == 0 && index.pending.unwrap_or(0) == 0;
    let mut degraded: Vec<String> = desk.staleness().into_iter().collect();
    degraded.extend(context.degraded);
    let sources = (1..).zip(context.sources);
    ContextOutput {
        contract: 1,
        vault: view.vault().to_string(),
        query,
        text: context.text,
        tokens: context.tokens as u64,
        budget: request.budget as u64,
        token_counting: token_counting.to_string(),
        tokenizer,
        sources: sources
            .map(|(n, source)| SourceJson::new(ContextSourceJson::new(view, n, source), brief))
            .collect(),
        confidence: confidence(context.confidence).to_string(),
        lanes: context.lanes.into_iter().map(LaneJson::new).collect(),
        left_out: context.left_out as u64,
        truncated: context.truncated,
        degraded,
        reranked_by: context.reranked_by,
        notice: no_notes.then(|| NO_NOTES.to_string()).or(context.notice),
        index,
    }
}

impl SourceJson {
    /// The passage, unless the source was asked for in brief.
    pub fn whole(&self) -> Option<&ContextSourceJson> {
        match self {
            SourceJson::Whole(source) => Some(source),
            SourceJson::Brief(_) => None,
        }
    }

    fn new(source: ContextSourceJson, brief: bool) -> SourceJson {
        if !brief {
            return SourceJson::Whole(Box::new(source));
        }
        let passage = source.passage;
        SourceJson::Brief(Box::new(BriefSourceJson {
            n: source.n,
            note: passage.note,
            heading_path: passage.heading_path,
            byte_range: passage.byte_range,
            line_range: passage.line_range,
            score: passage.score,
            evidence: passage.evidence,
            date: passage.date,
            content_hash: passage.content_hash,
            superseded_by: passage.superseded_by,
            state: passage.state,
            cut: source.cut,
        }))
    }
}

impl ContextSourceJson {
    fn new(view: &View<'_>, n: u64, source: ContextSource) -> ContextSourceJson {
        let partial = source.is_part();
        ContextSourceJson {
            n,
            cut: source.is_cut,
            passage: PassageJson {
                partial,
                ..PassageJson::new(view, source.passage, false)
            },
        }
    }
}
