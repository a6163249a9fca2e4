//! Blocks to claims: which citations belong to which words.

use std::ops::Range;

use lorewell_text::LineIndex;
use unicode_segmentation::UnicodeSegmentation;

use super::bearing::{citations_of, distinct};
use super::blockquote::blockquote;
use super::citations::listed;
use super::quotations::{self, Quotation};
use super::{Answer, Block, Cited, Claim, Kind, Label, Leaf, Target, Uncited};
use crate::folded::is_unspaced;

/// A sentence of fewer words says nothing that could be looked for: “See [1].”
const WORDS: f32 = 3.0;

/// The claims of an answer. Lines that only list sources go to `sources`.
pub(crate) fn of(
    blocks: &[Block],
    sources: &mut Vec<(String, Target)>,
    lines: &LineIndex,
) -> Answer {
    let mut answer = Answer::default();
    for (at, block) in blocks.iter().enumerate() {
        match block {
            Block::Heading => {}
            Block::Text(leaf) => {
                let leads = matches!(blocks.get(at + 1), Some(Block::Quote(_)));
                text_claims(leaf, leads, sources, lines, &mut answer);
            }
            Block::Quote(leaves) => {
                let before = at.checked_sub(1).and_then(|before| blocks.get(before));
                let around = (before, blocks.get(at + 1));
                blockquote(leaves, around, sources, lines, &mut answer);
            }
        }
    }
    answer
}

/// `leads`: whether a blockquote follows, to which the last sentence may lead.
fn text_claims(
    leaf: &Leaf,
    leads: bool,
    sources: &mut Vec<(String, Target)>,
    lines: &LineIndex,
    answer: &mut Answer,
) {
    let mut at = 0;
    let mut left: Vec<Range<usize>> = Vec::new();
    for line in leaf.text.split_inclusive('\n') {
        let range = at..at + line.len();
        at = range.end;
        match listed(leaf, range.clone()) {
            Some(source) => sources.push(source),
            None => match left.last_mut() {
                Some(last) if last.end == range.start => last.end = range.end,
                _ => left.push(range),
            },
        }
    }
    let quotations = quotations::find(leaf);
    for part in left {
        for sentence in sentences(leaf, &part, &quotations) {
            let ending = leaf.text[sentence.start..].trim_end();
            if leads && sentence.end == leaf.text.len() && ending.ends_with([':', '：']) {
                continue;
            }
            sentence_claims(leaf, &part, &sentence, &quotations, lines, answer);
        }
    }
}

fn sentence_claims(
    leaf: &Leaf,
    part: &Range<usize>,
    sentence: &Range<usize>,
    quotations: &[Quotation],
    lines: &LineIndex,
    answer: &mut Answer,
) {
    let before = |at: usize| quotations.partition_point(|q| q.outer.start < at);
    let inside = &quotations[before(sentence.start)..before(sentence.end)];
    for quotation in inside {
        let citations = citations_of(leaf, part, sentence, quotation);
        let text = without_marks(leaf, &quotation.inner, Of::Quotation { is_end: true });
        let line = lines.line(leaf.place(quotation.outer.start));
        if citations.is_empty() {
            answer.uncited.push(Uncited { text, line });
        } else if !text.is_empty() {
            answer.claims.push(Claim {
                kind: Kind::Quote,
                text,
                bare: None,
                citations,
                line,
            });
        }
    }
    if !inside.is_empty() {
        return;
    }
    let cited = leaf.cited_in(sentence).iter();
    let citations = distinct(cited.map(|cited| &cited.citation));
    let text = without_marks(leaf, sentence, Of::Sentence);
    if citations.is_empty() {
        return;
    }
    let kind = if length(&text) < WORDS {
        Kind::Pointer
    } else {
        Kind::Sentence
    };
    let indent = leaf.text[sentence.clone()].len() - leaf.text[sentence.clone()].trim_start().len();
    answer.claims.push(Claim {
        kind,
        bare: without_last_link(leaf, sentence)
            .filter(|bare| *bare != text && length(bare) >= WORDS),
        text,
        citations,
        line: lines.line(leaf.place(sentence.start + indent)),
    });
}

/// The sentences of a part. None ends within a quotation, and citations behind a sentence's full
/// stop belong to it.
fn sentences(leaf: &Leaf, part: &Range<usize>, quotations: &[Quotation]) -> Vec<Range<usize>> {
    // To the rules of Unicode every line end is one of a sentence.
    let text = leaf.text[part.clone()].replace(['\n', '\r'], " ");
    let mut found: Vec<Range<usize>> = Vec::new();
    for (start, sentence) in text.split_sentence_bound_indices() {
        let range = part.start + start..part.start + start + sentence.len();
        let next = quotations.partition_point(|q| q.outer.start < range.start);
        let in_quotation = next > 0 && range.start < quotations[next - 1].outer.end;
        match found.last_mut() {
            Some(last) if in_quotation => last.end = range.end,
            Some(last) => {
                let marks = leading_marks(leaf, &range, last);
                last.end = marks;
                if marks < range.end {
                    found.push(marks..range.end);
                }
            }
            None => found.push(range),
        }
    }
    found
}

