//! The JSON of an answer: names that programs outside rely on.

use std::collections::BTreeMap;

use lorewell_engine::{AnswerPassage, Lane, LaneReport, LaneState, Signal, View, Voice};
use lorewell_text::percent_encoded;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchOutput {
    /// The version of this contract.
    pub contract: u32,
    /// The vault that was asked.
    pub vault: String,
    /// The question, as it was asked.
    pub query: String,
    /// Passages, best first.
    pub passages: Vec<PassageJson>,
    /// `strong`, `weak`, or `none`: nothing in these notes answers the question, the nearest
    /// passages are listed all the same.
    #[schemars(extend("enum" = ["strong", "weak", "none"]))]
    pub confidence: String,
    /// Every lane, and how it fared.
    pub lanes: BTreeMap<String, LaneJson>,
    /// What did not run, ran on a part or on old data, in words.
    pub degraded: Vec<String>,
    /// The model that judged the first passages again (setting `reranker`); absent if none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reranked_by: Option<String>,
    /// Something to know about the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
    /// The generation that answered.
    pub index: IndexJson,
    /// Whether there are more passages.
    pub truncated: bool,
    /// Pass it as `cursor` for the next page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A passage, the same wherever it occurs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PassageJson {
    /// From 1.
    pub rank: u64,
    /// The note's path in the vault.
    pub note: String,
    /// The note's title.
    pub title: String,
    /// The headings above the passage, outermost first.
    pub heading_path: Vec<String>,
    /// Half-open range of bytes in the file, from 0; of a file that is not clean UTF-8, in its
    /// decoding (then `encoding` is there).
    pub byte_range: [u64; 2],
    /// First and last line, from 1.
    pub line_range: [u32; 2],
    /// The slice of the file.
    pub text: String,
    /// Of a passage that goes on with a table that was cut: the line of the note that names the
    /// columns. It is no part of `text`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table_header: Option<String>,
    /// Whether the note holds more than this passage.
    pub partial: bool,
    /// How good it is, 0 to 1.
    pub score: f64,
    /// Why it was found.
    pub signals: Vec<SignalJson>,
    /// What kind of evidence it is, and the rule that says so.
    pub evidence: EvidenceJson,
    /// The note's date, `YYYY-MM-DD`.
    pub date: String,
    /// Where the date comes from: `property NAME`, `file name`, `folder` or `file time`.
    pub date_source: String,
    /// BLAKE3 of the whole note's bytes, hex.
    pub content_hash: String,
    /// Other notes with a passage of the same or nearly the same words.
    pub copies: Vec<String>,
    /// Paths of notes whose properties say that they replace this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<Vec<String>>,
    /// Opens the note in Obsidian.
    pub uri: String,
    /// How the file was decoded, where it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    /// Of a note that cannot be read now: `unreadable`, or `not_local` where its content is not on
    /// this device. The passage is its last known text. Absent where it can be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["unreadable", "not_local"]))]
    pub state: Option<String>,
    /// Where its place comes from, on request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explain: Option<Explained>,
}

/// Why a passage was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SignalJson {
    /// The lane: `text`, `title`, `dense`, `vocab`, `link`, `tag`, `recent`.
    pub kind: String,
    /// The passage's rank in that lane, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u64>,
    /// Of `vocab`: words that go together with the question's in this vault and that the passage
    /// has, as written there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added: Option<Vec<String>>,
    /// Of `link`: paths of the notes that the link leads to or comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<Vec<String>>,
    /// Of `tag`: tags that the note shares with other passages found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// Which item of `also` found it, from 0; absent for the question itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub also: Option<u64>,
    /// Which item of `like` found it, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub like: Option<u64>,
}

/// A note's class of evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EvidenceJson {
    /// `own`, `daily`, `transcript`, `clipping`, `generated` (by a program; backups too), `draft` or
    /// `template`.
    #[schemars(extend("enum" = ["own", "daily", "transcript", "clipping", "generated", "draft", "template"]))]
    pub class: String,
    /// The rule that decided: `folder Clippings`, `property type: transcript`, `setting tag:llm`,
    /// `default`.
    pub rule: String,
}

