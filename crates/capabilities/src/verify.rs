//! `knowledge.verify`: whether the words of quotations and answers stand in the notes.

use lorewell_engine::{
    CitedPlace, CitedQuote, CitedSource, ClaimKind, Difference, Elsewhere, FoundPlace, Verdict,
    Verification, VerifiedClaim, VerifyRequest, Wording,
};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::answer_json::{IndexJson, filled, foreign_encoding, hex, rounded, uri};
use crate::read::lines;
use crate::{Access, Capability, Desk, Failure};

/// The ability.
pub struct Verify;

/// What is to be verified: `quotes`, an `answer`, or both.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VerifyInput {
    /// A Markdown answer with citations: `[1]`, `[[Note]]`, `[[Note#Heading]]`, `[label](Note.md)`.
    #[serde(default)]
    #[schemars(length(max = 100_000), extend("contentMediaType" = "text/markdown"))]
    pub answer: Option<String>,
    /// What `[1]`, `[2]` and so on mean in the answer: the `sources` of the context that it was
    /// made from, or that whole context.
    #[serde(default, deserialize_with = "sources")]
    #[schemars(extend(
        "type" = ["array", "object"],
        "contentMediaType" = "application/json",
        "maxItems" = 200
    ))]
    pub sources: Vec<SourceInput>,
    /// Quotations, each with the note that should hold it.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub quotes: Vec<QuoteInput>,
}

/// A quotation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuoteInput {
    /// Words that should stand in a note; an ellipsis (`…`, `[...]`) leaves some out.
    #[schemars(length(max = 10_000))]
    pub quote: String,
    /// The note that should hold the quote: its path, name, title or alias, or a link
    /// (`[[Note#Heading]]`); without it, any.
    #[serde(default)]
    pub note: Option<String>,
    /// The heading that the quote should stand under; several name nested headings.
    #[serde(default, deserialize_with = "one_or_several")]
    #[schemars(extend("type" = ["array", "string"]))]
    pub heading: Vec<String>,
    /// The lines that the quote should stand on, `first-last`, from 1.
    #[serde(default)]
    pub lines: Option<String>,
    /// The bytes that the quote should stand in: half-open, from 0.
    #[serde(default)]
    pub byte_range: Option<[u64; 2]>,
    /// The note's content hash when it was quoted; where it is another now, that is said.
    #[serde(default)]
    pub content_hash: Option<String>,
}

/// What a number in an answer means. Passages of `search` and `context` are such; what else they
/// hold is not read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SourceInput {
    /// The number.
    pub n: u32,
    /// The note.
    pub note: String,
    /// The headings above the passage.
    #[serde(default)]
    pub heading_path: Vec<String>,
    /// First and last line of the passage, from 1.
    #[serde(default)]
    pub line_range: Option<[u32; 2]>,
    /// The bytes of the passage: half-open, from 0.
    #[serde(default)]
    pub byte_range: Option<[u64; 2]>,
    /// The note's content hash when it was read.
    #[serde(default)]
    pub content_hash: Option<String>,
}

/// The verdicts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VerifyOutput {
    /// The version of this contract.
    pub contract: u32,
    /// The vault.
    pub vault: String,
    /// Quotations in the order in which they were given, then the claims of the answer. A claim
    /// that cites several notes is one; a citation that names no note has an entry of its own.
    pub claims: Vec<ClaimJson>,
    /// How many of each.
    pub summary: SummaryJson,
    /// Quotations of the answer that bear no citation, which are no claims.
    pub uncited: Vec<UncitedJson>,
    /// Whether every quotation stands in the note that is cited for it, here or there in it, and
    /// every citation leads to a note; `false` too where there is nothing to verify, or not all of
    /// it was looked at.
    pub holds: bool,
    /// Something to know about the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
    /// What could not be looked at, in words.
    pub degraded: Vec<String>,
    /// The generation that was asked where else words stand.
    pub index: IndexJson,
}

/// A quotation without a citation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UncitedJson {
    /// The words.
    pub quote: String,
    /// The line of the answer on which they begin, from 1.
    pub line: u32,
}

