//! Which citations a quotation in running text bears.

use std::ops::Range;

use super::claims::end_of_words;
use super::quotations::Quotation;
use super::{Citation, Cited, Label, Leaf};

/// What a search for citations comes upon first.
pub(super) enum Search {
    Found(Vec<Citation>),
    /// A link out of the vault: no note is cited.
    Outside,
    Nothing,
}

impl Search {
    /// What was found, if this ends the search.
    pub(super) fn ended(self) -> Option<Vec<Citation>> {
        match self {
            Search::Found(citations) => Some(citations),
            Search::Outside => Some(Vec::new()),
            Search::Nothing => None,
        }
    }
}

/// The citations that a quotation in running text bears.
pub(super) fn citations_of(
    leaf: &Leaf,
    part: &Range<usize>,
    sentence: &Range<usize>,
    quotation: &Quotation,
) -> Vec<Citation> {
    let inside = leaf.cited_in(&quotation.inner).iter();
    // The mark of a footnote in a quotation is the note's own, if there is any other citation.
    let (marks, links): (Vec<&Cited>, Vec<&Cited>) =
        inside.partition(|cited| cited.label == Label::Mark);
    let (footnotes, marks): (Vec<&Cited>, Vec<&Cited>) = marks
        .into_iter()
        .partition(|cited| cited.citation.target.is_footnote());
    let listed = |cited: Vec<&Cited>| {
        let citations = distinct(cited.into_iter().map(|c| &c.citation));
        (!citations.is_empty()).then_some(citations)
    };
    let end = end_of_words(leaf, &quotation.inner);
    let ends = links
        .iter()
        .copied()
        .filter(|cited| cited.label == Label::Path && cited.range.start >= end);
    listed(marks)
        .or_else(|| following(leaf, quotation.outer.end..sentence.end).ended())
        .or_else(|| last(leaf, sentence.start..quotation.outer.start).ended())
        .or_else(|| listed(ends.collect()))
        .or_else(|| first(leaf, sentence.end..part.end).ended())
        .or_else(|| listed(footnotes))
        .or_else(|| listed(links))
        .unwrap_or_default()
}

/// The citations behind a quotation in its sentence. A link out of the vault counts before them
/// only where it follows at once: behind words it may be what these are about.
fn following(leaf: &Leaf, range: Range<usize>) -> Search {
    let is_at_once = |link: &Range<usize>| joined(leaf, range.start, link.start);
    let outside = leaf.outside_in(&range).first();
    match outside.is_some_and(is_at_once) || leaf.cited_in(&range).is_empty() {
        true => first(leaf, range),
        false => Search::Found(run(leaf, leaf.cited_in(&range))),
    }
}

/// The first citations of a stretch that stand together.
pub(super) fn first(leaf: &Leaf, range: Range<usize>) -> Search {
    let cited = leaf.cited_in(&range);
    match (cited.first(), leaf.outside_in(&range).first()) {
        (None, None) => Search::Nothing,
        (None, Some(_)) => Search::Outside,
        (Some(cited), Some(outside))
            if outside.start < cited.range.start
                && !joined(leaf, outside.end, cited.range.start) =>
        {
            Search::Outside
        }
        (Some(_), _) => Search::Found(run(leaf, cited)),
    }
}

/// The last citations of a stretch that stand together.
pub(super) fn last(leaf: &Leaf, range: Range<usize>) -> Search {
    let cited = leaf.cited_in(&range);
    let (last, outside) = match (cited.last(), leaf.outside_in(&range).last()) {
        (None, None) => return Search::Nothing,
        (None, Some(_)) => return Search::Outside,
        (Some(last), outside) => (last, outside),
    };
    if outside.is_some_and(|outside| {
        outside.start > last.range.start && !joined(leaf, last.range.end, outside.start)
    }) {
        return Search::Outside;
    }
    let pairs = cited.windows(2).rev();
    let together = pairs.take_while(|pair| joins(leaf, &pair[0], &pair[1]));
    let first = cited.len() - 1 - together.count();
    Search::Found(distinct(cited[first..].iter().map(|c| &c.citation)))
}

/// The first of some citations that stand together.
fn run(leaf: &Leaf, cited: &[Cited]) -> Vec<Citation> {
    let together = cited
        .windows(2)
        .take_while(|pair| joins(leaf, &pair[0], &pair[1]));
    let length = cited.len().min(together.count() + 1);
    distinct(cited[..length].iter().map(|c| &c.citation))
}

/// Whether nothing but signs stands between two citations.
fn joins(leaf: &Leaf, first: &Cited, second: &Cited) -> bool {
    joined(leaf, first.range.end, second.range.start)
}

fn joined(leaf: &Leaf, from: usize, to: usize) -> bool {
    leaf.text.get(from..to).is_none_or(|between| {
        !between.chars().any(char::is_alphanumeric) && !between.contains(['.', '。', '\n'])
            || matches!(between.trim_matches([' ', ',']), "and" | "und" | "et" | "y")
    })
}

/// Citations, each once.
pub(super) fn distinct<'c>(citations: impl Iterator<Item = &'c Citation>) -> Vec<Citation> {
    let mut found: Vec<Citation> = Vec::new();
    for citation in citations {
        if !found.iter().any(|known| known.target == citation.target) {
            found.push(citation.clone());
        }
    }
    found
}
