//! `knowledge.context`: passages for a question, packed for a prompt within a token budget.

use lorewell_engine::{Context, ContextRequest, ContextSource, Counting, Request, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer_json::{IndexJson, LaneJson, PassageJson};
use crate::search::{NO_NOTES, confidence};
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
    pub attached: Vec<String>,
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
    pub sources: Vec<ContextSourceJson>,
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
    /// Why the text is empty, or something to know about the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
    /// The generation that answered.
    pub index: IndexJson,
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
        let request = ContextRequest {
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
        let mut context = view.context(&request)?;
        context.degraded.extend(input.filter.ambiguous(&view)?);
        Ok(output(desk, &view, input.query, &request, context))
    }
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
) -> ContextOutput {
    let (token_counting, tokenizer) = match context.counting {
        Counting::Estimated => ("estimated", None),
        Counting::Exact(name) => ("exact", Some(name)),
    };
    let index = desk.index_json(view);
    let no_notes = index.notes == 0 && index.pending.unwrap_or(0) == 0;
    let mut degraded: Vec<String> = desk.staleness().into_iter().collect();
    degraded.extend(context.degraded);
    let vault = view.vault();
    let sources = (1..).zip(context.sources);
    ContextOutput {
        contract: 1,
        vault: vault.to_string(),
        query,
        text: context.text,
        tokens: context.tokens as u64,
        budget: request.budget as u64,
        token_counting: token_counting.to_string(),
        tokenizer,
        sources: sources
            .map(|(n, source)| ContextSourceJson::new(vault, n, source))
            .collect(),
        confidence: confidence(context.confidence).to_string(),
        lanes: context.lanes.into_iter().map(LaneJson::new).collect(),
        left_out: context.left_out as u64,
        truncated: context.truncated,
        degraded,
        notice: no_notes.then(|| NO_NOTES.to_string()).or(context.notice),
        index,
    }
}

impl ContextSourceJson {
    fn new(vault: &str, n: u64, source: ContextSource) -> ContextSourceJson {
        let partial = source.is_part();
        ContextSourceJson {
            n,
            cut: source.is_cut,
            passage: PassageJson {
                partial,
                ..PassageJson::new(vault, source.passage, false)
            },
        }
    }
}