/// A claim and its verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimJson {
    /// `quote`: words given as those of a note. `sentence`: a sentence of the answer with a
    /// citation and no quotation; that its words do not stand there does not make it wrong.
    #[schemars(extend("enum" = ["quote", "sentence"]))]
    pub kind: String,
    /// The words.
    pub quote: String,
    /// The line of the answer on which they begin, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The citation, as it is written in the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub citation: Option<String>,
    /// The note that is cited: its path, or what is written where there is no such note.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// `exact`: the words stand there. `normalized`: but for white space, case, diacritics, styles
    /// of quotation marks and dashes, marks of Markdown, and the sign that ends the quotation.
    /// `moved`: elsewhere in the note than cited; or in another note only, then `holds` is false.
    /// `changed`: the note has only words like them. `absent`: not even those.
    #[schemars(extend("enum" = ["exact", "normalized", "moved", "changed", "absent"]))]
    pub verdict: String,
    /// Whether the words stand in the cited note: `exact`, `normalized`, or `moved` within it.
    pub holds: bool,
    /// Of a `sentence` that does not stand in its note: whether it may say in words of its own what
    /// the note says.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own_words: bool,
    /// How moved words stand where they are: `exact` or `normalized`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wording: Option<String>,
    /// Where the words stand; of a changed claim, the nearest words. Of an absent claim whose
    /// citation leads nowhere, where the words stand instead, if they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<PlaceJson>,
    /// Of a changed claim, where the very words stand in a note that is not cited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<ElsewhereJson>,
    /// Numbers and dates of a sentence, as it writes them, that the cited note has nowhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_in_note: Vec<String>,
    /// What a changed claim has other than the note.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<DifferenceJson>,
    /// How alike a changed claim and the note's words are, 0.6 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub likeness: Option<f64>,
    /// Whether the note changed since it was cited (by its content hash); absent where not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stale: bool,
    /// Why the verdict is what it is, where that is not plain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A place in a note as it is on disk now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlaceJson {
    /// The note's path in the vault.
    pub note: String,
    /// Half-open range of bytes in the file (of a file that is not clean UTF-8, its decoding).
    pub byte_range: [u64; 2],
    /// First and last line, from 1.
    pub line_range: [u32; 2],
    /// The headings above, outermost first.
    pub heading_path: Vec<String>,
    /// The words as they stand there.
    pub text: String,
    /// Where each piece of a quotation with ellipses stands.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pieces: Vec<[u64; 2]>,
    /// BLAKE3 of the whole note's bytes as they are now, hex.
    pub content_hash: String,
    /// Opens the note in Obsidian.
    pub uri: String,
    /// How the file was decoded, where it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
}

/// Words in a note that is not cited.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ElsewhereJson {
    /// The note's path in the vault.
    pub note: String,
    /// First and last line, from 1.
    pub line_range: [u32; 2],
    /// Opens the note in Obsidian.
    pub uri: String,
    /// Paths of notes whose properties say that they replace this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<Vec<String>>,
}

/// A difference, word by word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DifferenceJson {
    /// On one line: `takes [-ten-] {+eleven+} hours`.
    pub text: String,
    /// The same in parts, in order.
    pub parts: Vec<PartJson>,
}

/// A part of a difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PartJson {
    /// `same`, `removed` (only the claim has it) or `added` (only the note has it).
    #[schemars(extend("enum" = ["same", "removed", "added"]))]
    pub kind: String,
    /// The words.
    pub text: String,
}

/// How many claims have which verdict.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SummaryJson {
    /// All.
    pub claims: u64,
    /// `exact`.
    pub exact: u64,
    /// `normalized`.
    pub normalized: u64,
    /// `moved`.
    pub moved: u64,
    /// `changed`.
    pub changed: u64,
    /// `absent`.
    pub absent: u64,
    /// Those of the changed and the absent that are sentences whose note is there: perhaps said
    /// in words of their own.
    pub own_words: u64,
    /// Quotations of the answer without a citation, which are no claims.
    pub uncited: u64,
}

impl Capability for Verify {
    const ID: &'static str = "knowledge.verify";
    const SUMMARY: &'static str =
        "Check whether quotations stand in the notes that are cited for them";
    const DESCRIPTION: &'static str = "Takes quotations with their notes, or a Markdown answer with citations, and says \
        of each whether the words stand there, by the files as they are now: exact, normalized, moved (and where), \
        changed (and how) or absent. Sentences that cite a note without quoting it are told apart as `sentence`. \
        `holds` is false, and the exit code 1, where a quotation does not stand in the note that it cites or a \
        citation leads nowhere.";
    const ACCESS: Access = Access::Read;
    const POSITIONAL: Option<&'static str> = Some("answer");
    const FRESH: bool = true;
    type Input = VerifyInput;
    type Output = VerifyOutput;