/// How a lane fared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LaneJson {
    /// How: `ok`, `partial`, `abstained`, `unavailable` or `off`.
    #[schemars(extend("enum" = ["ok", "partial", "abstained", "unavailable", "off"]))]
    pub state: String,
    /// The model that it uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The share of passages that it could see, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<f64>,
    /// The model that was to be used, where another answers in its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wanted: Option<WantedJson>,
    /// Why it is not `ok`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A model in whose place another answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WantedJson {
    /// Its name.
    pub model: String,
    /// The share of passages that it has by now, 0 to 1; absent if it cannot be asked at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<f64>,
}

/// The generation that answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IndexJson {
    /// Its number.
    pub generation: u64,
    /// Notes in it.
    pub notes: u64,
    /// Passages in it.
    pub passages: u64,
    /// Changed notes that are not in it yet; absent where nobody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<u64>,
    /// When it was committed (RFC 3339, UTC).
    pub updated_at: String,
}

/// Where a passage's place comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Explained {
    /// The fused value: the sum of what the lanes added, times the standing. Comparable within one
    /// answer only.
    pub fused: f64,
    /// What the note's class of evidence counts, where that is less than 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing: Option<f64>,
    /// Of the first 20 passages, what their order follows from: the mean of the fused value, as a
    /// share of the best, and what the passage has of the question as a whole; less for a note
    /// that another replaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<f64>,
    /// How well the reranker says that the passage answers, 0 to 1, where one judged it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relevance: Option<f64>,
    /// The place, from 1, that was kept for it because it is among the first of a lane, where it
    /// would have stood lower.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<u64>,
    /// That lane: `text` for what has most of the question's words, `dense` for what is nearest in
    /// meaning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place_lane: Option<String>,
    /// What each lane added.
    pub lanes: Vec<ContributionJson>,
    /// What each term of the question added to the lexical score.
    pub terms: Vec<TermJson>,
}

/// One lane's part in a passage's place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContributionJson {
    /// The lane.
    pub lane: String,
    /// For which item of `also`, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub also: Option<u64>,
    /// For which item of `like`, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub like: Option<u64>,
    /// The passage's rank there.
    pub rank: u64,
    /// The lane's own score.
    pub score: f64,
    /// What it added to the fused value.
    pub added: f64,
}

/// One term's part in a lexical score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TermJson {
    /// The analysed term.
    pub term: String,
    /// Its weighted frequency in the passage.
    pub frequency: u32,
    /// How many passages have it.
    pub passages: u32,
    /// What it added.
    pub added: f64,
}

impl PassageJson {
    pub(crate) fn new(view: &View<'_>, found: AnswerPassage, explain: bool) -> PassageJson {
        let explain = explain.then(|| Explained::new(&found));
        let AnswerPassage {
            rank,
            note,
            passage,
            score,
            signals,
            evidence,
            copies,
            superseded_by,
            ..
        } = found;
        PassageJson {
            rank: rank as u64,
            uri: uri(view.vault(), note.path.as_str()),
            state: state(view, note.path.as_str()),
            heading_path: passage.heading_path,
            byte_range: [passage.byte_range.start, passage.byte_range.end],
            line_range: [passage.line_range.0, passage.line_range.1],
            text: passage.text,
            table_header: Some(passage.table_header).filter(|line| !line.is_empty()),
            partial: note.passages > 1,
            score: rounded(score, 2),
            signals: signals.iter().map(SignalJson::new).collect(),
            evidence: EvidenceJson {
                class: evidence.class.to_string(),
                rule: evidence.rule,
            },
            copies,
            superseded_by: filled(&superseded_by),
            encoding: foreign_encoding(&note.encoding),
            content_hash: hex(&note.content_hash),
            note: note.path.as_str().to_string(),
            title: note.title,
            date: note.date.day,
            date_source: note.date.source,
            explain,
        }
    }
}

