//! Blocks to claims: which citations belong to which words.

use std::ops::Range;

use lorewell_text::LineIndex;
use unicode_segmentation::UnicodeSegmentation;

use super::citations::listed;
use super::quotations::{self, Quotation};
use super::{Answer, Block, Citation, Cited, Claim, Kind, Leaf, Target, Uncited};
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
        let text = without_marks(leaf, &quotation.inner, true);
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
    let text = without_marks(leaf, sentence, false);
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

/// The citations that a quotation in running text bears.
fn citations_of(
    leaf: &Leaf,
    part: &Range<usize>,
    sentence: &Range<usize>,
    quotation: &Quotation,
) -> Vec<Citation> {
    let within = |range: &Range<usize>| leaf.cited_in(range).iter().collect::<Vec<_>>();
    let run = |cited: Vec<&Cited>| distinct(run(leaf, &cited).into_iter().map(|c| &c.citation));
    // The mark of a footnote in a quotation is the note's own, if there is any other citation.
    let (footnotes, inside): (Vec<&Cited>, Vec<&Cited>) = within(&quotation.inner)
        .into_iter()
        .filter(|cited| cited.is_mark)
        .partition(|cited| cited.citation.target.is_footnote());
    if !inside.is_empty() {
        return distinct(inside.into_iter().map(|c| &c.citation));
    }
    let following = run(within(&(quotation.outer.end..sentence.end)));
    if !following.is_empty() {
        return following;
    }
    let mut before = within(&(sentence.start..quotation.outer.start));
    before.reverse();
    let mut preceding: Vec<&Cited> = Vec::new();
    for cited in before {
        let joined = preceding.last().is_none_or(|next| joins(leaf, cited, next));
        if !joined {
            break;
        }
        preceding.push(cited);
    }
    preceding.reverse();
    if !preceding.is_empty() {
        return distinct(preceding.into_iter().map(|c| &c.citation));
    }
    let next = run(within(&(sentence.end..part.end)));
    if next.is_empty() {
        return distinct(footnotes.into_iter().map(|c| &c.citation));
    }
    next
}

/// The first citations of a list that stand together.
fn run<'c>(leaf: &Leaf, cited: &[&'c Cited]) -> Vec<&'c Cited> {
    let together = cited
        .windows(2)
        .take_while(|pair| joins(leaf, pair[0], pair[1]))
        .count();
    let length = if cited.is_empty() { 0 } else { together + 1 };
    cited[..length].to_vec()
}

/// Whether nothing but signs stands between two citations.
fn joins(leaf: &Leaf, first: &Cited, second: &Cited) -> bool {
    let between = leaf.text.get(first.range.end..second.range.start);
    between.is_none_or(|between| {
        !between.chars().any(char::is_alphanumeric) && !between.contains(['.', '。', '\n'])
            || matches!(between.trim_matches([' ', ',']), "and" | "und" | "et" | "y")
    })
}