    fn run(desk: &Desk<'_>, input: VerifyInput) -> Result<VerifyOutput, Failure> {
        if input.answer.is_none() && input.quotes.is_empty() {
            return Err(Failure::wrong_use(
                "there is nothing to verify",
                "Give an answer, or a quote with its note.",
            ));
        }
        let request = VerifyRequest {
            quotes: input
                .quotes
                .into_iter()
                .map(cited_quote)
                .collect::<Result<_, _>>()?,
            answer: input.answer,
            sources: input
                .sources
                .into_iter()
                .map(cited_source)
                .collect::<Result<_, _>>()?,
        };
        let view = desk.view()?;
        let verification = view.verify(&request)?;
        let mut degraded: Vec<String> = desk.staleness().into_iter().collect();
        degraded.extend(shortcomings(&verification));
        let vault = view.vault();
        let summary = SummaryJson::of(&verification);
        let fails = |claim: &VerifiedClaim| {
            !claim.holds() && (claim.kind == ClaimKind::Quote || !claim.looked_at)
        };
        let uncited = verification.uncited.iter().map(|quote| UncitedJson {
            quote: quote.text.clone(),
            line: quote.line,
        });
        Ok(VerifyOutput {
            contract: 1,
            vault: vault.to_string(),
            holds: !verification.claims.is_empty()
                && verification.is_whole()
                && !verification.claims.iter().any(fails),
            notice: notice(&verification),
            uncited: uncited.collect(),
            claims: verification
                .claims
                .into_iter()
                .map(|claim| ClaimJson::new(vault, claim))
                .collect(),
            summary,
            degraded,
            index: desk.index_json(&view),
        })
    }
}

fn notice(verification: &Verification) -> Option<String> {
    let reason = match (
        verification.claims.is_empty(),
        verification.uncited.is_empty(),
    ) {
        (false, _) => return None,
        (true, true) => "The answer holds no claim with a citation.",
        (true, false) => "None of the answer's quotations bears a citation.",
    };
    Some(reason.to_string())
}

fn shortcomings(verification: &Verification) -> Vec<String> {
    let unreadable = verification.unreadable.iter();
    let mut said: Vec<String> = unreadable
        .map(|(path, why)| format!("verify: “{path}” was not looked at: {why}"))
        .collect();
    if verification.left_out > 0 {
        said.push(format!(
            "verify: only the first {} claims were looked at; {} were not",
            verification.claims.len(),
            verification.left_out
        ));
    }
    said
}

fn cited_quote(input: QuoteInput) -> Result<CitedQuote, Failure> {
    Ok(CitedQuote {
        place: CitedPlace {
            note: input.note,
            heading: input.heading,
            block: None,
            lines: input.lines.as_deref().map(lines).transpose()?,
            bytes: input.byte_range.map(bytes).transpose()?,
            content_hash: input
                .content_hash
                .as_deref()
                .map(content_hash)
                .transpose()?,
        },
        quote: input.quote,
    })
}

fn cited_source(input: SourceInput) -> Result<CitedSource, Failure> {
    Ok(CitedSource {
        n: input.n.to_string(),
        place: CitedPlace {
            note: Some(input.note),
            heading: input.heading_path,
            block: None,
            lines: input.line_range.map(|[first, last]| (first, last)),
            bytes: input.byte_range.map(bytes).transpose()?,
            content_hash: input
                .content_hash
                .as_deref()
                .map(content_hash)
                .transpose()?,
        },
    })
}

fn bytes([start, end]: [u64; 2]) -> Result<std::ops::Range<u64>, Failure> {
    if start > end {
        return Err(Failure::wrong_use(
            format!("the bytes {start} to {end} are no range"),
            "The first is where it begins, the second where it ends, both from 0.",
        ));
    }
    Ok(start..end)
}

fn content_hash(text: &str) -> Result<[u8; 32], Failure> {
    let mut hash = [0; 32];
    let is_hash = text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit());
    for (byte, at) in hash.iter_mut().zip((0..64).step_by(2)) {
        let digits = text.get(at..at + 2).filter(|_| is_hash);
        *byte = digits
            .and_then(|digits| u8::from_str_radix(digits, 16).ok())
            .ok_or_else(|| {
                Failure::wrong_use(
                    "“content_hash” is no content hash",
                    "Give that of an answer, 64 digits, or leave it out.",
                )
            })?;
    }
    Ok(hash)
}