impl SignalJson {
    fn new(signal: &Signal) -> SignalJson {
        let (also, like) = aid(signal.voice);
        SignalJson {
            kind: signal.lane.name().to_string(),
            rank: (signal.lane != Lane::Title).then_some(signal.rank as u64),
            added: filled(&signal.added),
            via: filled(&signal.via),
            tags: filled(&signal.tags),
            also,
            like,
        }
    }
}

/// A list, where there is something in it.
pub(crate) fn filled(list: &[String]) -> Option<Vec<String>> {
    (!list.is_empty()).then(|| list.to_vec())
}

/// Which item of `also` or of `like` is meant.
fn aid(voice: Voice) -> (Option<u64>, Option<u64>) {
    match voice {
        Voice::Question => (None, None),
        Voice::Also(item) => (Some(item as u64), None),
        Voice::Like(item) => (None, Some(item as u64)),
    }
}

impl LaneJson {
    pub(crate) fn new(report: LaneReport) -> (String, LaneJson) {
        let (state, coverage, reason) = match report.state {
            LaneState::Ok => ("ok", None, None),
            LaneState::Partial { coverage, reason } => {
                ("partial", Some(rounded(coverage, 2)), Some(reason))
            }
            LaneState::Abstained { reason } => ("abstained", None, Some(reason)),
            LaneState::Unavailable { reason } => ("unavailable", None, Some(reason)),
            LaneState::Off => ("off", None, None),
        };
        let json = LaneJson {
            state: state.to_string(),
            model: report.model,
            coverage,
            wanted: report.wanted.map(|wanted| WantedJson {
                model: wanted.model,
                coverage: wanted.coverage.map(|share| rounded(share, 2)),
            }),
            reason,
        };
        (report.lane.name().to_string(), json)
    }
}

impl Explained {
    fn new(found: &AnswerPassage) -> Explained {
        let lanes = found.fused.trace.iter().map(|c| {
            let (also, like) = aid(c.voice);
            ContributionJson {
                lane: c.lane.name().to_string(),
                also,
                like,
                rank: c.rank as u64,
                score: rounded(c.score, 4),
                added: rounded(c.added, 6),
            }
        });
        let terms = found.terms.iter().map(|t| TermJson {
            term: t.term.clone(),
            frequency: u32::from(t.tf),
            passages: t.document_frequency,
            added: rounded(t.contribution, 4),
        });
        Explained {
            fused: rounded(found.fused.value, 6),
            order: found.fused.order.map(|order| rounded(order, 4)),
            relevance: found.fused.relevance.map(|share| rounded(share, 4)),
            place: found.fused.place.map(|kept| kept.place as u64),
            place_lane: found.fused.place.map(|kept| kept.lane.to_string()),
            standing: (found.fused.standing != 1.0).then(|| rounded(found.fused.standing, 2)),
            lanes: lanes.collect(),
            terms: terms.collect(),
        }
    }
}

/// The encoding of a note, where its byte ranges are not those of its file.
pub(crate) fn foreign_encoding(encoding: &str) -> Option<String> {
    (!matches!(encoding, "utf-8" | "utf-8-bom")).then(|| encoding.to_string())
}

/// The mark of a note that cannot be read now.
pub(crate) fn state(view: &View<'_>, path: &str) -> Option<String> {
    view.unread(path).map(|why| why.code().to_string())
}

/// The address that opens a note in Obsidian: everything but unreserved characters is encoded.
pub(crate) fn uri(vault: &str, path: &str) -> String {
    format!(
        "obsidian://open?vault={}&file={}",
        percent_encoded(vault),
        percent_encoded(path)
    )
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// So many decimals: more would pretend. A double, because a rounded single that is widened on
/// its way to JSON grows its tail again.
pub fn rounded(value: f32, decimals: i32) -> f64 {
    let factor = 10f64.powi(decimals);
    (f64::from(value) * factor).round() / factor
}