/// Up to where the citations that open a sentence belong to the one before it.
fn leading_marks(leaf: &Leaf, sentence: &Range<usize>, before: &Range<usize>) -> usize {
    let mut end = sentence.start;
    let has_own = !leaf.cited_in(before).is_empty();
    for cited in leaf.cited_in(sentence) {
        let gap = leaf.text.get(end..cited.range.start).unwrap_or_default();
        if gap.chars().any(char::is_alphanumeric) || has_own && !cited.is_mark() {
            break;
        }
        let behind = leaf
            .text
            .get(cited.range.end..sentence.end)
            .unwrap_or_default();
        let is_alone = !behind.chars().any(char::is_alphanumeric) || gap.ends_with('(');
        if !cited.is_mark() && !is_alone {
            break;
        }
        end = cited.range.end.max(end);
    }
    if end == sentence.start {
        return end;
    }
    // The bracket and the full stop behind a citation are part of it.
    let rest = &leaf.text[end..sentence.end.max(end)];
    let signs = rest
        .find(|c: char| c.is_alphanumeric() || c == '[')
        .unwrap_or(rest.len());
    let signs = rest[..signs]
        .rfind([')', '.', '。', ',', ';', ' '])
        .map_or(0, |at| at + 1);
    leaf.text.ceil_char_boundary(end + signs)
}

/// What a stretch of text is of.
#[derive(Clone, Copy)]
pub(super) enum Of {
    /// The answer's own words.
    Sentence,
    /// A note's. `is_end`: whether nothing more of the quotation follows.
    Quotation { is_end: bool },
}

/// The words of a stretch without citations. Labels of links that are part of the sentence stay,
/// and those of all links in a quotation, but for a path that ends it.
pub(super) fn without_marks(leaf: &Leaf, range: &Range<usize>, of: Of) -> String {
    let mut out = String::new();
    let mut at = range.start;
    let end = end_of_words(leaf, range);
    for cited in leaf.cited_in(range) {
        if cited.range.start < at {
            continue;
        }
        let is_mark = match of {
            Of::Sentence => cited.is_mark() || stands_aside(leaf, range, cited),
            Of::Quotation { is_end } => {
                cited.label == Label::Mark
                    || is_end && cited.label == Label::Path && cited.range.start >= end
            }
        };
        if is_mark {
            out += leaf.text[at..cited.range.start].trim_end_matches([' ', '(']);
            at = cited.range.end.min(range.end);
            let behind = &leaf.text[at..range.end];
            at += behind.len() - behind.trim_start_matches(')').len();
        }
    }
    out += &leaf.text[at.min(range.end)..range.end];
    let out = lorewell_text::fold_white_space(&out);
    out.trim_matches(|c: char| matches!(c, '–' | '—' | ':' | ',' | '|') || c.is_whitespace())
        .to_string()
}

/// Where the words of a stretch end, but for the labels of citations behind all others. A path
/// there may be a word of a quotation or not.
pub(super) fn end_of_words(leaf: &Leaf, range: &Range<usize>) -> usize {
    let mut end = range.end;
    for cited in leaf.cited_in(range).iter().rev() {
        let behind = leaf.text.get(cited.range.end..end).unwrap_or_default();
        if behind.contains(char::is_alphanumeric) {
            return end;
        }
        end = end.min(cited.range.start);
    }
    let first = leaf.text.get(range.start..end).unwrap_or_default();
    match first.contains(char::is_alphanumeric) {
        true => end,
        false => range.start,
    }
}

/// The words of a sentence before the links that end it.
fn without_last_link(leaf: &Leaf, sentence: &Range<usize>) -> Option<String> {
    let mut end = sentence.end;
    let mut is_link = false;
    for cited in leaf.cited_in(sentence).iter().rev() {
        let behind = leaf.text.get(cited.range.end..end)?;
        if behind.chars().any(char::is_alphanumeric) {
            break;
        }
        end = cited.range.start;
        is_link |= !cited.is_mark() && !stands_aside(leaf, sentence, cited);
    }
    is_link.then(|| without_marks(leaf, &(sentence.start..end), Of::Sentence))
}

/// Whether a link is a citation rather than a word: in brackets, or behind all words.
fn stands_aside(leaf: &Leaf, range: &Range<usize>, cited: &Cited) -> bool {
    let before = leaf.text[range.start..cited.range.start].trim_end();
    let behind = leaf
        .text
        .get(cited.range.end..range.end)
        .unwrap_or_default();
    let word_behind = has_words(leaf, cited.range.end..range.end);
    before.ends_with('(') && behind.starts_with(')')
        || !word_behind
            && before.ends_with(['.', '。', '!', '?', ',', '—', '–', ':', ']', '”', '"'])
        || before.is_empty() && behind.starts_with(':')
}

/// Whether a stretch holds letters or digits that belong to no citation.
fn has_words(leaf: &Leaf, range: Range<usize>) -> bool {
    let is_word = |from: usize, to: usize| {
        leaf.text
            .get(from..to)
            .is_some_and(|text| text.contains(char::is_alphanumeric))
    };
    let mut at = range.start;
    for cited in leaf.cited_in(&range) {
        if is_word(at, cited.range.start) {
            return true;
        }
        at = cited.range.end.max(at);
    }
    is_word(at, range.end)
}

/// How many words a text has; a character of a script without blanks counts a half.
fn length(text: &str) -> f32 {
    let unspaced = text
        .chars()
        .filter(|c| is_unspaced(*c) && c.is_alphanumeric())
        .count();
    let words = text
        .split(|c: char| !c.is_alphanumeric() || is_unspaced(c))
        .filter(|word| !word.is_empty());
    words.count() as f32 + unspaced as f32 / 2.0
}