/// A list of sources, or an answer that has one.
fn sources<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<SourceInput>, D::Error> {
    let list = match Value::deserialize(from)? {
        Value::Object(mut answer) => answer.remove("sources").ok_or_else(|| {
            serde::de::Error::custom("“sources” holds an object without a list “sources”")
        })?,
        list => list,
    };
    serde_json::from_value(list)
        .map_err(|error| serde::de::Error::custom(format!("“sources”: {error}")))
}

fn one_or_several<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let list = match Value::deserialize(from)? {
        Value::String(one) => return Ok(vec![one]),
        list => list,
    };
    serde_json::from_value(list)
        .map_err(|_| serde::de::Error::custom("“heading” must be a text or a list of texts"))
}

impl SummaryJson {
    fn of(verification: &Verification) -> SummaryJson {
        let claims = &verification.claims;
        let count = |verdict| claims.iter().filter(|c| c.verdict == verdict).count() as u64;
        let own_words = |claim: &&VerifiedClaim| claim.is_in_other_words();
        SummaryJson {
            claims: claims.len() as u64,
            exact: count(Verdict::Exact),
            normalized: count(Verdict::Normalized),
            moved: count(Verdict::Moved),
            changed: count(Verdict::Changed),
            absent: count(Verdict::Absent),
            own_words: claims.iter().filter(own_words).count() as u64,
            uncited: verification.uncited.len() as u64,
        }
    }
}

impl ClaimJson {
    fn new(vault: &str, claim: VerifiedClaim) -> ClaimJson {
        let tells_wording = matches!(claim.verdict, Verdict::Moved | Verdict::Absent);
        let wording = claim.wording.filter(|_| tells_wording);
        ClaimJson {
            kind: match claim.kind {
                ClaimKind::Quote => "quote".to_string(),
                ClaimKind::Sentence | ClaimKind::Pointer => "sentence".to_string(),
            },
            holds: claim.holds(),
            own_words: claim.is_in_other_words(),
            quote: claim.quote,
            line: claim.line,
            citation: claim.citation,
            note: claim.note,
            verdict: claim.verdict.name().to_string(),
            wording: wording.map(|wording| match wording {
                Wording::Exact => "exact".to_string(),
                Wording::Normalized => "normalized".to_string(),
            }),
            found: claim.found.map(|found| PlaceJson::new(vault, found)),
            elsewhere: claim
                .elsewhere
                .map(|elsewhere| ElsewhereJson::new(vault, elsewhere)),
            not_in_note: claim.lacking,
            difference: claim
                .difference
                .map(|difference| DifferenceJson::new(&difference)),
            likeness: claim.likeness.map(|likeness| rounded(likeness, 2)),
            stale: claim.stale,
            reason: claim.reason,
        }
    }
}

impl ElsewhereJson {
    fn new(vault: &str, elsewhere: Elsewhere) -> ElsewhereJson {
        let place = elsewhere.place;
        ElsewhereJson {
            line_range: [place.line_range.0, place.line_range.1],
            uri: uri(vault, &place.note),
            superseded_by: filled(&elsewhere.superseded_by),
            note: place.note,
        }
    }
}

impl PlaceJson {
    fn new(vault: &str, place: FoundPlace) -> PlaceJson {
        PlaceJson {
            byte_range: [place.byte_range.start, place.byte_range.end],
            line_range: [place.line_range.0, place.line_range.1],
            heading_path: place.heading_path,
            text: place.text,
            pieces: place
                .pieces
                .iter()
                .map(|piece| [piece.start, piece.end])
                .collect(),
            content_hash: hex(&place.content_hash),
            uri: uri(vault, &place.note),
            encoding: foreign_encoding(place.encoding),
            note: place.note,
        }
    }
}

impl DifferenceJson {
    fn new(difference: &Difference) -> DifferenceJson {
        let part = |part: &lorewell_engine::DifferencePart| PartJson {
            kind: part.change.name().to_string(),
            text: part.text.clone(),
        };
        DifferenceJson {
            text: difference.to_string(),
            parts: difference.parts.iter().map(part).collect(),
        }
    }
}
