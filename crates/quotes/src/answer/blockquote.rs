//! Blockquotes: their words, who is said to have said them, and the citations that they bear.

use lorewell_text::LineIndex;

use super::bearing::{Search, distinct, first, last};
use super::claims::{Of, end_of_words, without_marks};
use super::quotations;
use super::{Answer, Block, Citation, Claim, Kind, Label, Leaf, Target, Uncited};

/// What a blockquote cites itself.
#[derive(Default)]
struct Own {
    /// Numbers, and what its attribution names.
    attributed: Vec<Citation>,
    /// The path that ends it and may be its attribution or its last word.
    ending: Vec<Citation>,
    /// Links among its words.
    inside: Vec<Citation>,
    /// Whether its attribution names a place out of the vault.
    outside: bool,
}

/// A blockquote, with the blocks before and behind it and the sources that the answer names.
pub(super) fn blockquote(
    leaves: &[Leaf],
    (before, after): (Option<&Block>, Option<&Block>),
    sources: &[(String, Target)],
    lines: &LineIndex,
    answer: &mut Answer,
) {
    let mut texts: Vec<String> = Vec::new();
    let mut own = Own::default();
    for (at, leaf) in leaves.iter().enumerate() {
        let is_end = at + 1 == leaves.len();
        let above = at.checked_sub(1).and_then(|above| leaves.get(above));
        let end = attribution(leaf, above.filter(|_| is_end));
        let begin = if at == 0 { callout(&leaf.text) } else { 0 };
        let words = begin.min(end)..end;
        let last_words = end_of_words(leaf, &words);
        for cited in &leaf.cited {
            let is_number = cited.label == Label::Mark && !cited.citation.target.is_footnote();
            let kept = if is_number || cited.range.start >= end {
                &mut own.attributed
            } else if cited.label == Label::Mark {
                continue;
            } else if is_end && cited.label == Label::Path && cited.range.start >= last_words {
                &mut own.ending
            } else {
                &mut own.inside
            };
            kept.push(cited.citation.clone());
        }
        own.outside |= leaf.outside.iter().any(|link| link.start >= end);
        let text = without_marks(leaf, &words, Of::Quotation { is_end });
        texts.extend(Some(text).filter(|text| !text.is_empty()));
    }
    let text = texts.join("\n\n");
    let text = unwrapped(&text).to_string();
    if text.is_empty() {
        return;
    }
    let citations = borne(&own, before, after, sources);
    let line = lines.line(leaves.first().map_or(0, |leaf| leaf.place(0)));
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

/// The citations that a blockquote bears.
fn borne(
    own: &Own,
    before: Option<&Block>,
    after: Option<&Block>,
    sources: &[(String, Target)],
) -> Vec<Citation> {
    let some = |citations: &[Citation]| {
        let citations = distinct(citations.iter());
        (!citations.is_empty()).then_some(citations)
    };
    // The mark of a footnote that the answer does not have is rather one of the note.
    let is_sure = |citation: &Citation| match &citation.target {
        Target::Source(label) if citation.target.is_footnote() => {
            sources.iter().any(|(n, _)| n == label)
        }
        _ => true,
    };
    some(&own.attributed)
        .filter(|own| own.iter().any(is_sure))
        .or_else(|| own.outside.then(Vec::new))
        .or_else(|| behind(after, !own.ending.is_empty()).ended())
        .or_else(|| some(&own.ending))
        .or_else(|| match before {
            Some(Block::Text(leaf)) => last(leaf, 0..leaf.text.len()).ended(),
            _ => None,
        })
        .or_else(|| some(&own.attributed))
        .or_else(|| some(&own.inside))
        .unwrap_or_default()
}

/// The citations that open the block behind a quote (`Source: [1]`). `alone`: only of one that
/// holds nothing else, as must a link out of the vault.
fn behind(after: Option<&Block>, alone: bool) -> Search {
    let Some(Block::Text(leaf)) = after else {
        return Search::Nothing;
    };
    let all = 0..leaf.text.len();
    let links = leaf.links_in(&all);
    let Some(opening) = links.first() else {
        return Search::Nothing;
    };
    let words = leaf.text.get(..opening.start).unwrap_or_default();
    let words = words
        .split_whitespace()
        .filter(|w| w.contains(char::is_alphanumeric));
    let is_outside = leaf.outside.contains(opening);
    let is_alone = is_only_links(leaf, opening.start, all.end);
    match words.count() <= 1 && (is_alone || !alone && !is_outside) {
        true => first(leaf, all),
        false => Search::Nothing,
    }
}

/// Where the words of a quote end and who said them begins: `— [[Kiln]]`, `([1])`, a last line of
/// nothing but citations. `above`: the piece of the quote above its last one.
fn attribution(leaf: &Leaf, above: Option<&Leaf>) -> usize {
    let text = &leaf.text;
    let all = leaf.links_in(&(0..text.len()));
    let Some(last) = all.last() else {
        return text.len();
    };
    let last_line = text.trim_end().rfind('\n').map_or(0, |at| at + 1);
    let line = text[last_line..].trim_start();
    if last.start >= last_line && line.starts_with(['—', '–', '-', '―', '(']) {
        return last_line;
    }
    if let Some(start) = lines_of_links(leaf, above) {
        return start;
    }
    let behind = text.get(last.end..).unwrap_or_default();
    if behind.chars().any(char::is_alphanumeric) {
        return text.len();
    }
    // A dash or a bracket before the last citations parts them from the words.
    let mut start = last.start;
    for link in all.iter().rev() {
        let between = text.get(link.end..start).unwrap_or_default();
        if between.chars().any(char::is_alphanumeric) {
            break;
        }
        start = start.min(link.start);
    }
    let head = text[..start].trim_end();
    let parted = head.ends_with(['—', '–', '-', '(', '―', '.', '!', '?', '”', '"', '。']);
    let is_mark = leaf
        .cited
        .last()
        .is_some_and(|cited| cited.label == Label::Mark && cited.range == *last);
    if parted || is_mark {
        let head = head.trim_end_matches(['—', '–', '-', '(', '―', ' ', '\n']);
        head.len()
    } else {
        text.len()
    }
}

/// Where the last lines begin that hold nothing but links, if words stand above them.
fn lines_of_links(leaf: &Leaf, above: Option<&Leaf>) -> Option<usize> {
    let text = leaf.text.trim_end();
    let mut start = None;
    let mut end = text.len();
    loop {
        let line = text[..end].rfind('\n').map_or(0, |at| at + 1);
        if !is_only_links(leaf, line, end) {
            return start;
        }
        start = Some(line);
        if line == 0 {
            let has_words = |above: &Leaf| !is_only_links(above, 0, above.text.len());
            return start.filter(|_| above.is_some_and(has_words));
        }
        end = line - 1;
    }
}

/// Whether a stretch holds links and no words besides.
fn is_only_links(leaf: &Leaf, from: usize, to: usize) -> bool {
    let links = leaf.links_in(&(from..to));
    let mut at = from;
    for link in &links {
        let between = leaf.text.get(at..link.start).unwrap_or_default();
        if between.contains(char::is_alphanumeric) {
            return false;
        }
        at = link.end.max(at);
    }
    let rest = leaf.text.get(at..to).unwrap_or_default();
    !links.is_empty() && !rest.contains(char::is_alphanumeric)
}

/// The length of the line that opens a callout: `[!quote] Title`.
fn callout(text: &str) -> usize {
    if !text.starts_with("[!") {
        return 0;
    }
    text.find('\n').map_or(text.len(), |end| end + 1)
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