fn distinct<'c>(citations: impl Iterator<Item = &'c Citation>) -> Vec<Citation> {
    let mut found: Vec<Citation> = Vec::new();
    for citation in citations {
        if !found.iter().any(|known| known.target == citation.target) {
            found.push(citation.clone());
        }
    }
    found
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
        if gap.chars().any(char::is_alphanumeric) || has_own && !cited.is_mark {
            break;
        }
        let behind = leaf
            .text
            .get(cited.range.end..sentence.end)
            .unwrap_or_default();
        let is_alone = !behind.chars().any(char::is_alphanumeric) || gap.ends_with('(');
        if !cited.is_mark && !is_alone {
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

/// The words of a stretch without citations. Labels of links that are part of the sentence stay;
/// `keep_labels`: those of all links.
fn without_marks(leaf: &Leaf, range: &Range<usize>, keep_labels: bool) -> String {
    let mut out = String::new();
    let mut at = range.start;
    for cited in leaf.cited_in(range) {
        if cited.range.start < at {
            continue;
        }
        let is_mark = cited.is_mark || !keep_labels && stands_aside(leaf, range, cited);
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
        is_link |= !cited.is_mark && !stands_aside(leaf, sentence, cited);
    }
    is_link.then(|| without_marks(leaf, &(sentence.start..end), false))
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

/// A blockquote, with the blocks before and behind it and the sources that the answer names.
fn blockquote(
    leaves: &[Leaf],
    (before, after): (Option<&Block>, Option<&Block>),
    sources: &[(String, Target)],
    lines: &LineIndex,
    answer: &mut Answer,
) {
    let mut texts: Vec<String> = Vec::new();
    let mut own: Vec<Citation> = Vec::new();
    for (at, leaf) in leaves.iter().enumerate() {
        let end = attribution(leaf);
        let marks = leaf
            .cited
            .iter()
            .filter(|c| c.is_mark && !c.citation.target.is_footnote() || c.range.start >= end);
        own.extend(marks.map(|cited| cited.citation.clone()));
        let begin = if at == 0 { callout(&leaf.text) } else { 0 };
        let text = without_marks(leaf, &(begin.min(end)..end), true);
        texts.extend(Some(text).filter(|text| !text.is_empty()));
    }
    // The mark of a footnote that the answer does not have is rather one of the note.
    let is_sure = |target: &Target| match target {
        Target::Source(label) if target.is_footnote() => sources.iter().any(|(n, _)| n == label),
        _ => true,
    };
    let mut citations = if own.iter().any(|citation| is_sure(&citation.target)) {
        Vec::new()
    } else {
        beside(before, after)
    };
    if citations.is_empty() {
        citations = distinct(own.iter());
    }
    let text = texts.join("\n\n");
    let text = unwrapped(&text);
    if text.is_empty() {
        return;
    }
    let line = lines.line(leaves.first().map_or(0, |leaf| leaf.place(0)));
    let text = text.to_string();
    if citations.is_empty() {
        answer.uncited.push(Uncited { text, line });
        return;
    }
    answer.claims.push(Claim {
        kind: Kind::Quote,
        text,
        bare: None,
        citations,
        line,
    });
}

/// Where the words of a quote end and who said them begins: `— [[Kiln]]`, `([1])`.
fn attribution(leaf: &Leaf) -> usize {
    let text = &leaf.text;
    let last_line = text.trim_end().rfind('\n').map_or(0, |at| at + 1);
    let line = text[last_line..].trim_start();
    let cites = leaf.cited.iter().any(|c| c.range.start >= last_line);
    if cites && line.starts_with(['—', '–', '-', '―', '(']) {
        return last_line;
    }
    let Some(last) = leaf.cited.last() else {
        return text.len();
    };
    let behind = text.get(last.range.end..).unwrap_or_default();
    if behind.chars().any(char::is_alphanumeric) {
        return text.len();
    }
    // A dash or a bracket before the last citations parts them from the words.
    let mut start = last.range.start;
    for cited in leaf.cited.iter().rev() {
        let between = text.get(cited.range.end..start).unwrap_or_default();
        if between.chars().any(char::is_alphanumeric) {
            break;
        }
        start = start.min(cited.range.start);
    }
    let head = text[..start].trim_end();
    let parted = head.ends_with(['—', '–', '-', '(', '―', '.', '!', '?', '”', '"', '。']);
    if parted || last.is_mark {
        let head = head.trim_end_matches(['—', '–', '-', '(', '―', ' ', '\n']);
        head.len()
    } else {
        text.len()
    }
}

/// The length of the line that opens a callout: `[!quote] Title`.
fn callout(text: &str) -> usize {
    if !text.starts_with("[!") {
        return 0;
    }
    text.find('\n').map_or(text.len(), |end| end + 1)
}

/// The citations of the blocks beside a quote: those that open the next, else the last of the one
/// before it.
fn beside(before: Option<&Block>, after: Option<&Block>) -> Vec<Citation> {
    if let Some(Block::Text(leaf)) = after {
        let all: Vec<&Cited> = leaf.cited.iter().collect();
        let first = all.first().map_or(0, |cited| cited.range.start);
        let opening = leaf.text.get(..first).unwrap_or_default();
        let words = opening
            .split_whitespace()
            .filter(|w| w.contains(char::is_alphanumeric));
        // “Source: [1]”
        if !all.is_empty() && words.count() <= 1 {
            return distinct(run(leaf, &all).into_iter().map(|c| &c.citation));
        }
    }
    if let Some(Block::Text(leaf)) = before {
        let mut last: Vec<&Cited> = Vec::new();
        for cited in leaf.cited.iter().rev() {
            if !last.last().is_none_or(|next| joins(leaf, cited, next)) {
                break;
            }
            last.push(cited);
        }
        last.reverse();
        return distinct(last.into_iter().map(|c| &c.citation));
    }
    Vec::new()
}

/// A text without the quotation marks that hold all of it.
fn unwrapped(text: &str) -> &str {
    let leaf = Leaf {
        text: text.to_string(),
        ..Leaf::default()
    };
    match quotations::find(&leaf).as_slice() {
        [only] if only.outer == (0..text.len()) => text.get(only.inner.clone()).unwrap_or(text),
        _ => text,
    }
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
